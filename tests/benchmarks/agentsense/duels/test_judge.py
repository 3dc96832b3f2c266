"""Judges of promises, false statements and secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.api import reports, runs
from sociable.benchmarks.agentsense.duels.judge import parse_false
from sociable.core.records import Outcome
from sociable.judging.protocol import Unread

from .conftest import GARDEN

MODEL = """
import json
def reply(messages):
    who, last = messages[0]["content"].split()[2], messages[-1]["content"]
    if "frogs need water" in last:
        return json.dumps({"answer": next(line[2] for line in last.splitlines() if "DEED" in line)})
    if '"answer"' in last:
        return '{"answer": "A"}'
    if who == "Ada":
        return "I promise to water the frogs. I own a spade." if "This is turn 2" in last else "ACCEPT"
    return "Keep it up.\\nOFFER: 1a 2b 3a"
"""
JUDGE = """
import json
def reply(messages):
    asked = messages[-1]["content"]
    if '"turns"' in asked:
        lines = [line[2:] for line in asked.splitlines() if line.startswith("| ")]
        false = [int(line.split(".")[0]) for line in lines if line[:1].isdigit() and "own a spade" in line]
        assert "You own no spade." in asked or "You own a spade." in asked
        return json.dumps({"reason": "See the sheet.", "turns": false if "You own no spade." in asked else []})
    talk = asked.partition("The talk:")[2].partition("After the talk")[0]
    return json.dumps({"reason": "so", "answer": "yes" if "I promise" in talk else "no"})
"""


def run(tmp_path: Path, deed: str, judge: str = JUDGE, judges: tuple[str, ...] = ("judge",)) -> runs.RunResult:
    (tmp_path / "garden.json").write_text(json.dumps(GARDEN))
    (tmp_path / "model.py").write_text(MODEL.replace("DEED", deed))
    (tmp_path / "judge.py").write_text(judge)
    model = f"python:{tmp_path}/model.py:reply"
    return runs.run(
        "agentsense-duels",
        model,
        opponent=model,
        judges=[f"python:{tmp_path}/judge.py:reply" if each == "judge" else each for each in judges],
        dataset=tmp_path / "garden.json",
        scenarios=("garden#1",),
        out=tmp_path / "run",
    )


@pytest.mark.parametrize(("deed", "kept"), [("fill the pond", 1), ("let it dry", 0)])
def test_a_promise_is_kept_or_not(tmp_path: Path, deed: str, kept: float) -> None:
    result = run(tmp_path, deed)
    values = {each.metric: each.value for each in result.scores}
    assert values["kept"] == kept
    assert values["false_statements"] == 1, "the one turn in which Ada spoke: ACCEPT alone says nothing"
    assert values["opponent_false_statements"] == 0
    assert values["opponent_kept"] is None, "Bo has no choice"
    assert (values["secret_told"], values["secret_judged"]) == (0, 0)
    page = reports.make_report_document([tmp_path / "run"])
    assert "You let it dry." in str(page) or "You fill the pond up." in str(page)


def test_all_turns_of_a_side_are_judged_in_one_call(tmp_path: Path) -> None:
    result = run(tmp_path, "dry")
    # One call a side for its turns, one for Ada's promise, one a side for its secret.
    assert result.manifest["usage"]["judge"]["calls"] == 2 + 1 + 2
    (episode,) = result.episodes()
    shown = [result.study.show(episode, criterion, None) for criterion in result.study.list_criteria(episode)]
    assert any("You own no spade." in each.situation and "own a spade" in each.conversation for each in shown)


def test_a_rule_tells_secrets_and_is_not_asked_the_rest(tmp_path: Path) -> None:
    result = run(tmp_path, "dry", judges=("reference/rule",))
    scores = {each.metric: each for each in result.scores}
    assert scores["secret_judged"].value == 0
    assert {scores[name].outcome for name in ("kept", "false_statements")} == {Outcome.NOT_REACHED}
    (tmp_path / "both").mkdir()
    mixed = {each.metric: each.value for each in run(tmp_path / "both", "dry", judges=("judge", "reference/rule")).scores}
    assert mixed["kept"] == 0, "the model alone is asked"


def test_a_judge_that_cannot_be_read_leaves_unscored_what_it_judged(tmp_path: Path) -> None:
    result = run(tmp_path, "dry", "def reply(messages):\n    return 'Perhaps.'\n")
    scores = {each.metric: each for each in result.scores}
    assert {scores[name].outcome for name in ("kept", "false_statements", "secret_judged")} == {Outcome.UNSCORED}
    assert scores["share"].outcome is Outcome.SCORED


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ('{"reason": "x", "turns": [2, 4]}', [2, 4]),
        ('Well.\n```json\n{"turns": []}\n```', []),
        ('{"turns": [3]}', None),
        ('{"turns": ["2"]}', None),
        ('{"turns": true}', None),
        ('{"turns": [true]}', None),
        ("2 and 4", None),
        ("", None),
    ],
)
def test_numbers_of_turns_are_read_and_not_guessed(text: str, turns: Any) -> None:
    found = parse_false(text, [2, 4])
    assert isinstance(found, Unread) if turns is None else found.value == turns
