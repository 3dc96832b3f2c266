"""Studies with people who each have a link: begun, followed, exported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sociable.api.people import draw_for_people
from sociable.api.results import load_result
from sociable.core.errors import InputError, RunFolderError
from sociable.core.people_files import PeopleFiles, PersonRating, PersonVerdict, PersonWord, SheetItem
from sociable.core.records import Verdict
from sociable.core.run_folder import RunFolder
from sociable.core.spreadsheets import render_csv
from sociable.core.view import Section
from sociable.engine.opening import make_study_options, read_settings, use_kept_inputs
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.engine.study import AnyStudy, Judged
from sociable.people.agreement import show_people
from sociable.people.dealing import deal_items
from sociable.people.reading import write_verdict
from sociable.people.sheets import make_row
from sociable.people.survey_items import INSTRUCTIONS, draw_attention_checks, draw_episodes, show_sheet_items
from sociable.people.surveys import SURVEY_FILE, Given, NewItem, NewPerson, ShownEpisode, Surveys, Task

MOST_PEOPLE = 500
USUAL_SAMPLE = 60


@dataclass(frozen=True)
class BegunSurvey:
    """A survey that was begun."""

    people: Sequence[NewPerson]
    items: int
    remarks: Sequence[str]
    """For a wanted precision: for each metric, how many verdicts it needs, and what they give."""


def begin_survey(
    folder: str | Path,
    people: int,
    *,
    task: Task = Task.JUDGE,
    sample: int = USUAL_SAMPLE,
    precision: float | None = None,
    per_item: int | None = None,
    attention_checks: int = 0,
    consent: str = "",
) -> BegunSurvey:
    """Draws items of a run, deals them to so many people, and makes a link for each.

    ``precision`` draws as many judged items as corrected scores need to be known that closely, in the place of ``sample``.
    ``per_item`` people get each item, by default all. ``consent`` is a text to be agreed to before anything is shown. Raises
    InputError, and RunFolderError while another process is at work in the folder.
    """
    if not 1 <= people <= MOST_PEOPLE:
        raise InputError(f"--people {people}: a number from 1 to {MOST_PEOPLE} was expected.")
    if sample < 1:
        raise InputError(f"--sample {sample}: a number of items from 1 was expected.")
    if attention_checks < 0 or (attention_checks and task is not Task.JUDGE):
        raise InputError(f"--attention-checks {attention_checks}: a number from 0 was expected, with --task judge only.")
    if precision is not None and task is not Task.JUDGE:
        raise InputError(
            f"--precision {precision:g}: goes with --task judge only, as nothing else corrects scores. Leave it out."
        )
    path = Path(folder)
    run = load_result(path)
    seed = run.manifest["settings"]["seed"]
    with RunFolder.open(path), PeopleFiles(path) as files, Surveys(path) as surveys:
        taken = {each.name for each in surveys.list_people()}
        taken |= {each.person for file in (files.verdicts, files.ratings, files.words) for each in file}
        new: list[SheetItem] = []
        checks: list[NewItem] = []
        remarks: Sequence[str] = ()
        if task is Task.JUDGE:
            drawn = draw_for_people(run, files, sample, precision)
            new, remarks = list(drawn.items), drawn.remarks
            items = show_sheet_items(run, new)
            checks = draw_attention_checks(_open_whole_study(run), new, attention_checks, seed) if attention_checks else []
        else:
            items = draw_episodes(run, task, sample, seed)
        names = _name_people(people, taken)
        orders = deal_items([each.id for each in items], people, per_item, [each.id for each in checks], seed + len(taken))
        # Were it stopped right here, these items would count as if they had not been drawn.
        files.note_sheet(new, None)
        instructions = run.study.instructions if task is Task.JUDGE and isinstance(run.study, Judged) else ""
        made = surveys.begin(
            task,
            [*items, *checks],
            dict(zip(names, orders, strict=True)),
            consent=consent.strip(),
            instructions=instructions or INSTRUCTIONS.get(task, ""),
        )
    return BegunSurvey(made, len(items), remarks)


def _open_whole_study(run: RunResult) -> AnyStudy:
    """The run's benchmark bound to all of its data, not only to the cases that were run."""
    path = Path(run.folder)
    settings = use_kept_inputs(read_settings(dict(run.manifest), path), run.manifest, path)
    everything = settings.model_copy(update={"limit": None, "scenarios": ()})
    return find_benchmark(settings.benchmark).open(**make_study_options(everything))


