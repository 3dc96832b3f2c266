"""A kind of judge of one's own, used on a finished run."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

import sociable
from sociable.judging.protocol import Answer, Unread

from .conftest import EXAMPLES

FOLDER = EXAMPLES / "own_judge"


@pytest.fixture(scope="module")
def points() -> ModuleType:
    specification = importlib.util.spec_from_file_location("points", FOLDER / "points.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text", ["", "5", "five", '{"points": 6}', '{"points": "4"}', '{"points": true}', '{"points": 1, "points": 2}']
)
def test_what_names_no_points_is_unread(points: ModuleType, text: str) -> None:
    assert isinstance(points.parse_points(text), Unread)


def test_points_are_read_with_their_reason(points: ModuleType) -> None:
    assert points.parse_points('{"reason": "warm", "points": 4}') == Answer(4, "warm")


def test_it_judges_every_episode_and_buys_no_reply_twice(tmp_path: Path, run_script: Callable[..., str]) -> None:
    folder = tmp_path / "a-run"
    result = sociable.run("hsii", "reference/oracle@0.3", out=folder, limit=1, options={"stages": [1, 2]})
    judge = f"python:{FOLDER / 'judges.py'}:polite"
    first = run_script(FOLDER / "points.py", str(folder), judge)
    judgments = [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]
    spoken = [episode.id for episode in result.episodes() if episode.turns]
    assert [each["episode"] for each in judgments] == spoken
    assert {each["verdict"] for each in judgments} == {"win", "tie"}
    # Again: the same words, and not one call more in the journal.
    assert run_script(FOLDER / "points.py", str(folder), judge) == first
    with closing(sqlite3.connect(folder / "points.sqlite")) as journal:
        assert journal.execute("SELECT COUNT(*) FROM calls").fetchone() == (len(spoken),)


def test_a_judge_that_cannot_be_read_is_unscored(tmp_path: Path, run_script: Callable[..., str]) -> None:
    folder = tmp_path / "a-run"
    sociable.run("hsii", "reference/oracle", out=folder, limit=1, options={"stages": [1, 2]})
    (tmp_path / "vague.py").write_text("def judge(messages):\n    return 'Rather kind, I would say.'\n")
    run_script(FOLDER / "points.py", str(folder), f"python:{tmp_path / 'vague.py'}:judge")
    judgments = [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]
    assert judgments
    assert {each["verdict"] for each in judgments} == {"unscored"}
    assert "no points from 1 to 5" in judgments[0]["reason"]
