"""Typed pages without what only paper needs: their heads, marks of revisions, "continued" and the blank lines under names."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sociable.datasets.plays.frame import Line, lines_of, without_frame
from sociable.datasets.plays.script import CONTINUED, is_cue, is_marked, is_scene_heading

_TAGS = re.compile(r"</?(?:b|i|u|pre)>", re.I)
_REVISED = re.compile(r"\s+(?:\*{1,3}|\(X\))$")
_PAGE = re.compile(r"^(?:page\s+)?\d{1,4}[A-Z]?\.?$", re.I)
_MARGIN_NUMBERS = re.compile(r"^\S{0,5}\d\S{0,3}\s+(?=\(?CONT)|(?<=[D:)])\s+\S{0,5}\d\S{0,3}$")
_HEAD = re.compile(r"^(?P<words>.*[^\W\d_]{2}.*?)(?P<page>\d{1,3})[A-Z]?\.?$")
_LONGEST_HEAD, _FEW_SCENES = 160, 2
_FEWEST_PAGES, _USUALLY = 6, 0.9
_FEWEST_NAMES, _MOSTLY, _OFTEN_WIDE, _MOST_APART = 10, 3, 0.6, 4


@dataclass(frozen=True)
class Pages:
    """The lines of a text as of a typed screenplay; ``is_film``: it has scene headings as films have."""

    lines: list[Line]
    is_film: bool = False
    is_closed_up: bool = False
    """Blank lines stood under the names."""


def pages_of(text: str) -> Pages:
    """The lines of what may be a typed screenplay, with their numbers in the file."""
    lines = [replace(line, text=_REVISED.sub("", line.text)) for line in without_frame(lines_of(_TAGS.sub("", text)))]
    heads = _page_heads(lines)
    kept = [line for line in lines if line.text not in heads and not _is_furniture(line)]
    if sum(is_scene_heading(line.text) for line in kept) < _FEW_SCENES:
        return Pages(kept)
    closed_up = _closed_up(kept)
    return Pages(closed_up, is_film=True, is_closed_up=len(closed_up) < len(kept))


def _is_furniture(line: Line) -> bool:
    """Page numbers and what is only said because a page ended."""
    return bool(_PAGE.match(line.text) or CONTINUED.match(_MARGIN_NUMBERS.sub("", line.text)))


def _page_heads(lines: Sequence[Line]) -> set[str]:
    """Lines alike but for the page number they end with, which grows."""
    pages: dict[str, list[int]] = defaultdict(list)
    texts: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        if len(line.text) <= _LONGEST_HEAD and (match := _HEAD.match(line.text)) and not is_scene_heading(line.text):
            key = re.sub(r"[\W\d_]+", " ", match["words"]).casefold()
            pages[key].append(int(match["page"]))
            texts[key].add(line.text)
    heads: set[str] = set()
    for key, numbers in pages.items():
        growing = sum(before <= after for before, after in pairwise(numbers))
        if len(set(numbers)) >= _FEWEST_PAGES and growing >= _USUALLY * (len(numbers) - 1):
            heads |= texts[key]
    return heads


def _closed_up(lines: list[Line]) -> list[Line]:
    """Without the blank lines that a script puts under all its names, and under the directions between name and speech.

    Where it puts yet more blank lines over names, capitals with fewer are no name but what the camera shows.
    """
    filled = [index for index, line in enumerate(lines) if line.text]
    over = [
        (before, index, below)
        for before, index, below in zip([-_MOST_APART, *filled], filled, filled[1:], strict=False)
        if is_cue(lines[index].text) and not is_marked(lines[index].text) and not is_cue(lines[below].text)
    ]
    distances = Counter(below - index for _, index, below in over if below - index <= _MOST_APART)
    distance = max(range(2, _MOST_APART + 1), key=lambda apart: distances[apart])
    if distances[distance] < max(_FEWEST_NAMES, _MOSTLY * distances[1]):
        return lines
    names = [
        (index, index - before > distance)
        for before, index, below in over
        if below - index == distance and not lines[below].text[0].islower()
    ]
    only_wide = sum(is_wide for _, is_wide in names) >= _OFTEN_WIDE * len(names)
    dropped: set[int] = set()
    for index, is_wide in names:
        end = index + 1
        while (is_wide or not only_wide) and end < len(lines) and lines[end].is_blank:
            while end < len(lines) and lines[end].is_blank:
                dropped.add(end)
                end += 1
            end = _behind_direction(lines, end)
    return [line for index, line in enumerate(lines) if index not in dropped]


def _behind_direction(lines: Sequence[Line], index: int) -> int:
    """The index after a direction in parentheses; beyond the lines where there is none."""
    if index < len(lines) and lines[index].text[:1] == "(":
        for end in range(index, min(index + 3, len(lines))):
            if lines[end].text.endswith(")"):
                return end + 1
    return len(lines)
