"""HSII's reference agents: participants that may see the scenario's answers.

They need no model. As the assistant they reply in the format asked for; as the partner there is only ``heuristic``,
which says the addressee's part of the written continuation and then leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, write_reply
from sociable.core.records import Turn
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Utterance
from sociable.engine.seats import Role

Choice = tuple[str, str] | None
"""Addressee and words; None for a reply without any."""


class WrittenPart:
    """The part that ``name``, the assistant or the golden addressee, has in the written continuation."""

    def __init__(self, case: Case, name: str) -> None:
        self.case = case
        self.name = name

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        """The next line; None, that is leaving, when all lines have been said."""
        lines = list_written_lines(self.case, self.name)
        # The assistant's first utterance comes before the continuation.
        said = sum(turn.speaker == self.name for turn in seen) - (self.name == ASSISTANT)
        return Utterance(lines[said]) if said < len(lines) else None


class ReferenceAssistant(WrittenPart):
    """Addresses somebody as it has chosen, then plays the assistant's written part."""

    def __init__(self, case: Case, choice: Choice) -> None:
        super().__init__(case, ASSISTANT)
        self.choice = choice

    async def address(self, *, target_given: bool = False) -> Utterance:
        """The first reply; only its words where the target is given."""
        if self.choice is None:
            return Utterance("", defect="empty")
        return Utterance(self.choice[1] if target_given else write_reply(*self.choice))


def make_assistant(agent: str, case: Case, seed: int, repeat: int) -> ReferenceAssistant:
    """The agent named ``better``, ``brief``, ``oracle``, ``oracle@0.3``, ``heuristic``, ``random`` or ``silent``."""
    kind, _, rate = agent.partition("@")
    # The oracle's draws do not depend on its error rate, so that its errors are nested.
    generator = make_generator(seed, "reference", kind, case.id, repeat)
    return ReferenceAssistant(case, _CHOOSERS[kind](case, generator, float(rate or 0.0)))


def _choose_golden(case: Case, generator: Random, error_rate: float) -> Choice:
    """Knows the golden response. With ``error_rate`` p it errs in a share p of the cases.

    Errors are nested: each case has one draw, and errs at every p above it, always in the same way: a wrong addressee,
    the weaker response (where the case has one), or a reply that has no format.
    """
    golden, weaker = case.golden, case.weaker
    if generator.random() >= error_rate:
        return golden.role_to, golden.content
    way = generator.choice(["addressee", "none", "weaker"] if weaker else ["addressee", "none"])
    if way == "addressee":
        return generator.choice([name for name in case.characters if name != golden.role_to]), golden.content
    return (weaker.role_to, weaker.content) if weaker and way == "weaker" else None


def _choose_better(case: Case, generator: Random, error_rate: float) -> Choice:
    """Knows a response that is better than the golden one, where the data have one; elsewhere the golden one."""
    return case.golden.role_to, case.better.content if case.better else case.golden.content


def _choose_brief(case: Case, generator: Random, error_rate: float) -> Choice:
    """Knows the shortest response that is as good as the golden one: a judge who prefers length puts it below."""
    return case.golden.role_to, case.shortest


def _choose_by_turn(case: Case, generator: Random, error_rate: float) -> Choice:
    """Answers whoever asked the assistant last and still waits; if nobody does, whoever spoke last. Repeats their words."""
    spoke = [(message.role_from, message.content) for message in case.messages if message.role_from != ASSISTANT]
    # The last of these is the best that there is.
    person, said = [(case.characters[0], ""), *spoke[-1:], *case.waiting.items()][-1]
    return person, f"I have heard you: {said} I will see to it.".replace("  ", " ")


def _choose_anybody(case: Case, generator: Random, error_rate: float) -> Choice:
    """Addresses anybody with something that somebody said."""
    said = [message.content for message in case.messages] or ["Hello."]
    return generator.choice(case.characters), generator.choice(said)


_CHOOSERS: dict[str, Callable[[Case, Random, float], Choice]] = {
    "better": _choose_better,
    "brief": _choose_brief,
    "oracle": _choose_golden,
    "heuristic": _choose_by_turn,
    "random": _choose_anybody,
    "silent": lambda case, generator, error_rate: None,
}


def list_written_lines(case: Case, speaker: str) -> list[str]:
    return [message.content for message in case.continuation if message.role_from == speaker]


def rehearse_case(case: Case, role: Role, call: int, *, forced_target: bool) -> str:
    """The reply that a model in that role might give in its ``call``-th call: the written lines, then one of middle length."""
    if role is Role.JUDGE:
        return '{"reason": "' + "Both take up what was asked, but the first says what happens next. " * 2 + '", "verdict": 1}'
    if role is Role.SUBJECT and call == 0:
        return case.golden.content if forced_target else case.golden.model_dump_json(exclude={"index"})
    speaker = case.golden.role_to if role is Role.PARTNER else ASSISTANT
    written = list_written_lines(case, speaker)
    place = call - 1 if role is Role.SUBJECT else call
    if place < len(written):
        return written[place]
    said = [message.content for message in case.messages if message.role_from == speaker] or [case.golden.content]
    return sorted(said, key=len)[len(said) // 2]
