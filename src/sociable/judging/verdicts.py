"""Reading a judge's verdict.

Judges answer 0 (equal), 1 (the first response is better) or 2 (the second is better), the three figures of HSII's
rebuttal. Nothing is guessed: a reply that does not give exactly one verdict gives none.
"""

from __future__ import annotations

import json
import re
from enum import IntEnum


class Preference(IntEnum):
    """What a judge preferred, by position."""

    EQUAL = 0
    FIRST = 1
    SECOND = 2


VERDICT_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"type": "integer", "enum": [0, 1, 2]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}

_STATED = re.compile(r"""["']?verdict["']?\s*(?:is|[:=])?\s*["'*]*\s*(\d+)(?!\s*(?:\.\d|or|/|,\s*\d))""", re.IGNORECASE)
_LONE = re.compile(r"^[\s*\"'`.]*([012])[\s*\"'`.]*$")


def parse_verdict(text: str) -> tuple[Preference | None, str]:
    """(the preference or None, the reason given). Several statements count only if they agree."""
    if (found := _from_json(text)) is not None:
        return found
    if lone := _LONE.match(text):
        return Preference(int(lone.group(1))), ""
    stated = {int(figure) for figure in _STATED.findall(text[-4000:])}
    if len(stated) == 1 and (figure := stated.pop()) in (0, 1, 2):
        return Preference(figure), text.strip()[:2000]
    return None, text.strip()[:2000]


def _from_json(text: str) -> tuple[Preference | None, str] | None:
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        data = json.loads(text[start : end + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or "verdict" not in data:
        return None
    verdict, reason = data["verdict"], str(data.get("reason", ""))[:2000]
    if isinstance(verdict, str) and verdict.strip() in ("0", "1", "2"):
        verdict = int(verdict)
    if isinstance(verdict, int) and not isinstance(verdict, bool) and verdict in (0, 1, 2):
        return Preference(verdict), reason
    return None, reason
