"""From a passage to a scene with goals and secrets (Figure 3, steps 2 to 10; Prompts 2 to 10)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from sociable.core.data_files import Text
from sociable.core.names import words
from sociable.core.prompts import quote
from sociable.core.records import Record
from sociable.datasets.recipes.agentsense.draft import Draft, Passage, Person, Secret
from sociable.datasets.stages import AskingStage, Rejected, Writer


class _Scene(Record):
    background: Text
    description: Text


class _Goals(Record):
    goals: tuple[Text, ...] = ()


class _Wants(_Goals):
    name: Text


class _Rewritten(_Scene):
    characters: tuple[_Wants, ...] = Field(min_length=2)


class _Update(Record):
    update: str | None = None


class _Asked(Record):
    role: Text
    question: Text
    answer: Text
    statement: Text
    """The answer as a fact: the private information (section 3.2, 3)."""


class _Secrets(Record):
    private: bool
    questions: tuple[_Asked, ...] = ()


class _Options(Record):
    options: tuple[Text, Text, Text]


class SetScenes(AskingStage[Passage, Draft]):
    """Figure 3, steps 2 and 3."""

    name = "backgrounds"
    meaning = "a background and a description with which a passage can be played"
    makes = Draft

    async def work(self, item: Passage, writer: Writer) -> Sequence[Draft]:
        asked = self.prompts["background"].render(before=quote(item.before or "(the play begins)"), passage=quote(item.text))
        scene = await writer.write(_Scene, asked, "a scene")
        people = tuple(Person(name=name) for name in item.names)
        return [Draft(id=item.id, passage=item, background=scene.background, description=scene.description, people=people)]


class FindGoals(AskingStage[Draft, Draft]):
    """Step 4, Prompt 4."""

    name = "goals"
    meaning = "what each character wants of the others"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        people = []
        for person in item.people:
            asked = self.prompts["goals"].render(scene=item.scene, passage=quote(item.passage.text), name=quote(person.name))
            found = await writer.write(_Goals, asked, "a list of goals")
            people.append(person.model_copy(update={"goals": found.goals}))
        return [_with_two_who_want(item, people)]


class Rewrite(AskingStage[Draft, Draft]):
    """Step 5, Prompt 5."""

    name = "rewritten"
    meaning = "the scene as a situation of its own"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        asked = self.prompts["rewrite"].render(scene=item.scene, goals=_goals(item))
        found = await writer.write(_Rewritten, asked, "a rewritten scene")
        called = {person.name.casefold(): person.name for person in item.people}
        people = []
        for each in found.characters:
            if each.name.casefold() not in called:
                raise Rejected("somebody new in the rewritten scene", each.name)
            people.append(Person(name=called[each.name.casefold()], goals=each.goals))
        draft = item.model_copy(update={"background": found.background, "description": found.description})
        return [_with_two_who_want(draft, people)]


class FilterGoals(AskingStage[Draft, Draft]):
    """Step 6, Prompt 6."""

    name = "filtered"
    meaning = "goals that can be reached in the scene, and seen to be"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        people = []
        for person in item.people:
            kept = []
            for goal in person.goals:
                asked = self.prompts["filter"].render(
                    scene=item.scene,
                    names=quote("\n".join(each.name for each in item.people)),
                    name=quote(person.name),
                    goal=quote(goal),
                )
                try:
                    update = (await writer.write(_Update, asked, "an examination")).update
                except Rejected as rejected:
                    writer.left_out[f"goal: {rejected.reason}"] += 1
                    continue
                if update:
                    kept.append(" ".join(update.split()))
                else:
                    writer.left_out["goal: no good in this scene"] += 1
            people.append(person.model_copy(update={"goals": tuple(dict.fromkeys(kept))}))
        return [_with_two_who_want(item, people)]


class FindSecrets(AskingStage[Draft, Draft]):
    """Steps 7 to 10, Prompts 7 to 10. A scene without a secret stays one."""

    name = "secrets"
    meaning = "what one knows and the others can only infer, with questions and wrong answers"
    makes = Draft

    async def work(self, item: Draft, writer: Writer) -> Sequence[Draft]:
        asked = self.prompts["secret"].render(scene=item.scene, goals=_goals(item), passage=quote(item.passage.text))
        found = await writer.write(_Secrets, asked, "a list of questions")
        secrets: dict[str, list[Secret]] = {person.name: [] for person in item.people}
        called = {name.casefold(): name for name in secrets}
        for each in found.questions if found.private else ():
            owner = called.get(each.role.casefold(), "")
            try:
                secret = await self._with_options(item, _checked(each, owner, item), writer)
                secrets[owner].append(secret)
            except Rejected as rejected:
                # The others stand.
                writer.left_out[f"question: {rejected.reason}"] += 1
        people = [person.model_copy(update={"secrets": tuple(secrets[person.name])}) for person in item.people]
        return [item.model_copy(update={"people": tuple(people)})]

    async def _with_options(self, item: Draft, asked: _Asked, writer: Writer) -> Secret:
        given = {"scene": item.scene, "goals": _goals(item), "question": quote(asked.question), "answer": quote(asked.answer)}
        options = await writer.write(_Options, self.prompts["options"].render(**given), "three wrong answers")
        text = self.prompts["rephrase"].render(**given, options=quote("\n".join(options.options)))
        options = await writer.write(_Options, text, "three wrong answers")
        if len({tuple(words(each)) for each in (asked.answer, *options.options)}) < 4:
            raise Rejected("not four different answers")
        return Secret(question=asked.question, answer=asked.answer, fact=asked.statement, wrong=options.options)


def _with_two_who_want(item: Draft, people: Sequence[Person]) -> Draft:
    """Only those who want something are in the scene. Raises Rejected where fewer than two do."""
    wanting = [person for person in people if person.goals]
    if len(wanting) < 2:
        raise Rejected("fewer than two characters with a goal", ", ".join(person.name for person in wanting))
    return item.model_copy(update={"people": tuple(wanting)})


def _goals(item: Draft) -> str:
    return quote("\n".join(f"{person.name}: {goal}" for person in item.people for goal in person.goals))


def _checked(asked: _Asked, owner: str, item: Draft) -> _Asked:
    """Raises Rejected where it cannot be asked about the owner's secret."""
    if not owner:
        raise Rejected("about nobody of the scene")
    if re.search(r"\byou\b", asked.question, re.IGNORECASE):
        raise Rejected("not in the third person")
    if _is_told(asked.answer, owner, item):
        raise Rejected("answered by the scene")
    if not _holds(asked.statement, asked.answer):
        raise Rejected("not answered by the private information")
    return asked


def _holds(statement: str, answer: str) -> bool:
    """Whether most of the answer's longer words stand in it, however they end; of a short answer, all words."""
    said = words(statement)
    telling = [word for word in words(answer) if len(word) > 3]
    there = [any(each.startswith(word[: max(4, len(word) - 3)]) for each in said) for word in telling]
    return 2 * sum(there) > len(there) if telling else says(statement, answer)


def _is_told(answer: str, owner: str, item: Draft) -> bool:
    """Whether background, description or what another wants say it outright."""
    others = [goal for person in item.people if person.name != owner for goal in person.goals]
    return any(says(text, answer) for text in (item.background, item.description, *others))


def says(text: str, answer: str) -> bool:
    """Word for word."""
    said, wanted = words(text), words(answer)
    return bool(wanted) and any(said[place : place + len(wanted)] == wanted for place in range(len(said) - len(wanted) + 1))
