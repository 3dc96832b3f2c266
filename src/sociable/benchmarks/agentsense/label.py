"""A labelling step for data that lack roles, kinds of goals or domains (Prompt 19, Tables 6 and 7).

One scenario of each template is asked about, and the answer holds for all its casts, for the paper's casts differ in
who plays, not in what is played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sociable.benchmarks.agentsense.briefing import describe_scene
from sociable.benchmarks.agentsense.scenario import Character, CharacterRole, Domain, GoalType, Scenario
from sociable.core.names import find_words
from sociable.core.prompts import Prompts, quote
from sociable.engine.seats import Seat
from sociable.models.protocol import Model, Request, Sampling, Scope
from sociable.models.replies import find_closing_object, find_field


async def label_records(scenarios: Sequence[Scenario], seat: Seat, prompts: Prompts) -> tuple[list[dict[str, Any]], str]:
    """(the scenarios as records of the native layout, with missing labels filled in; a sentence on these).

    Labels that are there stay.
    """
    assert seat.model is not None
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    found = await asyncio.gather(*(_label(scenario, seat.model, prompts, seat.sampling) for scenario in first.values()))
    like = {scenario.template: scenario for scenario, _ in found}
    labelled = [_copy_labels(like[scenario.template], scenario) for scenario in scenarios]
    said = _count_filled(scenarios, labelled, sum(unread for _, unread in found))
    return [to_native_record(scenario) for scenario in labelled], said


async def _label(scenario: Scenario, model: Model, prompts: Prompts, sampling: Sampling) -> tuple[Scenario, int]:
    """(the scenario with its labels, the number of questions without a readable answer, whose labels stay None)."""
    scope = Scope(f"label:{scenario.template}", "subject", model.name)
    unread = 0

    async def ask(name: str, **values: str) -> list[tuple[str, Any]]:
        message = {"role": "user", "content": prompts[name].render(**values)}
        reply = await model.generate(Request([message], scope, sampling))  # type: ignore[list-item]
        return [] if reply.defect else find_closing_object(reply.text) or []

    def read(kind: Any, text: Any) -> Any:
        nonlocal unread
        known = text.strip().lower() if isinstance(text, str) else None
        if known in tuple(kind):
            return kind(known)
        unread += 1
        return None

    scene = quote(describe_scene(scenario))
    given: dict[str, Any] = {}
    if not all(character.role for character in scenario.characters):
        people = [f"{each.name}: {' '.join(goal.goal for goal in each.goals) or '(no goal)'}" for each in scenario.characters]
        answer = await ask("label_roles", scene=scene, people=quote("\n".join(people)))
        given = {" ".join(find_words(name)): role for name, role in answer}
    roles = [each.role or read(CharacterRole, given.get(" ".join(find_words(each.name)))) for each in scenario.characters]
    domain = scenario.domain or read(Domain, find_field(await ask("label_domain", scene=scene), "domain"))
    characters = []
    for character, role in zip(scenario.characters, roles, strict=True):
        goals = []
        for goal in character.goals:
            kind = goal.type or read(GoalType, find_field(await ask("label_goal", goal=quote(goal.goal)), "type"))
            goals.append(goal.model_copy(update={"type": kind}))
        characters.append(character.model_copy(update={"role": role, "goals": tuple(goals)}))
    return scenario.model_copy(update={"characters": tuple(characters), "domain": domain}), unread


def _copy_labels(like: Scenario, scenario: Scenario) -> Scenario:
    """The scenario with the labels of another of its template, where it has none. The other may have a smaller cast."""

    def add(character: Character, labelled: Character) -> Character:
        goals = zip(character.goals, [*labelled.goals, *character.goals[len(labelled.goals) :]], strict=False)
        kinds = tuple(goal.model_copy(update={"type": goal.type or other.type}) for goal, other in goals)
        return character.model_copy(update={"role": character.role or labelled.role, "goals": kinds})

    labelled = [*like.characters, *scenario.characters[len(like.characters) :]]
    characters = tuple(map(add, scenario.characters, labelled))
    return scenario.model_copy(update={"characters": characters, "domain": scenario.domain or like.domain})


def _count_filled(before: Sequence[Scenario], after: Sequence[Scenario], unread: int) -> str:
    """A sentence on what a labelling step did."""

    def count_labels(scenarios: Sequence[Scenario]) -> list[int]:
        characters = [character for scenario in scenarios for character in scenario.characters]
        return [
            sum(character.role is not None for character in characters),
            sum(goal.type is not None for character in characters for goal in character.goals),
            sum(scenario.domain is not None for scenario in scenarios),
        ]

    added = [now - then for then, now in zip(count_labels(before), count_labels(after), strict=True)]
    said = "Filled in: {} roles, {} kinds of goals, {} domains.".format(*added)
    return f"{said} {unread} questions had no readable answer; those labels stay empty." if unread else said


def to_native_record(scenario: Scenario) -> dict[str, Any]:
    """A scenario as it stands in a file of the native layout."""
    record = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"id", "template"})
    sample = scenario.id.removeprefix(f"{scenario.template}:")
    roles = {character["name"]: role for character in record["characters"] if (role := character.pop("role", None))}
    return {"sample_idx": sample, "template_idx": scenario.template, **record, **({"roles": roles} if roles else {})}
