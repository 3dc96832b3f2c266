"""People check judges: a sample of judged pairs goes out as a sheet, verdicts come back, scores are corrected.

The sample is drawn by stage, by the judges' verdict and by whether judges disagree, so that rare verdicts are looked at too;
weights undo that. Sides are shuffled and judges hidden. The sample stands in ``sheets.jsonl`` of the run folder, people's
words in ``people.jsonl``, ``ratings.jsonl`` and ``words.jsonl``; none of it changes the run's own scores. Sheets are CSV as
spreadsheets save it, or JSON Lines.
"""

from __future__ import annotations

import csv
import io
import json
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from sociable.core.errors import DataError, InputError
from sociable.core.names import find_words
from sociable.core.records import Judgment, Record, Verdict, make_episode_id
from sociable.core.run_folder import RecordFile, write_atomically
from sociable.core.seeding import derive_seed, make_generator
from sociable.core.spreadsheets import read_rows, render_csv
from sociable.engine.result import RunResult
from sociable.engine.study import Judged, ShownPair, ShownQuestion
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import decide_panel

R = TypeVar("R", bound=BaseModel)

PAIR_FIELDS = ("item", "stage", "situation", "addressee", "response_1", "response_2", "verdict", "comment", "person")
"""The columns of a sheet of pairs. ``verdict`` is to be filled in: 1 or 2 for the better response, 0 if neither is."""

QUESTION_FIELDS = ("item", "stage", "situation", "about", "conversation", "question", "verdict", "comment", "person")
"""The columns of a sheet of questions. ``verdict`` is to be filled in: yes or no."""

_BESIDES = "and person, where there are several"
SKIPPED = "skip"
"""The verdict of somebody who cannot decide: it counts as missing."""
MOST_LINES = 8
"""Lines of a sheet that an error names."""
_ANSWERS = {"yes": Verdict.WIN, "y": Verdict.WIN, "no": Verdict.LOSS, "n": Verdict.LOSS}

WORD_FIELDS = ("episode", "score", "read_it_with", "word", "person")
"""The columns of a sheet of episodes that went badly. ``word`` is to be filled in: what a reader felt, in one word."""
LOW = 0.5
"""The value of a benchmark's first metric below which an episode went badly."""
LOW_EPISODES = 20
"""The number that the paper had each of five people read."""


class SheetItem(Record):
    """One pair, or one question, that was put on a sheet."""

    id: str
    """The name on the sheet, which tells nothing of model, judge or side."""
    episode: str
    scenario: str
    criterion: str
    stage: str = ""
    """The kind of thing that the criterion asks; empty: the criterion says it."""
    subject_first: bool
    stratum: str
    """Stage, the panel's verdict when the sheet was made, and whether it was disputed."""
    size: int
    """Pairs, or questions, in the stratum."""
    inclusion: float | None = None
    """The share of the stratum that is on sheets, all of them together: the probability that an item is. None: not noted."""
    question: bool = False
    """Whether it is a question of yes or no, not a pair."""
    panel: tuple[str, ...] = ()
    """The judges whose verdicts made the strata."""
    sheet: str = ""
    """The name of the sheet's file, without its ending: it names no person. Empty: not noted."""

    @property
    def counted_as(self) -> str:
        return self.stage or self.criterion


class PersonVerdict(Record):
    """One person's verdict on one item, for the subject's side; UNSCORED where the person could not decide."""

    id: str
    item: str
    person: str
    verdict: Verdict
    comment: str = ""


class PersonRating(Record):
    """One person's free rating of a whole episode."""

    id: str
    episode: str
    person: str
    rating: float


class PersonWord(Record):
    """One person's one word on a whole episode (AntEval, section 5.4)."""

    id: str
    episode: str
    person: str
    word: str


P = TypeVar("P", PersonVerdict, PersonRating, PersonWord)


