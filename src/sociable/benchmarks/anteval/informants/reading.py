"""Reading what players and informants reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

from sociable.core.names import find_person, strip_own_name
from sociable.core.prompts import defuse, put_on_one_line
from sociable.core.records import make_storable

MAX_REPLY = 20_000


def cut_words(text: str, words: int, names: Sequence[str] = ()) -> tuple[str, int]:
    """(what is said, cut to so many words; how many were cut off). A speaker's own name before it is left out."""
    spoken = put_on_one_line(defuse(strip_own_name(make_storable(text[:MAX_REPLY]), list(names)))).split()
    return " ".join(spoken[:words]), max(len(spoken) - words, 0)


@dataclass(frozen=True, slots=True)
class Said:
    """A player's turn as it was read."""

    text: str
    to: str = ""
    """The one who is spoken to; empty: nobody in particular."""
    aside: bool = False
    problem: str = ""
    """What could not be read."""


def read_turn(text: str, others: Sequence[str]) -> Said:
    """A reply without an object is words to nobody in particular; one without words, or to somebody unknown, has a problem."""
    found = _find_object(text)
    if found is None:
        return Said(text, problem="no object could be read; taken for words to nobody" if "{" in text else "")
    said, to = found.get("say"), found.get("to")
    if not isinstance(said, str):
        return Said("", problem="no 'say' in the reply")
    named = to if isinstance(to, str) else ""
    person = find_person(named, list(others), {}) or ""
    aside = bool(person) and str(found.get("aside")).casefold() in ("true", "yes")
    return Said(said, person, aside, "" if person or not named else f"nobody here is called '{named[:40]}'")


def _find_object(text: str) -> dict[str, Any] | None:
    """The object in a reply, its fields in small letters; None where none can be read."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found = json_repair.loads(make_storable(text)[start:MAX_REPLY])
    except RecursionError:
        return None
    fields = {str(name).casefold(): value for name, value in found.items()} if isinstance(found, dict) else {}
    return fields or None
