"""Scripts to AgentSense's scenarios (section 3.2, Figure 3, Appendix A): scenes, goals, secrets, templates, casts.

The steps 2 to 10 (Prompts 2 to 10), from a passage to a scene with goals and secrets, are here, the others in ``passages`` and
``casting``. Which of the paper's prompts each of ours follows stands in prompts/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.core.data_files import Text
from sociable.core.names import find_words
from sociable.core.prompts import quote
from sociable.core.records import Record
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.agentsense.casting import (
    CASTS,
    MOST_LIKE,
    find_casts,
    make_slots,
    predict_script,
    replace_entities,
    write_scenarios,
)
from sociable.datasets.recipes.agentsense.draft import Draft, Passage, Person, Secret, is_said_in
from sociable.datasets.review.records import AGENTSENSE_TAGS
from sociable.datasets.stages import AnyStage, AskingStage, EachStage, MadeRecord, Rejected, Writer


class ScriptsOptions(RecipeOptions):
    seed: int = Field(0, description="The seed of all draws.")
    keep_recognised: bool = Field(False, description="Use scenes whose script the writing model can name, too; they are counted.")


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


async def set_scene(item: Passage, writer: Writer) -> Sequence[Draft]:
    """A draft of the passage's background and description (Figure 3, steps 2 and 3)."""
    before, passage = quote(item.before or "(the play begins)"), quote(item.text)
    scene = await writer.write(_Scene, "a scene", "background", before=before, passage=passage)
    people = tuple(Person(name=name) for name in item.names)
    return [Draft(id=item.id, passage=item, background=scene.background, description=scene.description, people=people)]