class PeopleFiles(ExitStack):
    """The records of what people were given and gave, in a run folder; as a context it closes their files."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.sheets = self._open(folder / "sheets.jsonl", SheetItem)
        self.verdicts = self._open(folder / "people.jsonl", PersonVerdict)
        self.ratings = self._open(folder / "ratings.jsonl", PersonRating)
        self.words = self._open(folder / "words.jsonl", PersonWord)

    def has_other_strata(self, strata: Mapping[str, Sequence[JudgedPair]], panel: tuple[str, ...]) -> bool:
        """Whether an earlier sheet was drawn from other strata than these, or by another panel's verdicts."""
        now = {pair.names: stratum for stratum, pairs in strata.items() for pair in pairs}
        return any(
            now.get((item.episode, item.criterion)) != item.stratum
            or len(strata[item.stratum]) != item.size
            or item.panel != panel
            for item in self.sheets
        )

    def note_sheet(self, items: Sequence[SheetItem], file: Path) -> None:
        """Keeps the items of a new sheet, and how probable it now is for each of their strata to be on one."""
        new = [item.model_copy(update={"sheet": file.stem}) for item in items]
        every = {item.id: item for item in (*self.sheets, *new)}
        drawn = Counter(item.stratum for item in every.values())
        for item in every.values():
            noted = item.model_copy(update={"inclusion": drawn[item.stratum] / item.size})
            if self.sheets.find(item.id) != noted:
                self.sheets.append(noted)

    def _open(self, path: Path, kind: type[R]) -> RecordFile[R]:
        remedy = "Restore the file from a copy; or remove that line, and give people's files back again."
        return self.enter_context(closing(RecordFile(path, kind, remedy)))


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair, or a question, on which all judges of the panel have given their opinion."""

    episode: Any
    criterion: str
    stage: str
    verdict: Verdict
    """The panel's."""
    by_judge: Mapping[str, Verdict]

    is_disputed: bool = False
    """Whether judges gave different verdicts, or one of them another verdict when the sides were swapped."""

    @property
    def names(self) -> tuple[str, str]:
        return self.episode.id, self.criterion

    @property
    def stratum(self) -> str:
        return f"{self.stage}: {self.verdict}{', disputed' if self.is_disputed else ''}"


def find_shown_item(run: RunResult, episode: Any, criterion: str) -> ShownPair | ShownQuestion | None:
    """The pair, or question, that judges judged, as a person reads it; None where there is nothing to be shown."""
    return run.study.show(episode, criterion, run.find_reference(episode.scenario)) if isinstance(run.study, Judged) else None


def list_judged_pairs(run: RunResult, panel: Sequence[str] = ()) -> Iterator[JudgedPair]:
    """Every pair that a panel has judged in full; by default the current one."""
    if not isinstance(run.study, Judged):
        return
    judges = set(panel) or {seat.name for seat in run.seats.judges}
    given: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for judgment in run.judgments():
        if judgment.judge in judges:
            given[judgment.episode, judgment.criterion].append(judgment)
    for episode in run.records.episodes:
        for criterion in filter(run.study.is_shown, run.study.list_criteria(episode)):
            judgments = given[episode.id, criterion]
            by_judge = {judgment.judge: judgment.verdict for judgment in judgments}
            if judges and judges <= by_judge.keys():
                swapped = any(isinstance(each, PairJudgment) and each.orders_disagree for each in judgments)
                disputed = swapped or len(set(by_judge.values())) > 1
                stage, verdict = run.study.find_stage(criterion), decide_panel(judgments)[0]
                yield JudgedPair(episode, criterion, stage, verdict, by_judge, disputed)


def list_strata(run: RunResult, panel: Sequence[str] = ()) -> dict[str, list[JudgedPair]]:
    """The judged pairs that can be shown to people, by the group that they are drawn from. Raises InputError without any."""
    strata: dict[str, list[JudgedPair]] = defaultdict(list)
    for pair in list_judged_pairs(run, panel):
        if find_shown_item(run, pair.episode, pair.criterion):
            strata[pair.stratum].append(pair)
    if not strata:
        if not (isinstance(run.study, Judged) and run.study.win_rates):
            raise InputError(f"What judges do in {run.manifest['benchmark']} cannot be put on a sheet.")
        raise InputError(f"{run.folder} holds no judged pair that could be shown. Have it judged first.")
    return dict(sorted(strata.items()))


def draw_sheet(
    run: RunResult, people: PeopleFiles, strata: Mapping[str, Sequence[JudgedPair]], count: int, seed: int
) -> list[SheetItem]:
    """``count`` pairs that are on no sheet yet, or all of them: with those that are, as even over the strata as sizes allow.

    Raises InputError when no pair is left, or a stratum would have none.
    """
    drawn = {(item.episode, item.criterion) for item in people.sheets}
    there = {name: sum(pair.names in drawn for pair in pairs) for name, pairs in strata.items()}
    sizes = {name: len(pairs) for name, pairs in strata.items()}
    if there == sizes:
        raise InputError(f"All {len(drawn)} judged pairs that could be shown are on sheets already.")
    if 0 <= count < (bare := sum(not each for each in there.values())):
        raise InputError(
            f"--sample {count} is too few: there are {bare} strata without a pair, and each needs one to be weighed."
        )
    return draw_items(run, strata, _spread(count, sizes, there), seed, ("sheet", count, len(drawn)), drawn)


