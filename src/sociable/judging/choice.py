"""Reading which of several lettered options a reply chooses. Nothing is guessed: a reply that names two chooses none."""

from __future__ import annotations

import re

from sociable.judging.replies import closing_object, only
from sociable.models.protocol import storable

_LONE = re.compile(r"[\s*_`\"'(\[]*([A-Za-z])[\s*_`\"')\].:]*")
_OPENING = re.compile(r"[\s*_`\"'(\[]*([A-Z])[*_`\"')\]]*\s*[.:)\-]\s")
_CLOSING = re.compile(
    r"(?:\A|[\n.!?])\W*(?:(?:so|but|thus|hence|therefore|my|the|final|correct)\s+)*answer\W*(?:\bis\b)?\W*\b([A-Z])\b[^A-Za-z]*\Z",
    re.IGNORECASE,
)


def parse_choice(text: str, count: int) -> int | None:
    """The place, from 0, of the option chosen among ``count`` lettered from A; None if none can be read.

    A JSON object with the field ``answer``, a lone letter, "Answer: B", or the letter that the reply begins with
    ("B: because …"), unless "answer" names another at its end.
    """
    text = storable(text).strip()
    fields = closing_object(text)
    if fields is not None:
        answer = only(fields, "answer")
        return _place(_LONE.fullmatch(answer) or _OPENING.match(answer), count) if isinstance(answer, str) else None
    if lone := _LONE.fullmatch(text):
        return _place(lone, count)
    opening, closing = _place(_OPENING.match(text), count), _place(_CLOSING.search(text[-200:]), count)
    if None not in (opening, closing) and opening != closing:
        return None
    return closing if closing is not None else opening


def _place(match: re.Match[str] | None, count: int) -> int | None:
    if match is None:
        return None
    place = ord(match[1].upper()) - ord("A")
    return place if place < count else None
