"""A recipe of one's own: the table's good lines become cases, and the others keep their reasons."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sociable
from sociable.core.errors import InputError

from .conftest import EXAMPLES

FOLDER = EXAMPLES / "own_recipe"


@pytest.fixture(autouse=True)
def installed(install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    install(FOLDER)
    monkeypatch.delitem(sys.modules, "desk", raising=False)


def reasons(build: Path, stage: str) -> dict[str, str]:
    """By id, why a stage rejected a note."""
    (file,) = build.glob(f"*-{stage}.jsonl")
    outcomes = [json.loads(line) for line in file.read_text().splitlines()]
    return {each["id"]: each["rejected"] for each in outcomes if each.get("rejected")}


def test_it_makes_cases_that_the_benchmark_runs(tmp_path: Path) -> None:
    build = tmp_path / "build"
    sociable.construct("desk", FOLDER / "notes.csv", out=build)
    cases = [json.loads(line) for line in (build / "dataset.jsonl").read_text().splitlines()]
    assert [case["id"] for case in cases] == ["n1", "n4"]
    assert reasons(build, "checked") == {"n3": "the answer is too short"}
    assert reasons(build, "distinct") == {"n2": "the same scene again"}
    result = sociable.run(
        "hsii", "reference/oracle", dataset=build / "dataset.jsonl", out=tmp_path / "run", options={"stages": [1, 2]}
    )
    estimate = result.estimate("r2")
    assert estimate is not None
    assert estimate.value == 1.0


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("id,text\n1,hello\n")
    with pytest.raises(InputError, match="no table with the columns"):
        sociable.construct("desk", tmp_path / "bad.csv", out=tmp_path / "build")
