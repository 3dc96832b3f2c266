"""Tables as files: each format holds what was written, a crash leaves the earlier file, and formulas are no formulas."""

from __future__ import annotations

import csv
import json
import sys
import tracemalloc
from pathlib import Path

import pytest

from sociable.core.errors import InputError
from sociable.core.tables import BATCH_ROWS, TEXTS, TableColumn, TableFormat, open_table

COLUMNS = [
    TableColumn("name", str, False, "a name"),
    TableColumn("note", str, True, "a note"),
    TableColumn("count", int, True, "a count"),
    TableColumn("share", float, True, "a share"),
    TableColumn("right", bool, False, "whether"),
    TableColumn("hearers", TEXTS, True, "who heard"),
]
ROWS = [
    ("Ann", None, 3, 0.5, True, ("Bob", "Cy")),
    ("=1+1", 'two\nlines, "quoted"', None, None, False, ()),
    ("Ünal", "  -cmd", 0, float(1), True, None),
]


def write(path: Path, kind: TableFormat) -> Path:
    with open_table(path, COLUMNS, kind) as write_row:
        for row in ROWS:
            write_row(row)
    return path


def test_csv_guards_against_formulas_and_writes_lists_as_json(tmp_path: Path) -> None:
    with write(tmp_path / "t.csv", TableFormat.CSV).open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        [column.name for column in COLUMNS],
        ["Ann", "", "3", "0.5", "true", '["Bob", "Cy"]'],
        ["'=1+1", 'two\nlines, "quoted"', "", "", "false", "[]"],
        ["Ünal", "'  -cmd", "0", "1.0", "true", ""],
    ]


def test_json_lines_hold_what_was_written(tmp_path: Path) -> None:
    lines = write(tmp_path / "t.jsonl", TableFormat.JSONL).read_text(encoding="utf-8").splitlines()
    read = [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in json.loads(line).values()) for line in lines]
    assert read == ROWS


@pytest.mark.extra
def test_parquet_holds_what_was_written_with_types_and_meanings(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(write(tmp_path / "t.parquet", TableFormat.PARQUET))
    read = [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row.values()) for row in table.to_pylist()]
    assert read == ROWS
    assert [str(field.type) for field in table.schema][:5] == ["string", "string", "int64", "double", "bool"]
    assert [field.nullable for field in table.schema] == [column.nullable for column in COLUMNS]
    assert table.schema.field("share").metadata == {b"description": b"a share"}


@pytest.mark.extra
def test_a_number_that_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    with (
        pytest.raises(InputError, match=r"no whole numbers of more than 64 bits\. Take --format csv or jsonl"),
        open_table(tmp_path / "t.parquet", COLUMNS, TableFormat.PARQUET) as write_row,
    ):
        write_row(("a seed", None, 2**64, None, True, None))
    assert not list(tmp_path.iterdir())


HOSTILE = (
    *("two\nlines", "return\rline", "both\r\n", "nul\x00", "escape\x1b[31m", "tab\t", 'quote"s', "comma, semi; pipe|", ""),
    *("NULL", "NA", "nan", "true", "007", "1e5", "line\u2028separator", "\ufeffmark", "lone\ud800"),
    *("\\", "\\N", "# no comment", " led ", "x" * 100_000),
)
"""Texts that readers of tables are known to trip over; none begins like a formula."""


@pytest.mark.extra
def test_readers_get_the_rows_that_were_written_and_types_where_all_is_empty(tmp_path: Path) -> None:
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    files = {kind: tmp_path / f"t.{kind}" for kind in TableFormat}
    for kind, file in files.items():
        with open_table(file, COLUMNS, kind) as write_row:
            for text in HOSTILE:
                write_row((text, None, None, None, True, (text,)))
    with files[TableFormat.CSV].open(encoding="utf-8-sig", newline="") as stream:
        read = {"csv": [row["name"] for row in csv.DictReader(stream)]}
    read["csv by pandas"] = list(pandas.read_csv(files[TableFormat.CSV], keep_default_na=False, dtype=str)["name"])
    read["parquet by pandas"] = list(pandas.read_parquet(files[TableFormat.PARQUET])["name"])
    read["lines by pandas"] = list(pandas.read_json(files[TableFormat.JSONL], lines=True, dtype=False)["name"])
    with duckdb.connect() as database:
        for kind, file in files.items():
            found = database.execute(f"SELECT name, hearers FROM '{file}'").fetchall()
            # An empty cell of CSV is nothing to DuckDB.
            read[f"{kind} by DuckDB"] = [name or "" for name, _ in found]
            assert kind is TableFormat.CSV or [hearers[0] for _, hearers in found] == [name for name, _ in found]
    written = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    assert {name: texts == written for name, texts in read.items()} == dict.fromkeys(read, True)
    types = [str(kind) for kind in parquet.read_schema(files[TableFormat.PARQUET]).types]
    assert types == ["string", "string", "int64", "double", "bool", "list<element: string>"]


@pytest.mark.extra
def test_parquet_is_written_in_batches_and_may_be_empty(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = COLUMNS[:1]
    with open_table(tmp_path / "many.parquet", columns, TableFormat.PARQUET) as write_row:
        for number in range(BATCH_ROWS + 1):
            write_row((str(number),))
    read = parquet.ParquetFile(tmp_path / "many.parquet")
    assert read.num_row_groups == 2
    assert read.read().column("name").to_pylist() == [str(number) for number in range(BATCH_ROWS + 1)]
    with open_table(tmp_path / "none.parquet", columns, TableFormat.PARQUET):
        pass
    assert parquet.read_table(tmp_path / "none.parquet").num_rows == 0


@pytest.mark.parametrize("kind", [TableFormat.CSV, TableFormat.JSONL])
def test_a_failure_leaves_the_earlier_file(kind: TableFormat, tmp_path: Path) -> None:
    before = write(tmp_path / "t", kind).read_bytes()
    with pytest.raises(ZeroDivisionError), open_table(tmp_path / "t", COLUMNS, kind) as write_row:
        write_row(ROWS[0])
        raise ZeroDivisionError
    assert (tmp_path / "t").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "t"]


@pytest.mark.parametrize("kind", [TableFormat.CSV, TableFormat.JSONL])
def test_memory_does_not_grow_with_the_rows(kind: TableFormat, tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        with open_table(tmp_path / "t", COLUMNS[:1], kind) as write_row:
            for _ in range(2000):
                write_row(("x" * 10_000,))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "t").stat().st_size > 20_000_000
    assert peak < 2_000_000


def test_without_the_extra_parquet_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"Parquet needs an extra: pip install 'sociable\[hub\]'"):
        write(tmp_path / "t.parquet", TableFormat.PARQUET)
    assert not list(tmp_path.iterdir())