def draw_items(
    run: RunResult,
    strata: Mapping[str, Sequence[JudgedPair]],
    taken: Mapping[str, int],
    seed: int,
    names: Sequence[str | int],
    drawn: Collection[tuple[str, str]] = (),
) -> list[SheetItem]:
    """As many pairs of each stratum as ``taken`` says, by chance from those that were not ``drawn`` yet, in random order."""
    generator = make_generator(seed, *names)
    panel = tuple(seat.name for seat in run.seats.judges)
    items = []
    for stratum, count in taken.items():
        pairs = generator.sample([pair for pair in strata[stratum] if pair.names not in drawn], count)
        items += [_make_item(run, pair, len(strata[stratum]), panel, seed) for pair in pairs]
    generator.shuffle(items)
    return items


def _make_item(run: RunResult, pair: JudgedPair, size: int, panel: tuple[str, ...], seed: int) -> SheetItem:
    # The same pair is the same item on every sheet, the same side first.
    names = (pair.episode.id, pair.criterion)
    return SheetItem(
        # With a letter in front no spreadsheet takes it for a number.
        id=f"i{derive_seed(seed, 'item', *names):016x}",
        episode=pair.episode.id,
        scenario=pair.episode.scenario,
        criterion=pair.criterion,
        stage=pair.stage,
        question=isinstance(find_shown_item(run, pair.episode, pair.criterion), ShownQuestion),
        subject_first=make_generator(seed, "side", *names).random() < 0.5,
        stratum=pair.stratum,
        size=size,
        panel=panel,
    )


def _spread(count: int, sizes: Mapping[str, int], there: Mapping[str, int]) -> dict[str, int]:
    """The number of pairs to add to each stratum: so that all have equally many, and what small ones lack goes to the larger."""
    taken = dict(there)
    for _ in range(min(count, sum(sizes.values()) - sum(there.values()))):
        least = min((name for name in sizes if taken[name] < sizes[name]), key=taken.__getitem__)
        taken[least] += 1
    return {name: taken[name] - there[name] for name in sizes}


def require_free(file: Path, endings: Sequence[str]) -> None:
    """Raises InputError where a new sheet cannot be in this file: it is there, or a run's records are in such files."""
    if file.suffix not in endings:
        raise InputError(f"{file}: a sheet is a {' or a '.join(endings)} file.")
    if file.exists():
        raise InputError(f"{file} is there already, and may hold what people said. Name another file, or move it away.")
    if file.suffix == ".jsonl" and (file.parent / "manifest.json").exists():
        raise InputError(f"{file}: the run keeps its own records in .jsonl files there. Name a .csv file, or another folder.")


def write_sheet(run: RunResult, items: Sequence[SheetItem], file: Path) -> None:
    """Writes the sheet as CSV or as JSON Lines, by the ending of its name. Raises InputError as ``require_free`` does."""
    require_free(file, (".csv", ".jsonl"))
    rows = [_make_row(run, item) for item in items]
    if file.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = render_csv(list(rows[0]), [list(row.values()) for row in rows])
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)


def _make_row(run: RunResult, item: SheetItem) -> dict[str, str]:
    shown = find_shown_item(run, run.records.episodes.read(item.episode), item.criterion)
    assert shown is not None
    fields: tuple[str, ...]
    if isinstance(shown, ShownQuestion):
        fields, texts = QUESTION_FIELDS, (shown.situation, shown.about, shown.conversation, shown.question)
    else:
        sides = (shown.subject, shown.golden) if item.subject_first else (shown.golden, shown.subject)
        fields, texts = PAIR_FIELDS, (shown.situation, shown.addressee, *sides)
    return dict(zip(fields, (item.id, item.counted_as, *texts, "", "", ""), strict=True))


