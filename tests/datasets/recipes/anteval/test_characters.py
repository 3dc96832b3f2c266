"""Characters drawn by the rules and described by a model, over a real socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sociable.api import datasets, runs
from sociable.benchmarks.anteval.characters import load_sheets


def test_characters_that_were_made_sit_at_the_table(chat_server: Any, tmp_path: Path) -> None:
    model = f"openai-compatible/writer:characters@{chat_server.url}"
    document = datasets.construct("anteval-characters", (), tmp_path / "build", options={"count": 30, "seed": 4}, model=model)
    funnel = {row.cells[0]: list(map(int, row.cells[2:])) for row in document.summary.rows}
    assert funnel["described"][0] == 30
    # The model knows twelve names.
    assert 8 <= funnel["distinct"][2] <= 12
    sheets = load_sheets(tmp_path / "build" / "dataset.jsonl").items
    assert len({sheet.name for sheet in sheets}) == funnel["distinct"][2]
    assert len({sheet.race for sheet in sheets}) > 3
    result = runs.run(
        "anteval-iep",
        "reference/oracle",
        judges=("reference/rule",),
        limit=2,
        out=tmp_path / "run",
        options={"sheets": str(tmp_path / "build" / "dataset.jsonl"), "turns": 8},
    )
    assert result.estimate("iep") is not None


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    datasets.construct("anteval-characters", (), tmp_path / "a", options={"count": 3, "seed": 1})
    datasets.construct("anteval-characters", (), tmp_path / "a", options={"count": 3, "seed": 1})
