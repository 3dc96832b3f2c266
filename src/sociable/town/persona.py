"""Personas: who the residents are before anything happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
    company: tuple[str, ...] = ()
    """The people, by full name, whom ``doing`` has there."""
    alone: str = ""
    """The doing where one of them is not in town; empty: the same."""


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


def adapt_to_company(persona: Persona, present: Collection[str]) -> Persona:
    """A persona in a town where only some people live: its habits have nobody in them who is not there."""
    habits = [
        habit.model_copy(update={"doing": habit.alone}) if habit.alone and not set(habit.company) <= set(present) else habit
        for habit in persona.habits
    ]
    return persona.model_copy(update={"habits": tuple(habits)})


def find_acquaintances(persona: Persona, people: Mapping[str, Persona]) -> dict[str, str]:
    """The acquaintances of somebody among ``people``: who they are, what there is between them, and where to find them."""
    return {
        name: " ".join(filter(None, (people[name].learned, note, describe_whereabouts(people[name]))))
        for name, note in persona.ties.items()
        if name in people
    }


def describe_whereabouts(persona: Persona) -> str:
    """Where somebody lives, and the places where its habits keep it longest in a week, as those who know it can tell."""
    minutes: Counter[str] = Counter()
    home = _find_sector(persona.home)
    for habit in persona.habits:
        if _find_sector(habit.place) != home:
            minutes[habit.place] += (habit.end - habit.start) * len(habit.days)
    often = " and ".join(place for place, _ in minutes.most_common(_MOST_PLACES))
    return f"Lives at {home}{f'; often at {often}' if often else ''}."


AT_HOME = "seeing to one thing and another"
"""The activity of whoever has no habit for an hour."""


def _find_sector(place: str) -> str:
    return place.partition(":")[0].strip()


_MOST_PLACES = 2


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


def merge_blocks(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a day without overlaps, in order of time: of two that meet, the one that is named first goes before."""
    edges = sorted({minute for block in blocks for minute in (block.start, block.end)})
    merged: list[Block] = []
    for start, end in pairwise(edges):
        due = next((block for block in blocks if block.start <= start < block.end), None)
        if due is None:
            continue
        last = merged[-1] if merged else None
        if last and last.end == start and (last.doing, last.place) == (due.doing, due.place):
            merged[-1] = replace(last, end=end)
        else:
            merged.append(replace(due, start=start, end=end))
    return merged
