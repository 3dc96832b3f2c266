"""Minds: the town shows a resident's mind what can be seen, and the mind says what the resident does.

An architecture of agents implements ``Mind``: the generative agent, with or without target-driven planning, the
reference residents, a user's own. A mind that needs no model answers at once; one that does returns an awaitable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Protocol, TypeVar, runtime_checkable

from sociable.town.events import AnyEvent, Line
from sociable.town.map import Address, Tile

T = TypeVar("T")

IDLE = "nothing in particular"
IDLE_MINUTES = 60
"""The minutes after which a resident that has nothing to do is asked again."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Something a resident does until a minute, and its place."""

    doing: str
    until: int
    """The first minute after it."""
    place: str = ""
    """Its place in words; empty: wherever the resident is."""
    asleep: bool = False
    """Whether it sleeps there: from arrival until the end it sees nothing and cannot be spoken to."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Another resident in sight, as it was at the end of the minute before."""

    name: str
    doing: str
    talking_to: str = ""
    free: bool = True
    """Whether it is awake and in no conversation, and so can be spoken to."""
    walking: bool = False
    """Whether it is still on the way to where it does this."""


@dataclass(frozen=True, slots=True)
class View:
    """All that a resident knows at one minute without being told."""

    minute: int
    tile: Tile
    address: Address | None
    """The most precise place it stands in; None in the street."""
    activity: Activity | None
    """Its activity, None at the very beginning; over when ``minute`` has reached its ``until``."""
    walking: bool
    sightings: Sequence[Sighting]
    """The people it attends to: the nearest first, ties by name, never more than its attention holds."""
    news: Sequence[Sighting]
    """The sightings of people whom it has not seen doing this lately."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A resident's choice for this minute and the next ones."""

    activity: Activity | None = None
    """The activity to begin; None: the resident goes on with the one before. It must be given when that one is over."""
    talk_to: str = ""
    """The name of somebody in sight who is free. If another resident is quicker, nothing comes of it."""
    notes: Sequence[AnyEvent] = ()
    """Events of its own to write into the log: ``Planned``, ``Agreed``, ``Noted`` or ``Remembered``. Others are refused."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as one of the two has it."""

    minute: int
    partner: str
    address: Address | None
    lines: Sequence[Line]
    began: bool
    """Whether this resident began it."""
    place_in_turn: int
    """The number of times this resident has spoken."""
    turns_left: int
    """The number of times it may still speak, this turn included."""
    walking: bool = False
    """Whether this resident is on the way to where it does what it does."""


@dataclass(frozen=True, slots=True)
class Utterance:
    says: str
    ends: bool = False
    """Whether it ends the conversation."""
    note: str = ""
    defect: str = ""
    """The reason why the model's reply cannot stand as it is: cut off, refused. The note says so too."""


@dataclass(frozen=True, slots=True)
class TakenAway:
    """The consequences of a conversation for one of the two."""

    notes: Sequence[AnyEvent] = field(default=())
    """As those of a ``Decision``."""
    activity: Activity | None = None
    """Something else to do now, in place of its activity before."""


class Mind(Protocol):
    """The mind of one resident, which is asked for one thing at a time. It may be ``Injectable`` and the like as well."""

    @property
    def alarm(self) -> int | None:
        """The next minute at which it wants to be asked though nothing new is in sight; None: never."""

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        """Decides. Asked when an activity is over, something new is in sight, or the alarm is due, unless it sleeps or talks."""

    def speak(self, talk: Talk) -> Utterance | Awaitable[Utterance]:
        """Gives its next words; they are the first ones if it began the conversation."""

    def conclude(self, talk: Talk, until: int) -> TakenAway | Awaitable[TakenAway]:
        """Draws its conclusions. Asked once when the conversation is over; the resident goes on at minute ``until``."""


@runtime_checkable
class Injectable(Protocol):
    """A mind that can be told something from outside the simulation."""

    def inject(self, minute: int, text: str) -> None:
        """Takes note of a text at a minute."""


@runtime_checkable
class Interviewable(Protocol):
    """A mind that can be asked from outside the simulation."""

    async def interview(self, question: str, minute: int) -> str:
        """Gives its answer at a minute. The mind remembers neither question nor answer."""


@runtime_checkable
class Restorable(Protocol):
    """A mind that can be given the memory of another life."""

    def restore(self, events: Iterable[AnyEvent]) -> None:
        """Replaces all that it knew by what its own part of an event log says."""


async def receive_answer(answer: T | Awaitable[T]) -> T:
    """A mind's answer, whether it comes at once or is waited for."""
    return await answer if isawaitable(answer) else answer
