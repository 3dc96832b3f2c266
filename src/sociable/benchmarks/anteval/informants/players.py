"""A model in a player's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from sociable.benchmarks.anteval.characters import Sheet
from sociable.benchmarks.anteval.iep.claims import CLAIMS, UNREADABLE, read_claims, write_claims
from sociable.benchmarks.anteval.iep.protocol import MAX_REPLY
from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.informants.briefing import ask_for_turn, ask_to_recall, brief_player
from sociable.benchmarks.anteval.informants.forms import make_turn_form
from sociable.benchmarks.anteval.informants.reading import cut_turn, read_turn
from sociable.benchmarks.anteval.informants.records import InformantsOptions, InformantsTurn
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.form import make_prompt_form
from sociable.core.prompts import Prompts
from sociable.core.records import CUT_OFF, Usage
from sociable.engine.seats import Seat
from sociable.models.protocol import Request


class Player(Protocol):
    name: str

    @property
    def usage(self) -> Usage: ...

    async def speak(self, heard: Sequence[InformantsTurn], left: int) -> InformantsTurn:
        """Its turn; ``heard``: what it has said and heard so far; ``left``: the turns of the session that are left."""

    async def claim(self, heard: Sequence[InformantsTurn], when: When, turn: int) -> Recall:
        """What it says that it knows; ``turn``: the number of turns so far."""


class ModelPlayer:
    def __init__(
        self, player: Sheet, scenario: Scenario, seat: Seat, item: str, options: InformantsOptions, prompts: Prompts
    ) -> None:
        self.name = player.name
        self._scenario = scenario
        self._seat = seat
        self._options = options
        self._prompts = prompts
        self._scope = seat.make_scope(item, player.name)
        self._briefing = brief_player(scenario, player, options.turns, options.words, prompts)
        self._others = [each for each in scenario.names if each != player.name]

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def speak(self, heard: Sequence[InformantsTurn], left: int) -> InformantsTurn:
        words = self._options.words
        form = partial(make_turn_form, self.name, self._others, self._briefing, heard, left, words)
        question = ask_for_turn(self.name, heard, left, words, self._prompts)
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        read = read_turn(reply.text, self._others)
        # What was said before the limit stands: a turn has its own limit anyway.
        said, cut = cut_turn(read.text if reply.defect in ("", CUT_OFF) else "", words, self.name)
        return InformantsTurn(
            index=0,
            speaker=self.name,
            content=said,
            thinking=reply.thinking,
            to=read.to,
            addressees=(read.to,) if read.aside else (),
            told=self._scenario.find_told(said),
            note="; ".join(filter(None, (reply.defect, read.problem, f"{cut} words over the limit were cut off" if cut else ""))),
        )

    async def claim(self, heard: Sequence[InformantsTurn], when: When, turn: int) -> Recall:
        question = ask_to_recall(self._scenario, self.name, heard, when is When.AFTER, self._prompts)
        own = self._seat.sampling
        sampling = replace(
            own,
            temperature=None if own.temperature is None else 0.0,
            max_tokens=None if own.max_tokens is None else max(own.max_tokens, self._options.recall_tokens),
        )
        assert self._seat.model is not None
        messages = [self._briefing, question]
        form = partial(make_prompt_form, f"{self.name}, a question on the side", messages, [CLAIMS], write_claims)
        reply = await self._seat.model.generate(Request(messages, self._scope, sampling, form=form))
        claims, note = read_claims(reply.text, len(self._scenario.facts))
        return Recall(
            player=self.name,
            when=when,
            turn=turn if when is When.DURING else 0,
            claims=tuple(claims),
            reply=reply.text[:MAX_REPLY],
            note="; ".join(filter(None, (reply.defect, note))),
            unreadable=note == UNREADABLE,
        )
