"""A template of the bundled data and its casts: one scenario a cast, in the native layout.

Scenes, goals and secrets are written once, with slots; a cast says who fills the slots. ``{aunt}`` is the short name,
``{aunt.full}`` the whole one, ``{aunt.they}`` a pronoun, ``{aunt:has|have}`` a verb that agrees with it, ``{aunt.trade}``
what the cast says under ``words``. Nothing else is evaluated: a slot is looked up, never run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from sociable.benchmarks.agentsense.scenario import Relationship
from sociable.core.data_files import Text, complaint
from sociable.core.errors import DataError
from sociable.core.names import Name
from sociable.core.records import Record
from sociable.core.seeding import named_generator

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
    """Who fills a slot: what Figure 4 counts, and the profile that the model reads."""

    name: Name
    short: Name
    pronouns: Literal["she", "he", "they"]
    gender: Text
    age: int = Field(ge=5, le=110)
    occupation: Text
    big_five: dict[Trait, Level] = Field(min_length=5)
    """Costa and McCrae's five traits."""
    moral_values: tuple[MoralValue, ...] = Field(min_length=1)
    """Of Moral Foundations Theory."""
    values: tuple[PersonalValue, ...] = Field(min_length=1)
    """Schwartz's ten."""
    decision_style: DecisionStyle
    """Scott and Bruce's five."""
    words: dict[str, Text] = {}
    """What the template says differently of this person: a relation, a trade."""
    profile: Text


NO_ATTRIBUTES = {"name", "short", "pronouns", "words", "profile"}
"""Of a member; the rest describes the person."""


class Slot(Record):
    """What anybody in this part must be (App. A.2.5)."""

    age: tuple[int, int]
    gender: str = ""
    """Where the story needs it."""
    occupation: str = ""
    constraint: str = ""


class AgeGap(Record):
    older: str
    younger: str
    years: int = Field(ge=0, le=90)


class TemplateSign(Record):
    by: str | tuple[str, ...]
    says: tuple[tuple[Text, ...], ...] = Field(min_length=1)
    unless: tuple[tuple[Text, ...], ...] | None = None


class TemplateLine(Record):
    by: str
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


class Part(Record):
    slot: str
    private_info: str = ""
    goals: tuple[TemplateGoal, ...] = ()
    questions: tuple[TemplateQuestion, ...] = ()
    role: str = ""
    """sender or receiver, for pairwise runs."""


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
    casts: tuple[dict[str, Member], ...] = Field(min_length=1)
    canary: str = ""
    """A string by which the data can be found in training corpora. Never shown to any model."""


def read_template(raw: Mapping[str, Any], place: str) -> Template:
    """Checked: every slot has its part and is filled by every cast as the constraints say. Raises DataError."""
    try:
        template = Template.model_validate(raw)
    except ValidationError as error:
        raise complaint(error, place) from None
    place = f"{place}, template {template.id}"
    slots = set(template.slots)
    parts = [part.slot for part in template.characters]
    if len(set(parts)) < len(parts) or set(parts) != slots:
        raise DataError(place, "characters", f"every slot needs one character; slots are {', '.join(sorted(slots))}")
    named = {slot for relation in template.relations for slot in relation.of}
    named |= {slot for gap in template.age_gaps for slot in (gap.older, gap.younger)}
    if unknown := named - slots:
        raise DataError(place, "relations", f"'{min(unknown)}' is no slot")
    for number, cast in enumerate(template.casts):
        _check_cast(template, cast, place, f"casts.{number}")
    return template


def _check_cast(template: Template, cast: Mapping[str, Member], place: str, field: str) -> None:
    if set(cast) != set(template.slots):
        raise DataError(place, field, f"must fill {', '.join(sorted(template.slots))}, and fills {', '.join(sorted(cast))}")
    for wrong, problem in cast_faults(template.slots, template.age_gaps, cast):
        raise DataError(place, f"{field}.{wrong}", problem)


def cast_faults(slots: Mapping[str, Slot], age_gaps: Sequence[AgeGap], cast: Mapping[str, Member]) -> Iterator[tuple[str, str]]:
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


