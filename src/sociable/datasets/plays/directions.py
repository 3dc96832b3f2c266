"""What is printed as a speech: the directions in it, by the habit of the play at hand, and words broken over two lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
_FEW = 3
_BROKEN = re.compile(r"(?<![^\W\d_])(?P<begin>[^\W\d_]{2,})-\n(?P<rest>[^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True)
class DirectionHabit:
    """How a play sets directions in speeches. Brackets always hold one."""

    parentheses: bool = True
    """Parentheses hold directions; otherwise they are spoken, but for those that can be nothing else."""
    formal_only: bool = False
    """Directions in parentheses begin with a capital; other parentheses are spoken."""
    italics: bool = False
    """A sentence in underscores is a direction; otherwise underscores are stress."""


def habit_of(speeches: Iterable[str]) -> DirectionHabit:
    """The habit seen in a play's raw speeches."""
    brackets, groups = 0, []
    italics: list[str] = []
    for raw in speeches:
        brackets += len(_BRACKETS.findall(raw))
        groups += _PARENTHESES.findall(raw)
        italics += _UNDERSCORED.findall(_BRACKETS.sub("", raw))
    formal = sum(bool(_FORMAL.match(group.strip())) for group in groups)
    sentences = sum(bool(_SENTENCE.match(inner)) for inner in italics)
    if sentences * 2 >= len(italics) and sentences > (brackets + formal) * 2:
        return DirectionHabit(parentheses=formal > 0, formal_only=True, italics=True)
    if brackets >= _FEW and brackets >= len(groups) / 2:
        return DirectionHabit(parentheses=False)
    return DirectionHabit(formal_only=formal >= 0.8 * len(groups))


def split_directions(raw: str, habit: DirectionHabit) -> tuple[str, tuple[InlineDirection, ...]]:
    """What is said, on one line, and the directions apart. Lines of ``raw`` are as printed: a bracket that is never closed ends
    with its line."""
    said: list[str] = []
    found: list[tuple[int, str]] = []
    position = 0
    while position < len(raw):
        end = _direction_end(raw, position, habit)
        if end is None:
            said.append(raw[position])
            position += 1
            continue
        if inner := _plain(raw[position:end].strip("_[](){} \n")):
            found.append((len(said), inner))
        # The stop that closes a sentence of the direction, not of the speech.
        rest = raw[end:]
        stop = re.match(r"_?\s?[.,;:](?=\s|$)", rest)
        before = "".join(said[-3:]).rstrip()
        if stop and before and before[-1] not in ".!?…:;,—-”’\"'":
            while said[-1].isspace():
                said.pop()
            if inner:
                found[-1] = (len(said), inner)
            position = end
            continue
        position = end + (stop.end() if stop else 0)
        said.append(" ")
    text, offsets = _collapsed("".join(said))
    return text, tuple(InlineDirection(text=inner, at=min(offsets[at], len(text))) for at, inner in found)


def _direction_end(raw: str, start: int, habit: DirectionHabit) -> int | None:
    """Where the direction that begins at ``start`` ends; None where none begins."""
    if raw[start] == "[":
        end = find_closing(raw, start)
        if end is None:
            newline = raw.find("\n", start)
            return len(raw) if newline < 0 else newline
        return end
    if raw[start] == "(":
        end = find_closing(raw, start)
        if end is None:
            return None
        inner = raw[start + 1 : end - 1].strip()
        if habit.parentheses and not habit.formal_only:
            return end
        is_formal = habit.parentheses and inner[:1].isupper()
        return end if is_formal or _USUAL.match(inner) or (inner.startswith("_") and inner.endswith("_")) else None
    if habit.italics and raw[start] == "_" and (match := _UNDERSCORED.match(raw, start)) and _is_told(match[1]):
        return match.end() if not raw[start - 1 : start].isalnum() else None
    return None


def _is_told(italics: str) -> bool:
    """In a play that sets directions in italics: a sentence, or several words that nobody shouts or asks."""
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


def _plain(text: str) -> str:
    return " ".join(text.replace("_", "").split())


def _collapsed(text: str) -> tuple[str, list[int]]:
    """``text`` without stress marks and spare white space, and for every position where it has gone."""
    kept: list[str] = []
    offsets = []
    for sign in text:
        offsets.append(len(kept))
        if sign == "_":
            continue
        if sign.isspace():
            if kept and kept[-1] != " ":
                kept.append(" ")
            continue
        kept.append(sign)
    offsets.append(len(kept))
    result = "".join(kept).rstrip()
    return result, offsets


def mender_of(texts: Iterable[str]) -> Callable[[str], str]:
    """Puts words that were broken by a line's end together again.

    "hand-" and "some" are one word where it stands whole elsewhere in ``texts``, and "narrow-mouthed" keeps its hyphen where it
    does so elsewhere. Anything else stays as printed, for the hyphen may be a dash.
    """
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}

    def whole(broken: re.Match[str]) -> str:
        for word in (broken["begin"] + broken["rest"], f"{broken['begin']}-{broken['rest']}"):
            if word.casefold() in words:
                return word
        return broken[0]

    return lambda text: _BROKEN.sub(whole, text)
