"""Information exchange (sections 3.2 and 4.1): one scenario to one session and what its players then know.

1. Seats: the model under test plays everybody; with a partner named, the partner plays the NPC.
2. Before: every player is asked what it knows of the subject, the baseline.
3. The session: players and NPC in order, turn by turn, until the turns are used up. After turns that ``marks`` names every player
   is asked too; nobody's history has it.
4. After: every player is asked the same again, each on a copy of its own view.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sociable.benchmarks.anteval.iep.cards import IepScenario, KnowledgeCard
from sociable.benchmarks.anteval.iep.claims import CLAIMS, UNREADABLE, read_claims, write_claims
from sociable.benchmarks.anteval.iep.records import IepEpisode, IepOptions, Recall, When
from sociable.benchmarks.anteval.iep.reference import ReferenceIepPlayer, make_reference_player
from sociable.benchmarks.anteval.players import PromptedPlayer, brief, seat_players
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.core.records import make_episode_id
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "player": frozenset({"name", "sheet", "scene", "others", "subject"}),
    "npc": frozenset({"name", "character", "others", "knowledge"}),
    "recall_before": frozenset({"subject", "count"}),
    "recall_after": frozenset({"subject", "count"}),
    "judge_system": frozenset[str](),
    "judge_claims": frozenset({"subject", "points", "claims"}),
}

MAX_REPLY = 2000
"""Characters of a reply that are kept in the record."""

_REHEARSED_SENTENCE = "The ferryman kept the third lantern dark whenever the salt boats came in before the feast. "


def load_iep_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.iep", PLACEHOLDERS, override)


class PromptedIepPlayer(PromptedPlayer):
    """A model that plays, and is asked what it knows on a copy of its view."""

    def __init__(self, name: str, seat: Seat, item: str, scenario: IepScenario, prompts: Prompts, options: IepOptions) -> None:
        card = self._card = scenario.card
        # The NPC is the only one who is given the knowledge. As a list it would be told point by point.
        listed = [f"- {each.point}" for each in card.key_points] if options.points else []
        knowledge = "\n".join((card.knowledge, *listed))
        for_player, for_npc = {"subject": quote(card.title)}, {"knowledge": quote(knowledge)}
        super().__init__(name, seat, item, brief(scenario, name, prompts, for_player, for_npc))
        self._prompts = prompts
        own = seat.sampling
        self._sampling = replace(
            own,
            temperature=None if own.temperature is None else 0.0,
            max_tokens=None if own.max_tokens is None else max(own.max_tokens, options.recall_tokens),
        )

    async def recall(self, seen: Sequence[TableTurn], when: When) -> Recall:
        asked = "recall_before" if when is When.BEFORE else f"recall_{When.AFTER.value}"
        prompt, count = self._prompts[asked], len(self._card.key_points)
        question: ChatMessage = {"role": "user", "content": prompt.render(subject=quote(self._card.title), count=str(count))}
        reply = await self.ask(seen, question, self._sampling, [CLAIMS], write_claims)
        claims, note = read_claims(reply.text, count)
        return Recall(
            player=self.name,
            when=when,
            turn=len(seen) if when is When.DURING else 0,
            claims=tuple(claims),
            reply=reply.text[:MAX_REPLY],
            note="; ".join(filter(None, (reply.defect, note))),
            unreadable=note == UNREADABLE,
        )


async def run_session(
    scenario: IepScenario, repeat: int, seats: Seats, prompts: Prompts, options: IepOptions, *, seed: int
) -> IepEpisode:
    """The episode. Raises RunFailure and RunStopped."""
    identifier = make_episode_id(scenario.id, repeat)

    def make_player(name: str, seat: Seat) -> PromptedIepPlayer | ReferenceIepPlayer:
        if seat.model is None:
            return make_reference_player(seat.agent, scenario, name, options.turns, seed, repeat)
        return PromptedIepPlayer(name, seat, identifier, scenario, prompts, options)

    # 1. Seats.
    table = seat_players(scenario, seats, make_player)

    # 2. Before.
    recalls = await asyncio.gather(*(player.recall((), When.BEFORE) for player in table.players))

    # 3. The session.
    during: list[Recall] = []

    async def ask_at_marks(seen: Sequence[TableTurn]) -> None:
        if len(seen) in options.marks and len(seen) < options.turns:
            during.extend(await asyncio.gather(*(player.recall(seen, When.DURING) for player in table.players)))

    turns, failure = await table.play(scenario.list_in_turn(options.turns), ask_at_marks)

    # 4. After.
    if not failure:
        recalls += [*during, *await asyncio.gather(*(player.recall(turns, When.AFTER) for player in table.players))]

    return IepEpisode(
        id=identifier,
        scenario=scenario.id,
        cluster=scenario.id,
        repeat=repeat,
        turns=tuple(turns),
        recalls=tuple(recalls),
        npc_failure=failure,
        usage=table.sum_usage(),
    )


def rehearse_reply(card: KnowledgeCard, role: Role, asked: str) -> str:
    """A reply of the longest session: everybody acts and speaks in each turn, and claims as much as it may."""
    points, sentence = len(card.key_points), _REHEARSED_SENTENCE
    if role is Role.JUDGE:
        return json.dumps({"reason": sentence, "matches": [[number, "A"] for number in range(1, points + 1)]})
    if '{"claims"' in asked:
        return json.dumps({"claims": [sentence] * points})
    return f"*{sentence.strip()}* {sentence * 2}"
