"""Tables as files: long ones, written a batch at a time, with the type and the meaning of every column."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from sociable.core.errors import InputError, StorageFailure
from sociable.core.extras import import_extra
from sociable.core.records import Record, make_storable
from sociable.core.spreadsheets import escape_formula

BATCH_ROWS = 4096
BATCH_CHARACTERS = 8_000_000
"""A batch ends at so many rows, or so much text: a row may hold a whole conversation."""

TEXTS = tuple[str, ...]
"""The type of a column whose cells are lists of texts."""

Row = Sequence[Any]
WriteRow = Callable[[Row], None]


class TableFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: ``kind`` is str, int, float, bool or ``TEXTS``."""

    name: str
    kind: Any
    nullable: bool
    meaning: str


def list_columns(rows: type[Record]) -> list[TableColumn]:
    """The columns of a table whose rows are records of this type, as its fields declare them."""
    columns = []
    for name, field in rows.model_fields.items():
        kinds = get_args(field.annotation)
        nullable = NoneType in kinds
        kind = next(each for each in kinds if each is not NoneType) if nullable else field.annotation
        columns.append(TableColumn(name, kind, nullable, field.description or ""))
    return columns


@contextmanager
def open_table(path: Path, columns: Sequence[TableColumn], kind: TableFormat) -> Iterator[WriteRow]:
    """A new table in the file ``path``, which it replaces when it is whole. Yields what takes its rows, one at a time.

    Raises StorageFailure, and InputError for parquet where the extra ``hub`` is missing, or a number does not fit.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with _OPENERS[kind](part, columns) as write:
            yield write
        os.replace(part, path)
    except OSError as error:
        raise StorageFailure.at(path, error) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _open_csv(path: Path, columns: Sequence[TableColumn]) -> Iterator[WriteRow]:
    # The mark tells spreadsheets that it is UTF-8; pandas and DuckDB pass over it.
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([column.name for column in columns])
        yield lambda row: writer.writerow(map(_make_cell, row))


def _make_cell(value: Any) -> Any:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return json.dumps(value, ensure_ascii=False)
        case str():
            return escape_formula(value)
    return value


@contextmanager
def _open_jsonl(path: Path, columns: Sequence[TableColumn]) -> Iterator[WriteRow]:
    names = [column.name for column in columns]
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        yield lambda row: print(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False), file=stream)


@contextmanager
def _open_parquet(path: Path, columns: Sequence[TableColumn]) -> Iterator[WriteRow]:
    pyarrow = import_parquet()
    types: Mapping[Any, Any] = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        TEXTS: pyarrow.list_(pyarrow.string()),
    }
    fields = [pyarrow.field(each.name, types[each.kind], each.nullable, {"description": each.meaning}) for each in columns]
    schema = pyarrow.schema(fields)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batch: list[Row] = []
        characters = 0

        def flush() -> None:
            nonlocal characters
            if batch:
                values = zip(*batch, strict=True)
                try:
                    arrays = [pyarrow.array(column, field.type) for column, field in zip(values, schema, strict=True)]
                except OverflowError:
                    message = f"{path.parent}: parquet holds no whole numbers of more than 64 bits. Take --format csv or jsonl."
                    raise InputError(message) from None
                writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            batch.clear()
            characters = 0

        def write(row: Row) -> None:
            nonlocal characters
            batch.append([_make_storable_cell(cell) for cell in row])
            characters += sum(len(cell) for cell in row if isinstance(cell, str))
            if len(batch) >= BATCH_ROWS or characters >= BATCH_CHARACTERS:
                flush()

        yield write
        flush()


def _make_storable_cell(value: Any) -> Any:
    match value:
        case str():
            return make_storable(value)
        case tuple():
            return [make_storable(text) for text in value]
    return value


def import_parquet() -> Any:
    """pyarrow. Raises InputError where the extra is missing."""
    import_extra("pyarrow.parquet", "hub", "Parquet")
    return import_extra("pyarrow", "hub", "Parquet")


_OPENERS = {TableFormat.CSV: _open_csv, TableFormat.JSONL: _open_jsonl, TableFormat.PARQUET: _open_parquet}
