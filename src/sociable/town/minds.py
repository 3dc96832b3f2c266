"""What a resident's mind is to the town: something that is shown what can be seen, and says what it does.

An architecture of agents implements ``Mind``: the generative agent, with or without target-driven planning, the
reference residents, a user's own. A mind that needs no model answers at once; one that does returns an awaitable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from sociable.town.events import AnyEvent, Line
from sociable.town.map import Address, Tile

IDLE = "nothing in particular"
IDLE_MINUTES = 60
"""Of a resident that has nothing else to do, before it is asked again."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What a resident does until a minute, and where."""

    doing: str
    until: int
    """First minute after it."""
    place: str = ""
    """In words; empty: wherever it is."""
    asleep: bool = False
    """From arrival until the end: sees nothing and cannot be spoken to."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Another resident in sight, as it was at the end of the minute before."""

    name: str
    doing: str
    talking_to: str = ""
    free: bool = True
    """Awake and in no conversation: it can be spoken to."""


@dataclass(frozen=True, slots=True)
class View:
    """What a resident knows at one minute without being told."""

    minute: int
    tile: Tile
    address: Address | None
    """Where it stands; None in the street."""
    activity: Activity | None
    """What it is doing, None at the very beginning. It is over when ``minute`` has reached its ``until``."""
    walking: bool
    sightings: Sequence[Sighting]
    """Whom it attends to: the nearest first, ties by name, never more than its attention holds."""
    news: Sequence[Sighting]
    """Those of them that it has not seen doing this lately."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a resident does from this minute on."""

    activity: Activity | None = None
    """None: what it is doing already. Must be given when that is over."""
    talk_to: str = ""
    """Somebody in sight who is free. If they are taken by somebody else in this minute, nothing comes of it."""
    notes: Sequence[AnyEvent] = ()
    """For the event log."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as one of the two has it."""

    minute: int
    partner: str
    address: Address | None
    lines: Sequence[Line]
    began: bool
    """Whether it was this resident who began it."""
    place_in_turn: int
    """How many times this resident has spoken."""
    turns_left: int
    """How many times it may speak, this turn included."""


@dataclass(frozen=True, slots=True)
class Utterance:
    says: str
    ends: bool = False
    """Whether the conversation is over with it."""
    note: str = ""
    defect: str = ""
    """Why the reply it was read from cannot stand as it is: cut off, refused; a part of the note."""


@dataclass(frozen=True, slots=True)
class TakenAway:
    """What a resident does with a conversation when it is over."""

    notes: Sequence[AnyEvent] = field(default=())
    activity: Activity | None = None
    """Something else to do now, in place of what it did before."""


class Mind(Protocol):
    """One resident's. It is asked by nobody else, and for one thing at a time."""

    @property
    def alarm(self) -> int | None:
        """The next minute at which it wants to be asked though nothing new is in sight; None for never."""

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        """Asked when an activity is over, something new is in sight, or the alarm is due; not asleep, not in conversation."""

    def speak(self, talk: Talk) -> Utterance | Awaitable[Utterance]:
        """What it says next; its own first words if it began the conversation."""

    def conclude(self, talk: Talk, until: int) -> TakenAway | Awaitable[TakenAway]:
        """Asked once when the conversation is over; it goes on at minute ``until``."""


@runtime_checkable
class Injectable(Protocol):
    """A mind that can be told something from outside the simulation."""

    def inject(self, minute: int, text: str) -> None:
        """Takes note of a text at a minute."""


@runtime_checkable
class Interviewable(Protocol):
    """A mind that can be asked from outside the simulation."""

    async def interview(self, question: str, minute: int) -> str:
        """What it answers at a minute; it remembers neither question nor answer."""


@runtime_checkable
class Restorable(Protocol):
    """A mind that can be given the memory of another life."""

    def restore(self, events: Iterable[AnyEvent]) -> None:
        """Remembers what its own part of an event log says, in place of what it knew."""
