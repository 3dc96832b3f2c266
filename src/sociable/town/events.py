"""The event log: what happened in the town, the only source of scores.

Every event belongs to one resident and one minute. A resident's own events are in the order in which they happened; the
whole log is ordered by minute, then by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field

from sociable.core.records import Record


class Event(Record):
    minute: int
    """The minute in which it begins, counted from midnight of the first day."""
    resident: str


class Planned(Event):
    """A resident has made up its mind about a day, or what is left of it."""

    kind: Literal["planned"] = "planned"
    plan: str
    """One line a block: ``08:30-12:00 serving customers @ The Lantern: public bar``."""


class Began(Event):
    """A resident turns to an activity; if its place is elsewhere, it sets out."""

    kind: Literal["began"] = "began"
    doing: str
    """The activity in the resident's words. Conversations are events of their own (``Talked``)."""
    planned_place: str = ""
    """The place in the plan's own words; empty where the activity needs none."""
    address: str = ""
    """The address that was found for it; empty when no place was named, or none of this town: the resident stays."""
    until: int
    """The first minute after it, as planned."""
    asleep: bool = False


class Walked(Event):
    """A walk, or the part of one that was made before a conversation or another plan.

    In each minute from ``minute`` on the resident makes ``tiles_per_minute`` steps of ``way``, in the last one what is left.
    """

    kind: Literal["walked"] = "walked"
    start: tuple[int, int]
    """x and y of the tile it begins on."""
    way: str
    """The steps in runs: ``E5S12`` is five to the right and twelve down."""
    tiles_per_minute: int


def render_steps(steps: str) -> str:
    """Steps in runs: ``E5S12`` for five times E and twelve times S."""
    return "".join(f"{heading}{len(list(run))}" for heading, run in groupby(steps))


class Slept(Event):
    """A resident's sleep, from the minute in which it falls asleep at the end of its way to bed."""

    kind: Literal["slept"] = "slept"
    until: int
    """First minute after it."""


class Line(Record):
    speaker: str
    says: str
    note: str = ""
    """Something that was noticed about it: cut off, refused, not in the form asked for."""


class Talked(Event):
    """A conversation face to face; ``resident`` began it. Neither can be interrupted or moves until it ends."""

    kind: Literal["talked"] = "talked"
    partner: str
    until: int
    """First minute after it."""
    lines: tuple[Line, ...]


class Agreed(Event):
    """Something that a resident takes from a conversation as settled: it means to do this, there and then."""

    kind: Literal["agreed"] = "agreed"
    partner: str
    doing: str
    place: str = ""
    start: int | None = None
    end: int | None = None


class Noted(Event):
    """Something else that a reader of the log should know: a place nobody knows, an unreadable reply, an injected event."""

    kind: Literal["noted"] = "noted"
    about: str
    text: str


class Remembered(Event):
    """An entry of a resident's memory stream."""

    kind: Literal["remembered"] = "remembered"
    memory: Literal["fact", "seen", "conversation", "plan", "thought", "told"]
    text: str
    importance: float = 0.0
    """From 1 to 10; 0 where nobody has rated it."""


AnyEvent = Annotated[
    Planned | Began | Walked | Slept | Talked | Agreed | Noted | Remembered,
    Field(discriminator="kind"),
]


def merge_logs(logs: Iterable[list[AnyEvent]]) -> list[AnyEvent]:
    """One log made of every resident's own."""
    return sorted((event for log in logs for event in log), key=lambda event: (event.minute, event.resident))
