"""Reference agents of chain of thought: they answer as HSII's do, and differ in what they do when they were wrong."""

from __future__ import annotations

from collections.abc import Callable

from sociable.benchmarks.hsii.cot.records import NO_DESIGN, Cycle, Pair
from sociable.benchmarks.hsii.dataset import ASSISTANT, write_reply
from sociable.core.records import Usage
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Utterance

OVERLOOKED = "- Somebody else may need to be addressed first."


class ReferenceThinker:
    """Names one character a cycle, or nobody. It has drawbacks to tell of every answer; ``random`` only half of the time."""

    usage = Usage()

    def __init__(self, agent: str, pair: Pair, seed: int, repeat: int) -> None:
        """``agent`` is ``oracle``, ``oracle@0.3``, ``heuristic``, ``random`` or ``silent``; the registry has checked it."""
        self.kind, _, rate = agent.partition("@")
        self.case = pair.case
        self.generator = make_generator(seed, "reference", self.kind, pair.id, repeat)
        self.error_rate = float(rate or 0.0)
        self.cycle = 0

    async def answer(self, last: Cycle | None) -> Utterance:
        self.cycle += 1
        chosen = _CHOOSERS[self.kind](self)
        if chosen is None:
            return Utterance("", defect="empty")
        golden = self.case.golden
        return Utterance(write_reply(chosen, golden.content if chosen == golden.role_to else "I am with you in a moment."))

    async def reflect(self, cycle: Cycle) -> Utterance:
        is_content = self.kind == "random" and self.generator.random() < 0.5
        return Utterance("NONE" if is_content else OVERLOOKED)


def _choose_golden(thinker: ReferenceThinker) -> str:
    """Knows the golden addressee. With an error rate p it names another in a share p of all cycles.

    Errors are nested: each cycle of each pair has one draw and errs at every p above it, so more errors never take
    fewer cycles.
    """
    golden = thinker.case.golden.role_to
    errs = thinker.generator.random() < thinker.error_rate
    other = thinker.generator.choice([name for name in thinker.case.characters if name != golden])
    return other if errs else golden


def _choose_in_turn(thinker: ReferenceThinker) -> str:
    """Goes through the characters: who asked last and still waits, the others who wait, then whoever spoke last."""
    case = thinker.case
    waiting = list(case.waiting)[::-1]
    spoke = [message.role_from for message in reversed(case.messages) if message.role_from != ASSISTANT]
    order = list(dict.fromkeys([*waiting, *spoke, *case.characters]))
    return order[(thinker.cycle - 1) % len(order)]


_CHOOSERS: dict[str, Callable[[ReferenceThinker], str | None]] = {
    "oracle": _choose_golden,
    "heuristic": _choose_in_turn,
    "random": lambda thinker: thinker.generator.choice(thinker.case.characters),
    "silent": lambda thinker: None,
}


def rehearse_pair(pair: Pair, call: int) -> str:
    """The reply that a model might give in its ``call``-th call: wrong in every cycle, which is the longest way through."""
    golden = pair.case.golden
    if pair.design == NO_DESIGN:
        return golden.model_dump_json(exclude={"index"})
    if call % 2:
        return "- " + "It leaves somebody waiting who needs an answer more than this person does. " * 2
    wrong = next(name for name in pair.characters if name != golden.role_to)
    answer = golden.model_copy(update={"role_to": wrong}).model_dump_json(exclude={"index"})
    return "\n".join((*(message.content for message in pair.case.messages[-4:]), answer))
