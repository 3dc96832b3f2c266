"""The scale of minds tracked to a depth, and where a share lies on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.api import reports, runs
from sociable.benchmarks.hsii.live.views import name_depth
from sociable.render.html import render_html


@pytest.mark.parametrize(
    ("marks", "low", "high", "expected"),
    [
        ((0, 0.24, 0.47, 1), 0.3, 0.4, "1 to 2"),
        ((0, 0.24, 0.47, 1), 0.1, 0.6, "0 to 3"),
        ((0, 0.24, 0.47, 1), 0.24, 0.24, "1"),
        ((0, 0.24, 0.47, 1), 1, 1, "3"),
        ((0, 1, 1, 1), 1, 1, "1 or more"),
        ((0, 1, 1, 1), 0.2, 0.9, "0 to 1"),
        ((0, 0.88, 1, 1), 1, 1, "2 or more"),
    ],
)
def test_a_share_lies_between_two_depths(marks: tuple[float, ...], low: float, high: float, expected: str) -> None:
    assert name_depth(marks, low, high) == expected


def test_the_report_places_a_model_by_what_the_depths_reach_in_its_scenarios(tmp_path: Path) -> None:
    settings = {"partner": "reference/people", "options": {"levels": ["middle", "hard"], "draws": 1}, "out": tmp_path / "run"}
    result = runs.run("hsii-live", "reference/depth@2", **settings)
    for score in result.scores:
        if score.metric == "share":
            marks = result.study.measure_depths(score.scenario)
            assert (marks[0], marks[2], marks[3]) == pytest.approx((0, score.value, 1))
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    assert "2 or more" in page, "at the middle level nobody is believed who should not be"
