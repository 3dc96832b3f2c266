"""The contents of a report, as plain data.

A benchmark describes its part of a report with these records (its ``views.py``); the room ``render`` draws them in
the terminal and as HTML. Neither knows the other. Every string may come from a model, a data file or a person:
whoever draws it escapes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Tone(StrEnum):
    """The tone of a callout or a tag."""

    NEUTRAL = "neutral"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


TONE_WORDS = {Tone.NEUTRAL: "Note", Tone.GOOD: "Good", Tone.WARNING: "Warning", Tone.BAD: "Problem"}
"""A tone in words: colour alone is lost on some readers and in log files."""


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column. ``numeric`` columns are set right-aligned in figures of equal width."""

    title: str
    numeric: bool = False
    explanation: str = ""
    """Shown when the heading is pointed at, and in the terminal never."""


@dataclass(frozen=True, slots=True)
class Row:
    """A table's row: one string a column. ``emphasis`` marks our own figures among published ones, or a total."""

    cells: Sequence[str]
    emphasis: bool = False
    shades: Sequence[float | None] = ()
    """The darkness of each cell, from 0 to 1, as in a heat map; None, or an empty sequence: plain cells."""


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Callout:
    """A sentence nobody should miss: a warning about judges, a count of failures."""

    text: str
    tone: Tone = Tone.NEUTRAL


class Plot(ABC):
    """A figure that is drawn. The kinds stand in ``core.plots``."""

    caption: str

    @abstractmethod
    def make_number_table(self) -> Table:
        """The numbers that the plot shows: beside it, and in its place where nothing can be drawn.

        A number that is missing is left out, or is a dash where its row still says something.
        """


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of a transcript. ``highlight`` marks the turn that is judged."""

    speaker: str
    addressee: str
    text: str
    highlight: Tone | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    title: str
    lines: Sequence[Line]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text with its label, kept as it is, line breaks included."""

    label: str
    text: str
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True)
class Tag:
    text: str
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True)
class Case:
    """One episode, readable in full; drawn folded under its title."""

    title: str
    tags: Sequence[Tag]
    blocks: Sequence[Paragraph | Callout | Transcript | Quotation | Table]


Block = Paragraph | Callout | Table | Plot | Transcript | Quotation | Case


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report. ``summary`` is the table that is printed in the terminal as well."""

    title: str
    subtitle: str
    summary: Table
    sections: Sequence[Section]
    details: Sequence[tuple[str, str]] = field(default_factory=tuple)
    """Everything that the numbers depend on, as (name, value): versions, digests, models, seed."""


MISSING = "—"
"""The sign for an estimate over nothing."""


def format_figure(value: float | None, decimals: int = 3) -> str:
    """A value as it stands in a table."""
    return MISSING if value is None else f"{value:z.{decimals}f}"


def format_with_interval(value: float | None, low: float | None, high: float | None, decimals: int = 3) -> str:
    """``0.732 [0.61, 0.83]``; the interval to two places, as no data set here supports more."""
    if value is None or low is None or high is None:
        return format_figure(value, decimals)
    return f"{format_figure(value, decimals)} [{low:.2f}, {high:.2f}]"


class Bounded(Protocol):
    """A value with its confidence limits, as intervals, estimates and findings have them."""

    @property
    def value(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def format_interval(found: Bounded | None, decimals: int = 3) -> str:
    """``0.732 [0.61, 0.83]``, as ``format_with_interval`` writes it; ``MISSING`` where nothing was found."""
    return MISSING if found is None else format_with_interval(found.value, found.low, found.high, decimals)
