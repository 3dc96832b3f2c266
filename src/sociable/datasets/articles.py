"""News articles, from JSON Lines, CSV or a folder of plain text."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from sociable.core.data_files import RawRecord, make_data_error, read_records
from sociable.core.errors import DataError, InputError
from sociable.core.records import storable
from sociable.datasets.sources import is_about, make_slug, read_items, read_text
from sociable.datasets.stages import Item

_EXPECTED = "Expected articles as .jsonl, .json or .csv with title and text (and date, url), or a folder of .txt files."
_LONGEST_FIELD = 10_000_000
"""Characters; the reader's own limit is shorter than some articles."""


class Article(Item):
    title: str = ""
    text: str
    date: str = ""
    url: str = ""


def read_articles(source: Path) -> list[Article]:
    """Articles in the order of their files, with the id they have or one made of what they say.

    Raises DataError naming file, line and field, and InputError where there is none.
    """
    return read_items(source, lambda path: ((_make_article(raw), raw.place) for raw in _read_records(path)), "article", _EXPECTED)


def _read_records(source: Path) -> Iterator[RawRecord]:
    if source.is_dir():
        texts = sorted(path for path in source.rglob("*.txt") if path.is_file() and not is_about(path))
        tables = sorted(path for path in source.iterdir() if path.suffix in (".csv", ".json", ".jsonl"))
        return chain((_read_plain(path, source) for path in texts if path.stat().st_size), *(map(_read_records, tables)))
    if source.suffix == ".csv":
        return _read_rows(source)
    if source.suffix == ".txt":
        return iter([_read_plain(source, source.parent)])
    if source.suffix in (".json", ".jsonl"):
        return read_records(source, None)
    raise InputError(f"{source}: not a kind of file that is read. {_EXPECTED}")


def _read_plain(path: Path, folder: Path) -> RawRecord:
    """An article as plain text, whose first line is the title."""
    text = read_text(path).strip()
    title, _, rest = text.partition("\n")
    identifier = str(path.relative_to(folder).with_suffix(""))
    return RawRecord(str(path), identifier, {"id": identifier, "title": title.strip(), "text": rest.strip() or title})


def _read_rows(path: Path) -> Iterator[RawRecord]:
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    if rows.fieldnames is None or "text" not in [name.strip().lower() for name in rows.fieldnames]:
        raise DataError(f"{path}, line 1", "", "no column 'text'; expected the columns title, text, date and url")
    try:
        for number, row in enumerate(rows, start=1):
            values = {str(name).strip().lower(): value or "" for name, value in row.items() if isinstance(value, str | None)}
            yield RawRecord(f"{path}, record {number}", "", values)
    except csv.Error as error:
        raise DataError(f"{path}, line {rows.line_num}", "", f"not CSV ({error})") from None


def _make_article(raw: RawRecord) -> Article:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with title and text, found {type(raw.value).__name__}")
    values = {name: storable(str(raw.value.get(name) or "")).strip() for name in Article.model_fields}
    if not values["text"]:
        raise DataError(raw.place, "text", "is missing or empty; an article has a text")
    # The same article has the same id in whatever file it stands.
    digest = hashlib.sha256(f"{values['title']}\x00{values['text']}".encode()).hexdigest()[:16]
    values["id"] = values["id"] or "-".join(filter(None, (make_slug(values["title"]), digest)))
    try:
        return Article.model_validate(values)
    except ValidationError as error:
        raise make_data_error(error, raw.place) from None
