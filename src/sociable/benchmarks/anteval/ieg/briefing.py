"""What everybody at the table is told: from a scenario to chat messages."""

from __future__ import annotations

from pathlib import Path

from sociable.benchmarks.anteval.characters import Sheet, in_words
from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.players import opening, present
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "player": frozenset({"name", "sheet", "scene", "others", "intention"}),
    "npc": frozenset({"name", "character", "scene", "others"}),
    "intention": frozenset({"skill"}),
    "no_intention": frozenset[str](),
}


def ieg_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.ieg", PLACEHOLDERS, override)


def brief_player(scenario: IegScenario, sheet: Sheet, prompts: Prompts) -> list[ChatMessage]:
    """Its own sheet and intention, the scene, and of the others what can be seen."""
    skill = scenario.intentions.get(sheet.name)
    intention = prompts["intention"].render(skill=skill) if skill else prompts["no_intention"].render()
    return opening(
        prompts["player"].render(
            name=sheet.name,
            sheet=quote(in_words(sheet)),
            scene=quote(_scene(scenario)),
            others=present(scenario.players, scenario.scene.npc.name, without=sheet.name),
            intention=quote(intention),
        )
    )


def brief_npc(scenario: IegScenario, prompts: Prompts) -> list[ChatMessage]:
    """Nobody's intention is told to it."""
    npc = scenario.scene.npc
    return opening(
        prompts["npc"].render(
            name=npc.name,
            character=quote(f"{npc.name} ({npc.pronouns}). {npc.who}\n{npc.manner}\nWants: {npc.wants}"),
            scene=quote(_scene(scenario)),
            others=present(scenario.players, npc.name, without=npc.name),
        )
    )


def _scene(scenario: IegScenario) -> str:
    scene = scenario.scene
    return f"{scene.scene}\n{scene.npc.name}: {scene.npc.who}\nThere are: {'; '.join(scene.things)}."
