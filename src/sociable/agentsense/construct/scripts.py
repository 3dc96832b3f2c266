"""Scripts to AgentSense's scenarios (section 3.2, Figure 3, Appendix A): scenes, goals, secrets, templates, casts.

Our text of the paper lacks its Prompts 1 and 13 and a part of 16: what they ask is taken from section 3.2 and Appendix A. Two
pairs of its prompts are one call here: attributes with relationships and replaceability (13 to 15), entities with what
replaces them (11 and 12).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field

from sociable.agentsense.construct.draft import (
    AgeGap,
    Draft,
    Member,
    Part,
    Passage,
    Person,
    Replaceable,
    Secret,
    Tie,
    called_by_slots,
    replaced,
    spellings,
)
from sociable.agentsense.dataset import read_scenario
from sociable.agentsense.similarity import nearest_passage
from sociable.construction.build import Recipe, digest_of
from sociable.construction.stages import EachStage, Item, Rejected, Writer, validated
from sociable.core.data_files import Text
from sociable.core.errors import DataError
from sociable.core.prompts import Prompts, load_prompts, one_line, quoted
from sociable.core.records import Record
from sociable.core.seeding import named_generator
from sociable.dialogue.names import words

PLACEHOLDERS = {
    "background": frozenset({"before", "passage"}),
    "goals": frozenset({"scene", "passage", "name"}),
    "rewrite": frozenset({"scene", "goals"}),
    "filter": frozenset({"scene", "name", "goal"}),
    "secret": frozenset({"scene", "goals", "passage"}),
    "options": frozenset({"scene", "question", "answer"}),
    "rephrase": frozenset({"scene", "question", "answer", "options"}),
    "entities": frozenset({"scene", "names"}),
    "slots": frozenset({"scene", "names"}),
    "casts": frozenset({"scene", "parts", "count", "first"}),
}
CASTS = 5
"""Scenarios of a template (section 3.5)."""
MOST_LIKE = 0.6
"""Gestalt ratio with the nearest passage of the script from which on a scene is too like it."""
ROUND = {"almost": (18, 85), "maybe": (12, 12), "no": (2, 2)}
"""By how replaceable an age is: anybody grown up; or years below and above."""

_FOLDER = Path(str(resources.files("sociable.agentsense.construct").joinpath("prompts")))


def construction_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_prompts(_FOLDER, PLACEHOLDERS, override) if override else _bundled()


@cache
def _bundled() -> Prompts:
    return load_prompts(_FOLDER, PLACEHOLDERS)


class _Scene(Record):
    background: Text
    description: Text


class _Wants(Record):
    name: Text
    goals: tuple[Text, ...] = ()


class _Rewritten(_Scene):
    characters: tuple[_Wants, ...] = Field(min_length=2)


class _Asked(Record):
    role: Text
    question: Text
    explanation: Text
    answer: Text


class _Secrets(Record):
    private: bool
    questions: tuple[_Asked, ...] = ()


class _Options(Record):
    options: tuple[Text, Text, Text]


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


class _Slots(Record):
    characters: tuple[_Described, ...]
    older: tuple[AgeGap, ...] = ()
    relations: tuple[Tie, ...] = Field(min_length=1)


class _Stage(EachStage[Draft, Draft]):
    makes = Draft
    asks = True

    def __init__(self, prompts: Prompts) -> None:
        self.prompts = prompts


class SetScenes(EachStage[Passage, Draft]):
    """Figure 3, steps 2 and 3."""

    name = "backgrounds"
    meaning = "a background and a description with which a passage can be played"
    makes = Draft
    asks = True

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def work(self, item: Passage, writer: Writer) -> Sequence[Draft]:
        asked = self._prompts["background"].render(before=quoted(item.before or "(the play begins)"), passage=quoted(item.text))
        scene = validated(_Scene, await writer.ask(asked), "a scene")
        people = tuple(Person(name=name) for name in item.names)
        return [Draft(id=item.id, passage=item, background=scene.background, description=scene.description, people=people)]


class FindGoals(_Stage):
    """Step 4, Prompt 4."""

    name = "goals"
    meaning = "what each character wants of the others"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        people = []
        for person in item.people:
            asked = self.prompts["goals"].render(scene=item.scene, passage=quoted(item.passage.text), name=one_line(person.name))
            found = validated(_Wants, {"name": person.name, **await writer.ask(asked)}, "a list of goals")
            people.append(person.model_copy(update={"goals": found.goals}))
        return [_with_two_who_want(item, people)]


class Rewrite(_Stage):
    """Step 5, Prompt 5."""

    name = "rewritten"
    meaning = "the scene as a situation of its own"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        asked = self.prompts["rewrite"].render(scene=item.scene, goals=_goals(item))
        found = validated(_Rewritten, await writer.ask(asked), "a rewritten scene")
        called = {person.name.casefold(): person.name for person in item.people}
        people = []
        for each in found.characters:
            if each.name.casefold() not in called:
                raise Rejected("somebody new in the rewritten scene", each.name)
            people.append(Person(name=called[each.name.casefold()], goals=each.goals))
        draft = item.model_copy(update={"background": found.background, "description": found.description})
        return [_with_two_who_want(draft, people)]


class FilterGoals(_Stage):
    """Step 6, Prompt 6."""

    name = "filtered"
    meaning = "goals that can be reached in the scene, and seen to be"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        people = []
        for person in item.people:
            kept = []
            for goal in person.goals:
                asked = self.prompts["filter"].render(scene=item.scene, name=one_line(person.name), goal=quoted(goal))
                update = (await writer.ask(asked)).get("update")
                if isinstance(update, str) and update.strip():
                    kept.append(" ".join(update.split()))
            people.append(person.model_copy(update={"goals": tuple(dict.fromkeys(kept))}))
        return [_with_two_who_want(item, people)]


class FindSecrets(_Stage):
    """Steps 7 to 10, Prompts 7 to 10. A scene without a secret stays one."""

    name = "secrets"
    meaning = "what one knows and the others can only infer, with questions and wrong answers"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        asked = self.prompts["secret"].render(scene=item.scene, goals=_goals(item), passage=quoted(item.passage.text))
        found = validated(_Secrets, await writer.ask(asked), "a list of questions")
        secrets: dict[str, list[Secret]] = {person.name: [] for person in item.people}
        called = {name.casefold(): name for name in secrets}
        for each in found.questions if found.private else ():
            owner = called.get(each.role.casefold())
            if owner is None or re.search(r"\byou\b", each.question, re.IGNORECASE) or _is_told(each.answer, owner, item):
                # Nobody's, not about the person, or no secret: the others stand.
                continue
            secret = await self._with_options(item, each, writer)
            secrets[owner] += [secret] if secret is not None else []
        people = [person.model_copy(update={"secrets": tuple(secrets[person.name])}) for person in item.people]
        return [item.model_copy(update={"people": tuple(people)})]

    async def _with_options(self, item: Draft, asked: _Asked, writer: Writer) -> Secret | None:
        """None where the answers are not four."""
        given = {"scene": item.scene, "question": quoted(asked.question), "answer": quoted(asked.answer)}
        options = validated(_Options, await writer.ask(self.prompts["options"].render(**given)), "three wrong answers")
        text = self.prompts["rephrase"].render(**given, options=quoted("\n".join(options.options)))
        options = validated(_Options, await writer.ask(text), "three wrong answers")
        if len({tuple(words(each)) for each in (asked.answer, *options.options)}) < 4:
            return None
        return Secret(question=asked.question, answer=asked.answer, fact=asked.explanation, wrong=options.options)


class ReplaceEntities(_Stage):
    """Step 11, Prompts 11 and 12."""

    name = "entities"
    meaning = "without the names by which the story could be known"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        names = [person.name for person in item.people]
        asked = self.prompts["entities"].render(scene=quoted(item.texts()), names=one_line(", ".join(names)))
        found = validated(_Replacements, await writer.ask(asked), "a list of replacements")
        known = {spelling.casefold() for spelling in spellings(item.passage.names)}
        pairs = {each.original: each.replacement for each in found.replacements if each.original.casefold() not in known}
        return [item.changed(replaced(pairs))]


class MakeSlots(_Stage):
    """Step 11 and Prompts 13 to 15: characters become slots, with what whoever fills them must be."""

    name = "slots"
    meaning = "a template: parts in place of people"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        names = [person.name for person in item.people]
        asked = self.prompts["slots"].render(scene=quoted(item.texts()), names=one_line(", ".join(names)))
        found = validated(_Slots, await writer.ask(asked), "a description of parts")
        slots = {name: f"part{number}" for number, name in enumerate(names, start=1)}
        called = {name.casefold(): name for name in names}
        described = {called.get(each.name.casefold()): each for each in found.characters}
        if lacking := [name for name in names if name not in described]:
            raise Rejected("a character nobody described", ", ".join(lacking))
        parts = [_part(slots[name], described[name]) for name in names]
        gaps = [
            AgeGap(older=slots[called[each.older.casefold()]], younger=slots[called[each.younger.casefold()]], years=each.years)
            for each in found.older
            if {each.older.casefold(), each.younger.casefold()} <= called.keys()
        ]
        ties = [
            Tie(of=tuple(slots[called[name.casefold()]] for name in each.of), kind=each.kind)
            for each in found.relations
            if {name.casefold() for name in each.of} <= called.keys()
        ]
        draft = item.changed(called_by_slots(slots, f"{item.passage.text}\n{item.texts()}"))
        draft = draft.model_copy(
            update={
                "people": tuple(each.model_copy(update={"name": slots[each.name]}) for each in draft.people),
                "parts": tuple(parts),
                "gaps": tuple(gaps),
                "ties": tuple(ties),
            }
        )
        # Whoever spoke in the passage and is no part of the scene is not to be named in it.
        others = [spelling for spelling, name in spellings(item.passage.names).items() if name not in slots]
        text = draft.texts()
        if left := [each for each in others if re.search(rf"\b(?:{re.escape(each)}|{re.escape(each.upper())})\b", text)]:
            raise Rejected("a name of the script is left", ", ".join(left))
        return [draft]


class FindCasts(_Stage):
    """Prompt 16: people who fit the parts, checked against them."""

    name = "casts"
    meaning = f"{CASTS} casts that fit the parts"

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        # Not what is secret: profiles are read by everybody's player.
        asked = self.prompts["casts"].render(
            scene=item.scene,
            parts=quoted("\n".join(map(_in_words, item.parts)) + "\n" + "\n".join(_older(gap) for gap in item.gaps)),
            count=str(CASTS),
            first=item.parts[0].slot,
        )
        given = (await writer.ask(asked)).get("casts")
        if not isinstance(given, list):
            raise Rejected("no list of casts", type(given).__name__)
        forbidden = {word for name in item.passage.names for word in words(name) if len(word) > 2}
        taken: set[str] = set()
        casts, faults = [], []
        for cast in given:
            try:
                members = {part.slot: validated(Member, cast[part.slot], "a member") for part in item.parts}
                _check_cast(item, members, forbidden, taken)
            except (KeyError, TypeError) as error:
                faults.append(f"a part is missing ({error})")
            except Rejected as rejected:
                faults.append(f"{rejected.reason}: {rejected.detail}")
            else:
                taken |= {member.name.casefold() for member in members.values()}
                casts.append(members)
        if len(casts) < CASTS:
            raise Rejected(f"fewer than {CASTS} casts fit", "; ".join(faults) or f"{len(casts)} were given")
        return [item.model_copy(update={"casts": tuple(casts[:CASTS])})]


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
        nearest = nearest_passage(f"{item.background} {item.description}", {"script": item.passage.text})
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
        draft = item.changed(lambda text: _filled(text, cast))
        characters = []
        for person in draft.people:
            member = cast[person.name]
            asked = [(other, secret) for other in draft.people if other is not person for secret in other.secrets]
            characters.append(
                {
                    "name": member.name,
                    "profile": member.profile,
                    "private_info": " ".join(secret.fact for secret in person.secrets),
                    "goals": [{"goal": goal} for goal in person.goals],
                    "info_reason_questions": [
                        self._question(item.id, person.name, secret, cast[other.name].name) for other, secret in asked
                    ],
                    "attributes": member.model_dump(mode="json", exclude={"name", "profile"}),
                }
            )
        return {
            "id": f"{item.id}-{number + 1}",
            "template_idx": item.id,
            "sample_idx": f"{item.id}-{number + 1}",
            "background": draft.background,
            "description": draft.description,
            # For script prediction; nobody who plays is shown it.
            "source": item.passage.title,
            "characters": characters,
        }

    def _question(self, template: str, asked: str, secret: Secret, about: str) -> dict[str, Any]:
        options = [secret.answer, *secret.wrong]
        named_generator(self._seed, "options", template, asked, secret.question).shuffle(options)
        return {
            "question": secret.question,
            "options": options,
            "answer_label": options.index(secret.answer),
            "about": about,
        }


def _filled(text: str, cast: Mapping[str, Member]) -> str:
    return re.sub(r"\{(part\d+)\}", lambda match: cast[match[1]].name if match[1] in cast else match[0], text)


def _with_two_who_want(item: Draft, people: Sequence[Person]) -> Draft:
    """Only those who want something are in the scene. Raises Rejected where fewer than two do."""
    wanting = [person for person in people if person.goals]
    if len(wanting) < 2:
        raise Rejected("fewer than two characters with a goal", ", ".join(person.name for person in wanting))
    return item.model_copy(update={"people": tuple(wanting)})


def _goals(item: Draft) -> str:
    return quoted("\n".join(f"{person.name}: {goal}" for person in item.people for goal in person.goals))


def _is_told(answer: str, owner: str, item: Draft) -> bool:
    """Whether background, description or what another wants say it outright."""
    others = [goal for person in item.people if person.name != owner for goal in person.goals]
    return any(_says(text, answer) for text in (item.background, item.description, *others))


def _says(text: str, answer: str) -> bool:
    """Word for word."""
    said, wanted = words(text), words(answer)
    return bool(wanted) and any(said[place : place + len(wanted)] == wanted for place in range(len(said) - len(wanted) + 1))


def _part(slot: str, described: _Described) -> Part:
    low, high = ROUND[described.replaceable.age]
    grown = described.replaceable.age == "almost" and described.age >= low
    age = (low, high) if grown else (max(5, described.age - min(low, 12)), min(110, described.age + min(high, 12)))
    return Part(
        slot=slot,
        age=age,
        gender=described.gender if described.replaceable.gender == "no" else "",
        occupation=described.occupation if described.replaceable.occupation == "no" else "",
    )


def _in_words(part: Part) -> str:
    wanted = filter(None, (f"{part.age[0]} to {part.age[1]} years old", part.gender, part.occupation))
    return f"{{{part.slot}}}: {', '.join(wanted)}"


def _older(gap: AgeGap) -> str:
    return f"{{{gap.older}}} is {gap.years} years older than {{{gap.younger}}}, or more"


def _check_cast(item: Draft, cast: Mapping[str, Member], forbidden: set[str], taken: set[str]) -> None:
    """``forbidden``: words of the script's own names; ``taken``: names of casts before."""
    names = [member.name.casefold() for member in cast.values()]
    if len(set(names)) < len(names) or taken & set(names) or any(forbidden & set(words(name)) for name in names):
        raise Rejected("a name that is taken", ", ".join(names))
    for member in cast.values():
        told = [secret.answer for person in item.people for secret in person.secrets if _says(member.profile, secret.answer)]
        if told or re.search(r"[{}]", member.profile):
            raise Rejected("a profile that tells of the scene", member.profile[:80])
    for part in item.parts:
        member = cast[part.slot]
        if not part.age[0] <= member.age <= part.age[1]:
            raise Rejected("of another age", f"{member.name}, {member.age}")
        for trait in ("gender", "occupation"):
            wanted = getattr(part, trait)
            if wanted and wanted.casefold() != getattr(member, trait).casefold():
                raise Rejected(f"of another {trait}", f"{member.name}, {getattr(member, trait)}")
    for gap in item.gaps:
        if cast[gap.older].age - cast[gap.younger].age < gap.years:
            raise Rejected("not old enough beside another", cast[gap.older].name)


def scripts_recipe(passages: Sequence[Passage], *, seed: int = 0, prompts: Path | None = None) -> Recipe:
    used = construction_prompts(prompts)
    asking = (FindGoals, Rewrite, FilterGoals, FindSecrets, ReplaceEntities, MakeSlots, FindCasts)
    return Recipe(
        name="scripts",
        version="1.0.0",
        benchmark="agentsense",
        stages=(SetScenes(used), *(stage(used) for stage in asking), WriteScenarios(seed)),
        settings={"seed": seed},
        digests={"scripts": digest_of(passages), "prompts": used.digest},
        record=lambda scenario: scenario.record,
    )
