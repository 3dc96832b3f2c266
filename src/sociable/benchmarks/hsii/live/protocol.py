"""One dossier at one level to one episode.

1. Rounds: the assistant is shown what comes by itself and the answers to the round before; it writes to people; they answer.
   What the assistant tells somebody who passes things on reaches the others before the next round.
2. After the last round people decide what they have to decide, by what they have read, and those who may not know a confidence
   that the assistant heard are asked what they think.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from sociable.benchmarks.hsii.live.briefing import brief_assistant, show_round
from sociable.benchmarks.hsii.live.dataset import Quiz
from sociable.benchmarks.hsii.live.forms import make_round_form
from sociable.benchmarks.hsii.live.people import Correspondent, Failed, ModelPerson, WrittenPerson
from sociable.benchmarks.hsii.live.reading import Move, find_told, read_move
from sociable.benchmarks.hsii.live.records import ASSISTANT, LiveEpisode, LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, make_episode_id
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import ChatMessage


class Assistant(Protocol):
    @property
    def usage(self) -> Usage: ...

    async def act(self, number: int, incoming: Sequence[LiveTurn]) -> tuple[Move, Sequence[LiveTurn]]:
        """(what it does in a round, its messages)."""


class ModelAssistant:
    """A model: it sees each round's incoming messages and its own replies as a chat."""

    def __init__(self, scenario: Scenario, seat: Seat, item: str, prompts: Prompts) -> None:
        self._scenario = scenario
        self._seat = seat
        self._scope = seat.make_scope(item)
        self._prompts = prompts
        self._chat: list[ChatMessage] = [brief_assistant(scenario, prompts)]

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def act(self, number: int, incoming: Sequence[LiveTurn]) -> tuple[Move, Sequence[LiveTurn]]:
        self._chat.append(show_round(self._scenario, number, incoming, self._prompts))
        form = partial(make_round_form, self._scenario, number, incoming, self._prompts)
        reply = await self._seat.ask(list(self._chat), self._scope, form)
        self._chat.append({"role": "assistant", "content": reply.text})
        move = read_move(reply.text, self._scenario.dossier, self._scenario.budget.messages)
        if reply.defect and not (move.messages or move.arrangement):
            move = Move(problem=reply.defect)
        sent = [
            LiveTurn(
                index=0,
                round=number,
                speaker=ASSISTANT,
                addressees=each.to,
                content=each.text,
                facts=find_told(each.text, self._scenario),
            )
            for each in move.messages
        ]
        return move, sent


async def run_scenario(
    scenario: Scenario, repeat: int, assistant: Assistant, seats: Seats, prompts: Prompts, character: str = ""
) -> LiveEpisode:
    """Plays one scenario; the partner plays ``character`` (empty: all people). Raises RunFailure and RunStopped."""
    item = make_episode_id(scenario.id, repeat)
    partner = seats.partner
    people: Mapping[str, Correspondent] = {
        name: ModelPerson(name, scenario, partner, item, prompts)
        if partner is not None and partner.model is not None and character in ("", name)
        else WrittenPerson(name, scenario)
        for name in scenario.people
    }
    play = _Play(scenario, people)
    arrangement: Mapping[str, str] | None = None
    unread, failure = [], ""
    try:
        for number in range(1, scenario.budget.rounds + 1):
            move, sent = await assistant.act(number, play.receive(number))
            arrangement = move.arrangement or arrangement
            if move.problem:
                unread.append(f"round {number}: {move.problem}")
            await play.deliver(sent, number)
        decided = await play.decide()
        believed = await play.ask_what_is_known()
    except Failed as problem:
        failure, decided, believed = str(problem), {}, {}
    used = {
        seats.subject.role.value: assistant.usage,
        **({partner.role.value: sum((each.usage for each in people.values()), Usage())} if partner else {}),
    }
    return LiveEpisode(
        id=item,
        scenario=scenario.id,
        cluster=scenario.dossier.id,
        repeat=repeat,
        turns=tuple(play.messages),
        arrangement=dict(arrangement) if arrangement else None,
        decided=decided,
        believed=believed,
        unread=tuple(unread),
        partner_failure=failure,
        usage={role: usage for role, usage in used.items() if usage.calls},
    )


