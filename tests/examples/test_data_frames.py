"""The example that reads an export with DuckDB and pandas: it fails by itself where a value differs from ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import EXAMPLES


@pytest.mark.extra
def test_sql_and_pandas_find_our_estimates(tmp_path: Path, run_script: Callable[..., str]) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    said = run_script(EXAMPLES / "data_frames" / "tables.py", "out")
    assert "out/tables/scores.parquet: " in said
    assert (tmp_path / "out" / "tables" / "judgments.parquet").exists()
