"""What stands around a play in its file and is none of it: Project Gutenberg's preface and licence, old and new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


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
"""How far into a file its preface may end: old prefaces are long, but no play is shorter than two thirds of them."""


_NO_COLUMN = dict.fromkeys(map(ord, "\f\ufeff"))


def lines_of(text: str) -> list[Line]:
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        # A tab after a name parts it from the speech, so only tabs in front are columns.
        body = raw.lstrip(" \t\f\ufeff\xa0")
        front = raw[: len(raw) - len(body)].replace("\xa0", " ").expandtabs(8)
        lines.append(Line(number, len(front.translate(_NO_COLUMN)), body.rstrip()))
    return lines


def filled(lines: Sequence[Line]) -> Iterator[tuple[int, Line, bool]]:
    """The lines that say something, each with its place and whether it stands behind a blank line, or first."""
    after_blank = True
    for index, line in enumerate(lines):
        if not line.is_blank:
            yield index, line, after_blank
        after_blank = line.is_blank


def framed_title(lines: Sequence[Line]) -> str:
    """The title that a Gutenberg preface gives, or nothing."""
    for line in lines[:80]:
        if match := _TITLE.match(line.text):
            return match["title"]
    return ""


def without_frame(lines: Sequence[Line]) -> list[Line]:
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
