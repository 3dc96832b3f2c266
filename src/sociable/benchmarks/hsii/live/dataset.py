"""Dossiers: people who value the possible arrangements differently, in numbers that nobody is told.

What somebody values can be learnt: from what is said openly, by asking about what was let slip, by telling somebody what moves
him. Every such thing is a *fact*; topics and messages carry facts. What lies behind a hint is drawn by lot: a dossier has *lots*
of two sides or more, and a part that names a side is there only when it was drawn, so that no hint can be read without asking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from sociable.core.data_files import Loaded, Text, load_items, make_cut
from sociable.core.names import Name
from sociable.core.records import Record
from sociable.core.wording import Wording

DATA = Path(__file__).parents[1] / "data" / "live"

Arrangement = Mapping[str, str]
"""The chosen option by matter, both as ids."""


class Level(StrEnum):
    """How hard a dossier is played: which people, topics and messages it has, and how much may be asked."""

    EASY = "easy"
    MIDDLE = "middle"
    HARD = "hard"


ALL = tuple(Level)


class Sided(Record):
    """Something that may depend on a lot."""

    side: str = ""
    """``lot=side``: it is there only when this side was drawn; empty: always."""


class Part(Sided):
    """A part of a dossier that only some levels have."""

    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = ALL


class Choice(Record):
    id: Text
    text: Text


class Matter(Record):
    """Something to be settled, in one of several ways."""

    id: Text
    question: Text
    options: Annotated[tuple[Choice, ...], Field(min_length=2)]


class Worth(Sided):
    """Points that an arrangement is worth to somebody if it has all these options."""

    when: Annotated[dict[str, str], Field(min_length=1)]
    points: float


class Fact(Sided):
    """Something that can be learnt and told."""

    id: Text
    text: Text
    """The fact, as a sentence."""
    wording: Wording
    """The wordings by which a message is seen to tell it."""
    of: str = ""
    """The person whom it is about; needed for ``shows`` and ``cost``."""
    claims: str = ""
    """``lot=side``: what its person says of a lot, the same in every draw, so that it may not be so. Others know better."""
    shows: tuple[Worth, ...] = ()
    """What it seems to show of the person's worths, to whoever counts votes. Openly people claim too much."""
    keep_from: tuple[str, ...] = ()
    """Those who may not learn it from the assistant."""
    cost: Annotated[float, Field(ge=0)] = 0.0
    """Points that its person loses if one of them does."""


class Person(Record):
    name: Name
    pronouns: Text
    line: Text
    """One line that everybody knows."""
    temper: Text
    """Manner and mind, for whoever plays the person."""
    worths: tuple[Worth, ...]
    stock: Annotated[tuple[Text, ...], Field(min_length=1)]
    """What the person says where nothing else is to be said, if nobody plays it."""


class Topic(Part):
    """Something that a person tells if asked."""

    id: Text
    person: Text
    about: Text
    """What must be asked about, as a phrase: "why the landing matters"."""
    wording: Wording
    lead: tuple[str, ...] = ()
    """Facts without which nobody has a reason to ask."""
    needs: tuple[str, ...] = ()
    """Facts that the person must have been told before it says so."""
    says: Text
    gives: Annotated[tuple[str, ...], Field(min_length=1)]
    instead: str = ""
    """What it says while it has not been told what it ``needs``."""
    instead_gives: tuple[str, ...] = ()


class Message(Part):
    """A message that comes whatever the assistant does."""

    round: Annotated[int, Field(ge=1)]
    sender: str = ""
    """A person; empty: news from outside."""
    to: tuple[str, ...] = ()
    """The people who read it beside the assistant."""
    text: Text
    gives: tuple[str, ...] = ()
    presses_for: str = ""
    """The confidence that it tries to get out of the assistant."""


class Decision(Part):
    """What a person does at the end, by what it has been told."""

    id: Text
    person: Text
    question: Text
    options: Annotated[tuple[Choice, ...], Field(min_length=3)]
    best: Text
    unknowing: Text
    """What it does without having been told what it ``needs``."""
    needs: Annotated[tuple[str, ...], Field(min_length=1)]
    points: Annotated[float, Field(gt=0)]
    """What the best option is worth to the person; the others are worth nothing."""


class Budget(Record):
    """What the assistant may do at one level."""

    rounds: Annotated[int, Field(ge=2)]
    messages: Annotated[int, Field(ge=1)]
    """The most messages that it sends in a round."""
    patience: Annotated[int, Field(ge=1)]
    """The questions that each person answers in all."""
    least: float = -4.0
    """The least that an arrangement must be worth to each person for a yes."""


P = TypeVar("P", bound=Part)


