"""HSII's reference agents: participants that may see the scenario's answers.

They need no model. As the assistant they reply in the format asked for; as the partner there is only ``heuristic``,
which says the addressee's part of the written continuation and then leaves.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.core.records import Turn
from sociable.core.seeding import named_generator
from sociable.dialogue.conversation import Utterance


class ReferenceAssistant(ABC):
    """Answers a case with ``choose``; in the long run it says the assistant's part of the written continuation."""

    def __init__(self, case: Case, generator: Random) -> None:
        self.case = case
        self.generator = generator

    name = ASSISTANT

    @abstractmethod
    def choose(self) -> tuple[str, str] | None:
        """(addressee, words), or None for a reply without any."""

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
        return _written_turn(self.case, ASSISTANT, seen)


class Oracle(ReferenceAssistant):
    """Knows the golden response. With ``error_rate`` p it errs in a share p of the cases.

    Errors are nested: each case has one draw, and errs at every p above it, always in the same way: a wrong addressee,
    the weaker response (where the case has one), or a reply that has no format.
    """

    def __init__(self, case: Case, generator: Random, error_rate: float = 0.0) -> None:
        super().__init__(case, generator)
        self.errs = generator.random() < error_rate

    def choose(self) -> tuple[str, str] | None:
        golden = self.case.golden
        if not self.errs:
            return golden.role_to, golden.content
        ways: list[Callable[[], tuple[str, str] | None]] = [self._wrong_addressee, lambda: None]
        if weaker := self.case.weaker:
            ways.append(lambda: (weaker.role_to, weaker.content))
        return self.generator.choice(ways)()

    def _wrong_addressee(self) -> tuple[str, str]:
        others = [name for name in self.case.characters if name != self.case.golden.role_to]
        return self.generator.choice(others), self.case.golden.content


class Heuristic(ReferenceAssistant):
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


class RandomAssistant(ReferenceAssistant):
    """Addresses anybody with something somebody said."""

    def choose(self) -> tuple[str, str]:
        said = [message.content for message in self.case.messages] or ["Hello."]
        return self.generator.choice(self.case.characters), self.generator.choice(said)


class Silent(ReferenceAssistant):
    """Says nothing."""

    def choose(self) -> None:
        return None


class WrittenPartner:
    """The addressee's part of the written continuation."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.name = case.golden.role_to

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        return _written_turn(self.case, self.name, seen)


WRITTEN_PARTNER = "heuristic"
"""The name of the reference agent that plays the partner."""

AGENTS = ("oracle", "heuristic", "random", "silent")


def reference_assistant(agent: str, case: Case, seed: int, repeat: int) -> ReferenceAssistant:
    """The agent named ``oracle``, ``oracle@0.3``, ``heuristic``, ``random`` or ``silent``; the registry has checked it."""
    kind, _, rate = agent.partition("@")
    # The oracle's draws do not depend on its error rate, so that its errors are nested.
    generator = named_generator(seed, "reference", kind, case.id, repeat)
    if kind == "oracle":
        return Oracle(case, generator, float(rate or 0.0))
    simple: dict[str, type[ReferenceAssistant]] = {"heuristic": Heuristic, "random": RandomAssistant, "silent": Silent}
    return simple[agent](case, generator)


def _written_turn(case: Case, speaker: str, seen: Sequence[Turn]) -> Utterance | None:
    """The speaker's next line of the continuation; None, that is leaving, when it has said them all."""
    lines = [message.content for message in case.continuation if message.role_from == speaker]
    # The assistant's first utterance comes before the continuation.
    said = sum(turn.speaker == speaker for turn in seen) - (speaker == ASSISTANT)
    return Utterance(lines[said]) if said < len(lines) else None
