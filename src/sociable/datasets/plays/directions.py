"""Directions in speeches, told by the habit of the play at hand, and words broken over two lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sociable.datasets.plays.records import InlineDirection

_PARENTHESES = re.compile(r"\(([^()]*)\)")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_UNDERSCORED = re.compile(r"_([^_]+)_")
_USUAL = re.compile(
    r"^_?(?:aside|to\s|reads?\b|reading|sings?\b|singing|within\b|exit\b|exeunt\b|enter\b|re-?enter\b|pause|beat\b|off\b|laugh|"
    r"kiss|rises?\b|rising|kneel|giv|tak|dies\b|weep|sigh|smil|turn|going|coming|crossing|whisper|softly|after\s+a\b|with\s+a\b)",
    re.I,
)
_FORMAL = re.compile(r"^_?[“‘\"']?[A-ZÀ-Þ].*[.!?…]_?$", re.S)
_SENTENCE = re.compile(r"^[A-ZÀ-Þ“‘][^!?]*\.$", re.S)
_OPENING = re.compile(r"[\[(_]")
_STOP = re.compile(r"_?\s?[.,;:](?=\s|$)")
_FEW = 3
_BROKEN = re.compile(r"(?<![^\W\d_])(?P<begin>[^\W\d_]{2,})-\n(?P<rest>[^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True)
class DirectionHabit:
    """A play's way to set directions in speeches. Brackets always hold one."""

    parentheses: bool = True
    """Parentheses hold directions; otherwise they are spoken, but for those that can be nothing else."""
    formal_only: bool = False
    """Directions in parentheses begin with a capital; other parentheses are spoken."""
    italics: bool = False
    """A sentence in underscores is a direction; otherwise underscores are stress."""


def find_habit(speeches: Sequence[str]) -> DirectionHabit:
    """The habit seen in a play's raw speeches."""
    brackets = sum(len(_BRACKETS.findall(raw)) for raw in speeches)
    groups = [group for raw in speeches for group in _PARENTHESES.findall(raw)]
    italics = [inner for raw in speeches for inner in _UNDERSCORED.findall(_BRACKETS.sub("", raw))]
    formal = sum(bool(_FORMAL.match(group.strip())) for group in groups)
    sentences = sum(bool(_SENTENCE.match(inner)) for inner in italics)
    if sentences * 2 >= len(italics) and sentences > (brackets + formal) * 2:
        return DirectionHabit(parentheses=formal > 0, formal_only=True, italics=True)
    if brackets >= _FEW and brackets >= len(groups) / 2:
        return DirectionHabit(parentheses=False)
    return DirectionHabit(formal_only=formal >= 0.8 * len(groups))


def split_directions(raw: str, habit: DirectionHabit) -> tuple[str, tuple[InlineDirection, ...]]:
    """The words said, on one line, and the directions apart. Lines of ``raw`` are as printed: a bracket that is never closed
    ends with its line."""
    said, position = "", 0
    found: list[tuple[int, str]] = []
    while opening := _OPENING.search(raw, position):
        said += raw[position : opening.start()]
        end = _find_direction_end(raw, opening.start(), habit)
        if end is None:
            said, position = said + opening[0], opening.end()
            continue
        inner = " ".join(raw[opening.start() : end].strip("_[](){} \n").replace("_", "").split())
        # The stop closes a sentence of the direction, or else of the speech.
        stop, before = _STOP.match(raw, end), said.rstrip()
        is_of_speech = stop is not None and before != "" and before[-1] not in ".!?…:;,—-”’\"'"
        if is_of_speech:
            said = before
        if inner:
            found.append((len(_collapse(said)), inner))
        said += "" if is_of_speech else " "
        position = stop.end() if stop is not None and not is_of_speech else end
    text = _collapse(said + raw[position:]).rstrip()
    return text, tuple(InlineDirection(text=inner, at=min(at, len(text))) for at, inner in found)


def _collapse(text: str) -> str:
    """The text without stress marks and spare white space."""
    return re.sub(r"\s+", " ", text.replace("_", "")).lstrip()


def _find_direction_end(raw: str, start: int, habit: DirectionHabit) -> int | None:
    """The index behind the direction that begins at ``start``; None where none begins."""
    end = find_closing(raw, start)
    if raw[start] == "[":
        newline = raw.find("\n", start)
        return end or (newline if newline > 0 else len(raw))
    if end is not None:
        inner = raw[start + 1 : end - 1].strip()
        is_told = habit.parentheses and (not habit.formal_only or inner[:1].isupper())
        return end if is_told or _USUAL.match(inner) or (inner.startswith("_") and inner.endswith("_")) else None
    if habit.italics and (match := _UNDERSCORED.match(raw, start)) and _is_told(match[1]):
        return match.end() if not raw[start - 1 : start].isalnum() else None
    return None


def _is_told(italics: str) -> bool:
    """Whether words in italics, which mark directions, are a sentence, or several words that nobody shouts or asks."""
    text = italics.strip()
    return bool(_SENTENCE.match(text)) or (text[:1].isupper() and len(text.split()) > 2 and not text.endswith(("!", "?")))


def find_closing(text: str, start: int) -> int | None:
    """The index behind the bracket that closes the one at ``start``; None where no bracket stands there, or none closes it."""
    opens, closes, depth = text[start], {"(": ")", "[": "]"}.get(text[start]), 0
    for position in range(start, len(text)):
        depth += (text[position] == opens) - (text[position] == closes)
        if depth == 0:
            return position + 1
    return None


def make_mender(texts: Iterable[str]) -> Callable[[str], str]:
    """Puts words that were broken by a line's end together again.

    "hand-" and "some" are one word where it stands whole elsewhere in ``texts``, and "narrow-mouthed" keeps its hyphen where it
    does so elsewhere. Anything else stays as printed, for the hyphen may be a dash.
    """
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}

    def mend(broken: re.Match[str]) -> str:
        for word in (broken["begin"] + broken["rest"], f"{broken['begin']}-{broken['rest']}"):
            if word.casefold() in words:
                return word
        return broken[0]

    return lambda text: _BROKEN.sub(mend, text)
