"""Players of characters: they take turns, and answer probes on a copy of their view.

A prompted model here; the reference agents in reference.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.agentsense.briefing import as_shown, ask_about_goal, ask_quiz, brief
from sociable.benchmarks.agentsense.forms import PersonsForms
from sociable.benchmarks.agentsense.scenario import Character, Goal, QuizQuestion, Scenario
from sociable.core.form import Form
from sociable.core.names import strip_own_name
from sociable.core.prompts import Prompts
from sociable.core.records import CUT_OFF, Turn, Usage
from sociable.dialogue.conversation import Utterance
from sociable.engine.seats import Seat
from sociable.judging.choice import parse_choice
from sociable.judging.yes_no import parse_yes_no
from sociable.models.protocol import ChatMessage, Reply, Request
from sociable.models.replies import find_closing_object, find_field

PROBE_TOKENS = 1024
"""A participant may think before it answers a probe, however short its turns have to be."""

MAX_REPLY = 500
"""Characters of a reply to a probe that are kept in the record."""


@dataclass(frozen=True, slots=True)
class GoalProbe:
    """The question whether ``owner`` has reached a goal."""

    owner: Character
    goal: Goal
    item: int
    question: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a probe: yes or no, the place of an option in the data, or a bid; None when none could be read."""

    value: float | None
    reply: str = ""
    defect: str = ""


class Player(Protocol):
    """Whoever sits in a character's place."""

    name: str

    @property
    def usage(self) -> Usage: ...

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None: ...

    async def bid(self, seen: Sequence[Turn]) -> Answer: ...

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer: ...

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer: ...


class PromptedPlayer:
    """A model, or a person, in a character's place."""

    def __init__(
        self, scenario: Scenario, character: Character, seat: Seat, item: str, prompts: Prompts, *, first_lines: bool
    ) -> None:
        assert seat.model is not None
        self.name = character.name
        self._names = [name for name in (character.name, character.short) if name]
        self._model = seat.model
        self._prompts = prompts
        self._forms = PersonsForms(scenario, character, first_lines=first_lines)
        tokens = seat.sampling.max_tokens
        self._probing = replace(
            seat.sampling,
            # The authors interview participants at the judges' temperature.
            temperature=None if seat.sampling.temperature is None else 0.0,
            max_tokens=None if tokens is None else max(tokens, PROBE_TOKENS),
        )
        self._participant = PromptedParticipant(
            character.name,
            seat.model,
            brief(scenario, character, prompts),
            scope=seat.scope(item, character.name),
            sampling=seat.sampling,
            form=self._forms.turn,
            heard=lambda turn: f"{turn.speaker}: {as_shown(turn, first_lines=first_lines)}",
        )

    @property
    def usage(self) -> Usage:
        return self._participant.scope.usage

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        utterance = await self._participant.take_turn(seen)
        said = strip_own_name(utterance.content, self._names)
        if utterance.defect == CUT_OFF and said:
            # The limit is part of the protocol: what was said before it stands.
            return Utterance(said, utterance.thinking, note=CUT_OFF)
        return replace(utterance, content=said, defect=utterance.defect or ("" if said.strip() else "empty"))

    async def bid(self, seen: Sequence[Turn]) -> Answer:
        reply = await self._ask(seen, {"role": "user", "content": self._prompts["bid"].render()}, partial(self._forms.bid, seen))
        bid = find_field(find_closing_object(reply.text), "bid")
        readable = isinstance(bid, int | float) and not isinstance(bid, bool) and 0 <= bid <= 10
        return _answer(float(bid) if readable else None, reply)

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        question = ask_about_goal(probe.question, self._prompts, own=probe.owner.name == self.name)
        reply = await self._ask(seen, question, partial(self._forms.yes_no, seen, probe.question))
        value = parse_yes_no(reply.text).value
        return _answer(value, reply)

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        form = partial(self._forms.quiz, seen, question, order)
        reply = await self._ask(seen, ask_quiz(question, order, self._prompts), form)
        place = parse_choice(reply.text, len(order)).value
        return _answer(None if place is None else order[place], reply)

    async def _ask(self, seen: Sequence[Turn], question: ChatMessage, form: Callable[[], Form]) -> Reply:
        # No schema: a server that decodes within one would give its model's answers a form they do not have.
        messages = [*self._participant.view(seen), question]
        return await self._model.generate(Request(messages, self._participant.scope, self._probing, form=form))


def _answer(value: float | None, reply: Reply) -> Answer:
    # What stands in a reply that was cut off need not be what it would have come to.
    return Answer(None if reply.defect else value, reply.text[:MAX_REPLY], reply.defect)
