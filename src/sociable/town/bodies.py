"""Residents as the town knows them, and the physics that holds for all of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from sociable.town.events import AnyEvent, Noted
from sociable.town.map import Address, Tile
from sociable.town.minds import Activity, Decision, Mind


@dataclass(frozen=True, slots=True)
class Physics:
    """Numbers that hold for everybody. Radius, bandwidth and retention are those of the authors' town (App. A; 8, 8, 8)."""

    tiles_per_minute: int = 6
    radius: int = 8
    """How far one sees, in tiles, in a straight line, within the same arena."""
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


@dataclass(slots=True, eq=False, repr=False)
class Body:
    """One resident as the town knows it. Only the simulation changes it."""

    name: str
    mind: Mind
    home: Address
    place: int
    """Its place among all bodies in the order of names."""
    tile: Tile
    zone: int
    minute: int = 0
    """The next minute it lives; while it talks, the next it may live. Until then it is known where it is, and whether free."""
    activity: Activity | None = None
    next_activity: Activity | None = None
    goal: Address | None = None
    bound_for: Tile | None = None
    """The tile of ``goal`` that its last walk leads to."""
    route: str = ""
    """The steps that lie before it, as ``TownMap.find_way`` gives them."""
    moment: int = 0
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

    def is_free(self, minute: int) -> bool:
        """Whether it was awake and in no conversation in a minute of which its state is known."""
        return not self.busy_from <= minute < self.busy_until

    def note(self, minute: int, about: str, text: str) -> None:
        self.log.append(Noted(minute=minute, resident=self.name, about=about, text=text))
