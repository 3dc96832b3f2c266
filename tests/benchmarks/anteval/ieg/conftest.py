"""Real sessions that were read are kept in a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sociable.benchmarks.anteval.ieg.real.user_cache_dir", lambda name: str(tmp_path / "cache" / name))
    return tmp_path / "cache"