def read_verdicts(files: Sequence[Path], people: PeopleFiles, *, replace: bool = False) -> list[PersonVerdict]:
    """Verdicts from sheets that were filled in, every row of them. An item that is left out counts as not looked at.

    The person is named in a column ``person``, or by the name of the file unless that is the sheet's own. Raises DataError
    naming file, line and field for an item of no sheet, for a row without a verdict or a person, for two spellings of one name,
    and for a second verdict of one person on one item: in the same file, in another, or, unless it is to ``replace`` that, in
    the run folder from before.
    """
    sheets = {item.sheet.casefold() for item in people.sheets}

    def find(name: str, place: str) -> str:
        if name not in people.sheets:
            remedy = "Give the sheet to the run that it was drawn from, with 'item' as it was there"
            raise DataError(place, "item", f"'{name[:40]}' is on no sheet of this run. {remedy}")
        return name

    def read(file: Path) -> Iterator[tuple[str, PersonVerdict]]:
        for row in _read_rows(file, "item", "verdict", find, sheets):
            verdict = _parse_verdict(people.sheets.read(row.about), row.said.removesuffix(".0"), row.place)
            yield row.place, PersonVerdict(id=row.id, item=row.about, person=row.person, verdict=verdict, comment=row.comment)

    return _gather(files, "verdict", read, people.verdicts, replace)


def _parse_verdict(item: SheetItem, given: str, place: str) -> Verdict:
    """The verdict for the subject's side. Raises DataError."""
    if given.lower() == SKIPPED:
        return Verdict.UNSCORED
    if item.question:
        if given.lower() not in _ANSWERS:
            raise DataError(place, "verdict", f"expected yes, no or {SKIPPED}, found '{given[:40]}'")
        return _ANSWERS[given.lower()]
    if given not in ("0", "1", "2"):
        raise DataError(place, "verdict", f"expected 1, 2, 0 or {SKIPPED}, found '{given[:40]}'")
    won = (given == "1") == item.subject_first
    return Verdict.TIE if given == "0" else Verdict.WIN if won else Verdict.LOSS


def read_ratings(
    files: Sequence[Path], people: PeopleFiles, episodes: RecordFile[Any], *, replace: bool = False
) -> list[PersonRating]:
    """Ratings of whole episodes: columns ``episode``, ``rating`` (a number, higher is better) and, optionally, ``person``.

    Raises DataError as ``read_verdicts`` does.
    """

    def read(file: Path) -> Iterator[tuple[str, PersonRating]]:
        for row in _read_rows(file, "episode", "rating", lambda name, place: _find_episode(name, place, episodes)):
            try:
                rating = float(row.said)
            except ValueError:
                rating = math.nan
            if not math.isfinite(rating):
                raise DataError(row.place, "rating", f"expected a number, found '{row.said[:40]}'")
            yield row.place, PersonRating(id=row.id, episode=row.about, person=row.person, rating=rating)

    return _gather(files, "rating", read, people.ratings, replace)


def read_words(
    files: Sequence[Path], people: PeopleFiles, episodes: RecordFile[Any], *, replace: bool = False
) -> list[PersonWord]:
    """One word on each episode: columns ``episode``, ``word`` and, optionally, ``person``.

    Raises DataError as ``read_verdicts`` does.
    """

    def read(file: Path) -> Iterator[tuple[str, PersonWord]]:
        for row in _read_rows(file, "episode", "word", lambda name, place: _find_episode(name, place, episodes)):
            word = " ".join(find_words(row.said))
            if not word or " " in word:
                raise DataError(row.place, "word", f"expected a single word, found '{row.said[:40]}'")
            yield row.place, PersonWord(id=row.id, episode=row.about, person=row.person, word=word)

    return _gather(files, "word", read, people.words, replace)


def _find_episode(name: str, place: str, episodes: RecordFile[Any]) -> str:
    episode = name if name in episodes else f"{name}#0"
    if episode != name and f"{name}#1" in episodes:
        raise DataError(place, "episode", f"'{name[:80]}' was run several times; write {name[:80]}#0, #1, …")
    if episode not in episodes:
        raise DataError(place, "episode", f"this run has no episode '{name[:80]}'")
    return episode


@dataclass(frozen=True, slots=True)
class _Row:
    """A row in which a person said something."""

    place: str
    about: str
    """The item, or the episode."""
    person: str
    said: str
    comment: str

    @property
    def id(self) -> str:
        return f"{self.about}|{self.person}"


