"""A dossier small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.live.dataset import Dossier, Level, Scenario


def worth(points: float, **when: str) -> dict[str, Any]:
    return {"when": when, "points": points}


def person(name: str, *worths: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usual = {"pronouns": "they/them", "line": f"{name} is here.", "temper": "Calm.", "stock": [f"{name} says little.", "Hm."]}
    return {"name": name, **usual, "worths": list(worths), **fields}


TEA = {
    "id": "tea",
    "title": "Tea",
    "setting": "Three people choose when and where to have tea.",
    "people": [
        # Floors are what the open arrangement (noon, hall) is worth less 1.
        person("Ada", worth(1, when="noon"), worth(5, when="dusk"), floor=0),
        person("Bo", worth(1, where="hall"), worth(3, where="yard"), floor=0),
        person("Cy", worth(1, when="noon"), worth(-1, when="dusk"), worth(4, when="dusk", where="yard"), floor=0),
    ],
    "matters": [
        {"id": "when", "question": "When?", "options": [{"id": "noon", "text": "at noon"}, {"id": "dusk", "text": "at dusk"}]},
        {
            "id": "where",
            "question": "Where?",
            "options": [{"id": "hall", "text": "in the hall"}, {"id": "yard", "text": "in the yard"}],
        },
    ],
    "facts": [
        {
            "id": "ada-noon",
            "text": "Ada wants noon.",
            "of": "Ada",
            "shows": [worth(2, when="noon")],
            "refuted_by": "ada-dusk",
            "wording": [["ada", "noon"]],
        },
        {
            "id": "ada-dusk",
            "text": "Ada works until five.",
            "of": "Ada",
            "shows": [worth(5, when="dusk"), worth(1, when="noon")],
            "keep_from": ["Bo"],
            "cost": 2,
            "wording": [["until five"]],
        },
        {
            "id": "bo-yard",
            "text": "Bo would rather have the yard.",
            "of": "Bo",
            "shows": [worth(3, where="yard"), worth(1, where="hall")],
            "wording": [["bo", "yard"]],
        },
        {
            "id": "cy-lamps",
            "text": "Cy likes the yard when the lamps are lit.",
            "of": "Cy",
            "shows": [worth(4, when="dusk", where="yard"), worth(-1, when="dusk"), worth(1, when="noon")],
            "wording": [["lamps"]],
        },
        {"id": "rain", "text": "It will rain at noon.", "wording": [["rain*"]]},
    ],
    "topics": [
        {
            "id": "ada-work",
            "person": "Ada",
            "about": "her work",
            "wording": [["work"]],
            "says": "I work until five.",
            "gives": ["ada-dusk"],
        },
        {
            "id": "bo-place",
            "person": "Bo",
            "about": "the place",
            "wording": [["place"], ["where"]],
            "says": "The yard, rather.",
            "gives": ["bo-yard"],
        },
        {
            "id": "cy-evening",
            "person": "Cy",
            "about": "evenings",
            "wording": [["evening*"]],
            "needs": ["rain"],
            "says": "The lamps in the yard!",
            "gives": ["cy-lamps"],
            "instead": "Noon is fine.",
            "instead_gives": [],
        },
    ],
    "messages": [
        {"round": 1, "sender": "Ada", "to": ["Bo", "Cy"], "text": "Noon, please.", "gives": ["ada-noon"]},
        {"round": 1, "text": "Rain is expected at noon.", "gives": ["rain"]},
        {"round": 2, "sender": "Bo", "text": "Why is Ada so fond of noon?", "presses_for": "ada-dusk"},
    ],
    "decisions": [
        {
            "id": "umbrella",
            "person": "Bo",
            "question": "What does Bo bring?",
            "options": [
                {"id": "umbrella", "text": "an umbrella"},
                {"id": "hat", "text": "a hat"},
                {"id": "ask", "text": "nothing"},
            ],
            "best": "umbrella",
            "unknowing": "hat",
            "needs": ["rain"],
            "points": 2,
        },
    ],
    "open": {"when": "noon", "where": "hall"},
    "budgets": {"easy": {"rounds": 3, "messages": 3, "patience": 2}, "hard": {"rounds": 2, "messages": 1, "patience": 1}},
}


@pytest.fixture(name="make_scenario")
def _make_scenario() -> Callable[..., Scenario]:
    def make(level: Level = Level.EASY, **changes: Any) -> Scenario:
        return Scenario(Dossier.model_validate({**TEA, **changes}), level)

    return make
