"""A prompted model, or a person, as the player of a character: it takes turns, and answers probes on a copy of its view.

The reference agents' players are in reference.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.agentsense.briefing import LETTERS, as_shown, brief, list_others, write_goal_question, write_quiz
from sociable.benchmarks.agentsense.records import AgentSenseOptions
from sociable.benchmarks.agentsense.scenario import Character, GoalProbe, QuizQuestion, Scenario
from sociable.core.form import Form, Question
from sociable.core.names import strip_own_name
from sociable.core.prompts import Prompts
from sociable.core.records import CUT_OFF, Turn, Usage
from sociable.core.view import Block, Line, Paragraph, Transcript
from sociable.dialogue.conversation import Utterance
from sociable.engine.seats import Seat
from sociable.judging.answers import parse_choice, parse_yes_no
from sociable.models.protocol import ChatMessage, Request
from sociable.models.replies import find_closing_object, find_field

MAX_REPLY = 500
"""Characters of a reply to a probe that are kept in the record."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a probe: yes or no, the place of an option in the data, or a bid; None when none could be read."""

    value: float | None
    reply: str = ""
    defect: str = ""


class PromptedPlayer:
    """A model, or a person, in a character's place."""

    def __init__(
        self, scenario: Scenario, character: Character, seat: Seat, item: str, prompts: Prompts, options: AgentSenseOptions
    ) -> None:
        assert seat.model is not None
        self.name = character.name
        self._names = [name for name in (character.name, character.short) if name]
        self._model = seat.model
        self._prompts = prompts
        first_lines = options.first_lines
        self._forms = PersonsForms(scenario, character, first_lines=first_lines)
        tokens = seat.sampling.max_tokens
        self._probing = replace(
            seat.sampling,
            # The authors interview participants at the judges' temperature.
            temperature=None if seat.sampling.temperature is None else 0.0,
            max_tokens=None if tokens is None else max(tokens, options.probe_tokens),
        )
        self._participant = PromptedParticipant(
            character.name,
            seat.model,
            brief(scenario, character, prompts),
            scope=seat.make_scope(item, character.name),
            sampling=seat.sampling,
            form=self._forms.ask_for_turn,
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
        question = self._prompts["bid"].render()
        return await self._ask(seen, question, partial(self._forms.ask_for_bid, seen), _parse_bid)

    async def judge_goal(self, seen: Sequence[Turn], probe: GoalProbe) -> Answer:
        question = write_goal_question(probe.question, self._prompts, own=probe.owner.name == self.name)
        form = partial(self._forms.ask_yes_no, seen, probe.question)
        return await self._ask(seen, question, form, lambda text: parse_yes_no(text).value)

    async def choose(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Answer:
        def parse(text: str) -> int | None:
            place = parse_choice(text, len(order), [question.options[place] for place in order]).value
            return None if place is None else order[place]

        form = partial(self._forms.ask_quiz, seen, question, order)
        return await self._ask(seen, write_quiz(question, order, self._prompts), form, parse)

    async def _ask(
        self, seen: Sequence[Turn], question: str, form: Callable[[], Form], parse: Callable[[str], float | None]
    ) -> Answer:
        # No schema: a server that decodes within one would give its model's answers a form they do not have.
        messages: list[ChatMessage] = [*self._participant.make_messages(seen), {"role": "user", "content": question}]
        reply = await self._model.generate(Request(messages, self._participant.scope, self._probing, form=form))
        # What stands in a reply that was cut off need not be what it would have come to.
        return Answer(None if reply.defect else parse(reply.text), reply.text[:MAX_REPLY], reply.defect)


def _parse_bid(text: str) -> float | None:
    bid = find_field(find_closing_object(text), "bid")
    return float(bid) if isinstance(bid, int | float) and not isinstance(bid, bool) and 0 <= bid <= 10 else None


@dataclass
class PersonsForms:
    """The forms of one person in one scene: each shows what has not been shown yet, the scene itself first.

    At every question the person therefore knows what a model would be sent with it.
    """

    scenario: Scenario
    character: Character
    first_lines: bool
    shown: int | None = None
    """Index of the last turn that was shown; None before the scene was."""

    def ask_for_turn(self, seen: Sequence[Turn]) -> Form:
        title = "A new scene" if self.shown is None else "It goes on"
        question = Question(f"You are {self.character.name}. What do you say? (one line; *what you do* in asterisks)")
        return Form(title, self._show_news(seen), [question])

    def ask_for_bid(self, seen: Sequence[Turn]) -> Form:
        question = Question("How much do you want to be next, from 0 to 10?", tuple(map(str, range(11))))
        return Form("Who speaks next?", self._show_news(seen), [question], lambda said: json.dumps({"bid": int(said[0])}))

    def ask_yes_no(self, seen: Sequence[Turn], question: str) -> Form:
        asked, title = [Question(question, ("yes", "no"))], "Looking back at the scene"
        return Form(title, self._show_news(seen), asked, lambda said: json.dumps({"reason": "", "answer": said[0]}))

    def ask_quiz(self, seen: Sequence[Turn], question: QuizQuestion, order: Sequence[int]) -> Form:
        letters = {question.options[place]: letter for place, letter in zip(order, LETTERS, strict=False)}
        asked = [Question(question.question, tuple(letters))]
        title = "A question on the side: what do you think?"
        return Form(title, self._show_news(seen), asked, lambda said: json.dumps({"answer": letters[said[0]]}))

    def _show_news(self, seen: Sequence[Turn]) -> list[Block]:
        """The blocks that are new to the person; its own words only with the scene, which is shown again after a break."""
        blocks: list[Block] = [] if self.shown is not None else self._show_scene()
        last, own = -1 if self.shown is None else self.shown, self.character.name
        lines = [
            Line(turn.speaker, "", as_shown(turn, first_lines=self.first_lines) if turn.speaker != own else turn.content)
            for turn in seen
            if turn.index > last
            and turn.content.strip()
            # A greeting is nobody's own words: the person may not know of having begun.
            and (blocks or turn.speaker != own or turn.index == 0)
        ]
        if lines:
            blocks.append(Transcript("", lines))
        self.shown = max((turn.index for turn in seen), default=last)
        return blocks

    def _show_scene(self) -> list[Block]:
        scenario, character = self.scenario, self.character
        parts = [
            scenario.background,
            scenario.description,
            f"You are {character.name}. {character.profile}",
            f"Present with you: {list_others(scenario, character)}",
            *(f"You want: {goal.goal}" for goal in character.goals),
            f"Nobody may learn: {character.private_info}" if character.private_info else "",
        ]
        return [Paragraph(part) for part in parts if part]
