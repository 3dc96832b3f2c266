"""Reading the JSON object that a reply ends with. What is no JSON, or says a thing twice, says nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from sociable.core.records import storable

_AFTER_OBJECT = re.compile(r"[\s\])*`.]*")

UNREADABLE: list[tuple[str, Any]] = []
"""What stands for an object that is no JSON: it has no fields."""


def closing_object(text: str) -> list[tuple[str, Any]] | None:
    """The fields of the object from the first brace to the last, in their order, if nothing but closing marks follows.

    None when there is no such object; ``UNREADABLE`` when there is one and it is no JSON.
    """
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end or not _AFTER_OBJECT.fullmatch(text, end + 1):
        return None
    try:
        pairs = json.loads(text[start : end + 1], strict=False, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return UNREADABLE
    return pairs if isinstance(pairs, list) else UNREADABLE


def only(fields: list[tuple[str, Any]], name: str) -> Any:
    """The value of a field that stands there exactly once, or None."""
    values = [value for key, value in fields if key == name]
    return values[0] if len(values) == 1 else None


def text_of(fields: list[tuple[str, Any]], name: str, limit: int) -> str:
    """A field as text, cut at ``limit`` characters; empty when there is none."""
    return storable(str(dict(fields).get(name, "")))[:limit]
