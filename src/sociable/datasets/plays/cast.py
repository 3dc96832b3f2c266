"""The list of persons at the head of a play in plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.headings import HeadingKind, heading_of
from sociable.datasets.plays.labels import Labels
from sociable.datasets.plays.people import cast_members, full_form
from sociable.datasets.plays.records import CastMember

_BEHIND_CAST = re.compile(
    r"^[\[(_]*(?:enter\b|(?:the\s+)?(?:scenes?|time|place|action|setting|period)\b[^,]*?(?:of|:|\.|—|is|takes))", re.I
)
_CAST_WITHIN_LINES, _CAST_WITHIN_PARTS = 60, 4
_MOST_CAST = 60
_LONGEST_ENTRY, _MOST_WORDS = 300, 8


def cast_of(lines: Sequence[Line]) -> tuple[tuple[CastMember, ...], int]:
    """The dramatis personae, and the index of the line after them; nobody and 0 where there is no such list."""
    # Further in the word is somebody's speech.
    front = lines[: max(_CAST_WITHIN_LINES, len(lines) // _CAST_WITHIN_PARTS)]
    begin = next((i for i, line in enumerate(front) if (h := heading_of(line.text)) and h.kind is HeadingKind.CAST), None)
    if begin is None:
        return (), 0
    entries, index = _cast_entries(lines, begin + 1, len(lines))
    if len(entries) > _MOST_CAST:
        # The play begins without any heading behind the list.
        entries, index = _cast_entries(lines, begin + 1, begin + 1 + _first_speech(lines[begin + 1 :]))
    members = [
        member for entry in entries if len(entry) <= _LONGEST_ENTRY for member in cast_members(entry) if _is_name(member.name)
    ]
    return tuple({member.name: member for member in members}.values()), index


def _cast_entries(lines: Sequence[Line], index: int, end: int) -> tuple[list[str], int]:
    """What the list has, each entry on one line, and the index of the line after it."""
    entries: list[str] = []
    indent: int | None = None
    while index < end:
        line = lines[index]
        heading = heading_of(line.text) if line.text else None
        if (heading is not None and heading.kind is not HeadingKind.CAST) or _BEHIND_CAST.match(line.text):
            break
        if line.text:
            indent = line.indent if indent is None else min(indent, line.indent)
            after_blank = lines[index - 1].is_blank
            if entries and not after_blank and (line.indent > indent + 1 or line.text[:1].islower()):
                entries[-1] += " " + line.text
            else:
                entries.append(line.text)
        index += 1
    return entries, index


def _first_speech(lines: Sequence[Line]) -> int:
    """The first heading that has words behind or under it rather than another name, of somebody who speaks again."""
    found = Labels(lines).found
    speakers = Counter(full_form(heading.label) for heading in found.values())
    texts = [index for index, line in enumerate(lines) if line.text]
    for index, below in pairwise(texts):
        heading = found.get(index)
        if heading is None or lines[index].text.startswith(f"{heading.label},"):
            continue
        if speakers[full_form(heading.label)] > 1 and (heading.rest or below not in found):
            return index
    return len(lines)


def _is_name(name: str) -> bool:
    return len(name.split()) <= _MOST_WORDS
