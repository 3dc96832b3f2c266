"""What the command line does, one call each.

>>> import sociable
>>> result = sociable.run("hsii", model="openai-compatible/qwen2.5-7b@http://127.0.0.1:8000/v1")
>>> result.estimate("r2")
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import dotenv

from sociable.agents.person import NAME as PERSON
from sociable.build import (
    Watch,
    begin_run,
    build_seats,
    checked,
    makes_references,
    opened_run,
    prices_of,
    settings_of,
    study_of,
    study_options,
    who_and_how,
)
from sociable.core.errors import InputError, Interrupted, RunFolderError, RunStopped
from sociable.core.records import ScoreFile
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document, Section, Table
from sociable.documents import estimate_document, run_document, warnings_about
from sociable.models.journal import JournalledModel
from sociable.models.protocol import Sampling
from sociable.people import people_sections
from sociable.registry import benchmark_names, find_benchmark
from sociable.runner.benchmark import RunResult, Study, StudyOptions
from sociable.runner.event_loop import on_interrupt, waited
from sociable.runner.people import PeopleRecords
from sociable.runner.rehearsal import RehearsedCall, rehearse
from sociable.runner.run import FinishedRun, Run, RunRecords, references_from
from sociable.runner.seats import AbsentModel, Role, Seat, Seats
from sociable.runner.settings import (
    RunSettings,
    changed_settings,
    load_settings,
    plain_name,
    roles_and_prices,
    with_role_defaults,
)
from sociable.runner.sheets import draw_sheet, read_ratings, read_verdicts, read_words, write_sheet, write_word_sheet


def run(
    benchmark: str,
    model: str | None = None,
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunResult:
    """Runs a benchmark and scores it. ``settings`` are the fields of ``RunSettings``: partner, judges, reference, …; they
    go before those of the TOML file ``config``.

    Returns the result; the run folder (``out``, or ``runs/<benchmark>-<model>-<time>``) holds everything else.
    Raises InputError before anything is spent, and RunStopped when the run ended early and can be resumed.
    """
    asked = settings_for(benchmark, config, model=model, **settings)
    return run_settings(asked, Path(out) if out else new_folder(benchmark, asked.model), watch=watch)


def run_settings(asked: RunSettings, folder: Path, *, watch: Watch | None = None) -> RunResult:
    """Begins and finishes a run in a new folder."""
    begin_run(asked, folder)
    return _finish(folder, watch)


def settings_for(benchmark: str, config: str | Path | None, *, elsewhere: Sequence[str] = (), **settings: Any) -> RunSettings:
    """What the user asks for, on top of what the benchmark prefers."""
    found = find_benchmark(benchmark)
    asked = load_settings(benchmark, Path(config) if config else None, elsewhere=elsewhere, beside=benchmark_names(), **settings)
    return with_role_defaults(asked, found.role_defaults)


def new_folder(benchmark: str, model: str) -> Path:
    """``runs/<benchmark>-<model>-<time>``, which does not exist yet."""
    return Path("runs") / f"{benchmark}-{folder_name(model)}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"


def folder_name(model: str) -> str:
    """A model's name as part of a file's."""
    return "".join(character if character.isalnum() or character in "-._" else "-" for character in plain_name(model))


def resume(
    folder: str | Path,
    *,
    config: str | Path | None = None,
    max_cost: float | None = None,
    offline: bool = False,
    watch: Watch | None = None,
) -> RunResult:
    """Goes on with a run: finished records are kept, paid calls come from the journal, errored episodes are run again.

    ``config`` is a TOML file with ``roles`` and ``prices`` on top of the run's own: another key, another address.
    ``offline`` needs neither key nor network: what the journal does not hold is errored. So a published run can be played
    again from its manifest, its ``calls.sqlite`` and, where they came from another run, its ``references.jsonl``.
    """
    path = Path(folder)
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        before = settings_of(manifest, path)
        changed = changed_settings(before, max_cost=max_cost, **(roles_and_prices(before, Path(config)) if config else {}))
        if changed != before:
            _, _, seats = checked(changed, references_adopted=True)
            prices_of(changed, seats)
            opened.write_manifest(manifest | who_and_how(changed))
    return _finish(path, watch, offline=offline)


def judge(
    folder: str | Path,
    judges: Sequence[str] = (),
    *,
    rubric: str | None = None,
    config: str | Path | None = None,
    reference: str | None = None,
    reference_file: str | Path | None = None,
    max_cost: float | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """Has other judges look at the episodes of a run; no episode is run again. Earlier judgments stay in the folder.

    With ``rubric`` (``sotopia``) the judges, by default those of the run, rate every participant that has a goal, and the
    panel stays as it is. ``config`` is a TOML file with ``roles`` and ``prices`` for the judges. A reference can be named
    only for a run that has none yet. Raises InputError before anything in the folder is changed.
    """
    path = Path(folder)
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        before = settings_of(manifest, path)
        if (reference or reference_file) and (path / "references.jsonl").exists():
            raise InputError(
                f"{path} has its references already; they stay as they are. Leave --reference and --reference-file out."
            )
        if not judges and not rubric:
            raise InputError("Name at least one judge, or a rubric.")
        named = {"rubric": rubric, "raters": tuple(judges) or before.judges} if rubric else {"judges": tuple(judges)}
        changed = changed_settings(
            before,
            **named,
            reference=reference,
            reference_file=str(Path(reference_file).resolve()) if reference_file else None,
            max_cost=max_cost,
            **(roles_and_prices(before, Path(config)) if config else {}),
        )
        _, _, seats = checked(changed, build=_FOR_JUDGING, references_adopted=not reference_file)
        prices_of(changed, seats, _FOR_JUDGING)
        opened.write_manifest(manifest | who_and_how(changed))
    return _finish(path, watch, build=_FOR_JUDGING)


_FOR_JUDGING = (Role.JUDGE, Role.REFERENCE, Role.PARTNER)
"""Partner and reference may have to make the reference conversations first."""


def export_sheet(folder: str | Path, count: int, file: str | Path) -> int:
    """Writes a sheet of ``count`` judged pairs for people to judge, and notes in the run folder what was on it.

    The pairs are drawn by stage and by the judges' verdict, sides shuffled, judges hidden. Returns how many there are.
    Raises InputError when nothing has been judged.
    """
    with RunFolder.open(Path(folder)), open_run(folder) as finished, PeopleRecords(Path(folder)) as people:
        items = draw_sheet(finished, count, finished.result.manifest["settings"]["seed"])
        if Path(file).exists():
            raise InputError(f"{file} is there already, and may hold verdicts. Name another file, or move it away.")
        if people.sheets_differ_from(items):
            raise InputError(
                f"{folder} has a sheet that was drawn when the judges had said otherwise; its weights would not fit. "
                "Judge with the same panel as then, or move sheets.jsonl and people.jsonl away to begin anew."
            )
        write_sheet(finished, items, Path(file))
        for item in items:
            if item.id not in people.sheets:
                people.sheets.append(item)
        return len(items)


def add_corrections(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes people's verdicts from sheets that were filled in, and shows what they say about judges and scores."""
    with RunFolder.open(Path(folder)), PeopleRecords(Path(folder)) as people:
        read = [read_verdicts(Path(file), people.sheets) for file in files]
        twice = Counter(verdict.id for verdicts in read for verdict in verdicts)
        if any(count > 1 for count in twice.values()):
            raise InputError(
                "Two of these files are by the same person (told by the column 'person', or by the file's name). "
                "Fill in the column, or give the files different names."
            )
        for verdict in chain.from_iterable(read):
            people.verdicts.append(verdict)
    return people_document(folder)


