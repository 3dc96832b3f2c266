"""Reading what players and informants reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sociable.core.names import find_person, strip_own_name
from sociable.core.prompts import defuse, put_on_one_line
from sociable.core.records import make_storable
from sociable.dialogue.limits import cut_words
from sociable.models.replies import mend_object

MAX_REPLY = 20_000


def cut_turn(text: str, words: int, name: str) -> tuple[str, int]:
    """(what is said, cut to so many words; how many were cut off). The speaker's own name before it is left out."""
    return cut_words(put_on_one_line(defuse(strip_own_name(make_storable(text[:MAX_REPLY]), [name]))), words)


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
    found = mend_object(text, MAX_REPLY)
    fields = {str(name).casefold(): value for name, value in found.items()} if isinstance(found, dict) else {}
    return fields or None
