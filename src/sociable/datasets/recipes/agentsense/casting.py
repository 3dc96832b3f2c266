"""From a scene to scenarios: names out, parts in the place of people, casts, checks (Figure 3, step 11; Prompts 11 to 16)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Literal

from pydantic import Field

from sociable.benchmarks.agentsense.briefing import agentsense_prompts, ask_for_script, names_script
from sociable.benchmarks.agentsense.dataset import read_scenario
from sociable.benchmarks.agentsense.scenario import Relationship
from sociable.benchmarks.agentsense.similarity import find_nearest_passage
from sociable.benchmarks.agentsense.templates import NO_ATTRIBUTES, AgeGap, Member, Slot, list_cast_faults
from sociable.core.data_files import Text
from sociable.core.errors import DataError
from sociable.core.names import words
from sociable.core.prompts import quote
from sociable.core.records import Record
from sociable.core.seeding import make_generator
from sociable.datasets.recipes.agentsense.draft import Draft, Secret, called_by_slots, is_telling, names_left, replaced, spellings
from sociable.datasets.recipes.agentsense.scenes import says
from sociable.datasets.stages import AskingStage, EachStage, Item, Rejected, Writer, validated

CASTS = 5
"""Scenarios of a template (section 3.5)."""
MOST_LIKE = 0.6
"""Gestalt ratio with the nearest passage of the script from which on a scene is too like it."""
Replaceable = Literal["almost", "maybe", "no"]
ROUND: Mapping[Replaceable, tuple[int, int]] = {"almost": (18, 85), "maybe": (12, 12), "no": (2, 2)}
"""By how replaceable an age is: anybody grown up; or years below and above."""


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
    """What else is asked of whoever takes the part."""


class _Casts(Record):
    casts: tuple[dict[str, Any], ...] = Field(min_length=1)


class _Slots(Record):
    characters: tuple[_Described, ...]
    older: tuple[AgeGap, ...] = ()
    relations: tuple[Relationship, ...] = Field(min_length=1)


class ReplaceEntities(AskingStage[Draft, Draft]):
    """Step 11, Prompts 11 and 12."""

    name = "entities"
    meaning = "without the names by which the story could be known"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        names = [person.name for person in item.people]
        asked = self.prompts["entities"].render(scene=quote(item.texts()), names=quote("\n".join(names)))
        found = await writer.write(_Replacements, asked, "a list of replacements")
        taken = {spelling.casefold() for spelling, name in spellings(item.passage.names).items() if name in names}
        pairs = {each.original: each.replacement for each in found.replacements if each.original.casefold() not in taken}
        said = f"{item.passage.text}\n{item.texts()}"
        for original, replacement in list(pairs.items()):
            # Whoever is Sir Robert Chiltern is Sir Robert, too.
            parts = zip(original.split(), replacement.split(), strict=False)
            alike = len(original.split()) == len(replacement.split())
            pairs = {
                one: other for one, other in parts if alike and is_telling(one, said) and one.casefold() not in taken
            } | pairs
        lost = sum(each.original.casefold() not in said.casefold() for each in found.replacements)
        if lost:
            writer.left_out["replacement: of a name that does not stand there"] += lost
        return [item.changed(replaced(pairs))]


class MakeSlots(AskingStage[Draft, Draft]):
    """Step 11 and Prompts 13 to 15: characters become slots, with what whoever fills them must be."""

    name = "slots"
    meaning = "a template: parts in place of people"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        names = [person.name for person in item.people]
        asked = self.prompts["slots"].render(scene=quote(item.texts()), names=quote("\n".join(names)))
        found = await writer.write(_Slots, asked, "a description of parts")
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
        said = f"{item.passage.text}\n{item.texts()}"
        by_name = called_by_slots(slot_of, item.passage.names, said)
        draft = item.changed(by_name)
        made = {slot: _slot(described[slot], draft.texts(), by_name) for slot in slot_of.values()}
        told = "\n".join(f"{slot.occupation}\n{slot.constraint}" for slot in made.values())
        if left := names_left(f"{draft.texts()}\n{told}", item.passage.names, said):
            raise Rejected("a name of the script is left", ", ".join(left))
        return [
            draft.model_copy(
                update={
                    "people": tuple(each.model_copy(update={"name": slot_of[each.name]}) for each in draft.people),
                    "slots": made,
                    "age_gaps": tuple(gaps),
                    "relations": tuple(relations),
                }
            )
        ]


class PredictScripts(AskingStage[Draft, Draft]):
    """Section 4.3's test of leakage, before anything is tested: a scene that is recognised is none."""

    name = "unrecognised"
    meaning = "scenes of which the model that writes cannot say from which script they are"
    makes = Draft

    def __init__(self, keep: bool) -> None:
        super().__init__(agentsense_prompts())
        self._keep = keep
        if keep:
            self.meaning = "all scenes, with a count of those whose script the model that writes can name"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        people = dict(zip(item.slots, ascii_uppercase, strict=False))
        scene = _filled(f"{item.background}\n{item.description}", people)
        reply = await writer.reply(ask_for_script(scene, self.prompts))
        if names_script(reply, item.passage.title):
            if not self._keep:
                raise Rejected("its script is recognised", reply[:200])
            writer.left_out["nothing, but its script is recognised"] += 1
        return [item]


