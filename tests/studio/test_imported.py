"""Conversations of other tools on the pages of the studio."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.benchmarks.imported.layouts import make_tau2, write

from sociable.api.importing import import_conversations

from .conftest import Asked


def test_an_imported_run_and_its_episodes_are_shown(
    tmp_path: Path, start_studio: Callable[[Path], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    import_conversations("tau2", write(tmp_path / "results.json", make_tau2()), tmp_path / "runs" / "theirs")
    studio = start_studio(tmp_path / "runs")
    assert "recorded/model-a" in studio.get("/").text
    assert "recorded/model-a" in studio.get("/run?run=theirs").text
    assert "hotel:t1:1#0" in studio.get("/episodes?run=theirs").text
    page = studio.get("/episode?run=theirs&episode=hotel:t1:1%230")
    assert page.status == 200 and "It is on Friday now." in page.text