def _name_people(count: int, taken: Collection[str]) -> list[str]:
    """As many names as there are people, none of them ``taken``."""
    names = (f"person-{number:02}" for number in range(1, count + len(taken) + 1))
    return [name for name in names if name not in taken][:count]


def read_task(given: str) -> Task:
    """A task by its name. Raises InputError."""
    if given not in [*Task]:
        raise InputError(f"--task {given[:40]}: {', '.join(Task)} was expected.")
    return Task(given)


def read_consent(file: Path) -> str:
    """A text of consent. Raises InputError where the file cannot be read, or is empty."""
    try:
        text = file.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--consent {file}: cannot be read as text in UTF-8: {error}") from None
    if not text:
        raise InputError(f"--consent {file}: is empty. Write into it what people are to agree to.")
    return text


def has_surveys(folder: Path) -> bool:
    return (folder / SURVEY_FILE).is_file()


def keep_answers(folder: Path, surveys: Surveys) -> int:
    """Makes records of the run of all answers that are none yet. Returns how many still wait: the folder may be in use."""
    if not surveys.count_waiting():
        return 0
    try:
        with RunFolder.open(folder), PeopleFiles(folder) as files:
            # Items are gone where their sheets were moved away, to begin anew.
            waiting = [
                each for each in surveys.list_given(only_waiting=True) if each.task is not Task.JUDGE or each.item in files.sheets
            ]
            for given in waiting:
                if given.task is Task.JUDGE:
                    files.verdicts.append(_make_verdict(given, files.sheets.read(given.item)))
                elif given.task is Task.RATE:
                    files.ratings.append(
                        PersonRating(id=_name(given), episode=given.item, person=given.person, rating=float(given.said))
                    )
                else:
                    files.words.append(PersonWord(id=_name(given), episode=given.item, person=given.person, word=given.said))
            # Still inside the lock: an answer that was changed meanwhile must not be taken for this one.
            surveys.note_kept(waiting)
    except RunFolderError:
        pass  # Somebody is at work in the folder: what waits here is safe.
    return surveys.count_waiting()


def _name(given: Given) -> str:
    return f"{given.item}|{given.person}"


def _make_verdict(given: Given, item: SheetItem) -> PersonVerdict:
    return PersonVerdict(
        id=_name(given),
        item=item.id,
        person=given.person,
        verdict=Verdict(given.said),
        comment=given.comment,
        seconds=round(given.seconds, 1),
    )


def export_answers(folder: Path, surveys: Surveys, task: Task, person: str = "") -> str:
    """What one person answered, or everybody who is not left out, as a sheet that ``sociable judge`` reads back.

    Raises InputError where there is nothing yet.
    """
    left_out = {each.name for each in surveys.list_people() if each.is_left_out}
    with PeopleFiles(folder) as files:
        rows = [
            {**_make_row(given, files), "person": given.person, "seconds": f"{given.seconds:.1f}"}
            for given in surveys.list_given()
            if given.task is task and (given.person == person if person else given.person not in left_out)
            if task is not Task.JUDGE or given.item in files.sheets
        ]
    if not rows:
        raise InputError(f"{person or 'Nobody'} has answered nothing yet{'' if person else ' that counts'}.")
    return render_csv(list(rows[0]), [list(row.values()) for row in rows])


def _make_row(given: Given, files: PeopleFiles) -> dict[str, str]:
    if isinstance(given.shown, ShownEpisode):
        column = "rating" if given.task is Task.RATE else "word"
        return {"episode": given.item, column: given.said, "comment": given.comment}
    item = files.sheets.read(given.item)
    verdict = write_verdict(Verdict(given.said), question=item.question, subject_first=item.subject_first)
    return {**make_row(item, given.shown), "verdict": verdict, "comment": given.comment}


def show_figures(run: RunResult, left_out: Iterable[str] = ()) -> list[Section]:
    """What people have said of a run, judges beside them, and corrected scores; some people may be left out."""
    with PeopleFiles(Path(run.folder)) as files:
        files.leave_out(set(left_out))
        return show_people(run, files)