def _read_rows(file: Path, about: str, column: str, find: Callable[[str, str], str], unnamed: Collection[str] = ()) -> list[_Row]:
    """The rows of one file; in each ``column`` is filled in. Files called "sheet", or as those ``unnamed``, name nobody."""
    found, empty = [], []
    for place, row in read_rows(file, (about, column), _BESIDES):
        said, name = row[column].strip(), row[about].strip()
        if not name and not said:
            continue  # Spreadsheets save empty rows at the end.
        name = find(name, place)
        if not said:
            empty.append(place.removeprefix(f"{file}, "))
            continue
        person = row.get("person", "").strip()
        if not person and file.stem.casefold() in ("sheet", *unnamed):
            remedy = "Fill in who it was, or give the file the person's name"
            raise DataError(place, "person", f"is empty, and '{file.stem}' is the name of the sheet. {remedy}")
        found.append(_Row(place, name, person or file.stem, said, row.get("comment", "").strip()))
    if all(row.said.lower() == SKIPPED for row in found):
        hint = ": 1, 2 or 0 for pairs, yes or no for questions" if column == "verdict" else ""
        raise InputError(f"{file}: no {column} in it. Fill in the column '{column}'{hint}.")
    if empty:
        lines = ", ".join(empty[:MOST_LINES]) + (f" and {len(empty) - MOST_LINES} more" if len(empty) > MOST_LINES else "")
        skip = f"Write {SKIPPED} where it cannot be decided, or take" if column == "verdict" else "Take"
        raise DataError(f"{file}, {lines}", column, f"is empty. {skip} the row out if nobody has looked at it")
    return found


def _gather(
    files: Sequence[Path], noun: str, read: Callable[[Path], Iterable[tuple[str, P]]], kept: RecordFile[P], replace: bool
) -> list[P]:
    """What people said in all files together. Raises DataError where one would take another's place, or that of one ``kept``."""
    found: dict[str, P] = {}
    places: dict[str, tuple[Path, str]] = {}
    persons = {each.person for each in kept}
    for file in files:
        for place, given in read(file):
            who, about = f"'{given.person}'", f"'{given.id.removesuffix(f'|{given.person}')}'"
            if given.person not in persons:
                if alike := next((each for each in persons if _fold(each) == _fold(given.person)), None):
                    remedy = "Write the name of one person in one way; to that of another, add something"
                    raise DataError(place, "person", f"{who} or '{alike}', as elsewhere? {remedy}")
                persons.add(given.person)
            if given.id in found:
                other, where = places[given.id]
                if other != file:
                    remedy = "Fill in the column 'person', or give the files different names"
                    raise DataError(place, "person", f"{about} has a {noun} by the same person, {who}, in {where}. {remedy}")
                if not _say_the_same(given, found[given.id]):
                    remedy = "Keep the one that holds, or name both people in the column 'person'"
                    raise DataError(place, noun, f"{who} has two {noun}s on {about} in this file, see {where}. {remedy}")
            before = kept.find(given.id)
            if before and not replace and not _say_the_same(given, before):
                remedy = "--replace puts this one in its place; if it is another person's, fill in the column 'person'"
                raise DataError(place, noun, f"{who} gave another {noun} on {about} before. {remedy}")
            found[given.id], places[given.id] = given, (file, place)
    return list(found.values())


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _say_the_same(one: BaseModel, other: BaseModel) -> bool:
    return one.model_dump(exclude={"comment"}) == other.model_dump(exclude={"comment"})


def write_word_sheet(run: RunResult, file: Path, seed: int) -> int:
    """Writes a sheet of episodes that went badly, drawn by seed. Returns their number.

    Raises InputError where there are none, and as ``require_free`` does.
    """
    require_free(file, (".csv",))
    metric = run.study.low_metric
    if not metric:
        raise InputError(f"In {run.manifest['benchmark']} no episode goes well or badly by itself: there is no such sheet.")
    low = [score for score in run.scores if score.metric == metric and score.value is not None and score.value < LOW]
    if not low:
        raise InputError(f"{run.folder} has no episode with {metric} below {LOW}.")
    drawn = make_generator(seed, "low").sample(low, min(LOW_EPISODES, len(low)))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(WORD_FIELDS)
    for score in drawn:
        episode = make_episode_id(score.scenario, score.repeat)
        writer.writerow([episode, f"{score.value:.2f}", f"sociable show {run.folder} {episode}", "", ""])
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, stream.getvalue())
    return len(drawn)
