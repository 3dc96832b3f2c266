"""HSII's reference agents: participants that may see the scenario's answers.

They need no model. As the assistant they reply in the format asked for; as the partner there is only ``heuristic``,
which says the addressee's part of the written continuation and then leaves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from random import Random

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.core.records import Turn
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Utterance

Choice = tuple[str, str] | None
"""Addressee and words; None for a reply without any."""


class Silent:
    """Says nothing. The other assistants differ in ``choose``; all say the assistant's part of the written continuation."""

    name = ASSISTANT

    def __init__(self, case: Case, generator: Random, error_rate: float) -> None:
        self.case = case
        self.generator = generator
        self.error_rate = error_rate

    def choose(self) -> Choice:
        return None

    async def address(self) -> Utterance:
        chosen = self.choose()
        if chosen is None:
            return Utterance("", defect="empty")
        role_to, content = chosen
        return Utterance(json.dumps({"role_from": ASSISTANT, "role_to": role_to, "content": content}, ensure_ascii=False))

    async def speak_to_target(self) -> Utterance:
        chosen = self.choose()
        return Utterance("", defect="empty") if chosen is None else Utterance(chosen[1])

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        return _say_written_line(self.case, ASSISTANT, seen)


class Oracle(Silent):
    """Knows the golden response. With ``error_rate`` p it errs in a share p of the cases.

    Errors are nested: each case has one draw, and errs at every p above it, always in the same way: a wrong addressee,
    the weaker response (where the case has one), or a reply that has no format.
    """

    @cached_property
    def errs(self) -> bool:
        return self.generator.random() < self.error_rate

    def choose(self) -> Choice:
        golden, weaker = self.case.golden, self.case.weaker
        if not self.errs:
            return golden.role_to, golden.content
        way = self.generator.choice(["addressee", "none", "weaker"] if weaker else ["addressee", "none"])
        if way == "addressee":
            others = [name for name in self.case.characters if name != golden.role_to]
            return self.generator.choice(others), golden.content
        return (weaker.role_to, weaker.content) if weaker and way == "weaker" else None


class Heuristic(Silent):
    """Answers whoever asked the assistant last and still waits; if nobody does, whoever spoke last. Repeats what they said."""

    def choose(self) -> tuple[str, str]:
        people = [message for message in self.case.messages if message.role_from != ASSISTANT]
        if waiting := self.case.waiting:
            person, said = list(waiting.items())[-1]
        elif people:
            person, said = people[-1].role_from, people[-1].content
        else:
            person, said = self.case.characters[0], ""
        return person, f"I have heard you: {said} I will see to it.".replace("  ", " ")


class RandomAssistant(Silent):
    """Addresses anybody with something somebody said."""

    def choose(self) -> tuple[str, str]:
        said = [message.content for message in self.case.messages] or ["Hello."]
        return self.generator.choice(self.case.characters), self.generator.choice(said)


class WrittenPartner:
    """The addressee's part of the written continuation."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.name = case.golden.role_to

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        return _say_written_line(self.case, self.name, seen)


WRITTEN_PARTNER = "heuristic"
"""The name of the reference agent that plays the partner."""

_ASSISTANTS = {"oracle": Oracle, "heuristic": Heuristic, "random": RandomAssistant, "silent": Silent}

AGENTS = tuple(_ASSISTANTS)


def make_assistant(agent: str, case: Case, seed: int, repeat: int) -> Silent:
    """The agent named ``oracle``, ``oracle@0.3``, ``heuristic``, ``random`` or ``silent``; the registry has checked it."""
    kind, _, rate = agent.partition("@")
    # The oracle's draws do not depend on its error rate, so that its errors are nested.
    generator = make_generator(seed, "reference", kind, case.id, repeat)
    return _ASSISTANTS[kind](case, generator, float(rate or 0.0))


def _say_written_line(case: Case, speaker: str, seen: Sequence[Turn]) -> Utterance | None:
    """The speaker's next line of the continuation; None, that is leaving, when it has said them all."""
    lines = [message.content for message in case.continuation if message.role_from == speaker]
    # The assistant's first utterance comes before the continuation.
    said = sum(turn.speaker == speaker for turn in seen) - (speaker == ASSISTANT)
    return Utterance(lines[said]) if said < len(lines) else None
