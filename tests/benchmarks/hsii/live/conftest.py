"""A dossier small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.live.dataset import Dossier, Level
from sociable.benchmarks.hsii.live.scenario import Scenario


def worth(points: float, side: str = "", **when: str) -> dict[str, Any]:
    return {"when": when, "points": points, "side": side}


def person(name: str, *worths: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usual = {"pronouns": "they/them", "line": f"{name} is here.", "temper": "Calm.", "stock": [f"{name} says little.", "Hm."]}
    return {"name": name, **usual, "worths": list(worths), **fields}


def topic(name: str, who: str, about: str, says: str, gives: str, wording: list[list[str]], **fields: Any) -> dict[str, Any]:
    return {"id": name, "person": who, "about": about, "says": says, "gives": [gives], "wording": wording, **fields}


TEA: dict[str, Any] = {
    "id": "tea",
    "title": "Tea",
    "setting": "Three people choose when and where to have tea.",
    "people": [
        person("Ada", worth(5, "work=five", when="dusk"), worth(3, "work=free", when="noon")),
        person("Bo", worth(1, where="hall"), worth(2, where="yard")),
        person(
            "Cy", worth(1, when="noon"), worth(4, "lamps=lit", when="dusk", where="yard"), worth(-2, "lamps=dark", when="dusk")
        ),
    ],
    "matters": [
        {"id": "when", "question": "When?", "options": [{"id": "noon", "text": "at noon"}, {"id": "dusk", "text": "at dusk"}]},
        {
            "id": "where",
            "question": "Where?",
            "options": [{"id": "hall", "text": "in the hall"}, {"id": "yard", "text": "in the yard"}],
        },
    ],
    "lots": {"work": ["five", "free"], "lamps": ["lit", "dark"]},
    "facts": [
        {
            "id": "ada-noon",
            "text": "Ada wants noon.",
            "of": "Ada",
            "shows": [worth(1, when="noon")],
            "wording": [["ada", "noon"]],
        },
        {
            "id": "ada-work",
            "side": "work=five",
            "text": "Ada works until five.",
            "of": "Ada",
            "keep_from": ["Bo"],
            "cost": 2,
            "wording": [["until five"]],
        },
        {"id": "ada-work", "side": "work=free", "text": "Ada is free all day.", "wording": [["free all day"]]},
        {"id": "bo-yard", "text": "Bo would rather have the yard.", "wording": [["bo", "yard"]]},
        {"id": "cy-lamps", "side": "lamps=lit", "text": "The lamps in the yard are lit.", "wording": [["lamps"]]},
        {"id": "cy-lamps", "side": "lamps=dark", "text": "The lamps in the yard are broken.", "wording": [["broken"]]},
        {"id": "rain", "text": "It will rain at noon.", "wording": [["rain*"]]},
    ],
    "topics": [
        topic("ada-work", "Ada", "her work", "I work until five.", "ada-work", [["work"]], side="work=five"),
        topic("ada-work", "Ada", "her work", "None today!", "ada-work", [["work"]], side="work=free"),
        topic("bo-place", "Bo", "the place", "The yard, rather.", "bo-yard", [["place"], ["where"]]),
        *(
            topic(
                "cy-evening",
                "Cy",
                "evenings",
                says,
                "cy-lamps",
                [["evening*"]],
                side=side,
                needs=["rain"],
                instead="Noon is fine.",
            )
            for side, says in (("lamps=lit", "The lamps in the yard!"), ("lamps=dark", "The lamps are broken."))
        ),
    ],
    "messages": [
        {"round": 1, "sender": "Ada", "to": ["Bo", "Cy"], "text": "Noon, please.", "gives": ["ada-noon"]},
        {"round": 1, "text": "Rain is expected at noon.", "gives": ["rain"]},
        {"round": 2, "sender": "Bo", "text": "Why is Ada so fond of noon?", "presses_for": "ada-work"},
    ],
    "decisions": [
        {
            "id": "umbrella",
            "person": "Bo",
            "question": "What does Bo bring?",
            "options": [
                {"id": "umbrella", "text": "an umbrella"},
                {"id": "hat", "text": "a hat"},
                {"id": "none", "text": "nothing"},
            ],
            "best": "umbrella",
            "unknowing": "hat",
            "needs": ["rain"],
            "points": 2,
        },
    ],
    "open": {"when": "noon", "where": "hall"},
    "budgets": {
        "easy": {"rounds": 3, "messages": 3, "patience": 2, "least": -2},
        "hard": {"rounds": 2, "messages": 1, "patience": 1, "least": -2},
    },
}


def change_least(least: float) -> dict[str, Any]:
    """The budgets with another least."""
    return {level: {**budget, "least": least} for level, budget in TEA["budgets"].items()}


DRAW = frozenset({"work=five", "lamps=lit"})


@pytest.fixture(name="make_scenario")
def _make_scenario() -> Callable[..., Scenario]:
    def make(level: Level = Level.EASY, draw: frozenset[str] = DRAW, **changes: Any) -> Scenario:
        return Scenario(Dossier.model_validate({**TEA, **changes}), level, draw)

    return make
