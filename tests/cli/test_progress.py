"""The progress that a run tells: counts, how far what is under way has come, and the time that is left."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from sociable.cli import progress
from sociable.cli.progress import DrawnProgress, PrintedProgress
from sociable.engine.phases import Progress, UnderWay
from sociable.models.limits import Budget


def counts(done: int, *, under_way: UnderWay | None = None) -> Progress:
    found = Progress("episodes", 10, done=done)
    if under_way is not None:
        found.measure_under_way = lambda: under_way
    return found


def test_a_line_for_logs_tells_how_far_it_is_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)
    monkeypatch.setattr(progress.time, "monotonic", iter([0.0, *[600.0] * 10_000]).__next__)
    console = Console(file=io.StringIO(), width=120)
    with PrintedProgress(console) as printed:
        printed(counts(2, under_way=UnderWay(0.5, "Mon 14:30")), Budget({}))
        time.sleep(0.2)
    (line, *_) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    # Two and a half of ten in ten minutes.
    assert line == "episodes: 2 of 10, Mon 14:30, 10 min, about 30 more"


def test_what_takes_no_time_is_told_by_its_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)
    console = Console(file=io.StringIO(), width=120)
    with PrintedProgress(console) as printed:
        printed(counts(2), Budget({}))
        time.sleep(0.2)
    assert console.file.getvalue().splitlines()[0] == "episodes: 2 of 10, 0 min"  # type: ignore[attr-defined]


def test_the_bar_moves_with_what_is_under_way() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    shown = [UnderWay(0.25, "Mon 06:00")]
    with DrawnProgress(console, hidden=False) as drawn:
        moving = counts(0)
        moving.measure_under_way = lambda: shown[0]
        drawn(moving, Budget({}))
        assert [task.completed for task in drawn.tasks] == [0.25]
        shown[0] = UnderWay(1.75, "Tue 09:30")
        drawn.refresh()
        assert [task.completed for task in drawn.tasks] == [1.75]
        moving.done = 9
        shown[0] = UnderWay(0.5, "Tue 23:00")
        drawn(moving, Budget({}))
        moving.done = 10
        drawn(moving, Budget({}))
        assert [task.completed for task in drawn.tasks] == [10]
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())  # type: ignore[attr-defined]
    assert " 0/10 Tue 09:30" in text and "10/10" in text
