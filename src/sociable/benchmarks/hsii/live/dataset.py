"""Dossiers: people who value the possible arrangements differently, in numbers that nobody is told.

What somebody values can be learnt: from what is said openly, by asking about what was let slip, by telling somebody what moves
him. Every such thing is a *fact*; topics and messages carry facts. What lies behind a hint is drawn by lot: a dossier has *lots*
of two sides or more, and a part that names a side is there only when it was drawn, so that no hint can be read without asking.
People are bound to one another: what one gains may please or vex another (*bonds*), and some pass on what they are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sociable.core.data_files import Loaded, Text, load_records
from sociable.core.names import Name
from sociable.core.records import CheckedRecord, Record
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


class Bond(Part):
    """Points that an arrangement is worth to somebody if another person's own worths come to ``least`` or more.

    Positive for a friend or an ally, negative for a rival.
    """

    other: Text
    least: float
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
    replaces: str = ""
    """The fact that is no longer so once this one is."""
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
    bonds: tuple[Bond, ...] = ()
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
    guarded: tuple[Level, ...] = ALL
    """The levels at which it needs them; at the others it says so when asked."""
    says: str = ""
    says_by: dict[str, Text] = {}
    """What it says by side (``lot=side``), where that depends on a lot."""
    gives: Annotated[tuple[str, ...], Field(min_length=1)]
    instead: str = ""
    """What it says while it has not been told what it ``needs``."""
    instead_gives: tuple[str, ...] = ()

    @property
    def lines(self) -> Mapping[str, str]:
        """What it says by side; the side is empty where it is the same in every draw."""
        return self.says_by or {self.side: self.says}


class Passing(Part):
    """Somebody who passes on what it is told, but for what concerns itself."""

    person: Text
    to: Annotated[tuple[str, ...], Field(min_length=1)]


class Absence(Part):
    """Rounds in which somebody cannot be reached: what is written to him then he reads and answers in the first round after."""

    person: Text
    rounds: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]
    why: Text
    """Where he is, as everybody knows it: "at sea"."""


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
    best: str = ""
    """The option that is best."""
    best_by: dict[str, Text] = {}
    """The option that is best by side, where that depends on a lot."""
    unknowing: Text
    """What it does without having been told what it ``needs``."""
    needs: Annotated[tuple[str, ...], Field(min_length=1)]
    points: Annotated[float, Field(gt=0)]
    """What the best option is worth to the person; the others are worth nothing."""


class Quiz(Record):
    """What those from whom a confidence is to be kept are asked in the end: do they know it?"""

    fact: Text
    question: Text
    answers: Annotated[dict[str, Text], Field(min_length=1)]
    """What lies behind it, by side of the fact's lot (empty where it has none)."""
    decoys: Annotated[tuple[Text, ...], Field(min_length=2)]
    """What nobody has said."""


UNKNOWN = ""
"""What somebody thinks who would have to ask."""


class Budget(Record):
    """What the assistant may do at one level."""

    rounds: Annotated[int, Field(ge=2)]
    messages: Annotated[int, Field(ge=1)]
    """The most messages that it sends in a round."""
    patience: Annotated[int, Field(ge=1)]
    """The questions that each person answers in all."""
    least: float = -4.0
    """The least that an arrangement must be worth to each person for a yes."""


class Dossier(CheckedRecord):
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
    passings: tuple[Passing, ...] = ()
    """Who passes on what it is told, and to whom."""
    absences: tuple[Absence, ...] = ()
    """When people cannot be reached."""
    quizzes: tuple[Quiz, ...] = ()
    lots: dict[str, Annotated[tuple[Text, ...], Field(min_length=2)]] = {}
    """The sides of each lot. Lots are drawn apart, every side as likely."""
    open: dict[str, str]
    """The arrangement that lies open: what the openings add up to."""
    budgets: dict[Level, Budget]
    canary: str = ""

    def __hash__(self) -> int:
        # Scenarios are looked up among those that were drawn and solved; fields hold what has no hash.
        return hash(self.id)

    @cached_property
    def worlds(self) -> tuple[frozenset[str], ...]:
        """All draws there could be."""
        sides = [[f"{lot}={side}" for side in sides] for lot, sides in self.lots.items()]
        return tuple(map(frozenset, product(*sides)))

    @cached_property
    def arrangements(self) -> tuple[Arrangement, ...]:
        """All that could be agreed on."""
        return tuple(
            {matter.id: option.id for matter, option in zip(self.matters, chosen, strict=True)}
            for chosen in product(*(matter.options for matter in self.matters))
        )

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
        sided: list[Sided] = [*self.facts, *self.topics, *self.messages, *self.decisions, *self.passings, *self.absences]
        sided += [own for each in self.people for own in (*each.worths, *each.bonds)]
        sides = [each.side for each in sided] + [fact.claims for fact in self.facts]
        sides += [side for topic in self.topics for side in topic.lines]
        sides += [side for each in self.decisions for side in each.best_by]
        sides += [side for quiz in self.quizzes for side in quiz.answers]
        for name in sides:
            lot, _, side = name.partition("=")
            if name and side not in self.lots.get(lot, ()):
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
        named += [("passings", name) for each in self.passings for name in (*each.to, each.person)]
        named += [("absences", each.person) for each in self.absences]
        named += [(f"bonds of {each.name}", bond.other) for each in self.people for bond in each.bonds]
        for place, name in named:
            if name not in people:
                yield f"{place}: there is nobody called '{name}'"
        carried = [(f"topics.{t.id}", f) for t in self.topics for f in (*t.gives, *t.instead_gives, *t.lead, *t.needs)]
        carried += [("messages", f) for each in self.messages for f in (*each.gives, each.presses_for) if f]
        carried += [(f"decisions.{each.id}.needs", f) for each in self.decisions for f in each.needs]
        carried += [(f"facts.{each.id}.replaces", each.replaces) for each in self.facts if each.replaces]
        carried += [("quizzes", each.fact) for each in self.quizzes]
        for place, fact in carried:
            if fact not in facts:
                yield f"{place}: there is no fact '{fact}'"
        writes = {(each.sender, each.round, level) for each in self.messages for level in each.levels}
        for absence in self.absences:
            for number in absence.rounds:
                if any((absence.person, number, level) in writes for level in absence.levels):
                    yield f"absences: '{absence.person}' writes in round {number} and cannot be away then"
        for own in self.facts:
            if own.claims and own.side:
                yield f"facts.{own.id}.claims: expected a fact without a side of its own"
            if (own.shows or own.cost) and not own.of:
                yield f"facts.{own.id}: 'of' must say whose worths it shows, or who loses by it"
        for decision in self.decisions:
            offered = {option.id for option in decision.options}
            best = {*decision.best_by.values()} or {decision.best}
            if not {*best, decision.unknowing} <= offered or decision.unknowing in best:
                yield f"decisions.{decision.id}: 'best' and 'unknowing' must be two of {', '.join(sorted(offered))}"


def load_dossiers(path: Path | None, *, skip_invalid: bool) -> Loaded[Dossier]:
    """Loads the dossiers of a file or folder, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "dossiers: people, matters, facts, topics, messages, decisions and budgets"
    return load_records(Dossier, path, DATA, skip_invalid=skip_invalid, expected=expected)
