"""Headings of acts and scenes, in the forms that printed and typed plays give them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|"
    "primus|secundus|tertius|quartus|quintus|prima|secunda|tertia|quarta|quinta|sexta|septima|octava"
)
_NUMBERS = r"[ivxlc]{1,7}|\d{1,3}[a-z]?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER = rf"(?P<number>{_NUMBERS}|(?:the\s+)?(?:{_ORDINALS}))"
_END = r"(?P<end>[.:,;—–\-\s]*)(?P<rest>.*)$"
_ACT = re.compile(rf"^(?:act|actus)\s+{_NUMBER}\b{_END}", re.I)
_ORDINAL_ACT = re.compile(rf"^(?:the\s+)?(?P<number>{_ORDINALS})\s+act\b{_END}", re.I)
_SCENE = re.compile(rf"^(?:scene|sc\.|sc(?:[ao]?e|[æœ])na)\s+{_NUMBER}\b{_END}", re.I)
_ORDINAL_SCENE = re.compile(rf"^(?:the\s+)?(?P<number>{_ORDINALS})\s+scene\b{_END}", re.I)
_APART = re.compile(
    rf"^(?:the\s+)?(?P<number>prologue|epilogue|induction|intermezzo|interlude|chorus\s+prologue)\b(?!\s+[a-z]){_END}", re.I
)
_SETTING = re.compile(r"^(?:the\s+)?scene\b(?P<rest>\s*(?:[.:—–\-]+.*)?)$", re.I)
_CAST = re.compile(
    r"^(?:the\s+)?(?:dramatis\s+person(?:ae|æ|as|s)|person(?:s|ages|ae|æ)(?:\s+(?:represented|(?:in|of)\s+the\s+(?:play|drama|comedy)))?"
    r"|characters(?:\s+(?:represented|(?:in|of)\s+the\s+(?:play|drama|comedy)))?|(?:the\s+)?cast(?:\s+of\s+(?:the\s+)?characters)?"
    r"|(?:the\s+)?actors(?:['’]?\s+names)?|cast\s+list|names\s+of\s+the\s+actors|people\s+(?:of|in)\s+the\s+play)[.:]?$",
    re.I,
)
_CAST_IN_A_WORD = re.compile(
    r"^(?:The |THE )?(?:People|Participants|Players|Speakers|Roles|PEOPLE|PARTICIPANTS|PLAYERS|SPEAKERS|ROLES):?$"
)
_ENDING = re.compile(r"^(?:the\s+end|finis|end\s+of\s+(?:the\s+)?(?:play|script|film)|fin)[.!]?$", re.I)
_CLOSING = re.compile(
    rf"^(?:the\s+)?(?:end\s+of\s+(?:the\s+)?(?:act|scene|prologue|{_ORDINALS})\b.*|act[-\s]drop|curtain|tableau)[.!]?$", re.I
)
_VALUES = {
    word: value
    for series in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "one two three four five six seven eight nine ten eleven twelve",
        "primus secundus tertius quartus quintus",
        "prima secunda tertia quarta quinta sexta septima octava",
    )
    for value, word in enumerate(series.split(), 1)
}
_ROMAN = re.compile(r"[ivxlc]+", re.I)


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


@dataclass(frozen=True)
class Heading:
    """``label`` as in "Act II" or "Scene IV"; ``rest`` is what the line says after it."""

    kind: HeadingKind
    label: str = ""
    rest: str = ""


def heading_of(line: str) -> Heading | None:
    """What heading a line is; None for any other line. Decoration (underscores, brackets, asterisks) does not matter."""
    text = " ".join(line.split()).strip("_*#=[]<>~ ").strip()
    if not text or len(text) > 160:
        return None
    for kind, pattern in (
        (HeadingKind.CAST, _CAST),
        (HeadingKind.CAST, _CAST_IN_A_WORD),
        (HeadingKind.ENDING, _ENDING),
        (HeadingKind.CLOSING, _CLOSING),
    ):
        if pattern.match(text):
            return Heading(kind, text)
    for kind, word, patterns in (
        (HeadingKind.ACT, "Act", (_ACT, _ORDINAL_ACT)),
        (HeadingKind.SCENE, "Scene", (_SCENE, _ORDINAL_SCENE)),
        (HeadingKind.APART, "", (_APART,)),
    ):
        for pattern in patterns:
            if (match := pattern.match(text)) and _is_whole(match, text):
                number = _numbered(match["number"])
                return Heading(kind, f"{word} {number}".strip(), match["rest"].strip())
    if match := _SETTING.match(text):
        return Heading(HeadingKind.SETTING, "Scene", match["rest"].lstrip(" .:—–-").strip())
    return None


def _is_whole(match: re.Match[str], text: str) -> bool:
    """A sentence such as "Act one of them" is no heading: after the number comes nothing, a stop, or a place."""
    rest = match["rest"]
    if not rest:
        return True
    if match["end"].strip(" "):
        return not rest[0].islower() or bool(re.match(r"(?:scene|sc\.)", rest, re.I))
    return text.split()[0].isupper() or rest[0] in "([_" or bool(re.match(r"(?:scene|sc\.)", rest, re.I))


def _numbered(number: str) -> str:
    """A number in Roman figures, however the heading writes it; what is no number, with a capital."""
    word = re.sub(r"^the\s+", "", number, flags=re.I).casefold()
    if word in _VALUES:
        return roman(_VALUES[word])
    if word.isdigit():
        return roman(int(word))
    return word.upper() if _ROMAN.fullmatch(word) else word.capitalize()


def roman(value: int) -> str:
    parts = []
    for sign, worth in (("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)):
        count, value = divmod(value, worth)
        parts.append(sign * count)
    return "".join(parts)
