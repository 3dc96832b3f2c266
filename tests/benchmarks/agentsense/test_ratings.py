"""The SOTOPIA rubric over scenes: every character with goals is rated by what it alone knew and wanted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.api import reports, runs
from sociable.core.view import Table

RATER = """
import json
RATINGS = {"believability": 7, "knowledge": 1, "secret": -2, "relationship": 1, "social_rules": 0, "financial": 0}
def reply(messages):
    asked = messages[-1]["content"]
    with open("asked.jsonl", "a") as log:
        log.write(json.dumps(asked) + "\\n")
    ratings = {"goal": 8 if "canary-ann-goal" in asked else 4, **RATINGS}
    return json.dumps({name: {"reason": "r", "rating": value} for name, value in ratings.items()})
"""


@pytest.fixture
def file(native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("rater.py").write_text(RATER)
    Path("data.jsonl").write_text("\n".join(json.dumps(native | {"sample_idx": number}) for number in (0, 1)))
    return "data.jsonl"


def rate(dataset: str, **settings: Any) -> runs.RunResult:
    runs.run("agentsense", "reference/oracle", dataset=dataset, out="run", **settings)
    return runs.judge("run", ["python:rater.py:reply"], rubric="sotopia")


def test_whoever_has_goals_is_rated_and_the_models_rating_is_the_mean_of_its_characters(file: str) -> None:
    result = rate(file)
    rated = [json.loads(line)["id"] for line in Path("run", "rubrics.jsonl").read_text().splitlines()]
    # Cara wants nothing.
    assert rated == [
        f"3:{scene}#0|sotopia|subject: {name}|python:rater.py:reply" for scene in (0, 1) for name in ("Ann Lee", "Ben Cole")
    ]
    values = {estimate.metric: estimate.value for estimate in result.estimates}
    # Ann 8, Ben 4. Overall: (6 + 7 + 1 - 2 + 1 + 0 + 0) / 7.
    assert (values["sotopia_goal"], values["sotopia_secret"]) == (6, -2)
    assert values["sotopia_overall"] == pytest.approx(13 / 7)
    assert "sotopia_goal_partner" not in values
    assert values["self"] is not None  # beside the run's own scores
    document = reports.make_report_document("run")
    (section,) = [section for section in document.sections if section.title == "Rubric: sotopia"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    cells = {row.cells[0]: row.cells[1:3] for row in table.rows}
    assert cells["goal"] == ["0 to 10", "6.00"]
    assert [column.title for column in table.columns][:3] == ["Dimension", "Range", "reference/oracle"]


def test_subject_and_partner_are_rated_apart(file: str) -> None:
    result = rate(file, partner="reference/heuristic", options={"character": "Ann"})
    values = {estimate.metric: estimate.value for estimate in result.estimates}
    assert (values["sotopia_goal"], values["sotopia_goal_partner"]) == (8, 4)


def test_a_rater_sees_what_one_character_knew_and_wanted_and_all_that_was_said(file: str) -> None:
    rate(file)
    said = [turn["content"] for turn in json.loads(Path("run", "episodes.jsonl").read_text().splitlines()[0])["turns"]]
    assert "Take the boat." in said
    asked = [json.loads(line) for line in Path("asked.jsonl").read_text().splitlines()]
    assert len(asked) == 4
    own = {"ann": ("ann-profile", "ann-secret", "ann-goal"), "ben": ("ben-profile", "ben-secret", "ben-goal", "ben-goal-2")}
    for prompt in asked:
        told, _, conversation = prompt.partition("What was said:")
        who, other = ("ann", "ben") if "canary-ann-goal" in told else ("ben", "ann")
        assert all(f"canary-{each}" in told for each in (*own[who], "background", "description"))
        assert not [each for each in own[other] if f"canary-{each}" in told]
        assert "Hi there!" in conversation
        assert "Ben Cole: Take the boat." in conversation


def test_a_scene_whose_partner_failed_is_not_rated(file: str) -> None:
    Path("partner.py").write_text("def reply(messages):\n    return ''\n")
    result = rate(file, partner="python:partner.py:reply", options={"character": "Ann", "blind": False})
    assert not Path("asked.jsonl").exists()
    assert not [estimate for estimate in result.estimates if estimate.metric.startswith("sotopia")]
