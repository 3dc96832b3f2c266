"""People check judges: a sample of judged pairs goes out as a sheet, verdicts come back, scores are corrected.

The sample is drawn by stage and by the judges' verdict, so that rare verdicts are looked at too; weights undo that. Sides
are shuffled and judges hidden. The sample stands in ``sheets.jsonl`` of the run folder, people's words in
``people.jsonl``, ``ratings.jsonl`` and ``words.jsonl``; none of it changes the run's own scores. Sheets are CSV as
spreadsheets save it, or JSON Lines.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from sociable.judging.panel import decide_panel

R = TypeVar("R", bound=BaseModel)

PAIR_FIELDS = ("item", "stage", "situation", "addressee", "response_1", "response_2", "verdict", "comment", "person")
"""The columns of a sheet of pairs. ``verdict`` is to be filled in: 1 or 2 for the better response, 0 if neither is."""

QUESTION_FIELDS = ("item", "stage", "situation", "about", "conversation", "question", "verdict", "comment", "person")
"""The columns of a sheet of questions. ``verdict`` is to be filled in: yes or no."""

_BESIDES = "and person, where there are several"
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
    """Stage and the panel's verdict when the sheet was made."""
    size: int
    """Pairs, or questions, in the stratum."""
    question: bool = False
    """Whether it is a question of yes or no, not a pair."""
    panel: tuple[str, ...] = ()
    """The judges whose verdicts made the strata."""

    @property
    def counted_as(self) -> str:
        return self.stage or self.criterion


class PersonVerdict(Record):
    """One person's verdict on one item, for the subject's side."""

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

    def has_other_strata(self, items: Sequence[SheetItem]) -> bool:
        """Whether an earlier sheet was drawn from other strata, or by another panel's verdicts, than these items."""
        now = {(item.stratum, item.size, item.panel) for item in items}
        moved = any(item.id in self.sheets and self.sheets.read(item.id).stratum != item.stratum for item in items)
        return moved or any((item.stratum, item.size, item.panel) not in now for item in self.sheets)

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

    @property
    def stratum(self) -> str:
        return f"{self.stage}: {self.verdict}"


def find_shown_item(run: RunResult, episode: Any, criterion: str) -> ShownPair | ShownQuestion | None:
    """The pair, or question, that judges judged, as a person reads it; None where there is nothing to be shown."""
    return run.study.show(episode, criterion, run.find_reference(episode.scenario)) if isinstance(run.study, Judged) else None


def list_judged_pairs(run: RunResult) -> Iterator[JudgedPair]:
    """Every pair that the current panel has judged in full."""
    if not isinstance(run.study, Judged):
        return
    panel = {seat.name for seat in run.seats.judges}
    for episode in run.records.episodes:
        by_criterion: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in run.find_judgments(episode):
            if run.study.is_shown(judgment.criterion):
                by_criterion[judgment.criterion].append(judgment)
        for criterion, judgments in by_criterion.items():
            by_judge = {judgment.judge: judgment.verdict for judgment in judgments}
            if panel <= by_judge.keys():
                yield JudgedPair(episode, criterion, run.study.find_stage(criterion), decide_panel(judgments)[0], by_judge)


def draw_sheet(run: RunResult, count: int, seed: int) -> list[SheetItem]:
    """``count`` pairs, spread over the strata as evenly as their sizes allow. Raises InputError when there are none."""
    strata: dict[str, list[JudgedPair]] = defaultdict(list)
    for pair in list_judged_pairs(run):
        if find_shown_item(run, pair.episode, pair.criterion):
            strata[pair.stratum].append(pair)
    if not strata:
        if not (isinstance(run.study, Judged) and run.study.win_rates):
            raise InputError(f"What judges do in {run.manifest['benchmark']} cannot be put on a sheet.")
        raise InputError(f"{run.folder} holds no judged pair that could be shown. Have it judged first.")
    if count < len(strata):
        raise InputError(f"--sample {count} is too few: there are {len(strata)} strata, and each needs a pair to be weighed.")
    generator = make_generator(seed, "sheet", count)
    panel = tuple(seat.name for seat in run.seats.judges)
    items = []
    for stratum, taken in _spread(count, {name: len(pairs) for name, pairs in sorted(strata.items())}).items():
        drawn = generator.sample(strata[stratum], taken)
        items += [_make_item(run, pair, len(strata[stratum]), panel, seed) for pair in drawn]
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


def read_verdicts(file: Path, items: RecordFile[SheetItem]) -> list[PersonVerdict]:
    """Verdicts from a sheet that was filled in. Rows without a verdict are left out.

    The person is named in a column ``person``, or by the name of the file. Raises DataError naming file, line and field.
    """
    verdicts: list[PersonVerdict] = []
    for place, row in read_rows(file, ("item", "verdict"), _BESIDES):
        given = row["verdict"].strip().removesuffix(".0")
        if not given:
            continue
        if row["item"] not in items:
            raise DataError(place, "item", f"'{row['item'][:40]}' is on no sheet of this run")
        item, person = items.read(row["item"]), row.get("person", "").strip() or file.stem
        verdict = _parse_verdict(item, given, place)
        comment = row.get("comment", "").strip()
        if any(each.id == f"{item.id}|{person}" and each.verdict is not verdict for each in verdicts):
            raise DataError(place, "item", f"{person} has two verdicts on '{item.id}' in this file")
        verdicts.append(PersonVerdict(id=f"{item.id}|{person}", item=item.id, person=person, verdict=verdict, comment=comment))
    if not verdicts:
        raise InputError(f"{file}: no verdict in it. Fill in the column 'verdict': 1, 2 or 0 for pairs, yes or no for questions.")
    return verdicts


def _parse_verdict(item: SheetItem, given: str, place: str) -> Verdict:
    """The verdict for the subject's side. Raises DataError."""
    if item.question:
        if given.lower() not in _ANSWERS:
            raise DataError(place, "verdict", f"expected yes, no or nothing, found '{given[:40]}'")
        return _ANSWERS[given.lower()]
    if given not in ("0", "1", "2"):
        raise DataError(place, "verdict", f"expected 1, 2, 0 or nothing, found '{given[:40]}'")
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
