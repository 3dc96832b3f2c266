"""The people of a dossier: played by a model, or written, who answer with the dossier's own lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from sociable.benchmarks.hsii.live.briefing import (
    ASK,
    NO_NEWS,
    ask_for_reply,
    ask_to_decide,
    ask_to_pass_on,
    ask_what_is_known,
    brief_person,
    list_lines,
)
from sociable.benchmarks.hsii.live.dataset import UNKNOWN, Decision, Quiz
from sociable.benchmarks.hsii.live.forms import make_answer_form, make_aside_form, make_choice_form
from sociable.benchmarks.hsii.live.reading import MAX_MESSAGE, find_asked, find_told, read_answer
from sociable.benchmarks.hsii.live.records import LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.form import Form
from sociable.core.prompts import Prompts, defuse
from sociable.core.records import Usage
from sociable.core.seeding import make_generator
from sociable.engine.seats import Seat
from sociable.judging.answers import parse_choice
from sociable.models.protocol import ChatMessage

ENOUGH = "I have answered enough questions. Do what you think right."


class Failed(Exception):
    """Raised when a person's part came to nothing; the text says how."""


class Correspondent(Protocol):
    """Somebody who is written to, and answers."""

    name: str

    @property
    def usage(self) -> Usage: ...

    async def answer(self, seen: Sequence[LiveTurn], message: LiveTurn) -> LiveTurn:
        """The answer to ``message``, the last one in ``seen``, which is all that the person has read. Raises Failed."""

    async def pass_on(self, seen: Sequence[LiveTurn], news: Sequence[LiveTurn], hearer: str) -> LiveTurn | None:
        """What it tells ``hearer`` of the ``news``, messages that ``hearer`` has not read; None: nothing. Raises Failed."""

    async def decide(self, decision: Decision, seen: Sequence[LiveTurn]) -> str:
        """The option that it chooses. Raises Failed."""

    async def believe(self, quiz: Quiz, seen: Sequence[LiveTurn]) -> str:
        """What it thinks of something that it may not know: a key of ``list_beliefs``, or UNKNOWN. Raises Failed."""


def reply_to(message: LiveTurn, speaker: str, text: str, facts: tuple[str, ...]) -> LiveTurn:
    """An answer; whoever else read the message reads it too."""
    others = tuple(name for name in message.addressees if name != speaker)
    return LiveTurn(index=0, round=message.round, speaker=speaker, addressees=others, content=text, facts=facts)


def write_aside(speaker: str, hearer: str, text: str, facts: tuple[str, ...]) -> LiveTurn:
    return LiveTurn(index=0, round=0, speaker=speaker, addressees=(hearer,), content=text, facts=facts, is_aside=True)


class WrittenPerson:
    """Answers with the dossier's lines, one question a message, and decides by the facts that it has been told."""

    usage = Usage()

    def __init__(self, name: str, scenario: Scenario) -> None:
        self.name = name
        self._scenario = scenario
        self._answered = 0
        self._spent: list[str] = []
        self._stock = deque(scenario.people[name].stock)

    async def answer(self, seen: Sequence[LiveTurn], message: LiveTurn) -> LiveTurn:
        asked = message.topic if message.topic in self._list_own() else ""
        asked = asked or find_asked(message.content, self._scenario, self.name, self._spent)
        opened = "" if asked else self._find_opened(seen)
        if not (asked or opened):
            self._stock.rotate(-1)
            return reply_to(message, self.name, self._stock[-1], ())
        if asked:
            # Who opens by what it was told has been asked nothing.
            if self._answered >= self._scenario.budget.patience:
                return reply_to(message, self.name, ENOUGH, ())
            self._answered += 1
        topic = self._scenario.topics[asked or opened]
        known = {fact for each in seen for fact in each.facts}
        # In front of others nobody says what is to be kept from them.
        overheard = any(name in self._scenario.facts[fact].keep_from for fact in topic.gives for name in message.addressees)
        if known.issuperset(topic.needs) and not overheard:
            self._spent.append(topic.id)
            return reply_to(message, self.name, topic.says, topic.gives)
        if topic.instead:
            return reply_to(message, self.name, topic.instead, topic.instead_gives)
        return reply_to(message, self.name, self._stock[0], ())

    def _list_own(self) -> list[str]:
        return [topic.id for topic in self._scenario.topics.values() if topic.person == self.name]

    def _find_opened(self, seen: Sequence[LiveTurn]) -> str:
        """A topic on which the last message has told all that was needed; empty: none."""
        before = {fact for each in seen[:-1] for fact in each.facts}
        known = before | {*seen[-1].facts}
        topics = (topic for topic in self._scenario.topics.values() if topic.person == self.name and topic.needs)
        return next((each.id for each in topics if known.issuperset(each.needs) and not before.issuperset(each.needs)), "")

    async def pass_on(self, seen: Sequence[LiveTurn], news: Sequence[LiveTurn], hearer: str) -> LiveTurn | None:
        told = {fact: self._scenario.facts[fact] for each in news for fact in each.facts}
        told = {name: fact for name, fact in told.items() if fact.of not in (self.name, hearer)}
        replaced = {fact.replaces for fact in told.values()}
        said = [fact.text for name, fact in told.items() if name not in replaced]
        return write_aside(self.name, hearer, " ".join(["I hear this:", *said]), tuple(told)) if said else None

    async def decide(self, decision: Decision, seen: Sequence[LiveTurn]) -> str:
        known = {fact for each in seen for fact in each.facts}
        return decision.best if known.issuperset(decision.needs) else decision.unknowing

    async def believe(self, quiz: Quiz, seen: Sequence[LiveTurn]) -> str:
        known = {fact for each in seen for fact in each.facts}
        return self._scenario.find_truth(quiz) if quiz.fact in known else UNKNOWN


