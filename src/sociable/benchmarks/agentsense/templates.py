"""A template of the bundled data and its casts: one scenario a cast, in the native layout.

Scenes, goals and secrets are written once, with slots; a cast says who fills the slots. ``{aunt}`` is the short name,
``{aunt.full}`` the whole one, ``{aunt.they}`` a pronoun, ``{aunt:has|have}`` a verb that agrees with it, ``{aunt.trade}``
an entry under ``words`` in the cast. Nothing else is evaluated: a slot is looked up, never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from sociable.benchmarks.agentsense.scenario import Relationship
from sociable.core.data_files import Text, validate_record
from sociable.core.errors import DataError
from sociable.core.names import Name
from sociable.core.records import Record
from sociable.core.seeding import make_generator

Level = Literal["low", "medium", "high"]
Trait = Literal["openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"]
MoralValue = Literal["care", "fairness", "loyalty", "authority", "purity", "liberty"]
PersonalValue = Literal[
    "self-direction", "stimulation", "hedonism", "achievement", "power",
    "security", "conformity", "tradition", "benevolence", "universalism",
]  # fmt: skip
DecisionStyle = Literal["rational", "intuitive", "dependent", "avoidant", "spontaneous"]

_PRONOUNS = {
    "she": {"they": "she", "them": "her", "their": "her", "theirs": "hers", "themself": "herself"},
    "he": {"they": "he", "them": "him", "their": "his", "theirs": "his", "themself": "himself"},
    "they": {"they": "they", "them": "them", "their": "their", "theirs": "theirs", "themself": "themself"},
}


class Member(Record):
    """Somebody who fills a slot: the attributes that Figure 4 counts, and the profile that the model reads."""

    name: Name
    short: Name
    pronouns: Literal["she", "he", "they"]
    gender: Text
    age: int = Field(ge=5, le=110)
    occupation: Text
    big_five: dict[Trait, Level] = Field(min_length=5)
    """Costa and McCrae's five traits."""
    moral_values: tuple[MoralValue, ...] = Field(min_length=1)
    """Values of Moral Foundations Theory."""
    values: tuple[PersonalValue, ...] = Field(min_length=1)
    """Some of Schwartz's ten values."""
    decision_style: DecisionStyle
    """One of Scott and Bruce's five."""
    words: dict[str, Text] = {}
    """Words of the template that differ by person: a relation, a trade."""
    profile: Text


NO_ATTRIBUTES = {"name", "short", "pronouns", "words", "profile"}
"""Fields of a member that do not describe the person."""


class Slot(Record):
    """Conditions on whoever plays this part (App. A.2.5); empty: none."""

    age: tuple[int, int]
    gender: str = ""
    occupation: str = ""
    constraint: str = ""


class AgeGap(Record):
    older: str
    younger: str
    years: int = Field(ge=0, le=90)


SlotName = Annotated[str, PlainSerializer(lambda slot: f"{{{slot}.full}}")]
"""A slot that stands for its whole name; written out as a text with that slot, it is filled as all texts are."""


