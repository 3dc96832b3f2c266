"""The event log read back, for scores and reports: where everybody was in every minute, doing what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from sociable.town.events import AnyEvent, Began, Slept, Talked, Walked
from sociable.town.map import Address, Tile, TownMap

_RUN = re.compile(r"([NESW])(\d+)")


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

    def addresses(self, town: TownMap) -> Sequence[Address | None]:
        """The place it stood in after each minute; None in the street."""
        return [town.address_of(tile) for tile in self.tiles]

    def talking_to(self, minute: int) -> str:
        """The name of the resident it talks to at a minute; empty: nobody."""
        partners = (
            talk.partner if talk.resident == self.name else talk.resident
            for talk in self.talks
            if talk.minute <= minute < talk.until
        )
        return next(partners, "")


def read_timelines(events: Iterable[AnyEvent], starts: Mapping[str, Tile], minutes: int) -> dict[str, Timeline]:
    """Everybody's days by name; ``starts`` are the tiles on which they stood at the beginning."""
    own: dict[str, list[AnyEvent]] = {name: [] for name in starts}
    talks: dict[str, list[Talked]] = {name: [] for name in starts}
    for event in events:
        own[event.resident].append(event)
        if isinstance(event, Talked):
            talks[event.resident].append(event)
            talks[event.partner].append(event)
    return {name: _timeline(name, events, talks[name], starts[name], minutes) for name, events in own.items()}


def _timeline(name: str, own: Sequence[AnyEvent], talks: Sequence[Talked], start: Tile, minutes: int) -> Timeline:
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
    return list(accumulate(steps, Tile.after, initial=Tile(*walk.start)))[1:]
