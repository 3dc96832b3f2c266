"""Reading what somebody says it knows: a list of claims, none of them longer than a claim can be."""

from __future__ import annotations

import json
import re

from sociable.core.records import storable

LONGEST_CLAIM = 400
"""Characters of a claim that count; a whole retelling is no claim."""

_LIST = re.compile(r'"claims"\s*:\s*\[')
_STRING = re.compile(r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")


UNREADABLE = "nothing could be read"


def read_claims(text: str, most: int) -> tuple[list[str], str]:
    """(claims, what was noticed; ``UNREADABLE`` where nothing could be read).

    Those of the object asked for, whole or cut off; or else one claim a line of a list.
    """
    found, note = _in_json(text)
    if found is None:
        found = [_BULLET.sub("", line) for line in text.splitlines() if _BULLET.match(line)]
        note = "no JSON; read as a list" if found else UNREADABLE
    claims = [storable(" ".join(each.split()))[:LONGEST_CLAIM] for each in found if each.strip()]
    if len(claims) > most:
        note = "; ".join(filter(None, (note, f"{len(claims)} claims; the first {most} count")))
    return claims[:most], note


def _in_json(text: str) -> tuple[list[str] | None, str]:
    """The texts in the list of claims, wherever in the reply it stands. A reply that says two lists says none."""
    begun = list(_LIST.finditer(text))
    if len(begun) != 1:
        return None, ""
    start = begun[0].end() - 1
    try:
        listed, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except RecursionError:
        return None, ""
    except ValueError:
        # Cut off: what was written out is whole.
        return [json.loads(each, strict=False) for each in _STRING.findall(text, start)], "the list was cut off"
    texts = [each for each in listed if isinstance(each, str)]
    return texts, "" if len(texts) == len(listed) else f"{len(listed) - len(texts)} entries were no text"
