"""The lines of a play, without what is none of it: Project Gutenberg's preface and licence, and what every page has printed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median


@dataclass(frozen=True)
class Line:
    """A line of the file. ``number`` counts from 1, ``indent`` in columns; ``text`` has no white space at either end."""

    number: int
    indent: int
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text


_BEGINS = re.compile(
    r"^\*{3}\s*START OF TH(?:E|IS) PROJECT GUTENBERG|^\*END\*\s*THE SMALL PRINT|^\[\"Small Print\" V|^\*END THE SMALL PRINT", re.I
)
_FINISHES = re.compile(
    r"^(?:\*{3}\s*)?END OF (?:TH(?:E|IS) )?(?:PROJECT GUTENBERG|ETEXT)|^\*{3}\s*END OF TH|^END OF TH(?:E|IS) (?:PROJECT|ETEXT)",
    re.I,
)
_GLOSSARY = re.compile(r"^glossary\W*$", re.I)
_NOTICE_OPENS, _NOTICE_CLOSES = re.compile(r"^<<\s*THIS ELECTRONIC VERSION", re.I), re.compile(r">>\s*$")
_CREDIT = re.compile(r"^(?:produced|transcribed|e-?text (?:was )?prepared|this e-?text was prepared|html version) by\b", re.I)
_TITLE = re.compile(r"^Title:\s*(?P<title>\S.*)$")
_FRAME_WITHIN = 0.6
"""The share of a file in which its preface may end: old prefaces are long, but no play is shorter than two thirds of them."""

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
_NO_COLUMN = dict.fromkeys(map(ord, "\f\ufeff"))


def split_lines(text: str) -> list[Line]:
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        # A tab after a name parts it from the speech, so only tabs in front are columns.
        body = raw.lstrip(" \t\f\ufeff\xa0")
        front = raw[: len(raw) - len(body)].replace("\xa0", " ").expandtabs(8)
        lines.append(Line(number, len(front.translate(_NO_COLUMN)), body.rstrip()))
    return lines


def iterate_filled(lines: Sequence[Line]) -> Iterator[tuple[int, Line, bool]]:
    """The lines that say something, each with its place and whether it stands behind a blank line, or first."""
    after_blank = True
    for index, line in enumerate(lines):
        if not line.is_blank:
            yield index, line, after_blank
        after_blank = line.is_blank


def find_framed_title(lines: Sequence[Line]) -> str:
    """The title that a Gutenberg preface gives, or nothing."""
    for line in lines[:80]:
        if match := _TITLE.match(line.text):
            return match["title"]
    return ""


def strip_frame(lines: Sequence[Line]) -> list[Line]:
    """The lines of the work itself, with their numbers in the file."""
    begin = 0
    for index, line in enumerate(lines):
        if _BEGINS.search(line.text) and index < max(len(lines) * _FRAME_WITHIN, 40):
            begin = index + 1
    end = next((index for index in range(begin, len(lines)) if _FINISHES.search(lines[index].text)), len(lines))
    end = next((index for index in range((begin + end) // 2, end) if _GLOSSARY.match(lines[index].text)), end)
    kept: list[Line] = []
    in_notice = in_credit = False
    for line in lines[begin:end]:
        in_notice = in_notice or bool(_NOTICE_OPENS.search(line.text))
        in_credit = bool(line.text) and (in_credit or (len(kept) < 60 and bool(_CREDIT.search(line.text))))
        if not in_notice and not in_credit:
            kept.append(line)
        if in_notice and _NOTICE_CLOSES.search(line.text):
            in_notice = False
    return kept


def strip_furniture(lines: Sequence[Line], title: str) -> list[Line]:
    """The lines without heads and numbers of pages; where these parted a sentence it goes on without a blank line."""
    numbers = _find_page_numbers(lines)
    dropped = numbers | _find_numbered_heads(lines, _to_letters(title)) | _find_titles(lines, _to_letters(title))
    dropped |= _find_beside(lines, numbers | dropped)
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


def _find_page_numbers(lines: Sequence[Line]) -> set[int]:
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


def _to_letters(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", text.casefold()))


def _strip_parts(text: str) -> str:
    return " ".join(word for word in text.split() if word not in _PARTS and not _ROMAN_OR_NOTHING.fullmatch(word))


def _find_numbered_heads(lines: Sequence[Line], title: str) -> set[int]:
    """Lines alike but for numbers, which grow: "8  THE TEMPEST  [ACT I." Headings of acts and scenes have no other words."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, line in enumerate(lines):
        said = _to_letters(line.text)
        key = title if title == said else _strip_parts(said)
        if key and len(" ".join(line.text.split())) <= _LONGEST_HEAD and (match := _NUMBERED.search(line.text)):
            found[key].append((index, int(match["left"] or match["right"])))
    heads: set[int] = set()
    for key, rows in found.items():
        places, numbers = zip(*rows, strict=True)
        is_plain = key == title or not any(re.search(r"[.?!;:,]", lines[index].text) for index in places)
        is_growing = len(set(numbers)) >= _SEEN_ON_PAGES and is_mostly_growing(numbers, _USUALLY)
        if len(rows) >= _SEEN_ON_PAGES and (is_plain or (is_growing and _are_pages_apart(places))):
            heads.update(places)
    return heads


def is_mostly_growing(numbers: Sequence[int], share: float) -> bool:
    """Whether such a share of the numbers is no smaller than the one before."""
    return sum(before <= after for before, after in pairwise(numbers)) >= share * (len(numbers) - 1)


def _find_titles(lines: Sequence[Line], title: str) -> set[int]:
    """The title over every page; not the person after whom a play is called, who speaks more often than pages begin."""
    if len(title.split()) < 2:
        return set()
    found = [
        index
        for index, (line, below) in enumerate(zip(lines, [*lines[1:], Line(0, 0, "")], strict=True))
        if title in (said := _to_letters(line.text), _strip_parts(said))
        and below.is_blank
        and not re.search(r"[.?!:;\d]", line.text)
    ]
    return set(found) if len(found) >= _SEEN_ON_PAGES and _are_pages_apart(found) else set()


def _find_beside(lines: Sequence[Line], numbers: set[int]) -> set[int]:
    """Lines that stand again and again, and hardly anywhere but beside a page's number."""
    filled_places = [index for index, line in enumerate(lines) if line.text]
    again = Counter(lines[index].text for index in filled_places)
    near = {
        place
        for pair in pairwise(filled_places)
        for number, place in (pair, pair[::-1])
        if number in numbers and place not in numbers
    }
    beside = Counter(lines[place].text for place in near)
    return {place for place in near if beside[lines[place].text] >= max(_SEEN_ON_PAGES, _USUALLY * again[lines[place].text])}
