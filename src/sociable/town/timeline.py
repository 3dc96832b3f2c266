"""The event log read back: where everybody was in every minute, doing what. What is scored and shown comes from here."""

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
    """One resident's days: ``tiles`` after each minute, and what it had turned to."""

    name: str
    tiles: Sequence[Tile]
    began: Sequence[Began]
    """In order of time."""
    talks: Sequence[Talked]
    """Whoever began them, in order of time."""
    asleep: Sequence[bool]
    """By minute."""

    @cached_property
    def activities(self) -> Sequence[Began | None]:
        """By minute; None before the first."""
        found: list[Began | None] = [None] * len(self.tiles)
        for event in self.began:
            found[event.minute :] = [event] * (len(found) - event.minute)
        return found

    def addresses(self, town: TownMap) -> Sequence[Address | None]:
        """Where it stood after each minute; None in the street."""
        return [town.address_of(tile) for tile in self.tiles]

    def talking_to(self, minute: int) -> str:
        """With whom it is in conversation; empty: nobody."""
        partners = (
            talk.partner if talk.resident == self.name else talk.resident
            for talk in self.talks
            if talk.minute <= minute < talk.until
        )
        return next(partners, "")


def read_timelines(events: Iterable[AnyEvent], starts: Mapping[str, Tile], minutes: int) -> dict[str, Timeline]:
    """Everybody's days, from where each stood at the beginning."""
    of: dict[str, list[AnyEvent]] = {name: [] for name in starts}
    talks: dict[str, list[Talked]] = {name: [] for name in starts}
    for event in events:
        of[event.resident].append(event)
        if isinstance(event, Talked):
            talks[event.resident].append(event)
            talks[event.partner].append(event)
    return {name: _timeline(name, own, talks[name], starts[name], minutes) for name, own in of.items()}


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
