"""A small dialogue, its cases, and seats filled with scripted models."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.briefing import load_hsii_prompts
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation
from sociable.core.prompts import Prompts
from sociable.core.records import Turn
from sociable.engine.seats import Role, Seat
from sociable.models.protocol import Sampling
from sociable.models.scripted import ScriptedModel

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"

DIALOGUE: dict[str, Any] = {
    "id": "mill",
    "topic": "flood",
    "stage": "multi",
    "background": {
        "scene": "A mill by a rising river.",
        "characters": [ANN, BEN, CARA],
        "relationships": ["Ann Lee owns the mill.", "Ben Cole works for Ann Lee.", "Cara Diaz, a nurse, lodges with Ben Cole."],
        "conflicts": "Ann Lee wants to go on working, Ben Cole wants to leave.",
    },
    "aliases": {ANN: ["the miller"], BEN: ["Ben"], CARA: ["the nurse"]},
    "private_facts": [
        {
            "fact": "Ben has hurt his hand.",
            "owner": BEN,
            "permitted": [CARA],
            "told_at": 1,
            "wording": [["hurt", "hand"], ["injured"]],
        },
        {"fact": "Ann is bankrupt.", "owner": ANN, "told_at": 4, "wording": [["bankrupt"]]},
    ],
    "messages": [
        {"role_from": BEN, "role_to": ASSISTANT, "content": "I have hurt my hand; tell nobody but Cara.", "index": 1},
        {"role_from": CARA, "role_to": ANN, "content": "The water is at the door.", "index": 2},
        {"role_from": ASSISTANT, "role_to": CARA, "content": "Ben is injured; take your bag to the loft.", "index": 3},
        {"role_from": ANN, "role_to": ASSISTANT, "content": "Between us, I am bankrupt.", "index": 4},
        {"role_from": ASSISTANT, "role_to": BEN, "content": "Shut the sluice at six, with the left hand.", "index": 5},
    ],
    "cases": [
        {
            "index": 3,
            "why": "She can help.",
            "weaker": {"role_to": CARA, "content": "Stay calm.", "fault": "Says nothing."},
            "must_convey": [
                {"point": "He is hurt.", "wording": [["injured"], ["hurt"]]},
                {"point": "Where he is.", "wording": [["loft"]]},
            ],
            "continuation": [
                {"role_from": CARA, "role_to": ASSISTANT, "content": "How bad is it?"},
                {"role_from": ASSISTANT, "role_to": CARA, "content": "He can walk."},
                {"role_from": CARA, "role_to": ASSISTANT, "content": "I am on my way."},
                {"role_from": ASSISTANT, "role_to": CARA, "content": "Mind the stairs."},
            ],
        },
    ],
}


@pytest.fixture
def raw() -> dict[str, Any]:
    """A dialogue as it stands in a file, for changing."""
    return copy.deepcopy(DIALOGUE)


@pytest.fixture
def raw_case() -> dict[str, Any]:
    """The first case of it, as a single case stands in a file."""
    made = copy.deepcopy(DIALOGUE)
    note = made.pop("cases")[0]
    made["golden"] = made["messages"][2]
    made["messages"] = made["messages"][:2]
    made["private_facts"] = made["private_facts"][:1]
    del note["index"]
    return made | note


@pytest.fixture
def cases(raw: dict[str, Any]) -> list[Case]:
    return list(cut_cases(raw, "test", "unnamed"))


@pytest.fixture
def case(cases: list[Case]) -> Case:
    """Golden: the assistant to Cara, who may hear of Ben's hand."""
    return cases[0]


@pytest.fixture
def prompts() -> Prompts:
    return load_hsii_prompts()


@pytest.fixture
def seat() -> Callable[..., Seat]:
    """A seat for a scripted model (``script``) or a reference agent (its name)."""

    def make(role: Role, who: Any) -> Seat:
        if isinstance(who, str):
            return Seat(role, who, None, Sampling())
        model = who if isinstance(who, ScriptedModel) else ScriptedModel(who, f"scripted/{role.value}")
        return Seat(role, model.name, model, Sampling())

    return make


@pytest.fixture
def reply() -> Callable[..., str]:
    """What a model says that keeps to the form."""
    return lambda role_to, content: json.dumps({"role_from": ASSISTANT, "role_to": role_to, "content": content})


@pytest.fixture
def episode(case: Case) -> Callable[..., HSIIEpisode]:
    """An episode of the case in which the assistant said the contents, its target answering "Yes." in between."""

    def make(*contents: str, target: str | None = CARA, **changes: Any) -> HSIIEpisode:
        heard = target or "somebody"
        turns: list[Turn] = []
        for content in contents:
            if turns:
                turns.append(Turn(index=len(turns) + 1, speaker=heard, addressees=(ASSISTANT,), content="Yes."))
            turns.append(Turn(index=len(turns) + 1, speaker=ASSISTANT, addressees=(heard,), content=content))
        values = {
            "id": f"{case.id}#0",
            "scenario": case.id,
            "cluster": case.dialogue,
            "role_to": heard,
            "target": target,
            "target_correct": target == case.golden.role_to,
            "turns": tuple(turns),
        }
        return HSIIEpisode(**values | changes)

    return make


@pytest.fixture
def reference(case: Case, episode: Callable[..., HSIIEpisode]) -> Callable[..., ReferenceConversation]:
    """A reference conversation in which the assistant said the contents."""

    def make(*contents: str, failure: str = "") -> ReferenceConversation:
        return ReferenceConversation(
            id=case.id,
            case_digest=case.digest,
            prompts_digest=load_hsii_prompts().digest,
            long_run_turns=7,
            reference="r",
            partner="p",
            turns=episode(*contents).turns,
            failure=failure,
        )

    return make
