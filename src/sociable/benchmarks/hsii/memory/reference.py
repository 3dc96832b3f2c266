"""Reference agents of the memory test: they choose between the two answers written with each scenario.

``heuristic`` answers as if nothing had been asked of it, ``obedient`` as if everything held for everybody and for good.
Each is right half of the time by doing one thing always, which is why neither may score above 0 in ``balance``.
"""

from __future__ import annotations

from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Utterance

AGENTS = ("oracle", "heuristic", "obedient", "random", "silent")


def reference_answer(agent: str, case: MemoryCase, seed: int, repeat: int) -> Utterance:
    """What the agent named ``oracle``, ``oracle@0.3``, … says; the registry has checked the name."""
    kind, _, rate = agent.partition("@")
    generator = make_generator(seed, "reference", kind, case.id, repeat)
    if kind == "silent":
        return Utterance("", defect="empty")
    right = {
        # One draw a case, at every rate: so the errors are nested.
        "oracle": generator.random() >= float(rate or 0.0),
        "heuristic": case.control,
        "obedient": not case.control,
        "random": generator.random() < 0.5,
    }[kind]
    return Utterance(case.right if right else case.wrong)
