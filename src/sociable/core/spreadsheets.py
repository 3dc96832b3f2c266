"""Sheets that people fill in: CSV as spreadsheets read and save it, or JSON Lines."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.core.data_files import read_lines
from sociable.core.errors import DataError, InputError

_BEGINNINGS = tuple("=+-@＝＋－＠")
"""What a formula begins with; some spreadsheets take the full-width signs too."""


def render_csv(heading: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    """The content of a CSV file in which no cell is a formula; numbers are written as they are, and None as an empty cell."""
    written = io.StringIO()
    writer = csv.writer(written)
    for row in (heading, *rows):
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return "\ufeff" + written.getvalue()  # by which spreadsheets know that it is UTF-8


def escape_formula(text: str) -> str:
    """The text in a form that no spreadsheet runs: a model may have written it."""
    return f"'{text}" if text.lstrip().startswith(_BEGINNINGS) else text


def read_rows(file: Path, needed: Sequence[str], besides: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """(place, fields) of every row of a CSV file (commas, semicolons or tabs) or of JSON Lines; absent fields are empty.

    Raises InputError where the file cannot be read, DataError naming file and row where a ``needed`` field is missing;
    ``besides`` then tells which others there may be.
    """
    text = _read_text(file)
    for place, row in _read_json_rows(text, file) if file.suffix == ".jsonl" else _read_csv_rows(text, file):
        for field in needed:
            if field not in row:
                raise DataError(place, field, f"is missing; expected {', '.join(needed)}{besides and f' ({besides})'}")
        yield place, {str(name): "" if value is None else str(value) for name, value in row.items()}


def _read_text(file: Path) -> str:
    """The text of a file in one of the encodings of spreadsheets: UTF-8, UTF-16 or the Western code page of Windows."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{file}: no such file.") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error}") from None
    if content.startswith(b"PK"):
        raise InputError(f"{file} is a workbook. Save the sheet as CSV.")
    encodings = ("utf-16",) if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with contextlib.suppress(UnicodeDecodeError):
            # Line ends are one whatever system saved the file, in cells as well.
            return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    raise InputError(f"{file}: not text in UTF-8. Save the sheet as 'CSV UTF-8'.")


def _read_csv_rows(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows are numbered as in a spreadsheet, the heading being row 1: cells hold line breaks."""
    heading = text.partition("\n")[0]
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    delimiter = max(",;\t", key=lambda sign: len(next(csv.reader([heading], delimiter=sign), [])))
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    for number, row in enumerate(reader, start=2):
        yield f"{file}, row {number}", row


def _read_json_rows(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for raw in read_lines(text, file, None):
        if not isinstance(raw.value, dict):
            raise DataError(raw.place, "", f"expected an object, found {type(raw.value).__name__}")
        yield raw.place, raw.value