async def find_goals(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The draft with the goals of each character (step 4, Prompt 4)."""
    people = []
    for person in item.people:
        given = {"scene": item.scene, "passage": quote(item.passage.text), "name": quote(person.name)}
        found = await writer.write(_Goals, "a list of goals", "goals", **given)
        people.append(person.model_copy(update={"goals": found.goals}))
    return [_keep_who_want(item, people)]


async def rewrite_scene(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The scene as a situation of its own (step 5, Prompt 5)."""
    found = await writer.write(_Rewritten, "a rewritten scene", "rewrite", scene=item.scene, goals=_quote_goals(item))
    called = {person.name.casefold(): person.name for person in item.people}
    people = []
    for each in found.characters:
        if each.name.casefold() not in called:
            raise Rejected("somebody new in the rewritten scene", each.name)
        people.append(Person(name=called[each.name.casefold()], goals=each.goals))
    draft = item.model_copy(update={"background": found.background, "description": found.description})
    return [_keep_who_want(draft, people)]


async def filter_goals(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The draft with only the goals that can be reached in the scene (step 6, Prompt 6)."""
    names = quote("\n".join(each.name for each in item.people))
    people = []
    for person in item.people:
        kept = []
        for goal in person.goals:
            given = {"scene": item.scene, "names": names, "name": quote(person.name), "goal": quote(goal)}
            with writer.leave_out("goal"):
                update = (await writer.write(_Update, "an examination", "filter", **given)).update
                if not update:
                    raise Rejected("no good in this scene")
                kept.append(" ".join(update.split()))
        people.append(person.model_copy(update={"goals": tuple(dict.fromkeys(kept))}))
    return [_keep_who_want(item, people)]


async def find_secrets(item: Draft, writer: Writer) -> Sequence[Draft]:
    """The draft with private information, if any, its questions and options (steps 7 to 10, Prompts 7 to 10)."""
    given = {"scene": item.scene, "goals": _quote_goals(item), "passage": quote(item.passage.text)}
    found = await writer.write(_Secrets, "a list of questions", "secret", **given)
    secrets: dict[str, list[Secret]] = {person.name: [] for person in item.people}
    called = {name.casefold(): name for name in secrets}
    for each in found.questions if found.private else ():
        owner = called.get(each.role.casefold(), "")
        with writer.leave_out("question"):
            _check_question(each, owner, item)
            secrets[owner].append(await _add_options(item, each, writer))
    people = [person.model_copy(update={"secrets": tuple(secrets[person.name])}) for person in item.people]
    return [item.model_copy(update={"people": tuple(people)})]


async def _add_options(item: Draft, asked: _Asked, writer: Writer) -> Secret:
    given = {"scene": item.scene, "goals": _quote_goals(item), "question": quote(asked.question), "answer": quote(asked.answer)}
    called = "three wrong answers"
    found = await writer.write(_Options, called, "options", **given)
    found = await writer.write(_Options, called, "rephrase", **given, options=quote("\n".join(found.options)))
    if len({tuple(find_words(each)) for each in (asked.answer, *found.options)}) < 4:
        raise Rejected("not four different answers")
    return Secret(question=asked.question, answer=asked.answer, fact=asked.statement, wrong=found.options)


def _keep_who_want(item: Draft, people: Sequence[Person]) -> Draft:
    """The scene with those who want something. Raises Rejected where fewer than two do."""
    wanting = [person for person in people if person.goals]
    if len(wanting) < 2:
        raise Rejected("fewer than two characters with a goal", ", ".join(person.name for person in wanting))
    return item.model_copy(update={"people": tuple(wanting)})


def _quote_goals(item: Draft) -> str:
    return quote("\n".join(f"{person.name}: {goal}" for person in item.people for goal in person.goals))


def _check_question(asked: _Asked, owner: str, item: Draft) -> None:
    """Raises Rejected where the question cannot be asked about the owner's secret."""
    if not owner:
        raise Rejected("about nobody of the scene")
    if re.search(r"\byou\b", asked.question, re.IGNORECASE):
        raise Rejected("not in the third person")
    others = [goal for person in item.people if person.name != owner for goal in person.goals]
    if any(is_said_in(text, asked.answer) for text in (item.background, item.description, *others)):
        raise Rejected("answered by the scene")
    if not _is_held_by(asked.statement, asked.answer):
        raise Rejected("not answered by the private information")


def _is_held_by(statement: str, answer: str) -> bool:
    """Whether most of the answer's longer words stand in it, however they end; of a short answer, all words."""
    said = find_words(statement)
    telling = [word for word in find_words(answer) if len(word) > 3]
    there = [any(each.startswith(word[: max(4, len(word) - 3)]) for each in said) for word in telling]
    return 2 * sum(there) > len(there) if telling else is_said_in(statement, answer)


def _read_passages(sources: Sequence[Path], _options: ScriptsOptions) -> Sequence[Passage]:
    # Nothing else reads plays, so nothing else loads what reads them.
    from sociable.datasets.recipes.agentsense.passages import read_passages

    return read_passages(*sources)


def _plan_stages(_passages: Sequence[Passage], options: ScriptsOptions) -> Sequence[AnyStage]:
    unrecognised = (
        "all scenes, with a count of those whose script the model that writes can name"
        if options.keep_recognised
        else "scenes of which the model that writes cannot say from which script they are"
    )
    secrets = "what one knows and the others can only infer, with questions and wrong answers"
    like = f"a scenario for each cast; scenes with a Gestalt ratio over {MOST_LIKE} to their script fall out"
    return (
        AskingStage("backgrounds", "a background and a description with which a passage can be played", Draft, set_scene),
        AskingStage("goals", "what each character wants of the others", Draft, find_goals),
        AskingStage("rewritten", "the scene as a situation of its own", Draft, rewrite_scene),
        AskingStage("filtered", "goals that can be reached in the scene, and seen to be", Draft, filter_goals),
        AskingStage("secrets", secrets, Draft, find_secrets),
        AskingStage("entities", "without the names by which the story could be known", Draft, replace_entities),
        AskingStage("slots", "a template: parts in place of people", Draft, make_slots),
        # Before casts are paid for.
        AskingStage("unrecognised", unrecognised, Draft, partial(predict_script, options.keep_recognised)),
        AskingStage("casts", f"{CASTS} casts that fit the parts", Draft, find_casts),
        EachStage("scenarios", like, MadeRecord, partial(write_scenarios, options.seed)),
    )


RECIPE: Recipe[Passage, ScriptsOptions, MadeRecord] = Recipe(
    name="agentsense",
    purpose="Scenarios for AgentSense out of plays and screenplays.",
    material="scripts",
    version="1.0.0",
    benchmark="agentsense",
    load=load_scenarios,
    sources="a play (.txt, .fountain, .fdx, TEI as .xml), a folder of Standard Ebooks' .xhtml, or a folder of plays",
    read_as="scripts",
    options=ScriptsOptions,
    read=_read_passages,
    prompts="sociable.datasets.recipes.agentsense",
    stages=_plan_stages,
    credit=lambda scenario: str(scenario.record["source"]),
    more_digests=lambda: {"prediction": load_agentsense_prompts().digest},
    tags=AGENTSENSE_TAGS,
)
