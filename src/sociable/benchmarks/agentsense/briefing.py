"""The briefings of AgentSense's roles: from a scenario to chat messages.

A participant's briefing comes first and does not change within a scene, so that a server's prefix cache serves all its
turns and probes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.agentsense.scenario import Character, GoalProbe, QuizQuestion, Scenario
from sociable.core.names import find_words
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Turn
from sociable.models.protocol import ChatMessage
from sociable.models.replies import find_closing_object, find_field

PLACEHOLDERS = {
    "scene": frozenset({"name", "profile", "background", "others", "goals", "secret"}),
    "own_goal": frozenset({"question"}),
    "others_goal": frozenset({"question"}),
    "quiz": frozenset({"question"}),
    "bid": frozenset[str](),
    "judge_system": frozenset[str](),
    "judge_goal": frozenset({"background", "transcript", "name", "question"}),
    "label_roles": frozenset({"scene", "people"}),
    "label_goal": frozenset({"goal"}),
    "label_domain": frozenset({"scene"}),
    "predict_script": frozenset({"background"}),
}

LETTERS = "ABCDEFGHIJ"


def load_agentsense_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.agentsense", PLACEHOLDERS, override)


def describe_scene(scenario: Scenario) -> str:
    """Background and description, which everybody knows."""
    return "\n".join(filter(None, (scenario.background, scenario.description)))


def brief(scenario: Scenario, character: Character, prompts: Prompts) -> list[ChatMessage]:
    """A participant's knowledge before anybody has spoken: its own profile, goals and secret, and nobody else's."""
    text = prompts["scene"].render(
        name=character.name,
        profile=quote(character.profile or "(nothing is said about you)"),
        background=quote(describe_scene(scenario)),
        others=list_others(scenario, character),
        goals=quote("\n".join(f"- {goal.goal}" for goal in character.goals) or "(nothing in particular)"),
        secret=quote(character.private_info or "(nothing)"),
    )
    # A conversation that began with the participant's own turn would be refused by some servers.
    return [{"role": "system", "content": text}, {"role": "user", "content": "The scene opens."}]


def list_others(scenario: Scenario, character: Character) -> str:
    """Everybody but the character, in words: each one's name, and the short name if that is another."""
    return ", ".join(
        other.name if other.short in ("", other.name) else f"{other.name} (called {other.short})"
        for other in scenario.characters
        if other is not character
    )


def write_goal_question(question: str, prompts: Prompts, *, own: bool) -> str:
    """A probe: whether a goal was reached, as its owner or another sees it."""
    return prompts["own_goal" if own else "others_goal"].render(question=quote(question))


def write_quiz(question: QuizQuestion, order: Sequence[int], prompts: Prompts) -> str:
    """A probe: a multiple-choice question, its options in the given order."""
    options = [f"{letter}: {put_on_one_line(question.options[place])}" for letter, place in zip(LETTERS, order, strict=False)]
    return prompts["quiz"].render(question=quote("\n".join([question.question, *options])))


def write_script_question(scene: str, prompts: Prompts) -> list[ChatMessage]:
    """The test of section 4.3: the model gets background and description only, and no part to play."""
    return [{"role": "user", "content": prompts["predict_script"].render(background=quote(scene))}]


def is_script_named(reply: str, title: str) -> bool:
    """Whether the reply names the script by its title, with or without its article, subtitle and author."""
    named = find_field(find_closing_object(reply), "script")
    one, other = (f" {re.sub(r'^(?:the|an?) ', '', ' '.join(find_words(str(text or ''))))} " for text in (named, title))
    return bool(one.strip() and other.strip()) and (one in other or other in one)


def write_transcript(turns: Sequence[Turn], *, first_lines: bool = False) -> str:
    """The turns with words in them, one line each."""
    return "\n".join(f"{turn.speaker}: {as_shown(turn, first_lines=first_lines)}" for turn in turns if turn.content.strip())


def as_shown(turn: Turn, *, first_lines: bool = False) -> str:
    """A turn as others see it; with ``first_lines`` only what stands before its first line break, as in the authors' code."""
    said = turn.content.strip()
    return put_on_one_line(said.splitlines()[0] if first_lines and said else said)


def write_judge_question(
    scenario: Scenario, probe: GoalProbe, turns: Sequence[Turn], prompts: Prompts, *, first_lines: bool
) -> list[ChatMessage]:
    """A question to a judge about one goal."""
    text = prompts["judge_goal"].render(
        background=quote(describe_scene(scenario)),
        transcript=quote(write_transcript(turns, first_lines=first_lines) or "(nobody said anything)"),
        name=probe.owner.name,
        # Most questions are made of the goal, and name it already.
        question=quote(probe.question if probe.goal.goal in probe.question else f"{probe.question}\nThe goal: {probe.goal.goal}"),
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": text}]
