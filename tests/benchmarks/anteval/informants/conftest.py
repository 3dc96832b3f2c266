"""A card small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.informants.dataset import Card, Level
from sociable.benchmarks.anteval.informants.scenario import Scenario


def fact(name: str, holder: str, topic: str, point: str, word: str, got_by: str = "asking", **fields: Any) -> dict[str, Any]:
    made = {"id": name, "holder": holder, "point": point, "topic": topic, "asked": [[topic]], "wording": [[word]]}
    return {**made, **({"got_by": got_by} if got_by else {}), **fields}


def informant(name: str, wants: str) -> dict[str, Any]:
    return {
        "name": name,
        "pronouns": "she/her",
        "who": f"{name} lives there.",
        "manner": "Short.",
        "price": {"wants": f"You tell this only when {wants} was promised.", "says": "My hands are cold.", "wording": [[wants]]},
        "fear": {"wants": "You tell this only when told that the bailiff is gone.", "says": "Hush.", "wording": [["bailiff"]]},
        "apart": {"wants": "You tell this only to one who asks aside.", "says": "Not here."},
    }


WELL: dict[str, Any] = {
    "id": "well",
    "kind": "place",
    "title": "The dry well",
    "setting": "You have come to a well that went dry. One could ask about its rope, its depth and its lid.",
    "informants": [informant("Hanna", "mittens"), informant("Berta", "soup"), informant("Ilse", "firewood")],
    "facts": [
        fact("f1", "Hanna", "rope", "The rope was cut by a goat that came down from the mill.", "goat"),
        fact("f2", "Hanna", "mill", "The miller drank from the well at Easter, out of his hat.", "hat", "price"),
        fact("f3", "Hanna", "depth", "It is nineteen fathoms to the ground.", "nineteen", "lie",
             instead="It is eleven fathoms to the ground.", shown_by="f6"),
        fact("f4", "Hanna", "Easter", "On that day there were frogs in the bucket.", "frogs", "apart"),
        fact("f5", "Berta", "lid", "The lid was a church door.", "church"),
        fact("f6", "Berta", "chain", "Her chain of eighteen fathoms did not reach the ground.", "eighteen", "fear"),
        fact("f7", "Ilse", "church", "The priest sold the door for a chain and a ham.", "ham"),
    ],
    "rumours": [
        fact("r1", "Ilse", "lid", "Somebody stole the lid from the wheelwright.", "wheelwright", "", corrected_by="f5"),
    ],
    "canary": "sociable test canary 00000000-0000-0000-0000-000000000000",
}  # fmt: skip


@pytest.fixture(name="make_scenario")
def _make_scenario() -> Callable[..., Scenario]:
    def make(level: Level = Level.HARD, **changes: Any) -> Scenario:
        return Scenario(Card.model_validate({**WELL, **changes}), level, load_sheets(None).items[:3], 0)

    return make
