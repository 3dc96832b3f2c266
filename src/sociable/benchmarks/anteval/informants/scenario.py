"""A card at one level, and who sits at the table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.anteval.characters import Sheet
from sociable.benchmarks.anteval.iep.cards import KeyPoint
from sociable.benchmarks.anteval.informants.dataset import Card, Fact, Informant, Level, Rumour, Statement, Way
from sociable.core.names import find_words
from sociable.core.seeding import make_generator
from sociable.core.wording import has_wording

_INFORMANTS = {Level.EASY: 1, Level.MIDDLE: 2, Level.HARD: 3}
_WAYS = {
    Level.EASY: frozenset({Way.ASKING}),
    Level.MIDDLE: frozenset({Way.ASKING, Way.PRICE, Way.FEAR}),
    Level.HARD: frozenset(Way),
}


@dataclass(frozen=True)
class Scenario:
    card: Card
    level: Level
    players: Sequence[Sheet]
    seed: int
    points: int = 0
    """The most facts of an informant; 0: all."""

    @property
    def id(self) -> str:
        return f"{self.card.id}@{self.level}"

    @property
    def title(self) -> str:
        return self.card.title

    @cached_property
    def informants(self) -> tuple[Informant, ...]:
        return self.card.informants[: _INFORMANTS[self.level]]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The players, and the informants after them."""
        return (*(each.name for each in self.players), *(each.name for each in self.informants))

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        held = [[fact for fact in self.card.facts if fact.holder == each.name] for each in self.informants]
        return tuple(fact for own in held for fact in own[: self.points or None])

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(each.id for each in self.facts)

    @cached_property
    def lies(self) -> Mapping[str, KeyPoint]:
        """What is said in place of facts, by their ids."""
        lied = (each for each in self.facts if self.find_way(each) is Way.LIE)
        return {each.id: KeyPoint(point=each.instead, wording=(quote_clauses(each.instead),)) for each in lied}

    @cached_property
    def rumours(self) -> tuple[Rumour, ...]:
        return tuple(each for each in self.card.rumours if each.corrected_by in self._ids) if self.level is Level.HARD else ()

    def find_way(self, statement: Statement) -> Way:
        """What gets a statement out of its holder at this level."""
        way = statement.got_by if isinstance(statement, Fact) else Way.ASKING
        if isinstance(statement, Fact) and way is Way.LIE and statement.shown_by not in self._ids:
            # Nobody is there who could show it to be one.
            return Way.ASKING
        return way if way in _WAYS[self.level] else Way.ASKING

    def list_held(self, name: str) -> list[Statement]:
        """All that an informant may say of the subject."""
        return [each for each in (*self.facts, *self.rumours) if each.holder == name]

    @cached_property
    def statements(self) -> tuple[tuple[str, KeyPoint], ...]:
        """(name, statement) of all facts and all that is not so, in an order drawn by lot; ``f8-lie`` is told in place of f8."""
        found: list[tuple[str, KeyPoint]] = [(each.id, each) for each in (*self.facts, *self.rumours)]
        found += [(name_lie(name), lie) for name, lie in self.lies.items()]
        return tuple(make_generator(self.seed, "statements", self.id).sample(found, len(found)))

    @cached_property
    def key_points(self) -> tuple[KeyPoint, ...]:
        return tuple(each for _, each in self.statements)

    @cached_property
    def counted(self) -> dict[str, tuple[int, ...]]:
        """The places among the statements that are asked about, by player: all of them."""
        return {each.name: tuple(range(len(self.statements))) for each in self.players}

    def find_told(self, text: str) -> tuple[str, ...]:
        """The names of the facts and rumours that a text says, by their wordings; lies have none."""
        return tuple(each.id for each in (*self.facts, *self.rumours) if has_wording(text, each.wording))


def quote_clauses(text: str) -> tuple[str, ...]:
    """A sentence's clauses, as phrases that take it and nothing else: a wording that names no words of its own."""
    return tuple(part for part in map(str.strip, re.split(r"[!?;\n\u2013\u2014.]+", text)) if find_words(part))


def name_lie(fact: str) -> str:
    return f"{fact}-lie"