class TemplateSign(Record):
    by: Annotated[tuple[SlotName, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]
    says: tuple[tuple[Text, ...], ...] = Field(min_length=1)
    unless: tuple[tuple[Text, ...], ...] | None = None


class TemplateLine(Record):
    by: SlotName
    says: Text


class TemplateGoal(Record):
    goal: Text
    type: str
    signs: tuple[TemplateSign, ...] = Field(min_length=1)
    reached: tuple[TemplateLine, ...] = Field(min_length=1)
    missed: tuple[TemplateLine, ...] = Field(min_length=1)


class TemplateQuestion(Record):
    """About the secret of the character it stands under, and asked of everybody else."""

    question: Text
    answer: Text
    wrong: tuple[Text, Text, Text]
    betrayed_by: str = ""
    """The behaviour from which others can infer the answer though nobody says it."""


class Part(Record):
    slot: str
    private_info: str = ""
    goals: tuple[TemplateGoal, ...] = ()
    questions: tuple[TemplateQuestion, ...] = ()
    role: str = ""
    """sender or receiver, for pairwise runs."""


class TemplateGoalReference(Record):
    of: SlotName
    goal: int = Field(ge=1)


class Template(Record):
    """A scene with slots, and its casts."""

    id: Text
    domain: str
    place: Text
    background: Text
    description: str = ""
    slots: dict[str, Slot] = Field(min_length=2)
    relations: tuple[Relationship, ...] = ()
    age_gaps: tuple[AgeGap, ...] = ()
    characters: tuple[Part, ...] = Field(min_length=2)
    opening: TemplateLine | None = None
    """The first words, in the voice of whoever says them; absent: the paper's greeting, by somebody drawn."""
    exclusive: tuple[tuple[TemplateGoalReference, ...], ...] = ()
    """Groups of goals of which not all can be reached in one scene."""
    casts: tuple[dict[str, Member], ...] = Field(min_length=1)
    canary: str = ""
    """A string by which the data can be found in training corpora. Never shown to any model."""


def make_cast_records(raw: Mapping[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """The scenarios of a template in the native layout, one a cast. Raises DataError."""
    template = validate_record(Template, raw, place)
    place = f"{place}, template {template.id}"
    _check_slots(template, place)
    written = template.model_dump(include={"background", "description", "characters", "opening", "exclusive"})
    for number, cast in enumerate(template.casts, start=1):
        profiles = {slot: member.profile for slot, member in cast.items()}
        filled = _fill(written | {"profiles": profiles}, cast, f"{place}, cast {number}")
        questions = {part["slot"]: list(_list_questions(template.id, part, cast)) for part in filled["characters"]}
        yield {
            "sample_idx": number,
            "template_idx": template.id,
            "domain": template.domain,
            "place": template.place,
            "background": filled["background"],
            "description": filled["description"],
            "opening": filled["opening"],
            "exclusive": filled["exclusive"],
            "characters": [
                {
                    "name": cast[part["slot"]].name,
                    "short": cast[part["slot"]].short,
                    "profile": filled["profiles"][part["slot"]],
                    "private_info": part["private_info"],
                    "attributes": cast[part["slot"]].model_dump(exclude=NO_ATTRIBUTES),
                    "goals": part["goals"],
                    # Nobody is asked about the own secret.
                    "info_reason_questions": [q for slot, own in questions.items() if slot != part["slot"] for q in own],
                    "role": part["role"] or None,
                }
                for part in filled["characters"]
            ],
            "relations": [{"of": [cast[slot].name for slot in each.of], "kind": each.kind} for each in template.relations],
        }


def _check_slots(template: Template, place: str) -> None:
    """Raises DataError unless every slot has its part and is filled by every cast as the constraints say."""
    slots = set(template.slots)
    parts = [part.slot for part in template.characters]
    if len(set(parts)) < len(parts) or set(parts) != slots:
        raise DataError(place, "characters", f"every slot needs one character; slots are {', '.join(sorted(slots))}")
    named = {slot for relation in template.relations for slot in relation.of}
    named |= {slot for gap in template.age_gaps for slot in (gap.older, gap.younger)}
    if unknown := named - slots:
        raise DataError(place, "relations", f"'{min(unknown)}' is no slot")
    for number, cast in enumerate(template.casts):
        if set(cast) != slots:
            problem = f"must fill {', '.join(sorted(slots))}, and fills {', '.join(sorted(cast))}"
            raise DataError(place, f"casts.{number}", problem)
        for field, problem in list_cast_faults(template.slots, template.age_gaps, cast):
            raise DataError(place, f"casts.{number}.{field}", problem)


def list_cast_faults(
    slots: Mapping[str, Slot], age_gaps: Sequence[AgeGap], cast: Mapping[str, Member]
) -> Iterator[tuple[str, str]]:
    """(field, problem) of everything that keeps a cast from filling the slots (App. A.2.5)."""
    for name, slot in slots.items():
        member = cast[name]
        if not slot.age[0] <= member.age <= slot.age[1]:
            yield f"{name}.age", f"{member.name} is {member.age}; the part needs {slot.age[0]} to {slot.age[1]}"
        for trait in ("gender", "occupation"):
            wanted, given = getattr(slot, trait), getattr(member, trait)
            if wanted and wanted.casefold() != given.casefold():
                yield f"{name}.{trait}", f"{member.name}'s {trait} is '{given}'; the part needs '{wanted}'"
    for gap in age_gaps:
        if cast[gap.older].age - cast[gap.younger].age < gap.years:
            problem = f"{cast[gap.older].name} must be {gap.years} or more years older than {cast[gap.younger].name}"
            yield f"{gap.older}.age", problem


def _list_questions(template: str, owner: Mapping[str, Any], cast: Mapping[str, Member]) -> Iterator[dict[str, Any]]:
    """The questions about the secret of a filled part, in the native layout."""
    for number, question in enumerate(owner["questions"], start=1):
        yield make_question(f"{template}/{owner['slot']}/{number}", question, cast[owner["slot"]].name)


def make_question(key: str, written: Mapping[str, Any], about: str, seed: int = 0) -> dict[str, Any]:
    """A question in the native layout, of one ``written`` with its answer and wrong answers."""
    options = [written["answer"], *written["wrong"]]
    order = list(range(len(options)))
    # Nobody chose where the answer stands, and it stands in the same place for every cast.
    make_generator(seed, "options", key).shuffle(order)
    shown = [options[place] for place in order]
    made = {"question": written["question"], "options": shown, "answer_label": order.index(0), "about": about, "key": key}
    return made | ({"betrayed_by": written["betrayed_by"]} if written.get("betrayed_by") else {})


_SLOT = re.compile(r"\{(\w+)(?:\.(\w+)|:([^{}|]+)\|([^{}|]+))?\}")


def _fill(value: Any, cast: Mapping[str, Member], place: str, field: str = "") -> Any:
    """The text, or whatever holds texts, with the cast in its slots; ``field`` is where it stands."""
    if isinstance(value, dict):
        return {key: _fill(part, cast, place, f"{field}.{key}".removeprefix(".")) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_fill(part, cast, place, f"{field}.{number}") for number, part in enumerate(value)]
    if not isinstance(value, str) or not ("{" in value or "}" in value):
        return value
    filled = _SLOT.sub(lambda match: _find_filling(match, cast, place, field), value)
    if "{" in filled or "}" in filled:
        raise DataError(place, field, f"a brace that belongs to no slot, in {filled[:80]!r}")
    return filled


def _find_filling(match: re.Match[str], cast: Mapping[str, Member], place: str, field: str) -> str:
    slot, part, singular, plural = match.groups()
    member = cast.get(slot)
    if member is None:
        raise DataError(place, field, f"{match.group()}: '{slot}' is no slot; there are {', '.join(cast)}")
    if singular is not None:
        return plural if member.pronouns == "they" else singular
    if part in (None, "full"):
        return member.name if part else member.short
    if part in ("occupation", "age", "gender"):
        return str(getattr(member, part))
    if part in member.words:
        return member.words[part]
    pronoun = _PRONOUNS[member.pronouns].get(part.lower())
    if pronoun is None:
        known = ", ".join(["full", "occupation", "age", "gender", *_PRONOUNS["she"], *member.words])
        raise DataError(place, field, f"{match.group()}: {member.name} has no '{part}'; there are {known}")
    return pronoun.capitalize() if part[0].isupper() else pronoun