def add_ratings(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes people's free ratings of episodes, and shows how each metric agrees with them in rank."""
    with RunFolder.open(Path(folder)), open_run(folder) as finished, PeopleRecords(Path(folder)) as people:
        for rating in [each for file in files for each in read_ratings(Path(file), finished.records.episodes)]:
            people.ratings.append(rating)
    return people_document(folder)


def export_word_sheet(folder: str | Path, file: str | Path) -> int:
    """Writes a sheet of episodes that went badly, for readers to say in one word what they felt. Returns how many."""
    with open_run(folder) as finished:
        return write_word_sheet(finished, Path(file), finished.result.manifest["settings"]["seed"])


def add_words(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes readers' one word on each episode, and counts them."""
    with RunFolder.open(Path(folder)), open_run(folder) as finished, PeopleRecords(Path(folder)) as people:
        for word in [each for file in files for each in read_words(Path(file), finished.records.episodes)]:
            people.words.append(word)
    return people_document(folder)


def people_document(folder: str | Path) -> Document:
    """What people have said about a run."""
    with open_run(folder) as finished, PeopleRecords(Path(folder)) as people:
        tables = [block for section in people_sections(finished, people) for block in section.blocks]
        if not tables or not isinstance(tables[0], Table):
            raise InputError(f"Nobody has said anything about {folder} yet: see --export, --ratings and --words.")
        return Document("People and judges", f"{finished.result.label} ({folder})", tables[0], [Section("More", tables[1:])])


def score(folder: str | Path) -> RunResult:
    """Scores again from the records on disk. Calls no model and needs no key."""
    path = Path(folder)
    with opened_run(path, build=()) as (run_, benchmark, _):
        run_.score(benchmark)
    return result(path)


def has_person(folder: str | Path) -> bool:
    """Whether somebody sits at the terminal while a run is run."""
    models = RunFolder.open(Path(folder), lock=False).read_manifest()["models"]
    return PERSON in (models["subject"], models["partner"])


def result(folder: str | Path) -> RunResult:
    """What a finished run gave. Raises RunFolderError if it has not been scored."""
    path = Path(folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    try:
        scores = ScoreFile.model_validate_json((path / "scores.json").read_bytes())
    except FileNotFoundError:
        raise RunFolderError(f"{path} has no scores yet. Finish it with: sociable resume {path}") from None
    except ValueError as error:
        raise RunFolderError(
            f"{path / 'scores.json'} is damaged ({error.__class__.__name__}). Make it anew with: sociable score {path}"
        ) from None
    benchmark = find_benchmark(manifest["benchmark"])
    notes = [*warnings_about(manifest, scores), *benchmark.remarks(scores.estimates)]
    return RunResult(benchmark.label_of(manifest), str(path), manifest, scores.estimates, scores.scores, notes)


@contextlib.contextmanager
def open_run(folder: str | Path, *, scored: bool = True) -> Iterator[FinishedRun]:
    """Opens a run for reading. No model is built and no lock is taken."""
    path = Path(folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    settings = settings_of(manifest, path)
    benchmark = find_benchmark(settings.benchmark)
    study = study_of(benchmark, settings, manifest, path)
    records = RunRecords.of(path, benchmark)
    seats = build_seats(settings, benchmark, build=())
    found = result(path) if scored else RunResult(benchmark.label_of(manifest), str(path), manifest, (), ())
    try:
        yield FinishedRun(found, study, records, seats)
    finally:
        records.close()


def report(folders: Sequence[str | Path], out: str | Path | None = None) -> Path:
    """Writes the HTML report of one or several runs of one benchmark; by default into the first folder, beside its own."""
    from sociable.reports.html import write_html

    document = report_document(folders)
    path = Path(out) if out else Path(folders[0]) / ("report.html" if len(folders) == 1 else "joint-report.html")
    write_html(document, path)
    return path


def report_document(folders: Sequence[str | Path]) -> Document:
    """The report as plain view records. Raises InputError when the runs are of different benchmarks."""
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(open_run(folder)) for folder in folders]
        names = {run.result.manifest["benchmark"] for run in runs}
        if len(names) != 1:
            raise InputError(f"One report shows runs of one benchmark; these are of {', '.join(sorted(names))}.")
        benchmark = find_benchmark(names.pop())
        return run_document(benchmark, runs)


def compare(first: str | Path, second: str | Path, *, anyway: bool = False, out: str | Path | None = None) -> Document:
    """Paired comparison of two runs on the cases both reached, metric by metric, and the cases one wins and the other loses.

    ``out`` is where it is written as HTML, with those cases in full.
    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    from sociable.runner.comparison import compare_runs, differences

    with open_run(first) as one, open_run(second) as other:
        different = differences(one, other)
        if different and not anyway:
            raise InputError(
                f"{first} and {second} are not comparable. They differ in: {'; '.join(different)}. "
                "Run one again with the settings of the other, or say --anyway."
            )
        contrast = find_benchmark(one.result.manifest["benchmark"]).contrast(one, other)
        return _written(compare_runs(one, other, different, contrast), out)


def estimate(benchmark: str, model: str | None = None, *, config: str | Path | None = None, **settings: Any) -> Document:
    """Calls, tokens and price of a run before anything is spent, at the most: as if every scenario went its longest way."""
    asked = settings_for(benchmark, config, model=model, **settings)
    found, study, seats = checked(asked, build=())
    calls = waited(rehearse(study, seats, list(study.scenarios), asked.repeats, references=makes_references(study, asked)))
    return estimate_document(found, asked, study, calls, prices_of(asked, seats))


def prompts(benchmark: str, scenario: str, *, config: str | Path | None = None, **settings: Any) -> list[RehearsedCall]:
    """What would be sent to each role in one scenario; what depends on replies is shown with stand-ins for them."""
    everybody = {"partner": "nobody", "reference": "nobody", "judges": ("nobody",)}
    opened = study(benchmark, config=config, **everybody, **settings)
    if scenario not in opened.scenarios:
        raise InputError(f"{benchmark} has no case '{scenario}'. `sociable show {benchmark}` lists them.")
    roles = {role: Seat(role, f"(the {role.value})", AbsentModel(role), Sampling()) for role in Role}
    seats = Seats(roles[Role.SUBJECT], roles[Role.PARTNER], roles[Role.REFERENCE], (roles[Role.JUDGE],))
    return waited(rehearse(opened, seats, [scenario], 1, references=opened.needs_references))


def study(benchmark: str, *, config: str | Path | None = None, **settings: Any) -> Study:
    """The benchmark bound to its data: ``study(...).scenarios`` are its scenarios by id."""
    asked = settings_for(benchmark, config, **{"model": "nobody", **settings})
    return find_benchmark(benchmark).open(study_options(asked))


def audit(
    benchmark: str,
    dataset: str | Path | None = None,
    *,
    skip_invalid: bool = False,
    sources: Sequence[str | Path] = (),
    dialogues: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
) -> Document:
    """Whether a dataset can be solved by a shortcut, and whether readers agreed. ``out`` is where it is written as HTML.

    ``options`` are the benchmark's own. ``sources`` are files of texts that the scenes may have been made from: how like they
    are, and how like what was said in the run ``dialogues``.
    """
    found = find_benchmark(benchmark)
    path = Path(dataset) if dataset else None
    opened = found.open(StudyOptions(dataset=path, skip_invalid=skip_invalid, values=options or {}))
    if dialogues and not sources:
        raise InputError("--dialogues needs at least one --source to be compared with.")
    beside = []
    if sources:
        several = len({Path(source).name for source in sources}) < len(sources)
        texts = {str(source) if several else Path(source).name: _text_of(Path(source)) for source in sources}
        with contextlib.ExitStack() as stack:
            run_ = stack.enter_context(open_run(dialogues, scored=False)) if dialogues else None
            beside = found.beside_sources(opened, texts, run_)
    document = found.audit(opened)
    document = replace(document, sections=[*document.sections, *beside])
    return _written(document, out)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}.") from None


def _written(document: Document, out: str | Path | None) -> Document:
    from sociable.reports.html import write_html

    if out:
        write_html(document, Path(out))
    return document


def describe(
    benchmark: str,
    dataset: str | Path | None = None,
    *,
    features: str = "tfidf",
    skip_invalid: bool = False,
    out: str | Path | None = None,
) -> Document:
    """Figures about a dataset: sizes, topics, clusters. ``out`` is where it is written as HTML, with its figures."""
    found = find_benchmark(benchmark)
    path = Path(dataset) if dataset else None
    return _written(found.describe(found.open(StudyOptions(dataset=path, skip_invalid=skip_invalid)), features), out)


def demo(out: str | Path | None = None, benchmark: str = "hsii", *, watch: Watch | None = None) -> tuple[Document, Path]:
    """Runs every reference agent of a benchmark, offline. Returns the report and the path of its file."""
    found = find_benchmark(benchmark)
    parent = Path(out) if out else new_folder("demo", benchmark)
    folders = [parent / agent for agent in found.demo_agents]
    for agent, folder in zip(found.demo_agents, folders, strict=True):
        run(benchmark, f"reference/{agent}", out=folder, watch=watch, **found.demo)
    return report_document(folders), report(folders, parent / "report.html")


def _finish(path: Path, watch: Watch | None, *, build: Collection[Role] = tuple(Role), offline: bool = False) -> RunResult:
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    waited(_go_on(path, watch, build, offline))
    return result(path)


async def _go_on(path: Path, watch: Watch | None, build: Collection[Role], offline: bool) -> None:
    with opened_run(path, build=build, offline=offline, watch=watch) as (run_, benchmark, models):
        interrupted = on_interrupt(run_.budget)
        try:
            settings = settings_of(run_.folder.read_manifest(), path)
            if settings.reference_file and run_.study.needs_references and run_.lacks_references:
                run_.adopt_references(references_from(Path(settings.reference_file), benchmark, run_.study, run_.seats))
            elif makes_references(run_.study, settings):
                await run_.make_references()
            if Role.SUBJECT in build:
                await run_.run_episodes()
            if run_.seats.judges:
                await run_.judge()
            await run_.rate()
        finally:
            interrupted()
            for model in models:
                await model.close()
            with contextlib.suppress(RunStopped):
                _note_what_happened(run_, models)
        try:
            run_.score(benchmark)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted while scores were worked out. All that was said and judged is kept.") from None


def _note_what_happened(run_: Run, models: Sequence[JournalledModel]) -> None:
    """Writes into the manifest what was spent so far, by role, and what failed or had to be asked otherwise this time."""
    manifest = run_.folder.read_manifest()
    manifest["usage"] = {role: usage.model_dump() for role, usage in sorted(run_.budget.usage.items())}
    manifest["cost"] = {role: round(cost, 6) for role, cost in sorted(run_.budget.cost.items())}
    for name in ("adaptations", "seconds"):
        known = manifest.get(name, {})
        manifest[name] = known | {model.name: value for model in models if (value := getattr(model, name))}
    manifest["failures"] = dict(run_.failures.most_common(10))
    run_.folder.write_manifest({name: value for name, value in manifest.items() if name != "format"})