def cast_records(raw: Mapping[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """The scenarios of a template in the native layout, one a cast. Raises DataError."""
    template = read_template(raw, place)
    for number, cast in enumerate(template.casts, start=1):
        fill = _filler(cast, f"{place}, template {template.id}, cast {number}")
        yield {
            "sample_idx": number,
            "template_idx": template.id,
            "domain": template.domain,
            "place": template.place,
            "background": fill(template.background, "background"),
            "description": fill(template.description, "description"),
            "characters": [
                _character(template, part, cast, fill, f"characters.{index}") for index, part in enumerate(template.characters)
            ],
            "relations": [{"of": [cast[slot].name for slot in each.of], "kind": each.kind} for each in template.relations],
        }


Filler = Callable[[str, str], str]
"""From a text with slots and the field it stands in to the text of one cast."""


def _character(template: Template, part: Part, cast: Mapping[str, Member], fill: Filler, field: str) -> dict[str, Any]:
    member = cast[part.slot]
    record: dict[str, Any] = {
        "name": member.name,
        "short": member.short,
        "profile": fill(member.profile, f"profile of {part.slot}"),
        "private_info": fill(part.private_info, f"{field}.private_info"),
        "attributes": member.model_dump(exclude=NO_ATTRIBUTES),
        "goals": [_goal(goal, cast, fill, f"{field}.goals.{number}") for number, goal in enumerate(part.goals)],
        "info_reason_questions": [
            _question(template, other, number, cast, fill)
            for other in template.characters
            if other.slot != part.slot
            for number in range(len(other.questions))
        ],
    }
    return record | ({"role": part.role} if part.role else {})


def _goal(goal: TemplateGoal, cast: Mapping[str, Member], fill: Filler, field: str) -> dict[str, Any]:
    def name(slot: str) -> str:
        return cast[slot].name if slot in cast else slot

    def lines(which: tuple[TemplateLine, ...], part: str) -> list[dict[str, str]]:
        return [{"by": name(line.by), "says": fill(line.says, f"{field}.{part}")} for line in which]

    def wording(alternatives: tuple[tuple[str, ...], ...]) -> list[list[str]]:
        return [[fill(phrase, f"{field}.signs") for phrase in alternative] for alternative in alternatives]

    return {
        "goal": fill(goal.goal, f"{field}.goal"),
        "type": goal.type,
        "signs": [
            {
                "by": [name(slot) for slot in ((sign.by,) if isinstance(sign.by, str) else sign.by)],
                "says": wording(sign.says),
                "unless": wording(sign.unless) if sign.unless else None,
            }
            for sign in goal.signs
        ],
        "reached": lines(goal.reached, "reached"),
        "missed": lines(goal.missed, "missed"),
    }


def _question(template: Template, owner: Part, number: int, cast: Mapping[str, Member], fill: Filler) -> dict[str, Any]:
    question = owner.questions[number]
    key = f"{template.id}/{owner.slot}/{number + 1}"
    order = [question.answer, *question.wrong]
    # Nobody chose where the answer stands, and it stands in the same place for every cast.
    named_generator(0, "options", key).shuffle(order)
    field = f"questions of {owner.slot}"
    return {
        "question": fill(question.question, field),
        "options": [fill(option, field) for option in order],
        "answer_label": order.index(question.answer),
        "about": cast[owner.slot].name,
        "key": key,
    }


_SLOT = re.compile(r"\{(\w+)(?:\.(\w+)|:([^{}|]+)\|([^{}|]+))?\}")


def _filler(cast: Mapping[str, Member], place: str) -> Filler:
    def fill(text: str, field: str) -> str:
        def put(match: re.Match[str]) -> str:
            slot, part, singular, plural = match.groups()
            member = cast.get(slot)
            if member is None:
                raise DataError(place, field, f"{match.group()}: '{slot}' is no slot; there are {', '.join(cast)}")
            if singular is not None:
                return plural if member.pronouns == "they" else singular
            return _part_of(member, part, match.group(), place, field)

        filled = _SLOT.sub(put, text)
        if "{" in filled or "}" in filled:
            raise DataError(place, field, f"a brace that belongs to no slot, in {filled[:80]!r}")
        return filled

    return fill


def _part_of(member: Member, part: str | None, written: str, place: str, field: str) -> str:
    if part is None:
        return member.short
    if part == "full":
        return member.name
    if part in ("occupation", "age", "gender"):
        return str(getattr(member, part))
    if part in member.words:
        return member.words[part]
    pronoun = _PRONOUNS[member.pronouns].get(part.lower())
    if pronoun is None:
        known = ", ".join(["full", "occupation", "age", "gender", *_PRONOUNS["she"], *member.words])
        raise DataError(place, field, f"{written}: {member.name} has no '{part}'; there are {known}")
    return pronoun.capitalize() if part[0].isupper() else pronoun
