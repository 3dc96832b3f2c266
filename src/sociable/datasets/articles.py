"""News articles, from JSON Lines, CSV or a folder of plain text."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sociable.core.data_files import RawRecord, make_data_error, read_records
from sociable.core.errors import DataError, InputError
from sociable.core.records import storable
from sociable.datasets.stages import Item, is_about, slug

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
    if not source.exists():
        raise InputError(f"{source}: no such file or folder. {_EXPECTED}")
    articles: dict[str, tuple[Article, str]] = {}
    for raw in _records(source):
        article = _article(raw)
        # The same article twice is one article.
        known, place = articles.setdefault(article.id, (article, raw.place))
        if article != known:
            raise DataError(raw.place, "id", f"'{article.id}' is used already by {place}; ids must be unique")
    if not articles:
        raise InputError(f"{source}: no article in it. {_EXPECTED}")
    return [article for article, _ in articles.values()]


def _records(source: Path) -> Iterator[RawRecord]:
    if source.is_dir():
        texts = sorted(path for path in source.rglob("*.txt") if path.is_file() and not is_about(path))
        tables = sorted(path for path in source.iterdir() if path.suffix in (".csv", ".json", ".jsonl"))
        return chain((_plain(path, source) for path in texts if path.stat().st_size), *(map(_records, tables)))
    if source.suffix == ".csv":
        return _rows(source)
    if source.suffix == ".txt":
        return iter([_plain(source, source.parent)])
    if source.suffix in (".json", ".jsonl"):
        return read_records(source, None)
    raise InputError(f"{source}: not a kind of file that is read. {_EXPECTED}")


def _plain(path: Path, folder: Path) -> RawRecord:
    """The first line is the title."""
    text = _text_of(path).strip()
    title, _, rest = text.partition("\n")
    identifier = str(path.relative_to(folder).with_suffix(""))
    return RawRecord(str(path), identifier, {"id": identifier, "title": title.strip(), "text": rest.strip() or title})


def _rows(path: Path) -> Iterator[RawRecord]:
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.DictReader(io.StringIO(_text_of(path), newline=""))
    if rows.fieldnames is None or "text" not in [name.strip().lower() for name in rows.fieldnames]:
        raise DataError(f"{path}, line 1", "", "no column 'text'; expected the columns title, text, date and url")
    try:
        for number, row in enumerate(rows, start=1):
            values = {str(name).strip().lower(): value or "" for name, value in row.items() if isinstance(value, str | None)}
            yield RawRecord(f"{path}, record {number}", "", values)
    except csv.Error as error:
        raise DataError(f"{path}, line {rows.line_num}", "", f"not CSV ({error})") from None


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def _article(raw: RawRecord) -> Article:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with title and text, found {type(raw.value).__name__}")
    values: dict[str, Any] = {name: raw.value.get(name) or "" for name in Article.model_fields}
    values = {name: storable(str(value)).strip() for name, value in values.items()}
    if not values["text"]:
        raise DataError(raw.place, "text", "is missing or empty; an article has a text")
    values["id"] = values["id"] or _named_by_content(values)
    try:
        return Article.model_validate(values)
    except ValidationError as error:
        raise make_data_error(error, raw.place) from None


def _named_by_content(values: dict[str, Any]) -> str:
    """The same article has the same id in whatever file it stands."""
    digest = hashlib.sha256(f"{values['title']}\x00{values['text']}".encode()).hexdigest()[:16]
    return "-".join(filter(None, (slug(str(values["title"])), digest)))
