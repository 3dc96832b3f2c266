"""Makes scenarios of a scene: names out, slots in the place of people, casts, checks (Figure 3, step 11; Prompts 11 to 16)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Literal

from pydantic import Field

from sociable.benchmarks.agentsense.briefing import is_script_named, load_agentsense_prompts, write_script_question
from sociable.benchmarks.agentsense.dataset import read_scenario
from sociable.benchmarks.agentsense.likeness import find_nearest_passage
from sociable.benchmarks.agentsense.scenario import Relationship
from sociable.benchmarks.agentsense.templates import NO_ATTRIBUTES, AgeGap, Member, Slot, list_cast_faults, make_question
from sociable.core.data_files import Text
from sociable.core.names import find_words
from sociable.core.prompts import quote
from sociable.core.records import Record
from sociable.datasets.recipes.agentsense.draft import (
    Draft,
    find_names,
    find_spellings,
    is_said_in,
    is_telling,
    make_replacer,
    make_slot_replacer,
)
from sociable.datasets.stages import MadeRecord, Rejected, Writer, parse_fields

CASTS = 5
"""Scenarios of a template (section 3.5)."""
MOST_LIKE = 0.6
"""Gestalt ratio with the nearest passage of the script from which on a scene is too like it."""
Replaceable = Literal["almost", "maybe", "no"]
ROUND: Mapping[Replaceable, tuple[int, int]] = {"almost": (18, 85), "maybe": (12, 12), "no": (2, 2)}
"""Ages that may take a part, by how replaceable its age is: anybody grown up; or years below and above."""


class _Replacement(Record):
    original: Text
    replacement: Text


class _Replacements(Record):
    replacements: tuple[_Replacement, ...] = ()


class _Trait(Record):
    age: Replaceable
    gender: Replaceable
    occupation: Replaceable


class _Described(Record):
    name: Text
    age: int = Field(ge=5, le=110)
    gender: Text
    occupation: str = ""
    replaceable: _Trait
    must_be: str = ""
    """Anything else that is asked of whoever takes the part."""


class _Casts(Record):
    casts: tuple[dict[str, Any], ...] = Field(min_length=1)


class _Slots(Record):
    characters: tuple[_Described, ...]
    older: tuple[AgeGap, ...] = ()
    relations: tuple[Relationship, ...] = Field(min_length=1)


async def replace_entities(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The draft with other names in place of those by which the story could be known (step 11, Prompts 11 and 12)."""
    names = [person.name for person in item.people]
    given = {"scene": quote(item.text), "names": quote("\n".join(names))}
    found = await writer.write(_Replacements, "a list of replacements", "entities", **given)
    taken = {spelling.casefold() for spelling, name in find_spellings(item.passage.names).items() if name in names}
    pairs = {each.original: each.replacement for each in found.replacements if each.original.casefold() not in taken}
    said = f"{item.passage.text}\n{item.text}"
    for original, replacement in list(pairs.items()):
        # Whoever is Sir Robert Chiltern is Sir Robert, too.
        parts = zip(original.split(), replacement.split(), strict=False)
        alike = len(original.split()) == len(replacement.split())
        pairs = {one: other for one, other in parts if alike and is_telling(one, said) and one.casefold() not in taken} | pairs
    if lost := sum(each.original.casefold() not in said.casefold() for each in found.replacements):
        writer.left_out["replacement: of a name that does not stand there"] += lost
    return [item.change_texts(make_replacer(pairs))]


