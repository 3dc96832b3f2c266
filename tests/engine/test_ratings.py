"""A rubric over a finished run: who is rated, what it costs, what scores come of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sociable.api import reports, runs
from sociable.core.errors import InputError

RATER = """
import json
RATINGS = {"goal": 8, "believability": 7, "knowledge": 1, "secret": -2, "relationship": 1, "social_rules": 0, "financial": %s}
def reply(messages):
    with open(%r, "a") as log:
        log.write("x")
    return json.dumps({name: {"reason": "r", "rating": value} for name, value in RATINGS.items()})
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rater.py").write_text(RATER % (0, str(tmp_path / "calls")))
    (tmp_path / "broken.py").write_text(RATER % (9, str(tmp_path / "calls")))
    runs.run(
        "hsii",
        "reference/oracle@0.5",
        out=tmp_path / "run",
        limit=4,
        partner="reference/heuristic",
        options={"stages": (1, 2, 4)},
    )
    return tmp_path / "run"


def calls(run: Path) -> int:
    return len((run.parent / "calls").read_text())


def test_every_speaking_participant_with_a_goal_is_rated_once(run: Path) -> None:
    before = {name: (run / name).read_bytes() for name in ("episodes.jsonl",)}
    result = runs.judge(run, ["python:rater.py:reply"], rubric="sotopia")
    spoke = [episode for episode in map(json.loads, (run / "episodes.jsonl").read_text().splitlines()) if episode["turns"]]
    rated = [json.loads(line) for line in (run / "rubrics.jsonl").read_text().splitlines()]
    assert {each["episode"] for each in rated} == {episode["id"] for episode in spoke}
    assert len([each for each in rated if each["participant"] == "Intelligent Assistant"]) == len(spoke)
    assert calls(run) == len(rated)
    values = {estimate.metric: estimate.value for estimate in result.estimates}
    assert values["sotopia_goal"] == 8
    assert values["sotopia_secret"] == -2
    assert values["sotopia_overall"] == pytest.approx(15 / 7)
    assert values["r1"] is not None  # beside the run's own scores
    assert {name: (run / name).read_bytes() for name in before} == before


def test_nothing_is_rated_twice(run: Path) -> None:
    runs.judge(run, ["python:rater.py:reply"], rubric="sotopia")
    once = calls(run)
    scores = (run / "scores.json").read_bytes()
    runs.resume(run)
    runs.score(run)
    assert calls(run) == once
    assert (run / "scores.json").read_bytes() == scores
    assert "Rubric: sotopia" in [section.title for section in reports.make_report_document([run]).sections]


def test_a_rating_out_of_range_is_unscored_and_leaves_the_others(run: Path) -> None:
    result = runs.judge(run, ["python:broken.py:reply"], rubric="sotopia")
    found = {estimate.metric: estimate for estimate in result.estimates}
    assert found["sotopia_financial"].value is None
    assert found["sotopia_financial"].unscored == found["sotopia_goal"].scored > 0
    assert found["sotopia_overall"].value is None
    reasons = {score.reason for score in result.scores if score.metric == "sotopia_financial" and score.value is None}
    assert reasons == {"python:broken.py:reply: 9 is not within -5 to 5"}


def test_several_judges_count_by_their_mean(run: Path) -> None:
    result = runs.judge(run, ["python:rater.py:reply", "python:broken.py:reply"], rubric="sotopia")
    found = {estimate.metric: estimate for estimate in result.estimates}
    assert found["sotopia_financial"].value == 0.0  # of the one who could be read


def test_the_panel_stays_as_it_is(run: Path) -> None:
    before = json.loads((run / "manifest.json").read_text())["models"]["judges"]
    runs.judge(run, ["python:rater.py:reply"], rubric="sotopia")
    manifest = json.loads((run / "manifest.json").read_text())
    assert (manifest["models"]["judges"], manifest["rubric"]["raters"]) == (before, ["python:rater.py:reply"])


def test_a_rated_run_is_still_comparable_with_one_that_is_not(run: Path) -> None:
    runs.run(
        "hsii",
        "reference/oracle@0.5",
        out=run.parent / "b",
        limit=4,
        partner="reference/heuristic",
        options={"stages": (1, 2, 4)},
    )
    runs.judge(run, ["python:rater.py:reply"], rubric="sotopia")
    assert not any(row.cells[0].startswith("sotopia") for row in reports.compare(run, run.parent / "b").summary.rows)


@pytest.mark.parametrize(
    ("judges", "rubric", "complaint"),
    [
        (["reference/rule"], "sotopia", "needs a model"),
        ([], "sotopia", "needs a model"),
        (["python:rater.py:reply", "python:rater.py:reply"], "sotopia", "named twice"),
        (["python:rater.py:reply"], "sotopai", "no rubric 'sotopai'; there are: sotopia"),
    ],
)
def test_what_cannot_rate_is_refused_before_anything_changes(run: Path, judges: list[str], rubric: str, complaint: str) -> None:
    before = (run / "manifest.json").read_bytes()
    with pytest.raises(InputError, match=complaint):
        runs.judge(run, judges, rubric=rubric)
    assert (run / "manifest.json").read_bytes() == before


def test_where_nobody_has_a_goal_there_is_nothing_to_rate(run: Path) -> None:
    runs.run("hsii-cot", "reference/oracle", out=run.parent / "cot", limit=1)
    with pytest.raises(InputError, match="not rated by rubrics"):
        runs.judge(run.parent / "cot", ["python:rater.py:reply"], rubric="sotopia")


def test_two_runs_rated_alike_are_compared_by_their_ratings(run: Path) -> None:
    runs.run(
        "hsii", "reference/oracle", out=run.parent / "b", limit=4, partner="reference/heuristic", options={"stages": (1, 2, 4)}
    )
    for folder in (run, run.parent / "b"):
        runs.judge(folder, ["python:rater.py:reply"], rubric="sotopia")
    names = [row.cells[0] for row in reports.compare(run, run.parent / "b").summary.rows]
    assert "sotopia_goal" in names
