"""Sheets as spreadsheets save them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.core.errors import DataError, InputError
from sociable.core.spreadsheets import escape_formula, read_rows, render_csv


def test_what_a_model_wrote_is_no_formula() -> None:
    for text in ("=HYPERLINK(1)", "+1", "-1", "@x", " =1"):
        assert escape_formula(text).startswith("'")
    assert escape_formula("Go home = now") == "Go home = now"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    file.write_text(render_csv(["item", "=title"], [["1", "two\nlines, and a comma"], ["2", "=1+1"]]), encoding="utf-8")
    rows = dict(read_rows(file, ("item",)))
    assert rows[f"{file}, row 2"] == {"item": "1", "'=title": "two\nlines, and a comma"}
    assert rows[f"{file}, row 3"]["'=title"] == "'=1+1"


def test_numbers_are_written_as_numbers_and_none_as_nothing() -> None:
    assert render_csv(["a", "b", "c"], [[-0.5, None, "-0.5"]]).splitlines()[1] == "-0.5,,'-0.5"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_as_spreadsheets_save_it(encoding: str, separator: str, tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    file.write_bytes(f"item{separator}note\na{separator}café\n".encode(encoding))
    assert [row for _, row in read_rows(file, ("item",))] == [{"item": "a", "note": "café"}]


def test_what_is_no_sheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_rows(tmp_path / "sheet.csv", ()))
    (tmp_path / "sheet.csv").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="workbook"):
        list(read_rows(tmp_path / "sheet.csv", ()))
    (tmp_path / "sheet.jsonl").write_text('{"item": 1}\n[1]\n')
    with pytest.raises(DataError, match=r"line 2.*expected an object"):
        list(read_rows(tmp_path / "sheet.jsonl", ("item",)))
    with pytest.raises(DataError, match=r"line 1: field 'verdict': is missing; expected item, verdict \(and person\)"):
        list(read_rows(tmp_path / "sheet.jsonl", ("item", "verdict"), "and person"))
