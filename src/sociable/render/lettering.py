"""Fits text into the room a figure has for it, without knowing the reader's fonts.

Widths are guessed on the wide side: a label may end a little early, but it never runs into its neighbour.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_NARROW = frozenset("iIjlt.,:;'|!()[]{}/ ·‘’ﬁ")
_BROAD = frozenset("mwMW@%—…&æœÆŒ")
_OPERATORS = frozenset("<>=+~^#|×÷±¬")

# In parts of the size. DejaVu Sans and Verdana, the widest fonts anybody reads reports in, are the measure.
_NARROW_EM = 0.4
_USUAL_EM = 0.64
_CAPITAL_EM = 0.79
_OPERATOR_EM = 0.86
_BROAD_EM = 1.02
_FULL_EM = 1.06
_UNKNOWN_EM = 1.4
_LAST_WELL_KNOWN = 0x052F  # Latin, Greek and Cyrillic; the letters of other scripts may be far wider


def width_of(text: str, size: float) -> float:
    return size * sum(_ems(character) for character in text)


def fitted(text: str, room: float, size: float) -> str:
    """The text, or its beginning and its end around an ellipsis: names of models differ at both."""
    if width_of(text, size) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        tail = kept // 3
        shorter = f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"
        if width_of(shorter, size) <= room:
            return shorter
    return "…"


def wrapped(text: str, room: float, size: float, lines: int) -> Sequence[str]:
    """The text on at most so many lines, broken between words; what is left over is cut into the last."""
    words = text.split()
    done: list[str] = []
    while words and len(done) < lines - 1:
        line = _words_that_fit(words, room, size)
        done.append(fitted(" ".join(line), room, size))
        words = words[len(line) :]
    return [*done, fitted(" ".join(words), room, size)] if words else done


def _words_that_fit(words: Sequence[str], room: float, size: float) -> Sequence[str]:
    """At least one, however long."""
    count = 1
    while count < len(words) and width_of(" ".join(words[: count + 1]), size) <= room:
        count += 1
    return words[:count]


def _ems(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if character in _NARROW:
        return _NARROW_EM
    if character in _BROAD:
        return _BROAD_EM
    if character in _OPERATORS:
        return _OPERATOR_EM
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _FULL_EM if unicodedata.category(character).startswith("L") else _UNKNOWN_EM
    if ord(character) <= _LAST_WELL_KNOWN or unicodedata.category(character) in ("Pd", "Pi", "Pf", "Zs"):
        return _CAPITAL_EM if character.isupper() else _USUAL_EM
    return _UNKNOWN_EM
