"""A scene of three in the native layout, and a template of two."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import read_scenario
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.engine.seats import Role, Seat
from sociable.models.protocol import Reply, Request, Sampling
from sociable.models.scripted import ScriptedModel

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"

NATIVE: dict[str, Any] = {
    "sample_idx": 7,
    "template_idx": 3,
    "background": "A ferry is late. canary-background",
    "description": "They wait on the quay. canary-description",
    "characters": [
        {
            "name": ANN,
            "profile": "A pilot. canary-ann-profile",
            "private_info": "Ann has sold the ferry. canary-ann-secret",
            "goals": [
                {
                    "goal": "To get Ben to lend his boat. canary-ann-goal",
                    "eval_questions": {
                        "self": [{"obj": ANN, "question": "Did Ben lend you the boat?"}],
                        "others": [{"obj": BEN, "question": "Did Ann get it?"}, {"obj": CARA, "question": "Did Ann get it?"}],
                        "judge": [{"question": "Did Ben lend Ann the boat?"}],
                    },
                    "type": "cooperation",
                    "signs": [{"by": BEN, "says": [["take", "boat"], ["lend*"]], "unless": [["wont"]]}],
                    "reached": [{"by": ANN, "says": "May I?"}, {"by": BEN, "says": "Take the boat."}],
                    "missed": [{"by": ANN, "says": "May I?"}, {"by": BEN, "says": "Not today."}],
                }
            ],
            "info_reason_questions": [
                {
                    "question": "What does Ben Cole fear?",
                    "options": ["Storms", "Debts", "Dogs", "Sleep"],
                    "answer_label": 1,
                },
                {"question": "What do both Ben Cole and Cara Diaz want?", "options": ["Tea", "Rest"], "answer_label": 0},
            ],
        },
        {
            "name": BEN,
            "profile": "A fisherman. canary-ben-profile",
            "private_info": "Ben owes money. canary-ben-secret",
            "goals": [
                {"goal": "To be thanked by Cara. canary-ben-goal", "type": "identity recognition"},
                {"goal": "To hear when the ferry comes. canary-ben-goal-2", "type": "information acquisition"},
            ],
            "info_reason_questions": [
                {
                    "question": "What has Ann Lee done?",
                    "options": ["Sold the ferry", "Lost a bet", "Married", "Resigned"],
                    "answer_label": 0,
                }
            ],
        },
        {"name": CARA, "profile": "A nurse. canary-cara-profile", "private_info": "", "goals": []},
    ],
}


@pytest.fixture
def native() -> dict[str, Any]:
    """A scenario as it stands in a file, for changing."""
    return copy.deepcopy(NATIVE)


@pytest.fixture
def read() -> Callable[[dict[str, Any]], Scenario]:
    return lambda raw: read_scenario(raw, "test", "unnamed", Counter())


@pytest.fixture
def scenario(native: dict[str, Any], read: Callable[[dict[str, Any]], Scenario]) -> Scenario:
    return read(native)


@pytest.fixture
def prompts() -> Prompts:
    return load_agentsense_prompts()


@pytest.fixture
def seat() -> Callable[..., Seat]:
    """A seat for a function of the request (``answer``) or a reference agent (its name)."""

    def make(role: Role, who: Any) -> Seat:
        if isinstance(who, str):
            return Seat(role, who, None, Sampling())
        model = FunctionModel(who, f"scripted/{role.value}")
        return Seat(role, model.name, model, Sampling(1.0, 128))

    return make


class FunctionModel:
    """Answers by a function of the request, and keeps what it was asked."""

    def __init__(self, answer: Callable[[Request], str], name: str) -> None:
        self.name = name
        self._answer = answer
        self.asked: list[Request] = []

    async def generate(self, request: Request) -> Reply:
        self.asked.append(request)
        return await ScriptedModel([self._answer(request)], self.name).generate(request)

    async def close(self) -> None:
        pass


@pytest.fixture
def obliging() -> Callable[[Request], str]:
    """What an obliging model says to each kind of request."""
    return _answer_everything


def _answer_everything(request: Request) -> str:
    said = request.messages[-1]["content"]
    if '"answer": "A"' in said:
        return '{"answer": "B"}'
    if '"answer": "yes"' in said:
        return '{"reason": "It was said.", "answer": "yes"}'
    if '"bid": 5' in said:
        return '{"bid": 3}'
    return f"I am turn {len(request.messages)}."


TEMPLATE: dict[str, Any] = {
    "id": "quay",
    "domain": "small society",
    "place": "a quay",
    "background": "{pilot} waits; {pilot.they} {pilot:has|have} time. {pilot.kin.} is near.".replace(
        "{pilot.kin.}", "{pilot.kin}"
    ),
    "description": "{fisher.full} mends {fisher.their} net and asks {fisher.themself} why.",
    "slots": {"pilot": {"age": [20, 60]}, "fisher": {"age": [30, 80], "gender": "man"}},
    "relations": [{"of": ["pilot", "fisher"], "kind": "acquaintance"}],
    "age_gaps": [{"older": "fisher", "younger": "pilot", "years": 2}],
    "characters": [
        {
            "slot": "pilot",
            "private_info": "{pilot} has sold the ferry.",
            "role": "sender",
            "goals": [
                {
                    "goal": "To get {fisher} to lend {pilot.them} his boat.",
                    "type": "cooperation",
                    "signs": [{"by": "fisher", "says": [["take", "boat"], ["{pilot}", "yours"]]}],
                    "reached": [{"by": "fisher", "says": "Take the boat, {pilot}."}],
                    "missed": [{"by": "fisher", "says": "Not today."}],
                }
            ],
            "questions": [
                {"question": "What has {pilot} done?", "answer": "Sold the ferry", "wrong": ["Wed", "Lost a bet", "Left"]}
            ],
        },
        {"slot": "fisher", "goals": [], "role": "receiver"},
    ],
    "casts": [
        {
            "pilot": {
                "name": "Ann Lee",
                "short": "Ann",
                "pronouns": "she",
                "gender": "woman",
                "age": 30,
                "occupation": "pilot",
                "big_five": dict.fromkeys(
                    ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"), "low"
                ),
                "moral_values": ["care"],
                "values": ["power"],
                "decision_style": "rational",
                "words": {"kin": "her aunt"},
                "profile": "{pilot} flies.",
            },
            "fisher": {
                "name": "Ben Cole",
                "short": "Ben",
                "pronouns": "he",
                "gender": "man",
                "age": 40,
                "occupation": "fisher",
                "big_five": dict.fromkeys(
                    ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"), "high"
                ),
                "moral_values": ["loyalty"],
                "values": ["security"],
                "decision_style": "intuitive",
                "profile": "{fisher} fishes.",
            },
        }
    ],
}


@pytest.fixture
def template() -> dict[str, Any]:
    """A template with one cast, for changing."""
    return copy.deepcopy(TEMPLATE)
