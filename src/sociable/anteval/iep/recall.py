"""Reading what somebody says it knows: a list of claims, none of them longer than a claim can be."""

from __future__ import annotations

import re

from sociable.judging.replies import closing_object, only
from sociable.models.protocol import storable

LONGEST_CLAIM = 400
"""Characters of a claim that count; a whole retelling is no claim."""

_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")


def read_claims(text: str, most: int) -> tuple[list[str], str]:
    """(claims, what was noticed). The object asked for, or else one claim a line of a list."""
    fields = closing_object(text)
    value = only(fields, "claims") if fields else None
    note = ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        found = value
    else:
        found = [_BULLET.sub("", line) for line in text.splitlines() if _BULLET.match(line)]
        note = "no JSON; read as a list" if found else "nothing could be read"
    claims = [storable(" ".join(each.split()))[:LONGEST_CLAIM] for each in found if each.strip()]
    if len(claims) > most:
        note = "; ".join(filter(None, (note, f"{len(claims)} claims; the first {most} count")))
    return claims[:most], note
