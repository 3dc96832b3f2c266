"""What a model writes of a dossier, step by step, and the checks on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from sociable.benchmarks.hsii.live.dataset import Choice
from sociable.core.data_files import Text
from sociable.core.names import Name
from sociable.core.records import Record
from sociable.core.wording import pad_words
from sociable.datasets.stages import Item, Rejected

Several = Annotated[tuple[Text, ...], Field(min_length=2)]


class DraftMatter(Record):
    id: Name
    question: Text
    options: Annotated[tuple[Choice, ...], Field(min_length=2, max_length=4)]


class DraftPerson(Record):
    name: Name
    pronouns: Text
    line: Text
    temper: Text
    opening: Text
    cue: Text
    wishes: dict[str, str] = Field(min_length=1)
    stock: Several


class WrittenScene(Record):
    title: Text
    setting: Text
    matters: Annotated[tuple[DraftMatter, ...], Field(min_length=2, max_length=4)]
    people: Annotated[tuple[DraftPerson, ...], Field(min_length=3, max_length=8)]


class Side(Record):
    id: Name
    says: Text
    fact: Text
    signs: Annotated[tuple[Text, ...], Field(min_length=1)]
    worths: dict[str, Annotated[float, Field(ge=-5, le=5)]] = Field(min_length=1)


class Reason(Record):
    person: Text
    about: Text
    words: Annotated[tuple[Text, ...], Field(min_length=3)]
    sides: Annotated[tuple[Side, ...], Field(min_length=2, max_length=2)]
    keep_from: tuple[Text, ...] = ()
    decoys: Several


class WrittenReasons(Record):
    reasons: tuple[Reason, ...]


class Guard(Record):
    person: Text
    must_hear: Text
    instead: Text


class News(Record):
    text: Text
    fact: Text
    signs: Annotated[tuple[Text, ...], Field(min_length=1)]


class OwnDecision(Record):
    person: Text
    question: Text
    options: Annotated[tuple[Text, ...], Field(min_length=3, max_length=5)]
    best: int
    unknowing: int


class Press(Record):
    sender: Text
    of: Text
    text: Text


class WrittenTies(Record):
    guards: tuple[Guard, ...] = ()
    news: News
    decision: OwnDecision
    presses: tuple[Press, ...] = ()


class Scene(Item, WrittenScene):
    """A negotiation after a dialogue."""


class Behind(Scene):
    reasons: tuple[Reason, ...]


class Tied(Behind):
    ties: WrittenTies


def check_scene(scene: WrittenScene) -> None:
    """Raises Rejected for wishes for what there is not, a cue that nobody wrote, or two people or options of one name."""
    options = {matter.id: {option.id for option in matter.options} for matter in scene.matters}
    if len(options) < len(scene.matters) or len({each.name for each in scene.people}) < len(scene.people):
        raise Rejected("two of one name")
    for person in scene.people:
        for matter, option in person.wishes.items():
            if option not in options.get(matter, ()):
                raise Rejected("a wish for what there is not", f"{person.name}: {matter}={option}")
        if pad_words(person.cue) not in pad_words(person.opening):
            raise Rejected("a cue that is not in the opening", f"{person.name}: {person.cue}")


def check_reasons(scene: Scene, reasons: tuple[Reason, ...]) -> None:
    """Raises Rejected where somebody has no reason, a side means nothing, or something written openly gives one away."""
    names = [person.name for person in scene.people]
    options = {f"{matter.id}={option.id}" for matter in scene.matters for option in matter.options}
    if sorted(reason.person for reason in reasons) != sorted(names):
        raise Rejected("not one reason for each person", ", ".join(reason.person for reason in reasons))
    openly = pad_words(" ".join((scene.setting, *(person.opening for person in scene.people))))
    for reason in reasons:
        if unknown := set(reason.keep_from) - {*names} or {reason.person} & {*reason.keep_from}:
            raise Rejected("to be kept from nobody who is there", ", ".join(sorted(unknown)))
        if len({side.id for side in reason.sides}) < len(reason.sides):
            raise Rejected("two sides of one name", reason.person)
        for side in reason.sides:
            if unknown := set(side.worths) - options:
                raise Rejected("a worth of what there is not", f"{reason.person}: {', '.join(sorted(unknown))}")
            if all(pad_words(sign) in openly for sign in side.signs):
                raise Rejected("given away in an opening", f"{reason.person}: {', '.join(side.signs)}")


def _follow(waits: Mapping[str, str], person: str) -> list[str]:
    """The person, and whom it waits for, and whom that one waits for."""
    followed = [person]
    while (after := waits.get(followed[-1])) and after not in followed:
        followed.append(after)
    return followed


def check_ties(scene: Behind, ties: WrittenTies) -> None:
    """Raises Rejected where somebody waits for himself or in a circle, or would have to hear what he may not."""
    names = {person.name for person in scene.people}
    kept = {reason.person: {*reason.keep_from} for reason in scene.reasons}
    waits = {guard.person: guard.must_hear for guard in ties.guards}
    for person, other in waits.items():
        if not {person, other} <= names or person in kept[other] or person in _follow(waits, other):
            raise Rejected("a guard that cannot be opened", f"{person} must hear of {other}")
    decision = ties.decision
    if decision.person not in names or not {decision.best, decision.unknowing} <= set(range(len(decision.options))):
        raise Rejected("a decision of nobody, or with no such option", decision.question)
    for press in ties.presses:
        if press.sender not in names or press.sender not in kept.get(press.of, ()):
            raise Rejected("pressed for what need not be kept from the sender", f"{press.sender}, of {press.of}")
