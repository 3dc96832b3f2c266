"""SOTOPIA's own files, where they are, and small ones of their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.core.errors import InputError

SHARED = Path(__file__).parents[5] / "shared" / "data" / "sotopia_scenarios"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/sotopia_scenarios")


@needs_shared
def test_all_environments_with_their_ten_casts() -> None:
    loaded = load_scenarios(SHARED)
    assert (len(loaded.items), len({scenario.template for scenario in loaded.items})) == (2760, 276)
    assert all(len(scenario.characters) == 2 for scenario in loaded.items)
    texts = [goal.goal for scenario in loaded.items for character in scenario.characters for goal in character.goals]
    secrets = [character.private_info for scenario in loaded.items for character in scenario.characters]
    assert not any("<" in text or "Extra information" in text or "Hint" in text for text in (*texts, *secrets))
    assert all(secrets)
    assert loaded.items[0].characters[0].attributes["big_five"]["openness"] in ("low", "high", "medium")


@needs_shared
def test_the_multi_party_seeds() -> None:
    (file,) = SHARED.glob("multi_party/*scenario_seeds.json")
    loaded = load_scenarios(file)
    assert len(loaded.items) == 16
    assert {len(scenario.characters) for scenario in loaded.items} == {3}
    assert all(character.private_info and character.goals for scenario in loaded.items for character in scenario.characters)


def agent(pk: str, name: str) -> dict[str, Any]:
    return {
        "pk": pk, "first_name": name, "last_name": "Lee", "age": 30, "occupation": "Cook", "gender": "Woman", "public_info": "Cooks.",
        "big_five": "Openness to Experience - High; Neuroticism - Low", "moral_values": ["['Care/Harm']"],
        "schwartz_personal_values": ["['Power']"], "personality_and_values": "Calm.", "decision_making_style": "Rational",
        "secret": f"{name} sings.",
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    environment = {
        "pk": "E", "scenario": "Two cooks, one stove.", "relationship": 3,
        "agent_goals": ["Get it (<extra_info>Extra information: you were first.<strategy_hint>Hint: cry</strategy_hint></extra_info>)", "Keep it"],
    }  # fmt: skip
    (tmp_path / "environment_profiles.jsonl").write_text(json.dumps(environment))
    (tmp_path / "agent_profiles.jsonl").write_text(
        "\n".join(json.dumps(agent(pk, name)) for pk, name in (("A", "Ann"), ("B", "Bea")))
    )
    (tmp_path / "env_agent_combos.jsonl").write_text(json.dumps({"pk": "C", "env_id": "E", "agent_ids": ["A", "B"]}))
    return tmp_path


def test_what_is_private_and_what_is_left_out(folder: Path) -> None:
    (scenario,) = load_scenarios(folder).items
    ann = scenario.by_name["Ann Lee"]
    assert ann.goals[0].goal == "Get it"
    assert ann.private_info == "you were first. Ann sings."
    assert scenario.description == "They are friends."
    assert ann.attributes["values"] == ["Power"]


def test_complaints_name_the_line(folder: Path) -> None:
    (folder / "env_agent_combos.jsonl").write_text(json.dumps({"pk": "C", "env_id": "X", "agent_ids": ["A", "B"]}))
    with pytest.raises(InputError, match=r"env_agent_combos.jsonl, line 1.*'X' is in no line"):
        load_scenarios(folder)
    (folder / "agent_profiles.jsonl").unlink()
    with pytest.raises(InputError, match=r"agent_profiles\.jsonl: no such file"):
        load_scenarios(folder)
