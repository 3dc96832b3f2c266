"""The items under review: records of a data set, and what people make of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sociable.core.data_files import read_records
from sociable.core.errors import DataError, InputError
from sociable.datasets.build import DATASET

DEEPEST = 100
"""Levels of objects and lists in a record: beyond what anybody can read."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A record of the data set, with where it stands."""

    id: str
    record: Mapping[str, Any]
    digest: str
    place: str

    @property
    def cluster(self) -> str:
        """What it is no independent sample of: cases share a dialogue, scenarios a template."""
        return str(self.record.get("dialogue") or self.record.get("template_idx") or self.id)


def load_items_of(folder: Path) -> dict[str, ReviewItem]:
    """The records of ``folder/dataset.jsonl`` by id. Raises DataError naming line and field, InputError where there are none."""
    file = folder / DATASET
    if not file.exists():
        raise InputError(f"{file}: no such file. A construction writes it; or put yours there, an object with an 'id' a line.")
    items: dict[str, ReviewItem] = {}
    for raw in read_records(file, None):
        if not isinstance(raw.value, dict):
            raise DataError(raw.place, "", f"expected an object with an 'id', found {type(raw.value).__name__}")
        given = raw.value.get("id")
        if isinstance(given, bool) or not isinstance(given, (str, int)) or not str(given).strip():
            raise DataError(raw.place, "id", "expected a text that tells this record from the others; add one")
        try:
            item = ReviewItem(str(given), raw.value, record_digest(raw.value), raw.place)
        except InputError as problem:
            raise DataError(raw.place, "", str(problem)) from None
        if item.id in items:
            raise DataError(raw.place, "id", f"'{item.id[:80]}' is used already by {items[item.id].place}; ids must be unique")
        items[item.id] = item
    if not items:
        raise InputError(f"{file}: nothing in it. Expected an object with an 'id' a line.")
    return items


def parse_fix(text: str, item: ReviewItem) -> dict[str, Any]:
    """The record that somebody made of an item in an editor. Raises InputError in a way that helps to mend it."""
    try:
        record = json.loads(text)
    except RecursionError:
        raise InputError("It has too many levels.") from None
    except ValueError as error:
        raise InputError(f"That is not JSON: {error}.") from None
    if not isinstance(record, dict):
        raise InputError(f"Expected an object, in {{ }}, found {type(record).__name__}.")
    return _checked_fix(record, item)


def shown_json(record: Mapping[str, Any]) -> str:
    """A record as it stands in an editor."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def fix_field(item: ReviewItem, record: Mapping[str, Any], path: str, value: str) -> dict[str, Any]:
    """``record`` with a new value in one field, named as it is or by a path (``cast.0.goal``).

    ``value`` is taken as the text it is where a text stood there, and read as JSON elsewhere. Raises InputError.
    """
    copy: dict[str, Any] = json.loads(json.dumps(record))
    inside, last = _parent(copy, [path] if path in copy else path.split("."), path)
    if isinstance(inside[last], str):
        inside[last] = value
        return _checked_fix(copy, item)
    try:
        inside[last] = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is no text now, so its new value must be JSON: {error}.") from None
    return _checked_fix(copy, item)


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """What stands at a path as in ``fix_field``. Raises InputError where nothing does."""
    inside, last = _parent(dict(record), [path] if path in record else path.split("."), path)
    return inside[last]


def _parent(record: dict[str, Any], steps: Sequence[str], path: str) -> tuple[Any, Any]:
    """What holds the field, and its name or place there."""
    inside: Any = record
    for number, step in enumerate(steps):
        name: str | int = int(step) if isinstance(inside, list) and step.isdecimal() else step
        known = isinstance(inside, dict) and name in inside
        if not known and not (isinstance(inside, list) and isinstance(name, int) and name < len(inside)):
            fields = inside if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
            there = ", ".join(map(str, list(fields)[:20])) or "nothing"
            raise InputError(f"There is no field '{path[:80]}': at '{step[:40]}' there is {there}.")
        if number == len(steps) - 1:
            return inside, name
        inside = inside[name]
    raise InputError("Name a field.")


def _checked_fix(record: dict[str, Any], item: ReviewItem) -> dict[str, Any]:
    if record.get("id") != item.record["id"]:
        raise InputError("The 'id' must stay as it is: the others know the item by it.")
    if record_digest(record) == item.digest:
        raise InputError("Nothing is changed. Change something, or keep the item.")
    return record


def record_digest(value: Any) -> str:
    """Of a record, whatever the order of its fields. Raises InputError where it cannot be written as JSON in UTF-8."""
    if _deeper_than(value, DEEPEST):
        raise InputError(f"it has more than {DEEPEST} levels of objects and lists; make it flatter")
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("it holds half a character (\\ud800 to \\udfff), which no file can; write it whole") from None
    except ValueError:
        raise InputError("it holds a number that JSON does not have (NaN, Infinity); write null") from None
    return hashlib.sha256(text).hexdigest()


def _deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        inside = [each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, (dict, list))]
        layer = [part for parts in inside for part in parts]
        if not layer:
            return False
    return True


def outline(value: Any) -> str:
    """A value for people to read: texts as they are, what is inside of objects and lists indented line by line."""
    return "\n".join(_lines(value))


_TURN = {"role_from", "role_to", "content"}


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and _TURN <= value.keys() <= _TURN | {"index"}:
        # As a conversation is read.
        return f"{value['role_from']} → {value['role_to']}: {value['content']}".split("\n")
    if isinstance(value, str):
        return value.split("\n")
    if not isinstance(value, (dict, list)) or not value:
        return [json.dumps(value)]
    named = value.items() if isinstance(value, dict) else ((str(number), part) for number, part in enumerate(value))
    lines = []
    for name, part in named:
        first, *more = _lines(part)
        nested = bool(part) and isinstance(part, (dict, list))
        lines += [f"{name}:", f"  {first}"] if nested else [f"{name}: {first}"]
        lines += [f"  {line}" for line in more]
    return lines
