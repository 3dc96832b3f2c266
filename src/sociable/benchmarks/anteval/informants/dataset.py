"""Cards with informants: a subject of which one to three people each know a part, and what gets each part out of them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sociable.benchmarks.anteval.iep.cards import KeyPoint
from sociable.core.data_files import Loaded, Text, load_records
from sociable.core.names import Name
from sociable.core.records import CheckedRecord, Record
from sociable.core.wording import Wording, has_wording

DATA = Path(__file__).parents[1] / "data" / "informants"


class Level(StrEnum):
    """How many informants there are, and how much of a will they have."""

    EASY = "easy"
    MIDDLE = "middle"
    HARD = "hard"


ALL = tuple(Level)


class Way(StrEnum):
    """What gets a fact out of its holder."""

    ASKING = "asking"
    PRICE = "price"
    FEAR = "fear"
    """Once somebody has said what takes the fear away."""
    APART = "apart"
    """Asked aside, where nobody else hears."""
    LIE = "lie"
    """A lie is told instead, until it is contradicted by what another informant knows."""


class Gate(Record):
    """What an informant waits for."""

    wants: Text
    """What must have been said or promised, as the informant is told it ("You tell this only ...")."""
    says: Text
    """What the informant answers before that."""


class SpokenGate(Gate):
    wording: Wording
    """The wordings by which the rule sees that it was said."""


class Informant(Record):
    name: Name
    pronouns: Name
    who: Text
    """What everybody can see, or has been told."""
    manner: Text
    price: SpokenGate
    fear: SpokenGate
    apart: Gate

    def find_gate(self, way: Way) -> Gate | None:
        return {Way.PRICE: self.price, Way.FEAR: self.fear, Way.APART: self.apart}.get(way)


class Statement(KeyPoint):
    """Something that an informant says of the subject."""

    id: Text
    holder: Text
    topic: Text
    asked: Wording
    """The wordings by which the rule sees that it was asked about."""
    wording: Wording


class Fact(Statement):
    got_by: Way
    instead: str = ""
    """Of a fact that is lied about: what is said instead."""
    shown_by: str = ""
    """The fact of another informant that shows the lie to be one."""

    @model_validator(mode="after")
    def _has_its_lie(self) -> Self:
        if {bool(self.instead), bool(self.shown_by)} != {self.got_by is Way.LIE}:
            raise ValueError(f"{self.id}: 'instead' and 'shown_by' belong to a fact that is got by 'lie', both of them")
        return self


class Rumour(Statement):
    """Something that its holder believes, and that is not so."""

    corrected_by: Text
    """The fact of another informant that shows it to be wrong."""


class Card(CheckedRecord):
    id: Text
    kind: Literal["place", "item", "creature", "plot"]
    title: Text
    """The subject, which everybody knows."""
    setting: Text
    """The scene, as the players are told; it holds none of the facts."""
    informants: Annotated[tuple[Informant, ...], Field(min_length=1, max_length=3)]
    facts: Annotated[tuple[Fact, ...], Field(min_length=1, max_length=24)]
    rumours: tuple[Rumour, ...] = ()
    canary: str = ""
    """Marks evaluation data in training corpora."""

    def __hash__(self) -> int:
        return hash(self.id)

    @cached_property
    def public(self) -> str:
        """Everything that the players are told first."""
        return "\n".join((self.title, self.setting, *(each.who for each in self.informants)))

    def _find_problems(self) -> Iterator[str]:
        statements = (*self.facts, *self.rumours)
        ids, names = [each.id for each in statements], [each.name for each in self.informants]
        for kind, values in (("facts and rumours", ids), ("informants", names)):
            if twice := next((value for value in values if values.count(value) > 1), None):
                yield f"{kind}: '{twice}' is there twice"
        holders = {each.id: each.holder for each in self.facts}
        for each in statements:
            if each.holder not in names:
                yield f"{each.id}: there is no informant '{each.holder}'"
            if isinstance(each, Fact) and has_wording(self.public, each.wording):
                yield f"{each.id}: stands in title, setting or 'who': everybody would know it"
            if not has_wording(ask_about(each), each.asked):
                yield f"{each.id}: 'asked' does not take a question about its own topic"
            shown = each.shown_by if isinstance(each, Fact) else each.corrected_by if isinstance(each, Rumour) else ""
            if shown and holders.get(shown, each.holder) == each.holder:
                yield f"{each.id}: expected a fact of another informant that shows it, found '{shown}'"
            for other in statements:
                texts = [other.point, *([other.instead] if isinstance(other, Fact) and other.instead else [])]
                if any(has_wording(text, each.wording) for text in texts[other is each :]):
                    yield f"{each.id}: its wording takes {other.id} as well"
        if idle := next((name for name in names if name not in holders.values()), None):
            yield f"informants: {idle} holds no fact"


def ask_about(statement: Statement) -> str:
    """A plain question about a statement's topic, which its ``asked`` takes."""
    return f"What of {statement.topic}?"


def load_cards(path: Path | None, *, skip_invalid: bool) -> Loaded[Card]:
    """Loads the cards of a file or folder, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "cards: a setting, informants, facts and what gets them"
    return load_records(Card, path, DATA, skip_invalid=skip_invalid, expected=expected)
