"""Reading which of several lettered options a reply chooses. Nothing is guessed: a reply that names two chooses none."""

from __future__ import annotations

import re

from sociable.core.records import storable
from sociable.judging.protocol import Answer, Reading, Unread
from sociable.models.replies import MAX_REASON, find_closing_object, find_field

_LONE = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
_STATED = re.compile(r"\b[Aa]nswer\b(?:\s+is)?[\s:*_`\"'(\[=]*([A-Z])(?=[*_`\"']*(?:\s*[.:,;)\]!]|\s*\Z|\s*\n))")
"""``Answer: B.``, ``the answer is **B**``: a capital with a mark or the end behind it, so no article."""
_MARKED = re.compile(
    r"(?<![\w'])([A-Z])(?=[*_`\"']*[:)\]])|(?:\A|\n)[\s*_`\"'(\[]*([A-Z])(?=[*_`\"']*\.\s)",
)
"""A letter with the mark of a list behind it; a full stop is one at the beginning of a line only."""
_LEADING = re.compile(r"[\s*_`\"'(\[]*(?:[Oo]ption\s+)?([A-Za-z])(?:[*_`\"')\]]*\s*[.:)\-]\s|\Z)")


def parse_choice(text: str, count: int) -> Reading[int]:
    """The place, from 0, of the option that a reply chooses among ``count`` lettered from A.

    A JSON object with the field ``answer``; a lone letter; "Answer: B"; or the one option's letter that the reply marks
    ("B: because …").
    """
    text = storable(text).strip()
    letters: list[str]
    if (fields := find_closing_object(text)) is not None:
        answer = find_field(fields, "answer")
        found = (_LONE.fullmatch(answer) or _LEADING.match(answer)) if isinstance(answer, str) else None
        letters = [found[1]] if found else []
    elif lone := _LONE.fullmatch(text):
        letters = [lone[1]]
    else:
        letters = _STATED.findall(text) or [first or second for first, second in _MARKED.findall(text)]
    places = {place for letter in letters if 0 <= (place := ord(letter.upper()) - ord("A")) < count}
    return Answer(places.pop(), text[:MAX_REASON]) if len(places) == 1 else Unread("no choice in the reply", text[:MAX_REASON])
