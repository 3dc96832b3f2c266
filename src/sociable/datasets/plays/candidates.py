"""What speech headings a line of plain text could begin with, each in the style in which it would stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sociable.datasets.plays.directions import find_closing
from sociable.datasets.plays.headings import heading_of
from sociable.datasets.plays.spelling import is_capitals
from sociable.datasets.plays.wordlists import ABBREVIATED_TITLES, NO_NAMES, SMALL, SOUNDS, TITLES

ALONE = "alone"
PARTED = re.compile(r"\s*,?\s+(?:and|&)\s+|\s*[&,/]\s*")
"""What stands between the names of several who speak together."""
NUMERAL = re.compile(r"[1-9]")
"""Witches, watchmen and citizens of old editions have no other name. Elsewhere it numbers a list."""
_LONGEST, _MOST_WORDS, _MOST_WORDS_OF_ONE = 48, 7, 5
_EMPHASISED = re.compile(r"^(?P<mark>\*\*|__|\*|_)(?P<label>[^_*\n]{1,45}?)(?P=mark)(?P<rest>.*)$")
_SPLIT = re.compile(
    r"(?P<dot>\.(?:[—–]|--|-?(?=\s|$|[\[(_])))|(?P<colon>:)|(?P<paren>,?\s*_?(?=[\[(]))|(?P<gap>\t|\s{2,})|(?P<dash>[—–]|--)"
)
_GAP = re.compile(r"\t|\s{2}")
_ITALIC_DIRECTION = re.compile(r"^,\s*(?P<direction>_[^_]+_|[a-z][a-z ,'’]{2,40})(?P<stop>[.:—]?)\s*$")
_LETTERS, _LONGEST_INITIALS = ("A", "O"), 3
"""Words of one letter, which may shorten names where something parts them from the speech."""


@dataclass(frozen=True)
class Style:
    """A way to set a speech heading: what parts it from the speech, its capitals, and whether it is emphasised."""

    parted: str
    capitals: bool
    emphasised: bool

    @property
    def is_alone(self) -> bool:
        return self.parted.startswith(ALONE)

    @property
    def has_direction(self) -> bool:
        """A direction stands between heading and speech."""
        return self.parted.endswith("paren")

    @property
    def mark(self) -> str:
        """What parts a heading from its speech, whether that is on the same line or on the next."""
        return self.parted.removeprefix(ALONE).strip().replace("bare", "gap")

    def is_dashed_beside(self, other: Style) -> bool:
        """ "NORA--Yes." where abbreviated names have a stop, too: "TORV.--Yes." """
        return self.capitals and other.capitals and {self.parted, other.parted} == {"dot", "dash"}


@dataclass(frozen=True)
class Candidate:
    """What a line's heading would be in a style; ``rest`` is what of the speech stands on the same line."""

    style: Style
    label: str
    rest: str


def candidates(text: str) -> Iterator[Candidate]:
    """All headings a line could begin with, the shortest first."""
    emphasised = False
    if match := _EMPHASISED.match(text):
        emphasised = True
        text = match["label"] + match["rest"]
    for match in _SPLIT.finditer(text, 0, _LONGEST + 8):
        label, parted = text[: match.start()], str(match.lastgroup)
        if parted == "paren" and _GAP.match(match[0]):
            parted = "gap"
        rest = text[match.end() :]
        if not _could_be_label(label) and not (label in _LETTERS and parted in ("gap", "dot", "colon")):
            if parted in ("gap", "colon", "dash"):
                return
            continue
        printed = label + (match[0][:1] if parted == "dot" else "")
        if parted == "paren":
            rest = _without_stop_behind(rest)
        if parted == "colon" and rest.strip() and not rest[0].isspace() and rest[0] not in "—–-[(_":
            return
        for capitals in _cases(label):
            if not rest.strip():
                yield Candidate(Style(f"{ALONE} {parted}", capitals, emphasised), printed, "")
            elif parted == "paren" and re.fullmatch(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])", rest):
                yield Candidate(Style(f"{ALONE} paren", capitals, emphasised), printed, rest.strip())
            elif parted != "dash" or capitals:
                yield Candidate(Style(parted, capitals, emphasised), printed, rest.strip())
    if _could_be_label(text) and not text.endswith("."):
        for capitals in _cases(text):
            yield Candidate(Style(f"{ALONE} bare", capitals, emphasised), text, "")
    elif "," in text and _could_be_label(text.partition(",")[0]):
        label, _, rest = text.partition(",")
        if match := _ITALIC_DIRECTION.match("," + rest):
            yield Candidate(Style(f"{ALONE} bare", is_capitals(label), emphasised), label, f"({match['direction'].strip('_')})")


def _cases(label: str) -> tuple[bool, ...]:
    """Whether it is in capitals; initials ("LG", "Mrs. L.") are so in plays that print names in small letters, too."""
    found = [word for word in re.findall(r"(?:[^\W\d_]|['’])+", label) if word != "and"]
    words = [word for word in found if word.casefold() not in TITLES] or found
    is_initials = bool(words) and all(word.isupper() and len(word) <= _LONGEST_INITIALS for word in words)
    return (True, False) if is_initials else (is_capitals(label),)


def _without_stop_behind(rest: str) -> str:
    """ "(laughing). That's" without the stop, which parts the heading from the speech."""
    end = find_closing(rest, 0)
    return rest if end is None else rest[:end] + re.sub(r"^_?\s?[.:—–]+(?=\s|$|\w)", " ", rest[end:])


def _could_be_label(label: str) -> bool:
    text = label.strip("_* ")
    words = text.replace(",", " ").split()
    if NUMERAL.fullmatch(text):
        return True
    if (
        text in ("I", *_LETTERS)
        or "  " in text
        or not text
        or len(text) > _LONGEST
        or len(words) > _MOST_WORDS
        or not (text[0].isupper() or text[0].isdigit())
    ):
        return False
    if text != label.strip("_*") or not any(sign.isalpha() for sign in text) or re.search(r"[!?;…“”\"=<>{}|\[\]()]|\.\.", text):
        return False
    begins = words[0].strip(".:,").casefold()
    # A note taker may speak; "Note" alone, or "Note." before a sentence, does not.
    if (begins in NO_NAMES and (begins != "note" or len(words) == 1)) or (heading_of(text) is not None and begins != "cast"):
        return False
    if {word.strip(".:,").casefold() for word in words} <= SOUNDS:
        return False
    if PARTED.search(text) and words[-1].strip(".").casefold() in ABBREVIATED_TITLES:
        return False
    if text.isupper():
        return True
    return (
        all(len(part.split()) <= _MOST_WORDS_OF_ONE for part in PARTED.split(text))
        and all(word[0].isupper() or word[0].isdigit() or word.strip(".,").casefold() in SMALL for word in words)
        and (len(words) == 1 or words[-1].casefold() not in SMALL - {"voice", "generally", "together", "outside"})
    ) or bool(
        re.match(r"^(?:The|An?)\s[a-z][\w’' -]+$|^[A-Z][\w’']+(?: [\w’']+)?\s(?:voice|outside|within)$", text)
        and len(words) <= _MOST_WORDS_OF_ONE
    )