class FindCasts(AskingStage[Draft, Draft]):
    """Prompt 16: people who fit the parts, checked against them."""

    name = "casts"
    meaning = f"{CASTS} casts that fit the parts"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        casts: list[dict[str, Member]] = []
        faults: list[str] = []
        # Who does not fit is looked for once more.
        for _ in range(2):
            if len(casts) < CASTS:
                given = await self._given(item, casts, writer)
                _take(given, item, casts, faults, writer)
        if len(casts) < CASTS:
            raise Rejected(f"fewer than {CASTS} casts fit", "; ".join(faults) or f"{len(casts)} were given")
        return [item.model_copy(update={"casts": tuple(casts[:CASTS])})]

    async def _given(self, item: Draft, casts: Sequence[Mapping[str, Member]], writer: Writer) -> Sequence[dict[str, Any]]:
        taken = [member.name for cast in casts for member in cast.values()]
        asked = self.prompts["casts"].render(
            # Not what is secret: profiles are read by everybody's player.
            scene=item.scene,
            parts=quote("\n".join(_in_words(item))),
            count=str(CASTS - len(casts)),
            first=next(iter(item.slots)),
            taken=quote("\n".join(taken) or "(none)"),
        )
        return (await writer.write(_Casts, asked, "a list of casts")).casts


def _take(
    given: Sequence[dict[str, Any]], item: Draft, casts: list[dict[str, Member]], faults: list[str], writer: Writer
) -> None:
    """Adds the casts that fit to ``casts``, and of the others why they do not."""
    for cast in given:
        try:
            members = {slot: validated(Member, _with_known_gender(cast[slot]), "a member") for slot in item.slots}
            _check_cast(item, members, {member.name.casefold() for known in casts for member in known.values()})
        except (KeyError, TypeError) as error:
            faults.append(f"a part is missing: {error}")
            writer.left_out["cast: a part is missing"] += 1
        except Rejected as rejected:
            faults.append(f"{rejected.reason}: {rejected.detail}")
            writer.left_out[f"cast: {rejected.reason}"] += 1
        else:
            casts.append(members)


class Scenario(Item):
    record: dict[str, Any]


class WriteScenarios(EachStage[Draft, Scenario]):
    """A scenario for each cast, in the native layout; a scene too like its script is none."""

    name = "scenarios"
    meaning = f"a scenario for each cast; scenes with a Gestalt ratio over {MOST_LIKE} to their script fall out"
    makes = Scenario

    def __init__(self, seed: int) -> None:
        self._seed = seed

    async def work(self, item: Draft, writer: Writer) -> Sequence[Scenario]:
        nearest = find_nearest_passage(f"{item.background} {item.description}", {"script": item.passage.text})
        if nearest is not None and nearest.similarity.gestalt > MOST_LIKE:
            raise Rejected("too like its script", f"{nearest.similarity.gestalt:.2f}")
        found = []
        for number, cast in enumerate(item.casts):
            record = self._record(item, number, cast)
            try:
                read_scenario(record, item.id, item.id, Counter())
            except DataError as error:
                raise Rejected("not in the data's layout", f"{error.field}: {error.problem}") from None
            found.append(Scenario(id=f"{item.id}-{number + 1}", record=record))
        return found

    def _record(self, item: Draft, number: int, cast: Mapping[str, Member]) -> dict[str, Any]:
        names = {slot: member.name for slot, member in cast.items()}
        draft = item.changed(lambda text: _filled(text, names))
        characters = []
        for person in draft.people:
            member = cast[person.name]
            characters.append(
                {
                    "name": member.name,
                    "short": member.short,
                    "profile": member.profile,
                    "private_info": " ".join(secret.fact for secret in person.secrets),
                    "goals": [{"goal": goal} for goal in person.goals],
                    "info_reason_questions": [
                        self._question(f"{item.id}/{other.name}/{number}", secret, names[other.name])
                        for other in draft.people
                        if other is not person
                        for number, secret in enumerate(other.secrets, start=1)
                    ],
                    "attributes": member.model_dump(mode="json", exclude=NO_ATTRIBUTES),
                }
            )
        relations = [{"of": [cast[slot].name for slot in each.of], "kind": each.kind} for each in item.relations]
        return {
            "id": f"{item.id}-{number + 1}",
            "template_idx": item.id,
            "sample_idx": f"{item.id}-{number + 1}",
            "background": draft.background,
            "description": draft.description,
            # For script prediction; nobody who plays is shown it.
            "source": item.passage.title,
            "characters": characters,
            "relations": relations,
        }

    def _question(self, key: str, secret: Secret, about: str) -> dict[str, Any]:
        options = [secret.answer, *secret.wrong]
        # In the same place for every cast, as in the bundled templates.
        make_generator(self._seed, "options", key).shuffle(options)
        return {
            "question": secret.question,
            "options": options,
            "answer_label": options.index(secret.answer),
            "about": about,
            "key": key,
        }


