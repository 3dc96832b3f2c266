"""A model, or a person, as a side of a bargain or as a third person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Protocol

from sociable.benchmarks.agentsense.duels.briefing import ask_afterwards, ask_for_turn, ask_other, ask_priority, brief_side
from sociable.benchmarks.agentsense.duels.dataset import Agreement, Other
from sociable.benchmarks.agentsense.duels.forms import make_choice_form, make_turn_form, make_words_form
from sociable.benchmarks.agentsense.duels.reading import read_turn
from sociable.benchmarks.agentsense.duels.records import BREAKS, KEEPS, DuelTurn, find_offer
from sociable.benchmarks.agentsense.duels.scenario import Scenario
from sociable.core.names import strip_own_name
from sociable.core.prompts import Prompts, defuse, put_on_one_line
from sociable.core.records import CUT_OFF, Usage
from sociable.core.seeding import make_generator
from sociable.dialogue.limits import cut_words
from sociable.engine.seats import Seat
from sociable.judging.answers import parse_choice
from sociable.models.protocol import ChatMessage

MARGIN = 4 / 3
"""A turn is cut off at so many times the words that a side is told to keep to: what stands last is often a promise."""


class Side(Protocol):
    name: str

    @property
    def usage(self) -> Usage: ...

    async def speak(self, number: int, turns: Sequence[DuelTurn]) -> DuelTurn:
        """Turn ``number`` of the two, which is its own."""

    async def choose_deed(self, turns: Sequence[DuelTurn], agreement: Agreement) -> str:
        """What it does afterwards; empty: no answer could be read."""

    async def read_other(self, turns: Sequence[DuelTurn]) -> int | None:
        """The place of the issue that it takes for the other's main one; None: no answer could be read."""


class ModelSide:
    """A side that a model plays."""

    def __init__(self, scenario: Scenario, side: int, seat: Seat, item: str, prompts: Prompts, seed: int) -> None:
        self.name = scenario.bargain.names[side]
        self._scenario = scenario
        self._side = side
        self._seat = seat
        self._prompts = prompts
        self._scope = seat.make_scope(item, self.name)
        self._briefing = brief_side(scenario, side, prompts)
        self._order: Random = make_generator(seed, "options", scenario.bargain.id, side)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def speak(self, number: int, turns: Sequence[DuelTurn]) -> DuelTurn:
        asked = ask_for_turn(self._scenario, self._side, number, turns, self._prompts)
        title, is_first = f"You are {self.name}: turn {number} of {self._scenario.turns}", number <= 2
        form = partial(make_turn_form, title, self._briefing, asked, is_first=is_first)
        reply = await self._seat.ask([self._briefing, asked], self._scope, form)
        # What was said before the limit stands: a turn has its own limit anyway.
        text = strip_own_name(reply.text.strip(), [self.name]) if reply.defect in ("", CUT_OFF) else ""
        most = round(MARGIN * self._scenario.words)
        found = read_turn(text, self._scenario.bargain, most, find_offer(turns, 1 - self._side), is_cut=reply.defect == CUT_OFF)
        cut = f"{found.cut} words over the limit were cut off" if found.cut else ""
        return DuelTurn(
            index=0,
            speaker=self.name,
            side=self._side,
            number=number,
            content=found.said,
            thinking=reply.thinking,
            move=found.move,
            offer=found.offer,
            unreadable=bool(found.problem),
            note="; ".join(filter(None, (reply.defect, found.problem, cut))),
        )

    async def choose_deed(self, turns: Sequence[DuelTurn], agreement: Agreement) -> str:
        afterwards = self._scenario.bargain.sides[self._side].afterwards
        assert afterwards is not None
        order = self._order.sample((KEEPS, BREAKS), 2)
        options = [(afterwards.keeps if each == KEEPS else afterwards.breaks).text for each in order]
        asked = ask_afterwards(self._scenario, self._side, turns, agreement, options, self._prompts)
        place = await self._choose(turns, asked, "The talk is over, and you are alone", afterwards.question, options)
        return "" if place is None else order[place]

    async def read_other(self, turns: Sequence[DuelTurn]) -> int | None:
        issues = self._scenario.bargain.issues
        order = self._order.sample(range(len(issues)), len(issues))
        options = [issues[each].title for each in order]
        asked = ask_priority(self._scenario, self._side, turns, options, self._prompts)
        question = f"Which issue matters most to {self._scenario.bargain.names[1 - self._side]}?"
        place = await self._choose(turns, asked, "The talk is over", question, options)
        return None if place is None else order[place]

    async def _choose(
        self, turns: Sequence[DuelTurn], asked: ChatMessage, title: str, question: str, options: Sequence[str]
    ) -> int | None:
        """The place of the option that it chooses; None: no answer could be read."""
        form = partial(make_choice_form, title, turns, question, options)
        reply = await self._seat.ask([self._briefing, asked], self._scope, form)
        return None if reply.defect else parse_choice(reply.text, len(options), options).value


class ModelOther:
    """A third person played by the partner."""

    def __init__(self, scenario: Scenario, other: Other, seat: Seat, item: str, prompts: Prompts) -> None:
        self._scenario = scenario
        self._other = other
        self._seat = seat
        self._prompts = prompts
        self._scope = seat.make_scope(item, other.name)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def speak(self, turns: Sequence[DuelTurn]) -> DuelTurn:
        """What it says; with a note and no words where it gave nothing that can stand."""
        name = self._other.name
        form = partial(make_words_form, f"You are {name}", f"{self._other.who} {self._other.brief}", turns)
        reply = await self._seat.ask(ask_other(self._scenario, self._other, turns, self._prompts), self._scope, form)
        text = put_on_one_line(defuse(strip_own_name(reply.text.strip(), [name])))
        said = "" if reply.defect else cut_words(text, self._scenario.words)[0]
        return DuelTurn(index=0, speaker=name, content=said, thinking=reply.thinking, note=reply.defect)