class ModelPerson:
    """A model that plays a person."""

    def __init__(self, name: str, scenario: Scenario, seat: Seat, item: str, prompts: Prompts) -> None:
        self.name = name
        self._scenario = scenario
        self._seat = seat
        self._prompts = prompts
        self._scope = seat.make_scope(item, name)
        self._briefing = brief_person(scenario, name, prompts)
        self._lines = list_lines(scenario, name)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def answer(self, seen: Sequence[LiveTurn], message: LiveTurn) -> LiveTurn:
        question = ask_for_reply(self.name, seen, self._prompts)
        form = partial(make_answer_form, self.name, self._briefing, seen, len(self._lines))
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        words, numbers = read_answer(reply.text, len(self._lines))
        text = defuse(words).strip()[:MAX_MESSAGE]
        if reply.defect or not text:
            raise Failed(f"{self.name}, round {message.round}: {reply.defect or 'empty'}")
        if numbers is None:
            told = find_told(text, self._scenario, {fact for line in self._lines for fact in line.gives})
        else:
            told = tuple(dict.fromkeys(fact for number in numbers for fact in self._lines[number - 1].gives))
        return reply_to(message, self.name, text, told)

    async def pass_on(self, seen: Sequence[LiveTurn], news: Sequence[LiveTurn], hearer: str) -> LiveTurn | None:
        question = ask_to_pass_on(self.name, seen, news, hearer, self._prompts)
        form = partial(make_aside_form, self.name, hearer, news)
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        text = defuse(reply.text).strip()[:MAX_MESSAGE]
        if reply.defect or not text:
            raise Failed(f"{self.name}, passing on to {hearer}: {reply.defect or 'empty'}")
        if text.strip(".\"'* ").upper() == NO_NEWS:
            return None
        return write_aside(self.name, hearer, text, find_told(text, self._scenario))

    async def decide(self, decision: Decision, seen: Sequence[LiveTurn]) -> str:
        options = [option.text for option in decision.options]
        question = ask_to_decide(self.name, decision, seen, self._prompts)
        form = partial(make_choice_form, f"{self.name} decides", decision.question, options, seen)
        place = await self._choose(question, options, form, f"{self.name}'s decision '{decision.id}'")
        return decision.options[place].id

    async def believe(self, quiz: Quiz, seen: Sequence[LiveTurn]) -> str:
        beliefs = self._scenario.list_beliefs(quiz)
        keys = sorted(beliefs)
        make_generator(0, "beliefs", self._scenario.id, quiz.fact, self.name).shuffle(keys)
        options = [*map(beliefs.__getitem__, keys), ASK]
        question = ask_what_is_known(self.name, quiz, options, seen, self._prompts)
        form = partial(make_choice_form, f"{self.name} is asked", quiz.question, options, seen)
        place = await self._choose(question, options, form, f"{self.name}, asked about '{quiz.fact}'")
        return [*keys, UNKNOWN][place]

    async def _choose(self, question: ChatMessage, options: Sequence[str], form: Callable[[], Form], what: str) -> int:
        """The place of the option that it chooses. Raises Failed: the instrument has failed, and not the assistant."""
        reply = await self._seat.ask([self._briefing, question], self._scope, form)
        place = parse_choice(reply.text, len(options), list(options)).value
        if reply.defect or place is None:
            raise Failed(f"{what}: {reply.defect or 'no choice in the reply'}")
        return place
