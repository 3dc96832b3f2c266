"""A bargain small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from sociable.benchmarks.agentsense.duels.dataset import Bargain
from sociable.benchmarks.agentsense.duels.scenario import Scenario
from sociable.core.records import Usage
from sociable.models.protocol import Reply, Request


def option(letter: str, label: str) -> dict[str, str]:
    return {"id": letter, "label": label}


GARDEN: dict[str, Any] = {
    "id": "garden",
    "title": "The garden",
    "situation": "Ada and Bo share a garden and part ways.",
    "issues": [
        {"title": "The shed", "options": [option("a", "to Ada"), option("b", "to both"), option("c", "to Bo")]},
        {"title": "The pond", "options": [option("a", "filled in"), option("b", "kept")]},
        {"title": "The tools", "options": [option("a", "to Ada"), option("b", "to Bo")]},
    ],
    "sides": [
        {
            "name": "Ada",
            "pronouns": "she/her",
            "who": "Ada, a baker.",
            "wants": "You want the shed. CANARY-ADA",
            "worths": [{"a": 60, "b": 40, "c": 0}, {"a": 10, "b": 0}, {"a": 30, "b": 0}],
            "fallback": 20,
            "otherwise": "You rent a garage.",
            "secret": {"text": "You sleep in the shed since May.", "wording": [["sleep", "shed"], ["slept", "shed"]]},
            "facts": ["You have a key.", "You own no spade.", "Your lease ends."],
            "afterwards": {
                "question": "The frogs need water. What do you do?",
                "keeps": {"text": "You fill the pond up.", "own": 0, "other": 8},
                "breaks": {"text": "You let it dry.", "own": 4, "other": 0},
            },
        },
        {
            "name": "Bo",
            "pronouns": "he/him",
            "who": "Bo, a cook.",
            "wants": "You want the pond. CANARY-BO",
            "worths": [{"a": 0, "b": 10, "c": 20}, {"a": 0, "b": 70}, {"a": 0, "b": 10}],
            "fallback": 10,
            "otherwise": "You buy a bowl.",
            "secret": {"text": "You have sold three of the frogs.", "wording": [["sold", "frogs"]]},
            "facts": ["You have a car.", "You own a spade.", "You like frogs."],
        },
    ],
    "others": [
        {"name": "Cy", "pronouns": "they/them", "who": "A neighbour.", "brief": "You want quiet.", "lines": ["Hush!", "Again!"]}
    ],
    "opening": {"by": "Ada", "says": "Well, Bo."},
}


def change(**changes: Any) -> dict[str, Any]:
    """GARDEN with changes; ``ada`` and ``bo`` change a side."""
    made = deepcopy(GARDEN)
    for side, name in enumerate(("ada", "bo")):
        made["sides"][side].update(changes.pop(name, {}))
    return {**made, **changes}


@pytest.fixture(name="make_scenario")
def _make_scenario() -> Callable[..., Scenario]:
    def make(seat: int = 0, turns: int = 6, words: int = 20, **changes: Any) -> Scenario:
        return Scenario(Bargain.model_validate(change(**changes)), seat, turns, words)

    return make


class Answering:
    """A model that answers by rule and remembers what it was asked."""

    def __init__(self, answer: Callable[[str, str], str], name: str = "answering") -> None:
        """``answer``: (who is asked, the last message) → the reply."""
        self.name = name
        self.requests: list[tuple[str, str, str]] = []
        """(who was asked, the first message, the last one)."""
        self._answer = answer

    async def generate(self, request: Request) -> Reply:
        first, last = (str(request.messages[place]["content"]) for place in (0, -1))
        name = first.removeprefix("You are ").split(" (")[0]
        self.requests.append((name, first, last))
        request.scope.usage += Usage(calls=1)
        return Reply(self._answer(name, last), Usage(calls=1))

    async def close(self) -> None:
        pass
