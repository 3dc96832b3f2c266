"""Reading which of several lettered options a reply chooses. Nothing is guessed: a reply that names two chooses none."""

from __future__ import annotations

import re

from sociable.judging.replies import closing_object, only
from sociable.models.protocol import storable

_LONE = re.compile(r"\W*([A-Za-z])\W*")
_STATED = re.compile(r"\b(?:answer|choice|option)\b\W*(?:\bis\b)?\W*\b([A-Z])\b", re.IGNORECASE)
_MARKED = re.compile(r"(?<![\w'])([A-Z])(?=[*_`\"']*\s*[.:)\]])|(?<![\w'])(?!A\b|I\b)([A-Z])(?![\w'])")
"""A letter with a mark of a list behind it, or standing alone; not the article, not the pronoun."""
_LEADING = re.compile(r"[\s*_`\"'(\[]*([A-Za-z])[*_`\"')\]]*\s*[.:)\-]\s")


def parse_choice(text: str, count: int) -> int | None:
    """The place, from 0, of the option chosen among ``count`` lettered from A; None if none can be read.

    A JSON object with the field ``answer``; a lone letter; "Answer: B"; or the one letter that stands in the reply.
    """
    text = storable(text).strip()
    fields = closing_object(text)
    if fields is not None:
        answer = only(fields, "answer")
        return _from_field(answer, count) if isinstance(answer, str) else None
    if lone := _LONE.fullmatch(text):
        return _only_place([lone[1]], count)
    if stated := _STATED.findall(text):
        return _only_place(stated, count)
    return _only_place([first or second for first, second in _MARKED.findall(text)], count)


def _from_field(answer: str, count: int) -> int | None:
    """``B``, ``(b)``, ``B: the ferry``, ``Option B``."""
    if found := _LONE.fullmatch(answer) or _LEADING.match(answer):
        return _only_place([found[1]], count)
    return _only_place(re.findall(r"\b[A-Z]\b", answer), count)


def _only_place(letters: list[str], count: int) -> int | None:
    """The place all of the letters that are an option's name, or None."""
    places = {place for letter in letters if 0 <= (place := ord(letter.upper()) - ord("A")) < count}
    return places.pop() if len(places) == 1 else None
