"""Reading a judge's verdict.

Judges answer 0 (equal), 1 (the first response is better) or 2 (the second is better), the three figures of HSII's
rebuttal. Nothing is guessed: a reply that does not give exactly one verdict gives none.
"""

from __future__ import annotations

import re
from enum import IntEnum

from sociable.core.records import storable
from sociable.models.replies import closing_object, only, text_of

MAX_REASON = 2000
"""Characters of a judge's reason that are kept."""


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

_FIGURE = r"""verdict[\s"'*_`]*(?:\bis\b|[:=])[\s"'*_`]*"""
_STATED = re.compile(_FIGURE + r"(-?\d+(?:[.,/]\d+)*)", re.IGNORECASE)
_CLOSING = re.compile(
    r"""(?:\A|[\n.!?,{])[\s*_`#>"'-]*(?:(?:so|thus|therefore|hence|my|the|final|overall)\s+)*"""
    + _FIGURE
    + r"""([012])[\s"'*_`.!})\]]*\Z""",
    re.IGNORECASE,
)
_CLOSING_CHARACTERS = 200
_LONE = re.compile(r"[\s*\"'`]*([012])[\s*\"'`.]*")


def parse_verdict(text: str) -> tuple[Preference | None, str]:
    """(the preference or None, the reason given).

    The verdict is what the reply ends with: a JSON object, or a statement in words. One in the midst of it may be
    quoted from a response that asks for it. Several statements count only if they agree.
    """
    text = storable(text).strip()
    if (found := _from_json(text)) is not None:
        return found
    reason = text[:MAX_REASON]
    if lone := _LONE.fullmatch(text):
        return Preference(int(lone.group(1))), ""
    if closing := _CLOSING.search(text[-_CLOSING_CHARACTERS:]):
        figure = closing.group(1)
        if {figure} == set(_STATED.findall(text)):
            return Preference(int(figure)), reason
    return None, reason


def _from_json(text: str) -> tuple[Preference | None, str] | None:
    fields = closing_object(text)
    if not fields or "verdict" not in dict(fields):
        return None
    reason = text_of(fields, "reason", MAX_REASON)
    verdict = only(fields, "verdict")
    if isinstance(verdict, str):
        verdict = verdict.strip()
    if verdict in ("0", "1", "2") or (type(verdict) is int and verdict in (0, 1, 2)):
        return Preference(int(verdict)), reason
    return None, reason
