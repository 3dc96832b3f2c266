"""Yes and no in people's words, read by rule; and how a place is said."""

from __future__ import annotations

import re

_ASSENT = re.compile(
    r"\b(yes|yeah|sure|great|perfect|works|fine|good|okay|ok|agreed|deal|done|settled|gladly|wonderful|lovely|see you)\b",
    re.IGNORECASE,
)
_DISSENT = re.compile(
    r"\b(?:no(?! (?:problem|worries|trouble))|not(?! a problem)|cannot(?! wait)|(?!can['’]t wait)\w+n['’]t|unfortunately)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"\b(cannot|can['’]t|could not|couldn['’]t|won['’]t|sorry|no time|declined|refused)\b", re.IGNORECASE)


def assents(text: str) -> bool:
    """Whether somebody agrees: "that works", and not "that's no good" or "I am not sure"."""
    return bool(_ASSENT.search(text)) and not _DISSENT.search(text)


def refuses(text: str) -> bool:
    return bool(_REFUSAL.search(text))


def place_in_words(place: str) -> str:
    """``Sector: arena`` as it is said: The Guildhall (hall)."""
    sector, _, arena = place.partition(":")
    return f"{sector} ({arena.strip()})" if arena else sector
