"""The informants: written ones, who go by the wordings of the card, or models and people who have the card before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sociable.benchmarks.anteval.informants.briefing import ask_informant, brief_informant
from sociable.benchmarks.anteval.informants.dataset import Fact, Informant, SpokenGate, Statement, Way
from sociable.benchmarks.anteval.informants.forms import make_answer_form
from sociable.benchmarks.anteval.informants.reading import cut_turn
from sociable.benchmarks.anteval.informants.records import InformantsTurn
from sociable.benchmarks.anteval.informants.scenario import Scenario, name_lie
from sociable.core.prompts import Prompts
from sociable.core.records import Usage
from sociable.core.wording import has_wording
from sociable.engine.seats import Seat

AT_ONCE = 2
"""The most statements of an answer."""
MARGIN = 1.5
"""An answer is cut off at so many times the words that an informant is told to keep to: what it tells is not to be lost."""

_SAID = ("I have said what I have to say about that.", "Of that you have heard from me what there is to hear.")
_OTHERS = ("Of that {name} knows more than I do.", "You would have to ask {name} about that.")
_NOT_UNDERSTOOD = (
    "I do not know what you mean. Ask me about one thing, in plain words.",
    "What is it that you want to know? Name the thing.",
    "Of that I know nothing.",
)


class InformantSeat(Protocol):
    @property
    def usage(self) -> Usage: ...

    async def answer(self, heard: Sequence[InformantsTurn]) -> InformantsTurn:
        """The answer to the last turn, which was addressed to it."""


class WrittenInformant:
    """Says what the card has it say: at most two things, and only what it was asked about."""

    usage = Usage()

    def __init__(self, informant: Informant, scenario: Scenario) -> None:
        self._informant = informant
        self._scenario = scenario
        self._held = scenario.list_held(informant.name)

    async def answer(self, heard: Sequence[InformantsTurn]) -> InformantsTurn:
        question, own = heard[-1], [turn for turn in heard if turn.speaker == self._informant.name]
        said: list[str] = []
        told: list[str] = []
        waits: dict[Way, str] = {}
        for statement in self._list_wanted(question, heard):
            way = self._scenario.find_way(statement)
            if self._is_given(way, statement, heard):
                said.append(statement.point)
                told.append(statement.id)
            elif way is Way.LIE and isinstance(statement, Fact):
                if not any(name_lie(statement.id) in turn.told for turn in own):
                    said.append(statement.instead)
                    told.append(name_lie(statement.id))
            elif gate := self._informant.find_gate(way):
                waits[way] = gate.says
            if len(told) == AT_ONCE:
                break
        words = " ".join([*said, *waits.values()]) or self._decline(question, len(own))
        return InformantsTurn(index=0, speaker=self._informant.name, content=words, told=tuple(told), waits=tuple(waits))

    def _list_wanted(self, question: InformantsTurn, heard: Sequence[InformantsTurn]) -> list[Statement]:
        """What is asked about and not said yet: in this turn, or, where it says what was waited for, in the one before."""
        done = {name for turn in heard if turn.speaker == self._informant.name for name in turn.told}
        left = [each for each in self._held if each.id not in done]
        asked = [each for each in left if has_wording(question.content, each.asked)]
        earlier = [turn.content for turn in heard[:-1] if turn.to == self._informant.name]
        for each in left:
            way = self._scenario.find_way(each)
            if each in asked or way is Way.ASKING or not any(has_wording(text, each.asked) for text in earlier):
                continue
            if self._is_said_by(question, way, each):
                asked.append(each)
        return asked

    def _decline(self, question: InformantsTurn, turn: int) -> str:
        """What it says that has nothing to tell: it has told it, another knows it, or it has not understood."""
        if any(has_wording(question.content, each.asked) for each in self._held):
            return _SAID[turn % len(_SAID)]
        others = (each for each in self._scenario.facts if each.holder != self._informant.name)
        if known := next((each for each in others if has_wording(question.content, each.asked)), None):
            return _OTHERS[turn % len(_OTHERS)].format(name=known.holder)
        return _NOT_UNDERSTOOD[turn % len(_NOT_UNDERSTOOD)]

    def _is_given(self, way: Way, statement: Statement, heard: Sequence[InformantsTurn]) -> bool:
        """Whether it has what it waits for before it says this."""
        if way is Way.APART:
            return heard[-1].aside
        return way is Way.ASKING or any(self._is_said_by(turn, way, statement) for turn in heard)

    def _is_said_by(self, turn: InformantsTurn, way: Way, statement: Statement) -> bool:
        """Whether somebody's turn says what it waits for."""
        if turn.speaker == self._informant.name:
            return False
        if way is Way.APART:
            return turn.aside
        if way is Way.LIE and isinstance(statement, Fact):
            shown = next(each for each in self._scenario.facts if each.id == statement.shown_by)
            return has_wording(turn.content, shown.wording)
        gate = self._informant.find_gate(way)
        return isinstance(gate, SpokenGate) and has_wording(turn.content, gate.wording)


class ModelInformant:
    """A model, or a person, who plays an informant."""

    def __init__(self, informant: Informant, scenario: Scenario, seat: Seat, item: str, words: int, prompts: Prompts) -> None:
        self._informant = informant
        self._scenario = scenario
        self._seat = seat
        self._words = words
        self._scope = seat.make_scope(item, informant.name)
        self._prompts = prompts
        self._briefing = brief_informant(scenario, informant, words, prompts)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def answer(self, heard: Sequence[InformantsTurn]) -> InformantsTurn:
        name = self._informant.name
        asked = ask_informant(name, heard, self._words, self._prompts)
        reply = await self._seat.ask([self._briefing, asked], self._scope, lambda: make_answer_form(name, self._briefing, heard))
        said, cut = cut_turn("" if reply.defect else reply.text, round(MARGIN * self._words), name)
        note = reply.defect or ("nothing was said" if not said else f"{cut} words over the limit were cut off" if cut else "")
        told = self._scenario.find_told(said)
        return InformantsTurn(index=0, speaker=name, content=said, thinking=reply.thinking, told=told, note=note)
