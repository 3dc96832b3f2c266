"""A dossier at one level, with its lots drawn and its dials set: what is there, and what it is worth to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from sociable.benchmarks.hsii.live.dataset import (
    Absence,
    Arrangement,
    Budget,
    Decision,
    Dossier,
    Fact,
    Level,
    Message,
    Part,
    Person,
    Quiz,
    Sided,
    Topic,
)

P = TypeVar("P", bound=Part)


@dataclass(frozen=True)
class Dials:
    """What is set otherwise than a scenario's level has it; None: as the level has it."""

    depth: Level | None = None
    """Topics are those of this level."""
    pressure: Level | None = None
    """Messages that press for confidences are those of this level."""
    changes: bool = True
    """Whether facts are replaced by others on the way."""
    budget: tuple[tuple[str, int], ...] = ()
    """Fields of the budget."""


@dataclass(frozen=True)
class Scenario:
    """A dossier at one level, with its lots drawn."""

    dossier: Dossier
    level: Level
    draw: frozenset[str]
    """One ``lot=side`` for every lot."""
    number: int = 1
    """Which draw of its level it is."""
    dials: Dials = Dials()

    @property
    def id(self) -> str:
        return f"{self.dossier.id}@{self.level}" + (f"+{self.number}" if self.number > 1 else "")

    @cached_property
    def budget(self) -> Budget:
        return self.dossier.budgets[self.level].model_copy(update=dict(self.dials.budget))

    def is_there(self, each: Sided) -> bool:
        return not each.side or each.side in self.draw

    def _select(self, parts: Iterable[P], level: Level | None = None) -> list[P]:
        return [part for part in parts if (level or self.level) in part.levels and self.is_there(part)]

    def _pick(self, by_side: Mapping[str, str]) -> str:
        """The entry of the side that was drawn; empty where there is none."""
        return next((value for side, value in by_side.items() if side in self.draw), "")

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        return {each.id: each for each in self.dossier.facts if self.is_there(each)}

    def keep_facts(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these facts that there are."""
        return tuple(name for name in names if name in self.facts)

    @cached_property
    def topics(self) -> Mapping[str, Topic]:
        """What each person says if asked, as it is at this level and in this draw: ``says`` is one line."""
        level = self.dials.depth or self.level
        found = {}
        for topic in self._select(self.dossier.topics, level):
            said = topic.says or self._pick(topic.says_by)
            own: dict[str, object] = {name: self.keep_facts(getattr(topic, name)) for name in ("gives", "instead_gives")}
            if level not in topic.guarded:
                own |= {"needs": (), "instead": "", "instead_gives": ()}
            if said:
                found[topic.id] = topic.model_copy(update=own | {"says": said})
        return found

    @cached_property
    def decisions(self) -> Mapping[str, Decision]:
        """People's own decisions, those that can come out right; ``best`` is one option."""
        can_come = {fact for each in self.messages for fact in each.gives}
        can_come |= {fact for topic in self.topics.values() for fact in (*topic.gives, *topic.instead_gives)}
        own = [each for each in self._select(self.dossier.decisions) if can_come.issuperset(each.needs)]
        resolved = [each.model_copy(update={"best": each.best or self._pick(each.best_by)}) for each in own]
        return {each.id: each for each in resolved if each.best}

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        level = self.dials.pressure
        pressing = self._select((each for each in self.dossier.messages if each.presses_for), level)
        own = self._select(each for each in self.dossier.messages if not each.presses_for)
        if not self.dials.changes:
            own = [each for each in own if not any(self.facts[fact].replaces for fact in self.keep_facts(each.gives))]
        own = [each for each in (*own, *pressing) if each.round <= self.budget.rounds]
        there = sorted(own, key=self.dossier.messages.index)
        return tuple(each.model_copy(update={"gives": self.keep_facts(each.gives)}) for each in there)

    @cached_property
    def people(self) -> Mapping[str, Person]:
        """Everybody, with the worths and bonds that were drawn."""
        return {
            each.name: each.model_copy(
                update={"worths": tuple(filter(self.is_there, each.worths)), "bonds": tuple(self._select(each.bonds))}
            )
            for each in self.dossier.people
        }

    def list_beliefs(self, quiz: Quiz) -> Mapping[str, str]:
        """The answers to choose from by key: a side of the lot, ``decoy 1`` and so on; UNKNOWN is not among them."""
        return dict(quiz.answers) | {f"decoy {number}": text for number, text in enumerate(quiz.decoys, start=1)}

    def find_truth(self, quiz: Quiz) -> str:
        """The key of what is so."""
        return self.facts[quiz.fact].side

    def find_hearers(self, person: str, fact: str) -> tuple[str, ...]:
        """Those who hear a fact from somebody who was told it, directly or over others.

        Nobody passes on what concerns himself, or tells it to the one whom it concerns.
        """
        heard = [person] if person in self.passes else []
        concerned = self.facts[fact].of
        for name in heard:
            if name != concerned:
                heard += [other for other in self.passes.get(name, ()) if other not in (*heard, concerned)]
        return tuple(heard[1:])

    @cached_property
    def passes(self) -> Mapping[str, tuple[str, ...]]:
        """Who passes on what he is told, and to whom."""
        return {each.person: each.to for each in self._select(self.dossier.passings)}

    @cached_property
    def absences(self) -> tuple[Absence, ...]:
        """Who is away when, of the rounds there are."""
        rounds = range(1, self.budget.rounds + 1)
        own = self._select(self.dossier.absences)
        kept = [each.model_copy(update={"rounds": tuple(number for number in each.rounds if number in rounds)}) for each in own]
        return tuple(each for each in kept if each.rounds)

    def find_reading(self, person: str, number: int) -> int:
        """The round in which somebody reads what is written to him in a round; beyond the last one: he does not."""
        return next(later for later in range(number, self.budget.rounds + 2) if later not in self._away.get(person, ()))

    @cached_property
    def _away(self) -> Mapping[str, frozenset[int]]:
        """The rounds in which somebody is away, by name."""
        away: dict[str, frozenset[int]] = {}
        for absence in self.absences:
            away[absence.person] = away.get(absence.person, frozenset()) | {*absence.rounds}
        return away

    @property
    def arrangements(self) -> tuple[Arrangement, ...]:
        """All there are."""
        return self.dossier.arrangements
