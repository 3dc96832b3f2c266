"""The script that compares two models runs as it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .conftest import EXAMPLES


def test_it_prints_tables_and_writes_a_report(tmp_path: Path, run_script: Callable[..., str]) -> None:
    said = run_script(EXAMPLES / "compare_models" / "compare.py", "out")
    assert "last: r2 0." in said
    assert said.splitlines()[-1] == "Report: out/report.html"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"last", "first", "comparison.html", "report.html"}
