"""Reading the JSON object that a reply ends with. What is no JSON, or says a thing twice, says nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import json_repair

from sociable.core.records import make_storable

MAX_REASON = 2000
"""Characters of a judge's reason that are kept."""

Fields = list[tuple[str, Any]]
"""The fields of a JSON object in their order; of objects within it, too."""

UNREADABLE: Fields = []
"""The stand-in for an object that is no JSON: it has no fields."""

_AFTER_OBJECT = re.compile(r"[\s\])*`.]*")


def find_closing_object(text: str) -> Fields | None:
    """The fields of the object from the first brace to the last, if nothing but closing marks follows.

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


def mend_object(text: str, longest: int) -> Any:
    """What stands from the first brace of a text on, mended where it is no JSON: of several objects the first.

    None where there is no brace, or nothing that can be mended. ``longest``: characters that are looked at.
    """
    text = make_storable(text)[:longest]
    start = text.find("{")
    try:
        found: Any = json_repair.loads(text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    return next((each for each in found if isinstance(each, dict)), found) if isinstance(found, list) else found


def find_last_value(text: str, name: str) -> str:
    """The value of the last field of a closing object that is no JSON for its quotation marks; empty where it is in doubt.

    The field must be named once in the whole text and end the object: what stands before it, a reason with a quotation in
    it, say, does not matter then.
    """
    key = rf"""["'“‘]?\b{re.escape(name)}\b["'”’]?\s*:\s*"""
    last = re.search(rf"""{key}\[?\s*["'“‘]?([^"'“”‘’\[\]{{}}:,]*)["'”’]?\s*\]?\s*\}}[\s\])*`.]*\Z""", text)
    return last[1].strip() if last and len(re.findall(key, text)) == 1 else ""


def find_field(fields: Fields | None, name: str) -> Any:
    """The value of a field that stands there exactly once, or None."""
    values = [value for key, value in fields or () if key == name]
    return values[0] if len(values) == 1 else None


def find_reason(fields: Fields | None) -> str:
    """The field ``reason`` as text, cut at ``MAX_REASON`` characters; empty when there is none."""
    return make_storable(str(dict(fields or ()).get("reason", "")))[:MAX_REASON]


def make_schema(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object that has these properties, all of them, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
