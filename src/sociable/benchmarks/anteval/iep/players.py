"""A player of information exchange: takes turns, and is asked what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sociable.benchmarks.anteval.iep.briefing import ask_what_is_known
from sociable.benchmarks.anteval.iep.recall import UNREADABLE, read_claims
from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.benchmarks.anteval.players import Player, PromptedPlayer
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.prompts import Prompts
from sociable.engine.seats import Seat
from sociable.models.protocol import ChatMessage

RECALL_TOKENS = 2048
"""What somebody knows takes more words than a turn."""

MAX_REPLY = 2000
"""Characters of a reply that are kept in the record."""


class IepPlayer(Player, Protocol):
    async def recall(self, seen: Sequence[TableTurn], when: When) -> Recall: ...


class PromptedIepPlayer(PromptedPlayer):
    """A model that plays, and is asked on a copy of its view."""

    def __init__(
        self, name: str, seat: Seat, item: str, briefing: Sequence[ChatMessage], scenario: IepScenario, prompts: Prompts
    ) -> None:
        super().__init__(name, seat, item, briefing)
        self._card = scenario.card
        self._prompts = prompts
        tokens = seat.sampling.max_tokens
        self._asked = replace(
            seat.sampling,
            temperature=None if seat.sampling.temperature is None else 0.0,
            max_tokens=None if tokens is None else max(tokens, RECALL_TOKENS),
        )

    async def recall(self, seen: Sequence[TableTurn], when: When) -> Recall:
        reply = await self.ask(seen, ask_what_is_known(self._card, when, self._prompts), self._asked)
        claims, note = read_claims(reply.text, len(self._card.key_points))
        note = "; ".join(filter(None, (reply.defect, note)))
        return Recall(
            player=self.name,
            when=when,
            claims=tuple(claims),
            reply=reply.text[:MAX_REPLY],
            note=note,
            unreadable=UNREADABLE in note,
        )
