"""The kinds of plot of a report, each with the numbers it shows as a table.

Views make these records; a module of ``render.figures`` with the same name draws each.
"""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sociable.core.view import MISSING, Column, Plot, Row, Table, format_figure

NO_GROUP = "no group"
SOURCES = {False: "measured here", True: "published"}
"""The source of a mark, by whether it is published."""

_MOST_ROWS = 12
_LARGEST_WITH_DECIMALS, _SMALLEST_WITH_DECIMALS = 1e7, 1e-3


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate in an interval plot; ``None`` is drawn as a dash. ``published`` marks a figure from a paper: a hollow dot.

    ``scale`` are values of others on the same line, drawn as small ticks; the plot's caption says whose.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    published: bool = False
    scale: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class IntervalPlot(Plot):
    """Dots with intervals, one line a mark, on a common axis."""

    caption: str
    axis: str
    marks: Sequence[Mark]
    minimum: float | None = None
    maximum: float | None = None
    reference: float | None = None
    """The value at which a thin line is drawn: chance, for instance."""
    reference_label: str = ""

    def make_number_table(self) -> Table:
        has_sources, has_scale = any(mark.published for mark in self.marks), any(mark.scale for mark in self.marks)
        columns = [Column(""), Column(self.axis, numeric=True)]
        columns += [*([Column("Source")] if has_sources else []), *([Column("Ticks")] if has_scale else [])]
        cells = []
        for mark in self.marks:
            ticks = ", ".join(format_number(each, 2) for each in mark.scale) or MISSING
            more = [*([SOURCES[mark.published]] if has_sources else []), *([ticks] if has_scale else [])]
            cells.append([mark.label, format_estimate(mark.value, mark.low, mark.high), *more])
        reference = keep_finite(self.reference)
        note = "" if reference is None else f"{self.reference_label or 'The line'}: {format_number(reference)}."
        return Table(self.caption, columns, [Row(row) for row in cells], note)


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
class CurvePlot(Plot):
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

    def make_number_table(self) -> Table:
        """Returns a table with a row for each of some places on the x axis and a column for each curve."""
        placed = [find_placed_points(curve, self.logarithmic) for curve in self.curves]
        curves = [[point for point in points if math.isfinite(point.y)] for points in placed]
        places = {point.x for points in curves for point in points}
        shown = thin_out(places, _MOST_ROWS, self.logarithmic)
        rows = [Row([f"{x:.6g}", *(_format_value_at(x, points, self.steps) for points in curves)]) for x in shown]
        titles = [
            curve.label or (self.y_axis if len(curves) == 1 else f"curve {n}") for n, curve in enumerate(self.curves, start=1)
        ]
        notes = [
            f"The columns give {self.y_axis}." if self.y_axis and self.y_axis not in titles else "",
            f"Shown are {len(shown)} of {len(places)} values of {self.x_axis or 'x'}." if len(shown) < len(places) else "",
        ]
        columns = [Column(title, numeric=True) for title in (self.x_axis, *titles)]
        return Table(self.caption, columns, rows, " ".join(filter(None, notes)))


def _format_value_at(x: float, points: Sequence[Point], steps: bool) -> str:
    """Returns a curve's value at x, or a dash. The value of a step holds until the next point, as far as the last one."""
    number = bisect.bisect_right(points, x, key=lambda point: point.x) - 1
    if number < 0 or (points[number].x != x and (not steps or number == len(points) - 1)):
        return MISSING
    return format_estimate(points[number].y, points[number].low, points[number].high)


def find_placed_points(curve: Curve, logarithmic: bool = False) -> Sequence[Point]:
    """Returns the points that have a place on the x axis, from left to right; a logarithmic one has none for 0 and less."""
    placed = [point for point in curve.points if math.isfinite(point.x) and (point.x > 1e-200 or not logarithmic)]
    return sorted(placed, key=lambda point: point.x)


@dataclass(frozen=True, slots=True)
class Dot:
    """One item of a scatter plot. ``group`` names what it belongs to; the empty string stands for no group."""

    x: float
    y: float
    group: str
    label: str = ""
    """The text shown when the dot is pointed at."""


@dataclass(frozen=True, slots=True)
class ScatterPlot(Plot):
    """Items in a plane whose axes mean nothing in themselves; groups differ in shape as well as in colour."""

    caption: str
    dots: Sequence[Dot]

    def make_number_table(self) -> Table:
        counts = {group: len(dots) for group, dots in find_groups(self).items()}
        rows = [Row([group or NO_GROUP, f"{count:,}"]) for group, count in counts.items()]
        left_out = len(self.dots) - sum(counts.values())
        note = f"Without a place in the plane, and not counted: {left_out:,}." if left_out else ""
        return Table(self.caption, [Column("Group"), Column("Items", numeric=True)], rows, note)


def find_groups(plot: ScatterPlot) -> Mapping[str, Sequence[Dot]]:
    """Returns the dots that have a place, by group in the order of their first dots; those without a group come last."""
    groups: dict[str, list[Dot]] = {}
    for dot in sorted(plot.dots, key=lambda dot: not dot.group):
        if math.isfinite(dot.x) and math.isfinite(dot.y):
            groups.setdefault(dot.group, []).append(dot)
    return groups


@dataclass(frozen=True, slots=True)
class RadarPlot(Plot):
    """One value in [0, maximum] on each of three or more axes around a centre."""

    caption: str
    axes: Sequence[str]
    values: Sequence[float]
    maximum: float | None = None

    def make_number_table(self) -> Table:
        rows = [Row([label, format_number(value)]) for label, value in pair_axes(self)]
        return Table(self.caption, [Column("Axis"), Column("Value", numeric=True)], rows)


def pair_axes(plot: RadarPlot) -> Sequence[tuple[str, float | None]]:
    """Returns (label, value) of each axis. An axis too few has no name then, a value too few is missing."""
    return [(label or "", keep_finite(value)) for label, value in itertools.zip_longest(plot.axes, plot.values)]


def thin_out(places: Collection[float], most: int, logarithmic: bool = False) -> Sequence[float]:
    """Returns at most so many (two or more) of the places in order, with both ends; on a logarithmic axis rather round ones."""
    in_order = sorted(set(places))
    if len(in_order) <= most:
        return in_order
    if logarithmic:
        round_ones = (place for place in in_order if re.match(r"[12357]\.0{6}e", f"{place:e}"))
        chosen = sorted({in_order[0], *round_ones, in_order[-1]})
        if most / 2 <= len(chosen) <= most:
            return chosen
    return [in_order[round(number * (len(in_order) - 1) / (most - 1))] for number in range(most)]


def format_estimate(value: float | None, low: float | None, high: float | None) -> str:
    """Returns the value with its interval, as in ``0.732 [0.61, 0.83]``, or alone."""
    value, low, high = keep_finite(value), keep_finite(low), keep_finite(high)
    text = format_number(value)
    return text if None in (value, low, high) else f"{text} [{format_number(low, 2)}, {format_number(high, 2)}]"


def format_number(value: float | None, decimals: int = 3) -> str:
    """Returns the number with decimals, or with an exponent where decimals would hide it or fill the line."""
    value = keep_finite(value)
    usual = not value or _SMALLEST_WITH_DECIMALS <= abs(value) < _LARGEST_WITH_DECIMALS
    return format_figure(value, decimals) if usual else f"{value:.3g}"


def keep_finite(number: float | None) -> float | None:
    """Returns the number, or None if it is not finite."""
    return number if number is not None and math.isfinite(number) else None
