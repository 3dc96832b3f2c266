"""The event log: what happened in the town, the only source of scores; and the log read back, minute by minute.

Every event belongs to one resident and one minute. A resident's own events are in the order in which they happened; the
whole log is ordered by minute, then by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import Annotated, Literal

from pydantic import Field

from sociable.core.records import Record
from sociable.town.map import Tile

_RUN = re.compile(r"([NESW])(\d+)")


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
    """The importance from 1 to 10; 0 where nobody has rated it."""


AnyEvent = Annotated[Planned | Began | Walked | Slept | Talked | Agreed | Noted | Remembered, Field(discriminator="kind")]


MINDS_EVENTS = (Planned, Agreed, Noted, Remembered)
"""What a mind may write into the log: what it thinks, plans and takes as settled. What happens is for the town to say."""

REFUSED = "refused event"
"""A note on an event that a mind may not write."""


def merge_logs(logs: Iterable[list[AnyEvent]]) -> list[AnyEvent]:
    """One log made of every resident's own."""
    return sorted((event for log in logs for event in log), key=lambda event: (event.minute, event.resident))


@dataclass(frozen=True)
class Timeline:
    """One resident's days."""

    name: str
    tiles: Sequence[Tile]
    """The tile it stood on after each minute."""
    began: Sequence[Began]
    """The activities it turned to, in order of time."""
    talks: Sequence[Talked]
    """Its conversations, whoever began them, in order of time."""
    asleep: Sequence[bool]
    """Whether it slept, by minute."""

    @cached_property
    def activities(self) -> Sequence[Began | None]:
        """The activity of each minute; None before the first."""
        found: list[Began | None] = [None] * len(self.tiles)
        for event in self.began:
            found[event.minute :] = [event] * (len(found) - event.minute)
        return found


def read_timelines(events: Iterable[AnyEvent], starts: Mapping[str, Tile], minutes: int) -> dict[str, Timeline]:
    """Everybody's days by name; ``starts`` are the tiles on which they stood at the beginning."""
    own: dict[str, list[AnyEvent]] = {name: [] for name in starts}
    talks: dict[str, list[Talked]] = {name: [] for name in starts}
    for event in events:
        own[event.resident].append(event)
        if isinstance(event, Talked):
            talks[event.resident].append(event)
            talks[event.partner].append(event)
    return {name: _read_timeline(name, events, talks[name], starts[name], minutes) for name, events in own.items()}


def _read_timeline(name: str, own: Sequence[AnyEvent], talks: Sequence[Talked], start: Tile, minutes: int) -> Timeline:
    tiles: list[Tile] = []
    here = start
    for walk in sorted((event for event in own if isinstance(event, Walked)), key=lambda event: event.minute):
        tiles += [here] * (walk.minute - len(tiles))
        way = trace_walk(walk)
        for first in range(0, len(way), walk.tiles_per_minute):
            here = way[min(first + walk.tiles_per_minute, len(way)) - 1]
            tiles.append(here)
    tiles = [*tiles, *[here] * (minutes - len(tiles))][:minutes]
    asleep = [False] * minutes
    for event in own:
        if isinstance(event, Slept):
            end = min(event.until, minutes)
            asleep[event.minute : end] = [True] * (end - event.minute)
    began = [event for event in own if isinstance(event, Began)]
    return Timeline(name, tiles, began, sorted(talks, key=lambda talk: talk.minute), asleep)


def trace_walk(walk: Walked) -> list[Tile]:
    """The tiles of a walk, without the one it began on."""
    steps = (heading for heading, count in _RUN.findall(walk.way) for _ in range(int(count)))
    return list(accumulate(steps, Tile.follow, initial=Tile(*walk.start)))[1:]
