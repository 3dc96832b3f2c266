"""Reading what players and informants reply."""

from __future__ import annotations

from collections.abc import Sequence

import json_repair

from sociable.core.names import find_person, strip_own_name
from sociable.core.prompts import defuse, put_on_one_line
from sociable.core.records import make_storable

MAX_REPLY = 20_000


def cut_words(text: str, words: int, names: Sequence[str] = ()) -> tuple[str, int]:
    """(what is said, cut to so many words; how many were cut off). A speaker's own name before it is left out."""
    spoken = put_on_one_line(defuse(strip_own_name(make_storable(text[:MAX_REPLY]), list(names)))).split()
    return " ".join(spoken[:words]), max(len(spoken) - words, 0)


def read_turn(text: str, others: Sequence[str]) -> tuple[str, str, bool]:
    """(what is said, to whom, whether aside). A reply without an object is words to nobody in particular."""
    start = text.find("{")
    found = json_repair.loads(make_storable(text)[start:MAX_REPLY]) if start >= 0 and '"say"' in text else None
    if not isinstance(found, dict):
        return text, "", False
    said, to = (found[name] if isinstance(found.get(name), str) else "" for name in ("say", "to"))
    person = find_person(to, list(others), {}) or ""
    return said, person, bool(person) and found.get("aside") in (True, "true", "yes")
