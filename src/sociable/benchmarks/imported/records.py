"""Conversations of others, as a data set of ours: a line each, with who took part, what they wanted, and what was said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple

from sociable.core.data_files import Text
from sociable.core.records import Record, Turn

MOST_CHARACTERS = 2000
"""Characters of a tool's output that are kept, so that a judge's prompt stays readable."""


class Person(Record):
    """Somebody who took part."""

    name: Text
    model: str = ""
    """The model that played it, as the source names it; empty: the source does not say."""
    goal: str = ""
    """The goal as its player was told it; empty: none, and no rubric rates it."""
    knows: str = ""
    """Its own knowledge: profile, secrets, instructions."""
    is_tested: bool = False
    reported: Mapping[str, float] = {}
    """The source's own scores of this person, by name."""


class Conversation(Record):
    """A conversation that was recorded elsewhere. ``id`` is that of the task it was held for, and of its repeat."""

    id: Text
    cluster: Text
    """What is alike in several: the task, the environment."""
    situation: str
    people: tuple[Person, ...]
    turns: tuple[Turn, ...]

    @property
    def tested(self) -> list[Person]:
        return [person for person in self.people if person.is_tested]


class Refused(NamedTuple):
    """A recording that cannot be judged, and why."""

    place: str
    reason: str


class Reported(NamedTuple):
    """A score that a source gives by its own instrument, and its range."""

    meaning: str
    low: float
    high: float
    best: float | None


def make_turns(said: Iterable[tuple[str, tuple[str, ...], str]]) -> tuple[Turn, ...]:
    """The turns of (speaker, addressees, words)."""
    return tuple(Turn(index=index, speaker=who, addressees=to, content=words) for index, (who, to, words) in enumerate(said))


def keep_scores(given: Mapping[str, Any], known: Collection[str]) -> dict[str, float]:
    """The scores ``known`` that are numbers; a source may hold others, or none in the place of one."""
    numbers = {name: float(value) for name, value in given.items() if name in known and isinstance(value, int | float)}
    return {name: value for name, value in numbers.items() if isfinite(value)}


def shorten(text: str) -> str:
    """The text, or its beginning with a word that it goes on."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (shortened)"