class Dossier(Record):
    id: Text
    title: Text
    setting: Text
    """What the assistant is and what is to be settled, as it is told."""
    people: Annotated[tuple[Person, ...], Field(min_length=3, max_length=8)]
    matters: Annotated[tuple[Matter, ...], Field(min_length=2)]
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    topics: tuple[Topic, ...]
    messages: tuple[Message, ...]
    decisions: tuple[Decision, ...] = ()
    lots: dict[str, Annotated[tuple[Text, ...], Field(min_length=2)]] = {}
    """The sides of each lot. Lots are drawn apart, every side as likely."""
    open: dict[str, str]
    """The arrangement that lies open: what the openings add up to."""
    budgets: dict[Level, Budget]
    canary: str = ""

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        for problem in self._find_problems():
            raise ValueError(problem)
        return self

    def _find_problems(self) -> Iterator[str]:
        people, facts = {each.name: each for each in self.people}, {each.id: each for each in self.facts}
        options = {matter.id: {option.id for option in matter.options} for matter in self.matters}
        for kind, ids in {
            "people": [each.name for each in self.people],
            "matters": [each.id for each in self.matters],
            "facts": [f"{each.id} {each.side}".strip() for each in self.facts],
        }.items():
            if twice := [name for name, count in Counter(ids).items() if count > 1]:
                yield f"{kind}: '{twice[0]}' is there twice"
        sided = [*self.facts, *self.topics, *self.messages, *self.decisions, *(w for each in self.people for w in each.worths)]
        for each in sided:
            lot, _, side = each.side.partition("=")
            if each.side and side not in self.lots.get(lot, ()):
                yield f"side: there is no side '{side}' of a lot '{lot}'"
        if set(self.open) != set(options):
            yield f"open: expected one option for each of {', '.join(options)}"
        chosen = [("open", self.open)]
        chosen += [(f"worths of {each.name}", worth.when) for each in self.people for worth in each.worths]
        chosen += [(f"facts.{each.id}.shows", worth.when) for each in self.facts for worth in each.shows]
        for place, when in chosen:
            for matter, option in when.items():
                if option not in options.get(matter, ()):
                    yield f"{place}: there is no option '{option}' of a matter '{matter}'"
        named = [(f"topics.{each.id}.person", each.person) for each in self.topics]
        named += [(f"decisions.{each.id}.person", each.person) for each in self.decisions]
        named += [(f"facts.{each.id}", name) for each in self.facts for name in (*each.keep_from, each.of) if name]
        named += [("messages", name) for each in self.messages for name in (*each.to, each.sender) if name]
        for place, name in named:
            if name not in people:
                yield f"{place}: there is nobody called '{name}'"
        carried = [(f"topics.{t.id}", f) for t in self.topics for f in (*t.gives, *t.instead_gives, *t.lead, *t.needs)]
        carried += [("messages", f) for each in self.messages for f in (*each.gives, each.presses_for) if f]
        carried += [(f"decisions.{each.id}.needs", f) for each in self.decisions for f in each.needs]
        for place, fact in carried:
            if fact not in facts:
                yield f"{place}: there is no fact '{fact}'"
        for own in self.facts:
            lot, _, side = own.claims.partition("=")
            if own.claims and (own.side or side not in self.lots.get(lot, ())):
                yield f"facts.{own.id}.claims: expected a side of a lot, and a fact without a side of its own"
            if (own.shows or own.cost) and not own.of:
                yield f"facts.{own.id}: 'of' must say whose worths it shows, or who loses by it"
        for decision in self.decisions:
            offered = {option.id for option in decision.options}
            if not {decision.best, decision.unknowing} <= offered or decision.best == decision.unknowing:
                yield f"decisions.{decision.id}: 'best' and 'unknowing' must be two of {', '.join(sorted(offered))}"


@dataclass(frozen=True)
class Scenario:
    """A dossier at one level, with its lots drawn."""

    dossier: Dossier
    level: Level
    draw: frozenset[str]
    """One ``lot=side`` for every lot."""
    number: int = 1
    """Which draw of its level it is."""

    @property
    def id(self) -> str:
        return f"{self.dossier.id}@{self.level}" + (f"+{self.number}" if self.number > 1 else "")

    @property
    def budget(self) -> Budget:
        return self.dossier.budgets[self.level]

    def is_there(self, each: Sided) -> bool:
        return not each.side or each.side in self.draw

    def _select(self, parts: Iterable[P]) -> list[P]:
        return [part for part in parts if self.level in part.levels and self.is_there(part)]

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        return {each.id: each for each in self.dossier.facts if self.is_there(each)}

    def keep_facts(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these facts that there are."""
        return tuple(name for name in names if name in self.facts)

    @cached_property
    def topics(self) -> Mapping[str, Topic]:
        return {
            each.id: each.model_copy(update={name: self.keep_facts(getattr(each, name)) for name in ("gives", "instead_gives")})
            for each in self._select(self.dossier.topics)
        }

    @cached_property
    def decisions(self) -> Mapping[str, Decision]:
        return {each.id: each for each in self._select(self.dossier.decisions)}

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        own = self._select(self.dossier.messages)
        return tuple(each.model_copy(update={"gives": self.keep_facts(each.gives)}) for each in own)

    @cached_property
    def people(self) -> Mapping[str, Person]:
        return {
            each.name: each.model_copy(update={"worths": tuple(worth for worth in each.worths if self.is_there(worth))})
            for each in self.dossier.people
        }

    @cached_property
    def arrangements(self) -> tuple[Arrangement, ...]:
        """All there are."""
        matters = self.dossier.matters
        return tuple(
            {matter.id: option.id for matter, option in zip(matters, chosen, strict=True)}
            for chosen in product(*(matter.options for matter in matters))
        )

    @cached_property
    def worlds(self) -> tuple[frozenset[str], ...]:
        """All draws there could be."""
        sides = [[f"{lot}={side}" for side in sides] for lot, sides in self.dossier.lots.items()]
        return tuple(map(frozenset, product(*sides)))


def load_dossiers(path: Path | None, *, skip_invalid: bool) -> Loaded[Dossier]:
    """Loads the dossiers of a file or folder, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "dossiers: people, matters, facts, topics, messages, decisions and budgets"
    return load_items(path, DATA, make_cut(Dossier), skip_invalid=skip_invalid, expected=expected)
