"""A social task: who wants what of whom, where and when, and by which signs it is seen to be done (section 3.1, Table 2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.town.map import Address


class TaskType(StrEnum):
    """Table 2. What is specified, what must be settled between people, and what is counted."""

    PUBLIC = "public activity"
    """Time and place specified; people who attend are counted."""
    APPOINTMENT = "appointment"
    """Time and place to be settled with one person."""
    COMPANIONS = "inviting companions"
    """Place specified, time to be settled; people there at once with the performer are counted."""
    ONLINE = "online activity"
    """Time specified, no place."""
    HELP = "asking for help"
    """Things to be done at places, in order, by somebody else."""


def _with_a_word(phrase: str) -> str:
    # Without one it would be found in every text.
    if not any(sign.isalnum() for sign in phrase):
        raise ValueError(f"'{phrase}' has no word in it by which it could be found")
    return phrase


Keyword = Annotated[Text, AfterValidator(_with_a_word)]
KeywordGroup = Annotated[tuple[Keyword, ...], Field(min_length=1)]


class Signs(Record):
    """By which an activity's text is seen to be it: of every group of ``keywords`` one, and none of ``not_keywords``."""

    keywords: tuple[KeywordGroup, ...] = Field(min_length=1)
    not_keywords: tuple[Keyword, ...] = ()
    there: tuple[str, ...] = ()
    """What shows that somebody is at it whatever else it does: "at the soup swap"."""
    errand: bool = False
    """Whether it is a thing done for somebody, which may well be to buy something."""


class Subtask(Record):
    """One thing to be done for somebody, at a place."""

    doing: str
    place: str
    minutes: int = Field(default=5, ge=1)
    signs: Signs
    wordings: tuple[str, ...] = ()
    """As somebody who does it might say it."""

    @property
    def address(self) -> Address:
        return Address.parse(self.place)


class Task(Record):
    """One task for one performer, ready to be run. Minutes count from the midnight before the first day."""

    id: str
    template: str
    type: TaskType
    activity: str
    """Its short name."""
    goal: str
    """Goal and criteria, in the third person, as the performer's persona carries it (App. A)."""
    first_person: str
    description: str
    performer: str
    cast: tuple[str, ...]
    """The background characters, the target among them; they know nothing of the task."""
    target: str = ""
    """Of an appointment."""
    place: str = ""
    """``Sector: arena``; empty where it is to be settled, or there is none."""
    places: tuple[str, ...] = ()
    """Where it could be, for those that must be settled: what people would think of. Scores do not depend on it."""
    start: int
    """Of the event, or of the time within which it must fall."""
    end: int
    expected: int = Field(ge=1)
    """How many people earn the full score of a collective task (App. A.1)."""
    signs: Signs
    wordings: tuple[str, ...] = ()
    subtasks: tuple[Subtask, ...] = ()

    @property
    def address(self) -> Address | None:
        return Address.parse(self.place) if self.place else None

    @property
    def day(self) -> int:
        """Of the event, from 0."""
        return self.start // (24 * 60)

    @property
    def residents(self) -> tuple[str, ...]:
        return (self.performer, *self.cast)
