"""What is printed on every page of a play: running heads, and numbers of pages, also between the lines of a speech."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from sociable.datasets.plays.frame import Line

_PAGE = re.compile(r"^\W*(?:p(?:age|g|\.)?\.?\s*)?(?P<number>\d{1,4})\W*$", re.I)
_MOST_PAGES_ON = 5
_PARTS = frozenset({"act", "scene", "prologue", "epilogue"})
_ROMAN_OR_NOTHING = re.compile(r"[ivxlc]*")
_NUMBERED = re.compile(r"^\W*(?P<left>\d{1,3})\b|\b(?P<right>\d{1,3})\W*$")
_LONGEST_HEAD = 70
_SEEN_ON_PAGES = 3
"""A line that differs in its numbers only and stands so often is printed on every page."""
_SHORTEST_PAGE = 20
_USUALLY = 0.8
_ENDS = re.compile(r"[.!?…:)\]][”’\"')_*]*$")


def without_furniture(lines: Sequence[Line], title: str) -> list[Line]:
    """The lines without heads and numbers of pages; where these parted a sentence it goes on without a blank line."""
    numbers = _page_numbers(lines)
    dropped = numbers | _numbered_heads(lines, _letters(title)) | _titles_alone(lines, _letters(title))
    dropped |= _beside(lines, numbers | dropped)
    kept: list[Line] = []
    blanks: list[Line] = []
    is_cut = False
    for index, line in enumerate(lines):
        if index in dropped:
            is_cut = True
        elif line.is_blank:
            blanks.append(line)
        else:
            goes_on = is_cut and kept and (line.text[0].islower() or not _ENDS.search(kept[-1].text))
            kept += [*([] if goes_on else blanks), line]
            blanks, is_cut = [], False
    return kept + blanks


def _page_numbers(lines: Sequence[Line]) -> set[int]:
    """Lines of nothing but a number that grows from page to page: the longest row of such numbers."""
    rows: dict[int, tuple[int, ...]] = {}
    for index, line in enumerate(lines):
        if match := _PAGE.match(line.text):
            number = int(match["number"])
            before = max((rows.get(number - step, ()) for step in range(1, _MOST_PAGES_ON + 1)), key=len)
            rows[number] = max((*before, index), rows.get(number, ()), key=len)
    longest = max(rows.values(), key=len, default=())
    return set(longest) if len(longest) >= _SEEN_ON_PAGES and _are_pages_apart(longest) else set()


def _are_pages_apart(places: Sequence[int]) -> bool:
    return median(after - before for before, after in pairwise(places)) >= _SHORTEST_PAGE


def _letters(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", text.casefold()))


def _without_parts(text: str) -> str:
    return " ".join(word for word in text.split() if word not in _PARTS and not _ROMAN_OR_NOTHING.fullmatch(word))


def _numbered_heads(lines: Sequence[Line], title: str) -> set[int]:
    """Lines alike but for numbers, which grow: "8  THE TEMPEST  [ACT I." Headings of acts and scenes have no other words."""
    places: dict[str, list[int]] = defaultdict(list)
    numbers: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        said = _letters(line.text)
        key = title if title == said else _without_parts(said)
        if key and len(" ".join(line.text.split())) <= _LONGEST_HEAD and (match := _NUMBERED.search(line.text)):
            places[key].append(index)
            numbers[key].append(int(match["left"] or match["right"]))
    heads: set[int] = set()
    for key, found in numbers.items():
        growing = sum(before <= after for before, after in pairwise(found))
        is_plain = key == title or not any(re.search(r"[.?!;:,]", lines[index].text) for index in places[key])
        is_growing = (
            len(set(found)) >= _SEEN_ON_PAGES and growing >= _USUALLY * (len(found) - 1) and _are_pages_apart(places[key])
        )
        if len(found) >= _SEEN_ON_PAGES and (is_plain or is_growing):
            heads.update(places[key])
    return heads


def _titles_alone(lines: Sequence[Line], title: str) -> set[int]:
    """The title over every page; not the person after whom a play is called, who speaks more often than pages begin."""
    found = [
        index
        for index, line in enumerate(lines)
        if len(title.split()) > 1
        and title in (said := _letters(line.text), _without_parts(said))
        and (index + 1 == len(lines) or lines[index + 1].is_blank)
        and not re.search(r"[.?!:;\d]", line.text)
    ]
    return set(found) if len(found) >= _SEEN_ON_PAGES and _are_pages_apart(found) else set()


def _beside(lines: Sequence[Line], numbers: set[int]) -> set[int]:
    """Lines that stand again and again, and hardly anywhere but beside a page's number."""
    filled = [index for index, line in enumerate(lines) if line.text]
    again = Counter(lines[index].text for index in filled)
    beside: dict[str, set[int]] = defaultdict(set)
    for one, other in pairwise(filled):
        for number, near in ((one, other), (other, one)):
            if number in numbers and near not in numbers:
                beside[lines[near].text].add(near)
    return {
        index
        for text, found in beside.items()
        if len(found) >= _SEEN_ON_PAGES and len(found) >= _USUALLY * again[text]
        for index in found
    }
