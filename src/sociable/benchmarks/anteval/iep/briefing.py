"""What everybody at the table is told, and what is asked afterwards: from a scenario to chat messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.anteval.characters import Sheet, in_words
from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.records import When
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.benchmarks.anteval.players import opening, present
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "player": frozenset({"name", "sheet", "scene", "others", "subject"}),
    "npc": frozenset({"name", "character", "scene", "others", "knowledge"}),
    "recall_before": frozenset({"subject", "count"}),
    "recall_after": frozenset({"subject", "count"}),
    "judge_system": frozenset[str](),
    "judge_claims": frozenset({"subject", "points", "claims"}),
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def iep_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.iep", PLACEHOLDERS, override)


def brief_player(scenario: IepScenario, sheet: Sheet, prompts: Prompts) -> list[ChatMessage]:
    """Its own sheet, the scene, and of the others what can be seen."""
    card = scenario.card
    text = prompts["player"].render(
        name=sheet.name,
        sheet=quote(in_words(sheet)),
        scene=quote(_scene(card)),
        others=present(scenario.players, card.npc.name, without=sheet.name),
        subject=quote(card.title),
    )
    return opening(text)


def brief_npc(scenario: IepScenario, prompts: Prompts) -> list[ChatMessage]:
    """The only one who is given the knowledge."""
    npc = scenario.card.npc
    text = prompts["npc"].render(
        name=npc.name,
        character=quote("\n".join(filter(None, (f"{npc.name} ({npc.pronouns}). {npc.who}", npc.manner, npc.knows_because)))),
        scene=quote(_scene(scenario.card)),
        others=present(scenario.players, npc.name, without=npc.name),
        knowledge=quote("\n".join((scenario.card.knowledge, *(f"- {each.point}" for each in scenario.card.key_points)))),
    )
    return opening(text)


def _scene(card: KnowledgeCard) -> str:
    return f"{card.scene}\n{card.npc.name}: {card.npc.who}"


def ask_what_is_known(card: KnowledgeCard, when: When, prompts: Prompts) -> ChatMessage:
    text = prompts[f"recall_{when.value}"].render(subject=quote(card.title), count=str(len(card.key_points)))
    return {"role": "user", "content": text}


def ask_judge(card: KnowledgeCard, points: Sequence[int], claims: Sequence[str], prompts: Prompts) -> list[ChatMessage]:
    """Facts by number, claims by letter."""
    facts = [f"{number}. {put_on_one_line(card.key_points[place].point)}" for number, place in enumerate(points, start=1)]
    said = [f"{letter}. {put_on_one_line(claim)}" for letter, claim in zip(LETTERS, claims, strict=False)]
    text = prompts["judge_claims"].render(
        subject=quote(card.title), points=quote("\n".join(facts)), claims=quote("\n".join(said))
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": text}]
