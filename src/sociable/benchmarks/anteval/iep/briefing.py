"""What everybody at the table is told, and what is asked afterwards: from a scenario to chat messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.anteval import players
from sociable.benchmarks.anteval.iep.cards import IepScenario, KeyPoint, KnowledgeCard
from sociable.benchmarks.anteval.iep.records import When
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


def load_iep_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.iep", PLACEHOLDERS, override)


def brief(scenario: IepScenario, name: str, prompts: Prompts) -> list[ChatMessage]:
    """A participant's first messages. The NPC is the only one who is given the knowledge."""
    card = scenario.card
    knowledge = "\n".join((card.knowledge, *(f"- {each.point}" for each in card.key_points)))
    return players.brief(scenario, name, prompts, {"subject": quote(card.title)}, {"knowledge": quote(knowledge)})


def ask_what_is_known(card: KnowledgeCard, when: When, prompts: Prompts) -> ChatMessage:
    text = prompts[f"recall_{when.value}"].render(subject=quote(card.title), count=str(len(card.key_points)))
    return {"role": "user", "content": text}


def ask_judge(card: KnowledgeCard, points: Sequence[KeyPoint], claims: Sequence[str], prompts: Prompts) -> list[ChatMessage]:
    """The question which of these key points, by number, are stated by which claims, by letter."""
    facts = [f"{number}. {put_on_one_line(each.point)}" for number, each in enumerate(points, start=1)]
    said = [f"{letter}. {put_on_one_line(claim)}" for letter, claim in zip(LETTERS, claims, strict=False)]
    text = prompts["judge_claims"].render(
        subject=quote(card.title), points=quote("\n".join(facts)), claims=quote("\n".join(said))
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": text}]