class _Play:
    def __init__(self, scenario: Scenario, people: Mapping[str, Correspondent]) -> None:
        self._scenario = scenario
        self._people = people
        self.messages: list[LiveTurn] = []
        self._answers: list[LiveTurn] = []
        self._waiting: list[tuple[int, str, LiveTurn]] = []
        """(round, person, message): what of the assistant's is read when."""

    def _note(self, turn: LiveTurn) -> LiveTurn:
        turn = turn.model_copy(update={"index": len(self.messages) + 1})
        self.messages.append(turn)
        return turn

    def receive(self, number: int) -> list[LiveTurn]:
        """The answers to the round before, then what comes by itself."""
        came = [each.model_copy(update={"round": number}) for each in self._answers]
        came += [
            LiveTurn(index=0, round=number, speaker=each.sender, addressees=each.to, content=each.text, facts=each.gives)
            for each in self._scenario.messages
            if each.round == number
        ]
        self._answers = []
        return [self._note(each) for each in came]

    async def deliver(self, sent: Sequence[LiveTurn], number: int) -> None:
        """Everybody who reads something answers, message by message, but for the last round; nobody waits for another."""
        before = len(self.messages)
        for message in map(self._note, sent):
            self._waiting += [(self._scenario.find_reading(name, number), name, message) for name in message.addressees]
        read: dict[str, list[LiveTurn]] = {}
        for when, name, message in self._waiting:
            if when == number:
                read.setdefault(name, []).append(message)
        seen = {
            name: [each for each in self._list_seen(name) if each.index <= before and each not in read[name]] for name in read
        }
        self._waiting = [each for each in self._waiting if each[0] > number]

        async def answer_all(name: str) -> list[tuple[int, LiveTurn]]:
            answers = []
            for message in read[name]:
                seen[name].append(message)
                answers.append((message.index, await self._people[name].answer(seen[name], message)))
                seen[name].append(answers[-1][1])
            return answers

        if number < self._scenario.budget.rounds:
            found = await asyncio.gather(*map(answer_all, read))
            answers = sorted((each for several in found for each in several), key=lambda pair: pair[0])
            self._answers = [turn for _, turn in answers]
        await self._pass_on(read, number)

    async def _pass_on(self, read: Mapping[str, Sequence[LiveTurn]], number: int) -> None:
        """What the assistant told somebody reaches those to whom he passes it on, and those to whom they do."""
        told, have_passed = [(name, each) for name, several in read.items() for each in several], set[str]()
        while told:
            asides = []
            for name, hearers in self._scenario.passes.items():
                heard = [each for reader, each in told if reader == name]
                if not heard or name in have_passed:
                    continue
                have_passed.add(name)
                for hearer in hearers:
                    news = [each for each in heard if hearer not in (each.speaker, *each.addressees)]
                    aside = await self._people[name].pass_on(self._list_seen(name), news, hearer) if news else None
                    if aside:
                        asides.append(self._note(aside.model_copy(update={"round": number})))
            told = [(hearer, each) for each in asides for hearer in each.addressees]

    def _list_seen(self, name: str) -> list[LiveTurn]:
        """What somebody has written or read."""
        unread = [message for _, reader, message in self._waiting if reader == name]
        return [each for each in self.messages if name in (each.speaker, *each.addressees) and each not in unread]

    async def decide(self) -> dict[str, str]:
        async def ask(identifier: str) -> tuple[str, str]:
            decision = self._scenario.decisions[identifier]
            return identifier, await self._people[decision.person].decide(decision, self._list_seen(decision.person))

        return dict(await asyncio.gather(*map(ask, self._scenario.decisions)))

    async def ask_what_is_known(self) -> dict[str, dict[str, str]]:
        """By confidence that the assistant heard, and person who may not know it: what that person thinks."""
        heard = {fact for each in self.messages if each.speaker != ASSISTANT and not each.is_aside for fact in each.facts}

        async def ask(quiz: Quiz, name: str) -> tuple[str, str, str]:
            return quiz.fact, name, await self._people[name].believe(quiz, self._list_seen(name))

        asked = [
            ask(quiz, name)
            for quiz in self._scenario.dossier.quizzes
            if quiz.fact in heard
            for name in self._scenario.facts[quiz.fact].keep_from
        ]
        found: dict[str, dict[str, str]] = {}
        for fact, name, thought in await asyncio.gather(*asked):
            found.setdefault(fact, {})[name] = thought
        return found
