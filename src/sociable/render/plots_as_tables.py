"""Plots as tables of the numbers they show: beside a figure, and in its place where nothing can be drawn."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence

from sociable.core import view

NO_GROUP = "no group"
SOURCES = {False: "measured here", True: "published"}
"""Where a mark comes from, by whether it is published."""

_MOST_ROWS = 12
_LARGEST_WITH_DECIMALS, _SMALLEST_WITH_DECIMALS = 1e7, 1e-3


def make_number_table(plot: view.Plot) -> view.Table:
    """Returns the plot's numbers. One that is missing is left out, or is a dash where its row still says something."""
    match plot:
        case view.IntervalPlot():
            return _make_interval_table(plot)
        case view.CurvePlot():
            return _make_curve_table(plot)
        case view.ScatterPlot():
            return _make_scatter_table(plot)
        case view.RadarPlot():
            rows = [view.Row([label, format_number(value)]) for label, value in pair_axes(plot)]
            return view.Table(plot.caption, [view.Column("Axis"), view.Column("Value", numeric=True)], rows)


def _make_interval_table(plot: view.IntervalPlot) -> view.Table:
    width = 3 if any(mark.published for mark in plot.marks) else 2
    columns = [view.Column(""), view.Column(plot.axis, numeric=True), view.Column("Source")][:width]
    cells = [[mark.label, format_estimate(mark.value, mark.low, mark.high), SOURCES[mark.published]] for mark in plot.marks]
    reference = keep_finite(plot.reference)
    note = "" if reference is None else f"{plot.reference_label or 'The line'}: {format_number(reference)}."
    return view.Table(plot.caption, columns, [view.Row(row[:width]) for row in cells], note)


def _make_curve_table(plot: view.CurvePlot) -> view.Table:
    """Returns a table with a row for each of some places on the x axis and a column for each curve."""
    placed = [find_placed_points(curve, plot.logarithmic) for curve in plot.curves]
    curves = [[point for point in points if math.isfinite(point.y)] for points in placed]
    places = {point.x for points in curves for point in points}
    shown = thin_out(places, _MOST_ROWS, plot.logarithmic)
    rows = [view.Row([f"{x:.6g}", *(_format_value_at(x, points, plot.steps) for points in curves)]) for x in shown]
    titles = [curve.label or (plot.y_axis if len(curves) == 1 else f"curve {n}") for n, curve in enumerate(plot.curves, start=1)]
    notes = [
        f"The columns give {plot.y_axis}." if plot.y_axis and plot.y_axis not in titles else "",
        f"Shown are {len(shown)} of {len(places)} values of {plot.x_axis or 'x'}." if len(shown) < len(places) else "",
    ]
    columns = [view.Column(title, numeric=True) for title in (plot.x_axis, *titles)]
    return view.Table(plot.caption, columns, rows, " ".join(filter(None, notes)))


def _format_value_at(x: float, points: Sequence[view.Point], steps: bool) -> str:
    """Returns a curve's value at x, or a dash. The value of a step holds until the next point, as far as the last one."""
    number = bisect.bisect_right(points, x, key=lambda point: point.x) - 1
    if number < 0 or (points[number].x != x and (not steps or number == len(points) - 1)):
        return view.MISSING
    return format_estimate(points[number].y, points[number].low, points[number].high)


def _make_scatter_table(plot: view.ScatterPlot) -> view.Table:
    counts = {group: len(dots) for group, dots in find_groups(plot).items()}
    rows = [view.Row([group or NO_GROUP, f"{count:,}"]) for group, count in counts.items()]
    left_out = len(plot.dots) - sum(counts.values())
    note = f"Without a place in the plane, and not counted: {left_out:,}." if left_out else ""
    return view.Table(plot.caption, [view.Column("Group"), view.Column("Items", numeric=True)], rows, note)


def keep_finite(number: float | None) -> float | None:
    """Returns the number, or None if it is not finite."""
    return number if number is not None and math.isfinite(number) else None


def find_placed_points(curve: view.Curve, logarithmic: bool = False) -> Sequence[view.Point]:
    """Returns the points that have a place on the x axis, from left to right; a logarithmic one has none for 0 and less."""
    placed = [point for point in curve.points if math.isfinite(point.x) and (point.x > 1e-200 or not logarithmic)]
    return sorted(placed, key=lambda point: point.x)


def find_groups(plot: view.ScatterPlot) -> Mapping[str, Sequence[view.Dot]]:
    """Returns the dots that have a place, by group in the order of their first dots; those without a group come last."""
    groups: dict[str, list[view.Dot]] = {}
    for dot in sorted(plot.dots, key=lambda dot: not dot.group):
        if math.isfinite(dot.x) and math.isfinite(dot.y):
            groups.setdefault(dot.group, []).append(dot)
    return groups


def pair_axes(plot: view.RadarPlot) -> Sequence[tuple[str, float | None]]:
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
    return view.figure(value, decimals) if usual else f"{value:.3g}"
