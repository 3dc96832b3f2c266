"""Reading which of several lettered options a reply chooses. Nothing is guessed: a reply that names two chooses none."""

from __future__ import annotations

import re

from sociable.core.records import storable
from sociable.models.replies import closing_object, only

_LONE = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_STATED = re.compile(r"\b[Aa]nswer\b(?:\s+is)?[\s:*_`\"'(\[=]*([A-Z])(?=[*_`\"']*(?:\s*[.:,;)\]!]|\s*\Z|\s*\n))")
"""``Answer: B.``, ``the answer is **B**``: a capital with a mark or the end behind it, so no article."""
_MARKED = re.compile(
    r"(?<![\w'])([A-Z])(?=[*_`\"']*[:)\]])|(?:\A|\n)[\s*_`\"'(\[]*([A-Z])(?=[*_`\"']*\.\s)",
)
"""A letter with the mark of a list behind it; a full stop is one at the beginning of a line only."""
_LEADING = re.compile(r"[\s*_`\"'(\[]*(?:[Oo]ption\s+)?([A-Za-z])(?:[*_`\"')\]]*\s*[.:)\-]\s|\Z)")


def parse_choice(text: str, count: int) -> int | None:
    """The place, from 0, of the option chosen among ``count`` lettered from A; None if none can be read.

    A JSON object with the field ``answer``; a lone letter; "Answer: B"; or the one option's letter that the reply marks
    ("B: because …").
    """
    text = storable(text).strip()
    fields = closing_object(text)
    if fields is not None:
        answer = only(fields, "answer")
        found = (_LONE.fullmatch(answer) or _LEADING.match(answer)) if isinstance(answer, str) else None
        return _only_place([found[1]] if found else [], count)
    if lone := _LONE.fullmatch(text):
        return _only_place([lone[1]], count)
    return _only_place(_STATED.findall(text) or [first or second for first, second in _MARKED.findall(text)], count)


def _only_place(letters: list[str], count: int) -> int | None:
    """The place all of the letters that are an option's name, or None."""
    places = {place for letter in letters if 0 <= (place := ord(letter.upper()) - ord("A")) < count}
    return places.pop() if len(places) == 1 else None
