"""A case small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.anteval.hidden.dataset import Case, Level
from sociable.benchmarks.anteval.hidden.scenario import Scenario


def clue(name: str, text: str, *to: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "text": text, "to": list(to), **fields}


BOAT: dict[str, Any] = {
    "id": "boat",
    "title": "The boat",
    "setting": "Four friends hire a boat. It must pass the bridge and carry sixty; of those that do they take the prettiest.",
    "question": "Which boat?",
    "options": [{"id": "swan", "text": "the Swan"}, {"id": "otter", "text": "the Otter"}, {"id": "barge", "text": "the barge"}],
    "members": [
        {"name": name, "pronouns": "they/them", "line": "a friend of the other three"} for name in ("Ada", "Bo", "Cy", "Dee")
    ],
    "circles": [["Ada", "Bo"], ["Bo", "Cy"], ["Cy", "Dee"]],
    "will": {
        "person": "Ada",
        "wants": {"swan": "Your cousin owns the Swan.", "otter": "You sold the Otter's skipper his paint."},
    },
    "clues": [
        clue("brass", "The Swan gleams with brass lanterns.", favours={"swan": 2}),
        clue("cheap", "The Otter costs half.", favours={"otter": 1}),
        clue("gravel", "The barge once carried gravel and looks shabby.", favours={"barge": -2}),
        clue("mast", "The Swan's mast measures four metres twenty.", "Bo", gives=["tall"]),
        clue("flood", "Thursday's cloudburst filled the hospital ward.", "Cy", gives=["rain"], unasked=True),
        clue(
            "gauge",
            "After cloudbursts the arch leaves four metres.",
            "Dee",
            needs=["rain", "tall"],
            rules_out=["swan"],
            if_wrong="swan",
        ),
        clue("gauge", "After cloudbursts the arch leaves five metres.", "Dee", if_right="swan"),
        clue(
            "permit",
            "The Otter's permit says forty-five passengers.",
            "Dee",
            needs=["sixty"],
            rules_out=["otter"],
            if_wrong="otter",
        ),
        clue("permit", "The Otter's permit says seventy-five passengers.", "Dee", if_right="otter"),
        clue("guests", "Sixty invitations went through his hands.", "Bo", gives=["sixty"]),
        clue("landing", "At the landing stage stand barely two metres of water.", "Bo", gives=["shallow"]),
        clue("draught", "Loaded, the barge draws three metres.", "Cy", needs=["shallow"], rules_out=["barge"], if_wrong="barge"),
        clue("draught", "Loaded, the barge draws one metre.", "Cy", if_right="barge"),
        clue("rumour", "Nobody holds a licence for steering the barge.", "Bo", rules_out=["barge"], levels=["hard"]),
        clue("string", "On Monday the skipper showed his certificate.", "Cy", voids=["rumour"], levels=["hard"]),
        clue("cousin", "The Swan serves cold lemonade on board.", "Ada", favours={"swan": 1}),
    ],
}


@pytest.fixture(name="make_scenario")
def _make_scenario() -> Callable[..., Scenario]:
    def make(level: Level = Level.EASY, best: str = "barge", **changes: Any) -> Scenario:
        return Scenario(Case.model_validate({**BOAT, **changes}), level, best)

    return make
