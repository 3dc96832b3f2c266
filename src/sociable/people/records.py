"""People check judges: a sample of judged pairs goes out as a sheet, verdicts come back, scores are corrected.

The sample is drawn by stage and by the judges' verdict, so that rare verdicts are looked at too; weights undo that. Sides
are shuffled and judges hidden. What was sampled stands in ``sheets.jsonl`` of the run folder, what people said in
``people.jsonl``, ``ratings.jsonl`` and ``words.jsonl``; none of it changes the run's own scores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from sociable.core.records import Judgment, Record, Verdict
from sociable.core.run_folder import RecordFile
from sociable.engine.result import RunResult
from sociable.engine.study import Judged, ShownPair, ShownQuestion
from sociable.judging.panel import decide_panel

R = TypeVar("R", bound=BaseModel)


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


class PeopleRecords(ExitStack):
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
        file = RecordFile(path, kind.model_validate_json, lambda record: str(record.id))  # type: ignore[attr-defined]
        return self.enter_context(closing(file))


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
    return run.study.show(episode, criterion, run.reference_of(episode.scenario)) if isinstance(run.study, Judged) else None


def list_judged_pairs(run: RunResult) -> Iterator[JudgedPair]:
    """Every pair that the current panel has judged in full."""
    if not isinstance(run.study, Judged):
        return
    panel = {seat.name for seat in run.seats.judges}
    for episode in run.records.episodes:
        by_criterion: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in run.judgments_of(episode):
            by_criterion[judgment.criterion].append(judgment)
        for criterion, judgments in by_criterion.items():
            by_judge = {judgment.judge: judgment.verdict for judgment in judgments}
            if panel <= by_judge.keys():
                yield JudgedPair(episode, criterion, run.study.stage_of(criterion), decide_panel(judgments)[0], by_judge)
