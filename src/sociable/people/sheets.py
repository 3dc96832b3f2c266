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
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
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

    def note_sheet(self, items: Sequence[SheetItem]) -> None:
        """Keeps the items of a new sheet, and how probable it now is for each of their strata to be on one."""
        every = {item.id: item for item in (*self.sheets, *items)}
        drawn = Counter(item.stratum for item in every.values())
        for item in every.values():
            noted = item.model_copy(update={"inclusion": drawn[item.stratum] / item.size})
            if self.sheets.find(item.id) != noted:
                self.sheets.append(noted)

    def _open(self, path: Path, kind: type[R]) -> RecordFile[R]:
        return self.enter_context(closing(RecordFile(path, kind)))


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


def draw_sheet(run: RunResult, strata: Mapping[str, Sequence[JudgedPair]], count: int, seed: int) -> list[SheetItem]:
    """``count`` pairs, spread over the strata as evenly as their sizes allow. Raises InputError when that leaves one without."""
    if count < len(strata):
        raise InputError(f"--sample {count} is too few: there are {len(strata)} strata, and each needs a pair to be weighed.")
    taken = _spread(count, {name: len(pairs) for name, pairs in strata.items()})
    return draw_items(run, strata, taken, seed, ("sheet", count))


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


def _spread(count: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """The number of pairs to take from each stratum: equally many, and what small ones lack goes to the larger."""
    taken = dict.fromkeys(sizes, 0)
    for _ in range(min(count, sum(sizes.values()))):
        least = min((name for name in sizes if taken[name] < sizes[name]), key=taken.__getitem__)
        taken[least] += 1
    return taken


def write_sheet(run: RunResult, items: Sequence[SheetItem], file: Path) -> None:
    """Writes the sheet as CSV or as JSON Lines, by the ending of its name."""
    if file.suffix not in (".csv", ".jsonl"):
        raise InputError(f"{file}: a sheet is a .csv or a .jsonl file.")
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

    The person is named in a column ``person``, or by the name of the file. Raises DataError naming file, line and field for an
    item of no sheet, for a row without a verdict, and for a second verdict of one person on one item: in the same file, in
    another, or, unless it is to ``replace`` that, in the run folder from before.
    """
    verdicts: dict[str, PersonVerdict] = {}
    places: dict[str, tuple[Path, str]] = {}
    for file in files:
        for verdict, place in _read_sheet(file, people.sheets):
            who, item = f"'{verdict.person}'", f"'{verdict.item}'"
            if verdict.id in verdicts:
                other, where = places[verdict.id]
                if other != file:
                    remedy = "Fill in the column 'person', or give the files different names"
                    raise DataError(place, "item", f"{item} has a verdict by the same person, {who}, in {where}. {remedy}")
                if verdicts[verdict.id].verdict is not verdict.verdict:
                    remedy = "Keep the one that holds, or name both people in the column 'person'"
                    raise DataError(place, "item", f"{who} has two verdicts on {item} in this file, see {where}. {remedy}")
            before = people.verdicts.find(verdict.id)
            if before and before.verdict is not verdict.verdict and not replace:
                remedy = "--replace puts this one in its place; if it is another person's, fill in the column 'person'"
                raise DataError(place, "item", f"{who} gave another verdict on {item} before. {remedy}")
            verdicts[verdict.id], places[verdict.id] = verdict, (file, place)
    return list(verdicts.values())


def _read_sheet(file: Path, items: RecordFile[SheetItem]) -> list[tuple[PersonVerdict, str]]:
    """The verdicts of one file, each with its place."""
    found, empty = [], []
    for place, row in read_rows(file, ("item", "verdict"), _BESIDES):
        given, name = row["verdict"].strip().removesuffix(".0"), row["item"].strip()
        if not name and not given:
            continue  # Spreadsheets save empty rows at the end.
        if name not in items:
            remedy = "Give the sheet to the run that it was drawn from, with 'item' as it was there"
            raise DataError(place, "item", f"'{name[:40]}' is on no sheet of this run. {remedy}")
        if not given:
            empty.append(place.removeprefix(f"{file}, "))
            continue
        item, person = items.read(name), row.get("person", "").strip() or file.stem
        verdict, comment = _parse_verdict(item, given, place), row.get("comment", "").strip()
        found.append(
            (PersonVerdict(id=f"{item.id}|{person}", item=item.id, person=person, verdict=verdict, comment=comment), place)
        )
    if all(verdict.verdict is Verdict.UNSCORED for verdict, _ in found):
        raise InputError(f"{file}: no verdict in it. Fill in the column 'verdict': 1, 2 or 0 for pairs, yes or no for questions.")
    if empty:
        lines = ", ".join(empty[:MOST_LINES]) + (f" and {len(empty) - MOST_LINES} more" if len(empty) > MOST_LINES else "")
        remedy = f"Write {SKIPPED} where it cannot be decided, or take the row out if nobody has looked at it"
        raise DataError(f"{file}, {lines}", "verdict", f"is empty. {remedy}")
    return found


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


def read_ratings(file: Path, episodes: RecordFile[Any]) -> list[PersonRating]:
    """Ratings of whole episodes: columns ``episode``, ``rating`` (a number, higher is better) and, optionally, ``person``."""
    ratings = []
    for place, episode, person, said in _read_of_episodes(file, "rating", episodes):
        try:
            rating = float(said)
        except ValueError:
            rating = math.nan
        if not math.isfinite(rating):
            raise DataError(place, "rating", f"expected a number, found '{said[:40]}'")
        ratings.append(PersonRating(id=f"{episode}|{person}", episode=episode, person=person, rating=rating))
    return ratings


def read_words(file: Path, episodes: RecordFile[Any]) -> list[PersonWord]:
    """One word on each episode: columns ``episode``, ``word`` and, optionally, ``person``."""
    found = []
    for place, episode, person, said in _read_of_episodes(file, "word", episodes):
        word = " ".join(find_words(said))
        if not word or " " in word:
            raise DataError(place, "word", f"expected a single word, found '{said[:40]}'")
        found.append(PersonWord(id=f"{episode}|{person}", episode=episode, person=person, word=word))
    return found


def _read_of_episodes(file: Path, column: str, episodes: RecordFile[Any]) -> Iterator[tuple[str, str, str, str]]:
    """(place, episode, person, content) of every row in which ``column`` is filled in. Raises InputError if none is."""
    empty = True
    for place, row in read_rows(file, ("episode", column), _BESIDES):
        if not row[column].strip():
            continue
        name = row["episode"].strip()
        episode = name if name in episodes else f"{name}#0"
        if episode != name and f"{name}#1" in episodes:
            raise DataError(place, "episode", f"'{name[:80]}' was run several times; write {name[:80]}#0, #1, …")
        if episode not in episodes:
            raise DataError(place, "episode", f"this run has no episode '{name[:80]}'")
        empty = False
        yield place, episode, row.get("person", "").strip() or file.stem, row[column]
    if empty:
        raise InputError(f"{file}: no {column} in it.")


def write_word_sheet(run: RunResult, file: Path, seed: int) -> int:
    """Writes a sheet of episodes that went badly, drawn by seed. Returns their number. Raises InputError where there are none."""
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
    write_atomically(file, stream.getvalue())
    return len(drawn)
