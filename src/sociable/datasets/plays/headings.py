"""Headings of acts and scenes, in the forms that printed and typed plays give them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth",
    "primus secundus tertius quartus quintus",
    "prima secunda tertia quarta quinta sexta septima octava",
)
_CARDINALS = "one two three four five six seven eight nine ten eleven twelve"
_VALUES = {word: value for series in (*_ORDINALS, _CARDINALS) for value, word in enumerate(series.split(), 1)}
_ORDINAL = "|".join([*" ".join(_ORDINALS).split(), "last"])
_NUMBER = rf"[ivxlc]{{1,7}}|\d{{1,3}}[a-z]?|{_CARDINALS.replace(' ', '|')}|(?:the\s+)?(?:{_ORDINAL})"
_END = r"\b(?P<end>[.:,;—–\-\s]*)(?P<rest>.*)$"
_ROMAN = re.compile(r"[ivxlc]+", re.I)
_ROMAN_SIGNS = (("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1))


class HeadingKind(Enum):
    ACT = auto()
    SCENE = auto()
    APART = auto()
    """A prologue or its like: an act of its own before the first, otherwise a scene of the act it stands in."""
    CAST = auto()
    SETTING = auto()
    """ "SCENE" without a number: what follows says where it is."""
    CLOSING = auto()
    """The end of an act, or its curtain."""
    ENDING = auto()
    """The end of the play."""

    @property
    def is_division(self) -> bool:
        return self in (HeadingKind.ACT, HeadingKind.SCENE, HeadingKind.APART)


_PLAY = r"(?:\s+(?:represented|(?:in|of)\s+the\s+(?:play|drama|comedy)))?"
_CAST = (
    rf"(?:the\s+)?(?:dramatis\s+person(?:ae|æ|as|s)|person(?:s|ages|ae|æ){_PLAY}|characters{_PLAY}"
    r"|(?:the\s+)?cast(?:\s+of\s+(?:the\s+)?characters)?|(?:the\s+)?actors(?:['’]?\s+names)?|cast\s+list"
    r"|names\s+of\s+the\s+actors|people\s+(?:of|in)\s+the\s+play)[.:]?"
)
_CAST_IN_A_WORD = (
    "(?-i:(?:The |THE )?(?:People|Participants|Players|Speakers|Roles|PEOPLE|PARTICIPANTS|PLAYERS|SPEAKERS|ROLES):?)"
)
_ENDING = r"(?:the\s+end|finis|end\s+of\s+(?:the\s+)?(?:play|script|film)|fin)[.!]?"
_CLOSING = rf"(?:the\s+)?(?:end\s+of\s+(?:the\s+)?(?:act|scene|prologue|{_ORDINAL})\b.*|act[-\s]drop|curtain|tableau)[.!]?"
_ACT = rf"(?:act|actus)\s+(?P<number>{_NUMBER})"
_SCENE = rf"(?:scene|sc\.|sc(?:[ao]?e|[æœ])na)\s+(?P<number>{_NUMBER})"
_APART = r"(?:the\s+)?(?P<number>prologue|epilogue|induction|intermezzo|interlude|chorus\s+prologue)\b(?!\s+[a-z])"
_WHOLE_LINES = [
    (HeadingKind.CAST, re.compile(f"{_CAST}|{_CAST_IN_A_WORD}", re.I)),
    (HeadingKind.ENDING, re.compile(_ENDING, re.I)),
    (HeadingKind.CLOSING, re.compile(_CLOSING, re.I)),
]
_NUMBERED = [
    (HeadingKind.ACT, "Act", re.compile(_ACT + _END, re.I)),
    (HeadingKind.ACT, "Act", re.compile(rf"(?:the\s+)?(?P<number>{_ORDINAL})\s+act{_END}", re.I)),
    (HeadingKind.SCENE, "Scene", re.compile(_SCENE + _END, re.I)),
    (HeadingKind.SCENE, "Scene", re.compile(rf"(?:the\s+)?(?P<number>{_ORDINAL})\s+scene{_END}", re.I)),
    (HeadingKind.APART, "", re.compile(_APART + _END, re.I)),
]
_SETTING = re.compile(r"(?:the\s+)?scene\b(?P<rest>\s*(?:[.:—–\-]+.*)?)", re.I)


@dataclass(frozen=True)
class Heading:
    """``label`` as in "Act II" or "Scene IV"; ``rest`` is what the line says after it."""

    kind: HeadingKind
    label: str = ""
    rest: str = ""


def find_heading(line: str) -> Heading | None:
    """The heading that a line is; None for any other line. Decoration (underscores, brackets, asterisks) does not matter."""
    text = " ".join(line.split()).strip("_*#=[]<>~ ").strip()
    if not text or len(text) > 160:
        return None
    for kind, pattern in _WHOLE_LINES:
        if pattern.fullmatch(text):
            return Heading(kind, text)
    for kind, word, pattern in _NUMBERED:
        if (match := pattern.fullmatch(text)) and _is_whole(match, text):
            return Heading(kind, f"{word} {_to_number(match['number'])}".strip(), match["rest"].strip())
    if match := _SETTING.fullmatch(text):
        return Heading(HeadingKind.SETTING, "Scene", match["rest"].lstrip(" .:—–-").strip())
    return None


def _is_whole(match: re.Match[str], text: str) -> bool:
    """A sentence such as "Act one of them" is no heading: after the number comes nothing, a stop, or a place."""
    rest = match["rest"]
    if not rest or re.match(r"(?:scene|sc\.)", rest, re.I):
        return True
    return not rest[0].islower() if match["end"].strip(" ") else text.split()[0].isupper() or rest[0] in "([_"


def _to_number(number: str) -> str:
    """A number in Roman figures, however the heading writes it; what is no number, with a capital."""
    word = re.sub(r"^the\s+", "", number, flags=re.I).casefold()
    if word in _VALUES or word.isdigit():
        return to_roman(_VALUES.get(word) or int(word))
    return word.upper() if _ROMAN.fullmatch(word) else word.capitalize()


def to_roman(value: int) -> str:
    figures = ""
    for sign, worth in _ROMAN_SIGNS:
        count, value = divmod(value, worth)
        figures += sign * count
    return figures
