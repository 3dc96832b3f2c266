"""A social task: who wants what of whom, where and when, and by which signs it is seen to be done (section 3.1, Table 2)."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from sociable.benchmarks.stss.obstacles import Obstacles
from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.town.clock import MINUTES_PER_DAY, parse_minute
from sociable.town.map import Address

DAYS = 2
"""The number of days of a simulation."""

LAST_MINUTE = DAYS * MINUTES_PER_DAY
"""The minute at which a simulation ends."""


class TaskType(StrEnum):
    """The types of Table 2: each says what is specified, what people must settle between them, and what is counted."""

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

    def count_expected(self, background: int) -> int:
        """Half of the background characters, of companions a third, rounded up (App. A.1); elsewhere one person."""
        parts = {TaskType.PUBLIC: 2, TaskType.ONLINE: 2, TaskType.COMPANIONS: 3}.get(self)
        return math.ceil(background / parts) if parts else 1


class Part(StrEnum):
    """Things that a person must be told before it can come (section 3.2's goal conditions); for help ``step 1`` and so on."""

    ACTIVITY = "activity"
    PLACE = "place"
    TIME = "time"


def check_place(place: str, info: ValidationInfo) -> str:
    """Returns the place. Raises ValueError where the town that is validated against has none of that name, or no way to it."""
    town = (info.context or {}).get("town")
    if town is not None and place:
        if Address.parse(place) not in town.places:
            raise ValueError(f"there is no '{place}' in {town.name}; expected 'Sector: arena' as on the map")
        if not town.find_free_tiles(Address.parse(place)):
            raise ValueError(f"'{place}' cannot be reached in {town.name}")
    return place


def _check_time(value: str) -> str:
    parse_minute(value)
    return value


def _check_keyword(phrase: str) -> str:
    if not any(sign.isalnum() for sign in phrase):
        raise ValueError(f"'{phrase}' has no word in it by which it could be found")
    return phrase


Place = Annotated[Text, AfterValidator(check_place)]
"""``Sector: arena``, as on the map."""

OptionalPlace = Annotated[str, AfterValidator(check_place)]
"""A place, or the empty string."""

Keyword = Annotated[Text, AfterValidator(_check_keyword)]
"""A word or phrase. One without a letter would be found in every text."""

KeywordGroup = Annotated[tuple[Keyword, ...], Field(min_length=1)]

Time = Annotated[str, AfterValidator(_check_time)]
"""A time of day: ``14:30``."""


class Span(Record):
    """Hours of a day, as files say them."""

    start: Time = Field(alias="from")
    end: Time = Field(alias="to")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if parse_minute(self.end) <= parse_minute(self.start):
            order = f"'to' ({self.end}) must be later than 'from' ({self.start})"
            raise ValueError(f"{order}; what goes past midnight is two entries")
        return self


class Signs(Record):
    """Signs by which a text is seen to be an activity: of every group of ``keywords`` one, and none of ``not_keywords``."""

    keywords: tuple[KeywordGroup, ...] = Field(min_length=1)
    not_keywords: tuple[Keyword, ...] = ()
    activity: str = ""
    """Its short name, where people may say that they are at it or take part in it."""
    errand: bool = False
    """Whether the activity is a thing done for somebody, which may well be to buy something."""


class Subtask(Record):
    """One thing to be done for somebody, at a place."""

    doing: str
    place: Place
    minutes: int = Field(default=5, ge=1)
    signs: Signs
    wordings: tuple[str, ...] = ()
    """Ways in which somebody who does it might say so."""


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
    """The person whom an appointment is with."""
    place: OptionalPlace = ""
    """``Sector: arena``; empty where it is to be settled, or there is none."""
    places: tuple[str, ...] = ()
    """Places that people would think of, where the place must be settled. Scores do not depend on them."""
    start: int
    """The beginning of the event, or of the time within which it must fall."""
    end: int
    expected: int = Field(ge=1)
    """The number of people that earns the full score of a collective task (App. A.1)."""
    signs: Signs
    wordings: tuple[str, ...] = ()
    subtasks: tuple[Subtask, ...] = ()
    obstacles: Obstacles | None = Field(default=None, exclude_if=lambda found: found is None)
    """What makes it hard; None: a task of level 1, whose records say nothing of it."""

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if not 0 <= self.start < self.end <= LAST_MINUTE:
            expected = f"expected minutes from 0 to {LAST_MINUTE}, the end after the beginning"
            raise ValueError(f"start and end: from {self.start} to {self.end}; {expected}")
        if self.type in (TaskType.PUBLIC, TaskType.COMPANIONS) and not self.place:
            raise ValueError(f"place: a task of {self.type} needs one")
        if self.type is TaskType.HELP and not self.subtasks:
            raise ValueError(f"subtasks: a task of {self.type} needs them")
        return self

    @property
    def day(self) -> int:
        """The day of the event, from 0."""
        return self.start // MINUTES_PER_DAY

    @property
    def residents(self) -> tuple[str, ...]:
        return (self.performer, *self.cast)

    @property
    def has_fixed_time(self) -> bool:
        """Whether the task says when the event begins; else its time is settled between people, or is any."""
        return self.type in (TaskType.PUBLIC, TaskType.ONLINE)

    @property
    def needed_parts(self) -> tuple[str, ...]:
        """The parts that must have been said before somebody can agree. For help: every step with its place."""
        if self.type is TaskType.HELP:
            return tuple(f"step {number}" for number in range(1, len(self.subtasks) + 1))
        return (Part.ACTIVITY, Part.TIME) if self.type is TaskType.ONLINE else tuple(Part)
