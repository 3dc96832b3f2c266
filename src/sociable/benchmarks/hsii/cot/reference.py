"""Reference agents of chain of thought: they answer as HSII's do, and differ in what they do when they were wrong."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from random import Random

from sociable.benchmarks.hsii.cot.records import Cycle, Pair
from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.core.records import Usage
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Utterance

OVERLOOKED = "- Somebody else may need to be addressed first."


class ReferenceThinker(ABC):
    """Names one character a cycle."""

    usage = Usage()

    def __init__(self, pair: Pair, generator: Random) -> None:
        self.case = pair.case
        self.generator = generator
        self.cycle = 0

    @abstractmethod
    def choose(self) -> str | None:
        """The addressee in this cycle (``self.cycle`` counts from 1), or None for no reply."""

    async def answer(self, last: Cycle | None) -> Utterance:
        self.cycle += 1
        chosen = self.choose()
        if chosen is None:
            return Utterance("", defect="empty")
        words = self.case.golden.content if chosen == self.case.golden.role_to else "I am with you in a moment."
        return Utterance(json.dumps({"role_from": ASSISTANT, "role_to": chosen, "content": words}, ensure_ascii=False))

    async def reflect(self, cycle: Cycle) -> Utterance:
        return Utterance(OVERLOOKED)


class Oracle(ReferenceThinker):
    """Knows the golden addressee. With an error rate p it names another in a share p of all cycles.

    Errors are nested: each cycle of each pair has one draw and errs at every p above it, so more errors never take
    fewer cycles.
    """

    def __init__(self, pair: Pair, generator: Random, error_rate: float = 0.0) -> None:
        super().__init__(pair, generator)
        self.error_rate = error_rate

    def choose(self) -> str:
        errs = self.generator.random() < self.error_rate
        other = self.generator.choice([name for name in self.case.characters if name != self.case.golden.role_to])
        return other if errs else self.case.golden.role_to


class Heuristic(ReferenceThinker):
    """Goes through the characters: who asked last and still waits, the others who wait, then whoever spoke last."""

    def choose(self) -> str:
        waiting = list(self.case.waiting)[::-1]
        spoke = [message.role_from for message in reversed(self.case.messages) if message.role_from != ASSISTANT]
        order = list(dict.fromkeys([*waiting, *spoke, *self.case.characters]))
        return order[(self.cycle - 1) % len(order)]


class RandomThinker(ReferenceThinker):
    """Names anybody, and is content with it half of the time."""

    def choose(self) -> str:
        return self.generator.choice(self.case.characters)

    async def reflect(self, cycle: Cycle) -> Utterance:
        return Utterance("NONE" if self.generator.random() < 0.5 else OVERLOOKED)


class Silent(ReferenceThinker):
    """Says nothing."""

    def choose(self) -> None:
        return None


AGENTS = ("oracle", "heuristic", "random", "silent")


def reference_thinker(agent: str, pair: Pair, seed: int, repeat: int) -> ReferenceThinker:
    """The agent named ``oracle``, ``oracle@0.3``, ``heuristic``, ``random`` or ``silent``; the registry has checked it."""
    kind, _, rate = agent.partition("@")
    generator = make_generator(seed, "reference", kind, pair.id, repeat)
    if kind == "oracle":
        return Oracle(pair, generator, float(rate or 0.0))
    simple: dict[str, type[ReferenceThinker]] = {"heuristic": Heuristic, "random": RandomThinker, "silent": Silent}
    return simple[agent](pair, generator)
