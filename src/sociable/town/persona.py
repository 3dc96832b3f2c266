"""Personas: who the residents are before anything happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from sociable.core.records import Record
from sociable.town.clock import MINUTES_PER_DAY, Clock

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Habit(Record):
    """Something a resident does at a place on some days of the week."""

    days: tuple[str, ...]
    """Some of ``WEEKDAYS``."""
    start: int
    """Minute of the day."""
    end: int
    doing: str
    place: str
    """``Sector: arena``."""
    work: bool = False
    """Whether one would have to be excused from it."""


def _check_name(name: str) -> str:
    """Checks a name, which stands in prompts and in the names of calls. Raises ValueError."""
    if not name.isprintable() or set(name) & set("|#") or len(name) > 80:
        raise ValueError("a name is one line of at most 80 characters, without | and #")
    return name


Name = Annotated[str, AfterValidator(_check_name)]


class Persona(Record):
    """The fields of the original generative agents (App. A), with the day as data beside it."""

    name: Name
    short: Name
    """The name that people call it by."""
    age: int
    pronouns: str = ""
    """she, he, they; empty where unknown."""
    innate: str
    """Traits."""
    learned: str
    """A few sentences about it in the third person."""
    currently: str
    """Its present concerns; the performer's task is added here."""
    lifestyle: str
    home: str
    """``Sector: arena`` of its own bed."""
    wakes: int
    """Minute of the day."""
    sleeps: int
    """Minute of the day, up to some hours after midnight (then 1440 or more)."""
    habits: tuple[Habit, ...] = ()
    facts: tuple[str, ...] = ()
    """Sentences it knows about itself, its people and places, in the first person."""
    ties: dict[str, str] = {}
    """The ties to people it knows well, by name: one line in the third person, or nothing."""


def find_acquaintances(persona: Persona, people: Mapping[str, Persona]) -> dict[str, str]:
    """The acquaintances of somebody among ``people``: by name, who they are and what there is between them."""
    return {name: f"{people[name].learned} {note}".strip() for name, note in persona.ties.items() if name in people}


AT_HOME = "seeing to one thing and another"
"""The activity of whoever has no habit for an hour."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an ordinary day, in minutes of the simulation."""

    start: int
    end: int
    doing: str
    place: str
    work: bool


def make_ordinary_day(persona: Persona, clock: Clock, day: int) -> Sequence[Block]:
    """The blocks that a resident's habits make of a day (counted from 0), in order of time."""
    weekday = WEEKDAYS[clock.to_date(day * MINUTES_PER_DAY).weekday()]
    begin = day * MINUTES_PER_DAY
    blocks = [
        Block(begin + habit.start, begin + habit.end, habit.doing, habit.place, habit.work)
        for habit in persona.habits
        if weekday in habit.days
    ]
    return sorted(blocks, key=lambda block: block.start)