async def make_slots(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The draft with parts in place of characters, and the conditions for who takes each part (step 11, Prompts 13 to 15)."""
    names = [person.name for person in item.people]
    given = {"scene": quote(item.text), "names": quote("\n".join(names))}
    found = await writer.write(_Slots, "a description of parts", "slots", **given)
    slot_of = {name: f"part{number}" for number, name in enumerate(names, start=1)}
    called = {name.casefold(): slot for name, slot in slot_of.items()}
    described = {called.get(each.name.casefold()): each for each in found.characters}
    if lacking := [name for name, slot in slot_of.items() if slot not in described]:
        raise Rejected("a character nobody described", ", ".join(lacking))
    gaps = [
        AgeGap(older=called[older], younger=called[younger], years=each.years)
        for each in found.older
        if (older := each.older.casefold()) != (younger := each.younger.casefold()) and {older, younger} <= called.keys()
    ]
    relations = [
        Relationship(of=tuple(called[name.casefold()] for name in each.of), kind=each.kind)
        for each in found.relations
        if {name.casefold() for name in each.of} <= called.keys()
    ]
    said = f"{item.passage.text}\n{item.text}"
    put_slots = make_slot_replacer(slot_of, item.passage.names, said)
    draft = item.change_texts(put_slots)
    slots = {slot: _make_slot(described[slot], draft.text, put_slots) for slot in slot_of.values()}
    told = "\n".join(f"{slot.occupation}\n{slot.constraint}" for slot in slots.values())
    if left := find_names(f"{draft.text}\n{told}", item.passage.names, said):
        raise Rejected("a name of the script is left", ", ".join(left))
    people = tuple(each.model_copy(update={"name": slot_of[each.name]}) for each in draft.people)
    changed = {"people": people, "slots": slots, "age_gaps": tuple(gaps), "relations": tuple(relations)}
    return [draft.model_copy(update=changed)]


async def predict_script(keep: bool, item: Draft, writer: Writer) -> Sequence[Draft]:
    """Section 4.3's test of leakage: a scene whose script the model recognises falls out, unless ``keep`` is set."""
    people = dict(zip(item.slots, ascii_uppercase, strict=False))
    scene = _fill_parts(f"{item.background}\n{item.description}", people)
    reply = await writer.ask(write_script_question(scene, load_agentsense_prompts()))
    if is_script_named(reply, item.passage.title):
        if not keep:
            raise Rejected("its script is recognised", reply[:200])
        writer.left_out["nothing, but its script is recognised"] += 1
    return [item]


async def find_casts(item: Draft, writer: Writer) -> Sequence[Draft]:
    """People who fit the parts, checked against them (Prompt 16)."""
    casts: list[dict[str, Member]] = []
    faults: list[str] = []
    # Who does not fit is looked for once more.
    for _ in range(2):
        if len(casts) >= CASTS:
            break
        taken = [member.name for cast in casts for member in cast.values()]
        given = {
            # Not what is secret: profiles are read by everybody's player.
            "scene": item.scene,
            "parts": quote("\n".join(_describe_parts(item))),
            "count": str(CASTS - len(casts)),
            "first": next(iter(item.slots)),
            "taken": quote("\n".join(taken) or "(none)"),
        }
        for cast in (await writer.write(_Casts, "a list of casts", "casts", **given)).casts:
            try:
                casts.append(_parse_cast(cast, item, casts))
            except Rejected as rejected:
                faults.append(f"{rejected.reason}: {rejected.detail}")
                writer.left_out[f"cast: {rejected.reason}"] += 1
    if len(casts) < CASTS:
        raise Rejected(f"fewer than {CASTS} casts fit", "; ".join(faults) or f"{len(casts)} were given")
    return [item.model_copy(update={"casts": tuple(casts[:CASTS])})]


async def write_scenarios(seed: int, item: Draft, writer: Writer) -> Sequence[MadeRecord]:
    """A scenario for each cast, in the native layout; a scene too like its script falls out."""
    nearest = find_nearest_passage(f"{item.background} {item.description}", {"script": item.passage.text})
    if nearest is not None and nearest.gestalt > MOST_LIKE:
        raise Rejected("too like its script", f"{nearest.gestalt:.2f}")
    found = []
    for number, cast in enumerate(item.casts, start=1):
        record = _make_record(f"{item.id}-{number}", item, cast, seed)
        read_scenario(record, item.id, item.id, Counter())
        found.append(MadeRecord(id=record["id"], record=record))
    return found


def _make_record(identifier: str, item: Draft, cast: Mapping[str, Member], seed: int) -> dict[str, Any]:
    names = {slot: member.name for slot, member in cast.items()}
    draft = item.change_texts(lambda text: _fill_parts(text, names))
    characters = []
    for person in draft.people:
        member = cast[person.name]
        questions = [
            make_question(f"{item.id}/{other.name}/{number}", dict(secret), names[other.name], seed)
            for other in draft.people
            if other is not person
            for number, secret in enumerate(other.secrets, start=1)
        ]
        characters.append(
            {
                "name": member.name,
                "short": member.short,
                "profile": member.profile,
                "private_info": " ".join(secret.fact for secret in person.secrets),
                "goals": [{"goal": goal} for goal in person.goals],
                "info_reason_questions": questions,
                "attributes": member.model_dump(mode="json", exclude=NO_ATTRIBUTES),
            }
        )
    return {
        "id": identifier,
        "template_idx": item.id,
        "sample_idx": identifier,
        "background": draft.background,
        "description": draft.description,
        # For script prediction; nobody who plays is shown it.
        "source": item.passage.title,
        "characters": characters,
        "relations": [{"of": [names[slot] for slot in each.of], "kind": each.kind} for each in item.relations],
    }


_GENDERED = re.compile(
    r"\b(?:s?he|him|his|hers?|(?:him|her)self|(?:step|grand|god)?(?:mother|father|son|daughter)s?|sisters?|brothers?|aunts?|"
    r"uncles?|nephews?|nieces?|husbands?|wi(?:fe|ves)|widow(?:er)?s?|brides?|(?:gentle)?(?:wo)?m[ae]n|girls?|boys?|lad(?:y|ies)|"
    r"king|queen|mr|mrs|miss|ms|sir|madam)\b",
    re.IGNORECASE,
)
_GENDERS = {"woman": "female", "girl": "female", "f": "female", "man": "male", "boy": "male", "m": "male"}


def _make_slot(described: _Described, said: str, put_slots: Callable[[str], str]) -> Slot:
    """Conditions for who takes the part. Where the template, ``said``, says he or she of anybody, the gender is fixed."""
    low, high = ROUND[described.replaceable.age]
    grown = described.replaceable.age == "almost" and described.age >= low
    youngest = 18 if described.age >= 18 else 5
    age = (low, high) if grown else (max(youngest, described.age - min(low, 12)), min(110, described.age + min(high, 12)))
    return Slot(
        age=age,
        gender=_find_known_gender(described.gender) if described.replaceable.gender == "no" or _GENDERED.search(said) else "",
        occupation=described.occupation if described.replaceable.occupation == "no" else "",
        constraint=put_slots(" ".join(described.must_be.split())),
    )


def _describe_parts(item: Draft) -> Iterator[str]:
    for name, slot in item.slots.items():
        wanted = filter(None, (f"{slot.age[0]} to {slot.age[1]} years old", slot.gender, slot.occupation, slot.constraint))
        yield f"{{{name}}}: {', '.join(wanted)}"
    for gap in item.age_gaps:
        yield f"{{{gap.older}}} is {gap.years} years older than {{{gap.younger}}}, or more"
    for relation in item.relations:
        yield f"{' and '.join(f'{{{slot}}}' for slot in relation.of)}: {relation.kind}"


def _parse_cast(given: Mapping[str, Any], item: Draft, before: Sequence[Mapping[str, Member]]) -> dict[str, Member]:
    """The members of a cast by part. ``before``: the casts found already. Raises Rejected."""
    cast: dict[str, Member] = {}
    for slot in item.slots:
        try:
            fields = {**given[slot], "gender": _find_known_gender(given[slot]["gender"])}
        except (KeyError, TypeError) as error:
            raise Rejected("a part is missing", str(error)) from None
        cast[slot] = parse_fields(Member, fields, "a member")
    forbidden = {word for name in item.passage.names for word in find_words(name) if len(word) > 2}
    taken = {member.name.casefold() for known in before for member in known.values()}
    names = [member.name.casefold() for member in cast.values()]
    if len(set(names)) < len(names) or taken & set(names) or any(forbidden & set(find_words(name)) for name in names):
        raise Rejected("a name that is taken", ", ".join(names))
    called = [spelling for member in cast.values() for spelling in {member.name.casefold(), member.short.casefold()}]
    if twice := sorted({spelling for spelling in called if called.count(spelling) > 1}):
        raise Rejected("a short name that two have", ", ".join(twice))
    answers = [secret.answer for person in item.people for secret in person.secrets]
    for member in cast.values():
        if re.search(r"[{}]", member.profile) or any(is_said_in(member.profile, answer) for answer in answers):
            raise Rejected("a profile that tells of the scene", member.profile[:80])
        if left := find_names(f"{member.profile}\n{member.occupation}", item.passage.names, item.passage.text):
            raise Rejected("a profile with a name of the script", ", ".join(left))
    for _, problem in list_cast_faults(item.slots, item.age_gaps, cast):
        raise Rejected("not what the parts need", problem)
    return cast


def _find_known_gender(given: object) -> str:
    said = str(given).strip().lower()
    return _GENDERS.get(said, said)


def _fill_parts(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(part\d+)\}", lambda match: names.get(match[1], match[0]), text)
