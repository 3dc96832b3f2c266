"""What a report shows, as plain data.

A benchmark describes its part of a report with these records (its ``views.py``); the room ``reports`` draws them in
the terminal and as HTML. Neither knows the other. Every string may come from a model, a data file or a person:
whoever draws it escapes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Tone(StrEnum):
    """How a callout or a tag is meant."""

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
    """How dark each cell is, from 0 to 1, as in a heat map; None, or none at all: as cells are."""


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


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate in an interval plot; ``None`` is drawn as a dash. ``published`` marks a figure from a paper: a hollow dot."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    published: bool = False


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """Dots with intervals, one line a mark, on a common axis."""

    caption: str
    axis: str
    marks: Sequence[Mark]
    minimum: float | None = None
    maximum: float | None = None
    reference: float | None = None
    """Where a thin line is drawn, chance for instance."""
    reference_label: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve; ``low`` and ``high`` are its interval, where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    label: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Lines over a common axis, each with the band of its intervals. ``steps`` holds a value until the next point."""

    caption: str
    x_axis: str
    y_axis: str
    curves: Sequence[Curve]
    steps: bool = False
    logarithmic: bool = False
    """Whether the x axis is logarithmic; all x are then above 0."""
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """One item of a scatter plot. ``group`` names what it belongs to; the empty string stands for no group."""

    x: float
    y: float
    group: str
    label: str = ""
    """Shown when the dot is pointed at."""


@dataclass(frozen=True, slots=True)
class ScatterPlot:
    """Items in a plane whose axes mean nothing in themselves; groups differ in shape as well as in colour."""

    caption: str
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class RadarPlot:
    """One value in [0, maximum] on each of three or more axes around a centre."""

    caption: str
    axes: Sequence[str]
    values: Sequence[float]
    maximum: float | None = None


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


Plot = IntervalPlot | CurvePlot | ScatterPlot | RadarPlot
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
    """What every number depends on, as (name, value): versions, digests, models, seed."""


MISSING = "—"
"""What stands for an estimate over nothing."""


def figure(value: float | None, decimals: int = 3) -> str:
    """A value as it stands in a table."""
    return MISSING if value is None else f"{value:.{decimals}f}"


def with_interval(value: float | None, low: float | None, high: float | None, decimals: int = 3) -> str:
    """``0.732 [0.61, 0.83]``; the interval to two places, as no data set here supports more."""
    if value is None or low is None or high is None:
        return figure(value, decimals)
    return f"{figure(value, decimals)} [{low:.2f}, {high:.2f}]"
