"""What people were given and what they gave, in files of the run folder.

What was put on sheets stands in ``sheets.jsonl``, people's words in ``people.jsonl``, ``ratings.jsonl`` and
``words.jsonl``; none of it changes the run's own scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from sociable.core.records import Record, Verdict
from sociable.core.run_folder import RecordFile

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
    seconds: float | None = None
    """The time it took; None: not measured."""


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

    def leave_out(self, persons: Collection[str]) -> None:
        """Reads on as if these people had said nothing; their records stay in the files."""
        for file in (self.verdicts, self.ratings, self.words):
            file.leave_out([each.id for each in file if each.person in persons])

    def note_sheet(self, items: Sequence[SheetItem], file: Path | None) -> None:
        """Keeps the items of a new sheet, and how probable it now is for each of their strata to be on one.

        Without a ``file`` the items were dealt to people who have links.
        """
        new = [item.model_copy(update={"sheet": file.stem if file else ""}) for item in items]
        every = {item.id: item for item in (*self.sheets, *new)}
        drawn = Counter(item.stratum for item in every.values())
        for item in every.values():
            noted = item.model_copy(update={"inclusion": drawn[item.stratum] / item.size})
            if self.sheets.find(item.id) != noted:
                self.sheets.append(noted)

    def _open(self, path: Path, kind: type[R]) -> RecordFile[R]:
        remedy = "Restore the file from a copy; or remove that line, and give people's files back again."
        return self.enter_context(closing(RecordFile(path, kind, remedy)))
