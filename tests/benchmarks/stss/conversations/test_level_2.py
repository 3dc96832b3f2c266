"""Scenes of level 2: the other has a reason against it, and must be heard to agree."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from sociable.api import runs
from sociable.benchmarks.stss.conversations.conditions import Condition, ConditionRule
from sociable.benchmarks.stss.task import Task
from sociable.town.clock import Clock
from sociable.town.events import Line


def read_table() -> list[list[str]]:
    text = resources.files("sociable.benchmarks.stss.conversations").joinpath("README.md").read_text(encoding="utf-8")
    table = text.partition("| agent | conversation_sr_micro, level 2 |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("row", read_table(), ids=lambda row: row[0])
def test_agents_score_as_the_readme_says(row: list[str], tmp_path: Path) -> None:
    agent, conversation, summary, _ = row
    seated = {"partner": "reference/residents", "judges": ["reference/rule"]}
    result = runs.run("stss-conversations", f"reference/{agent}", out=tmp_path / "run", limit=5, options={"level": 2}, **seated)
    found = {each.metric: each.value for each in result.estimates}
    for metric, expected in (("conversation_sr_micro", conversation), ("summary_sr_micro", summary)):
        sign, bound = re.fullmatch(r"([<>]?) ?([\d.]+)", expected).groups()  # type: ignore[union-attr]
        value = found[metric]
        assert value is not None
        assert {"<": value < float(bound), ">": value > float(bound), "": value == float(bound)}[sign], (metric, value)
    assert any("agreed" in metric for metric in found)


@pytest.mark.parametrize(
    ("says", "agrees"),
    [
        ("Count me in, Tuesday it is.", True),
        ("No problem, I will.", True),
        ("I will not, sorry.", False),
        ("I will not come.", False),
        ("No, I will stay at home.", False),
        ("Let me think about it.", False),
    ],
)
def test_whether_the_other_agrees(says: str, agrees: bool, make_task: Callable[..., Task]) -> None:
    task = make_task()
    rule = ConditionRule(task, 600, Clock(), ())
    lines = [Line(speaker="Pia", says="Yes, do come, I will be glad."), Line(speaker="Ann", says=says)]
    assert rule.is_met_in_conversation(Condition.AGREED, lines) is agrees
    assert rule.is_met_in_summary(Condition.AGREED, says) is agrees


@pytest.mark.parametrize(
    ("says", "agrees"),
    [
        (["I agreed to a thing with my sister."], False),
        (["Not this time.", "Well, count me in.", "See you there."], True),
        (["Count me in.", "On second thoughts, I will not come."], False),
        (["No, I am free then. Count me in."], True),
    ],
)
def test_the_last_word_on_it_counts(says: list[str], agrees: bool, make_task: Callable[..., Task]) -> None:
    rule = ConditionRule(make_task(), 600, Clock(), ())
    assert rule.is_met_in_conversation(Condition.AGREED, [Line(speaker="Ann", says=each) for each in says]) is agrees