_GENDERED = re.compile(
    r"\b(?:s?he|him|his|hers?|(?:him|her)self|(?:step|grand|god)?(?:mother|father|son|daughter)s?|sisters?|brothers?|aunts?|"
    r"uncles?|nephews?|nieces?|husbands?|wi(?:fe|ves)|widow(?:er)?s?|brides?|(?:gentle)?(?:wo)?m[ae]n|girls?|boys?|lad(?:y|ies)|"
    r"king|queen|mr|mrs|miss|ms|sir|madam)\b",
    re.IGNORECASE,
)
_GENDERS = {"woman": "female", "girl": "female", "f": "female", "man": "male", "boy": "male", "m": "male"}


def _with_known_gender(member: Any) -> Any:
    given = str(member["gender"]).strip().lower()
    return {**member, "gender": _GENDERS.get(given, given)}


def _slot(described: _Described, said: str, by_name: Callable[[str], str]) -> Slot:
    """Where the template, ``said``, says he or she of anybody, nobody of another gender can take a part."""
    described = _Described.model_validate(_with_known_gender(described.model_dump()))
    low, high = ROUND[described.replaceable.age]
    grown = described.replaceable.age == "almost" and described.age >= low
    youngest = 18 if described.age >= 18 else 5
    age = (low, high) if grown else (max(youngest, described.age - min(low, 12)), min(110, described.age + min(high, 12)))
    return Slot(
        age=age,
        gender=described.gender if described.replaceable.gender == "no" or _GENDERED.search(said) else "",
        occupation=described.occupation if described.replaceable.occupation == "no" else "",
        constraint=by_name(" ".join(described.must_be.split())),
    )


def _in_words(item: Draft) -> Iterator[str]:
    for name, slot in item.slots.items():
        wanted = filter(None, (f"{slot.age[0]} to {slot.age[1]} years old", slot.gender, slot.occupation, slot.constraint))
        yield f"{{{name}}}: {', '.join(wanted)}"
    for gap in item.age_gaps:
        yield f"{{{gap.older}}} is {gap.years} years older than {{{gap.younger}}}, or more"
    for relation in item.relations:
        yield f"{' and '.join(f'{{{slot}}}' for slot in relation.of)}: {relation.kind}"


def _check_cast(item: Draft, cast: Mapping[str, Member], taken: set[str]) -> None:
    """``taken``: names of casts before. Raises Rejected."""
    forbidden = {word for name in item.passage.names for word in words(name) if len(word) > 2}
    names = [member.name.casefold() for member in cast.values()]
    if len(set(names)) < len(names) or taken & set(names) or any(forbidden & set(words(name)) for name in names):
        raise Rejected("a name that is taken", ", ".join(names))
    for member in cast.values():
        told = [secret.answer for person in item.people for secret in person.secrets if says(member.profile, secret.answer)]
        if told or re.search(r"[{}]", member.profile):
            raise Rejected("a profile that tells of the scene", member.profile[:80])
        if left := names_left(f"{member.profile}\n{member.occupation}", item.passage.names, item.passage.text):
            raise Rejected("a profile with a name of the script", ", ".join(left))
    for _, problem in list_cast_faults(item.slots, item.age_gaps, cast):
        raise Rejected("not what the parts need", problem)


def _filled(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(part\d+)\}", lambda match: names.get(match[1], match[0]), text)
