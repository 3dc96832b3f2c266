"""Cards for the tests of information exchange."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.iep.cards import IepScenario, KnowledgeCard, make_scenario

MakeCard = Callable[..., dict[str, Any]]


@pytest.fixture
def raw_card() -> MakeCard:
    """A card as it stands in a file, with changes."""
    return _raw_card


def _raw_card(**changes: Any) -> dict[str, Any]:
    return {
        "id": "the-well",
        "kind": "place",
        "title": "The well behind the mill",
        "scene": "A yard behind a mill, at noon. The three of you are to draw water, and the rope has been cut.",
        "npc": {"name": "Old Hanna", "pronouns": "she/her", "who": "The miller's aunt.", "manner": "Talks to her hens."},
        "knowledge": "The water is salt since Tuesday. Her nephew Ruprecht cut the rope. Under the third step lies a key.",
        "key_points": [
            {"point": "The water of the well is salt since Tuesday.", "wording": [["salt", "tuesday"]]},
            {"point": "Ruprecht, the nephew, cut the rope.", "wording": [["ruprecht", "rope"], ["nephew", "cut"]]},
            {"point": "A key lies under the third step.", "wording": [["key", "third step"]]},
        ],
        **changes,
    }


@pytest.fixture
def card() -> KnowledgeCard:
    return KnowledgeCard.model_validate(_raw_card())


@pytest.fixture
def scenario(card: KnowledgeCard) -> IepScenario:
    return make_scenario(card, load_sheets(None).items[:3])
