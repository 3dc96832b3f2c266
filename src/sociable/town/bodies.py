"""Residents as the town knows them, the physics that holds for all of them, and the rule that says who may live the next minute.

By that rule residents run ahead of one another with the log unchanged. A resident may perceive what there is before minute t
when nobody who has yet to live a minute before it can have come within its sight by then, even on the shortest way and at
full speed. Sleep and conversations cannot be interrupted, so a sleeper's state is known until it wakes, and a talker's for as
many minutes as its words have taken. For those it does see it waits once more, until they have decided too; that is the
simulation's own business, under any rule.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sociable.town.events import MINDS_EVENTS, REFUSED, AnyEvent, Noted
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Activity, Decision, Mind


@dataclass(frozen=True, slots=True)
class Physics:
    """Numbers that hold for everybody. Radius, bandwidth and retention are those of the authors' town (App. A; 8, 8, 8)."""

    tiles_per_minute: int = 6
    radius: int = 8
    """The distance that one sees, in tiles, in a straight line, within the same arena."""
    bandwidth: int = 8
    """The number of others that one can attend to at once."""
    retention: int = 8
    """The number of last sightings that are no news."""
    turns_each: int = 8
    """The number of times each may speak in a conversation (App. A.2)."""

    def __post_init__(self) -> None:
        assert 1 <= self.tiles_per_minute <= self.radius, "whether a seat is free must be in sight before it is reached"
        assert self.bandwidth <= self.retention, "what is in sight cannot be news every minute"


@dataclass(frozen=True, slots=True)
class Injection:
    """Something a resident learns from outside the simulation."""

    minute: int
    resident: str
    text: str


@dataclass(frozen=True, slots=True)
class Closure:
    """A place, with everything in it, that nobody can go to from a minute on; whoever is there leaves."""

    minute: int
    place: Address


@dataclass(slots=True, eq=False, repr=False)
class Body:
    """One resident as the town knows it. Only the simulation changes it."""

    name: str
    mind: Mind
    home: Address
    place: int
    """Its position among all bodies in the order of names."""
    tile: Tile
    zone: int
    minute: int = 0
    """The next minute that it lives or, while it talks, may live. Until then its place is known, and whether it is free."""
    activity: Activity | None = None
    next_activity: Activity | None = None
    goal: Address | None = None
    bound_for: Tile | None = None
    """The tile of ``goal`` that its last walk leads to."""
    route: str = ""
    """The steps that lie before it, as ``TownMap.find_way`` gives them."""
    last_acted: int = 0
    """The minute in which it decided last, or began to talk."""
    busy_from: int = 0
    busy_until: int = 0
    """The first minute after its sleep or conversation, which began at ``busy_from``."""
    talking_to: str = ""
    retained: list[tuple[str, str, str]] = field(default_factory=list)
    looked: int = -1
    """The last minute whose state it has perceived."""
    leg: str = ""
    """The steps of its walk that it has made since ``leg_minute``, when it stood at ``leg_start``."""
    leg_start: Tile = field(init=False)
    leg_minute: int = 0
    arrived: int = -1
    """The minute in which its last walk ended."""
    perceived: bool = False
    """Whether it has looked around before its next minute."""
    decided: bool = False
    """Whether it knows what it does in its next minute: ``decision``, or None to go on as it was."""
    decision: Decision | None = None
    seat: Tile | None = None
    """The tile it takes in its next minute in place of the one it wanted, which is taken."""
    waits_for: Body | None = None
    """The resident who must get on before it can."""
    log: list[AnyEvent] = field(default_factory=list)
    injections: deque[Injection] = field(default_factory=deque)
    closures: deque[Closure] = field(default_factory=deque)
    """Those that it has not met with yet."""

    def is_free(self, minute: int) -> bool:
        """Whether it was awake and in no conversation in a minute of which its state is known."""
        return not self.busy_from <= minute < self.busy_until

    def take_down(self, events: Iterable[AnyEvent], minute: int) -> None:
        """Writes what its mind says of itself into the log, and refuses all else: nobody writes the log of what happened."""
        for event in events:
            if isinstance(event, MINDS_EVENTS) and event.resident == self.name:
                self.log.append(event)
            else:
                whose = f"of {event.resident}" if event.resident != self.name else "which is for the town to say"
                self.note(minute, REFUSED, f"its mind wrote an event '{event.kind}' {whose}; it was left out")

    def note(self, minute: int, about: str, text: str) -> None:
        self.log.append(Noted(minute=minute, resident=self.name, about=about, text=text))


# Who may live the next minute.

Scheduler = Callable[[TownMap, Physics, Body, Body, float], float]
"""Tells how many steps a resident who lags behind must make at the least before it can matter to another.

It matters when it can have made them by the minute that the other would live next. Where they are more than the last argument
it may be a smaller number, still more than that.
"""


def lockstep(town: TownMap, physics: Physics, lagging: Body, other: Body, enough: float) -> float:
    """Everybody matters: nobody lives a minute before everybody has lived the one before."""
    return 0.0


def ahead(town: TownMap, physics: Physics, lagging: Body, other: Body, enough: float) -> float:
    """Who can come into sight matters: residents go on as soon as nothing pending can still affect them."""
    return count_steps_to_sight(town, physics.radius, lagging, other, enough)


def count_steps_to_sight(town: TownMap, radius: int, lagging: Body, other: Body, enough: float = math.inf) -> float:
    """The least steps that ``lagging`` must walk until the two can see each other; infinite where there is no way.

    Where they are more than ``enough`` it may be a smaller number, still more than that.
    """
    along, across = abs(lagging.tile.x - other.tile.x), abs(lagging.tile.y - other.tile.y)
    if along < across:
        along, across = across, along
    # Steps go along the axes: to the nearest point of a circle, which is on its diagonal unless that lies behind.
    diagonal = radius * math.sqrt(0.5)
    if across > diagonal:
        steps = along + across - 2 * diagonal
    else:
        steps = max(0.0, along - math.sqrt(radius**2 - across**2))
    if lagging.zone == other.zone or steps > enough:
        return steps
    # Nobody sees from one arena into another.
    return max(town.count_steps_into(other.zone, lagging.tile, enough), steps)
