"""Habits of printing that stand for a colon behind a name: brought to that before a play is read, line by line."""

from __future__ import annotations

import re
from collections import Counter


def evened(text: str) -> str:
    """With "NORA: Yes." for "12. NORA: Yes.", "NORA – Yes." and Markdown's "**Nora** *(coldly)*: Yes.", where kept throughout."""
    return _with_colons(_without_cue_numbers(_EMPHASIS.sub(_behind_the_colon, text)))


_EMPHASIS = re.compile(r"^(\s*)\*\*([^*\n]+?)\*\*[ \t]*(\*[^*\n]+\*|_[^_\n]+_|\([^)\n]+\))[ \t]*:", re.M)
"""In Markdown a direction between name and colon; behind the colon it is one as others are."""


def _behind_the_colon(found: re.Match[str]) -> str:
    return f"{found[1]}**{found[2]}:** ({found[3].strip('*_()')})"


_CUE = re.compile(r"^([ \t]*)\d{1,4}[.)]?[ \t]+(?=[A-Z][A-Z0-9 .'’-]{0,30}:)", re.M)
_FEWEST_CUES = 10


def _without_cue_numbers(text: str) -> str:
    """Without the numbers before the names that scripts for radio print at every speech."""
    names = re.findall(r"^[ \t]*(?:\d{1,4}[.)]?[ \t]+)?[A-Z][A-Z0-9 .'’-]{0,30}:", text, re.M)
    cues = len(_CUE.findall(text))
    return _CUE.sub(r"\1", text) if cues >= _FEWEST_CUES and 2 * cues > len(names) else text


_DASH = re.compile(r"^([ \t]*[A-Z][\w.'’]*(?: [\w.'’]+){0,3}) [–—-] (?=\S)", re.M)


def _with_colons(text: str) -> str:
    """With "NORA: Yes." for "NORA – Yes.", where half of all lines are so and people speak again."""
    names = Counter(_DASH.findall(text))
    lines = sum(bool(line.strip()) for line in text.splitlines())
    again = sum(count for count in names.values() if count > 1)
    return _DASH.sub(r"\1: ", text) if again >= _FEWEST_CUES and 2 * again > lines else text
