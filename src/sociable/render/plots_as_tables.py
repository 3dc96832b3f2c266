"""Plots as tables of the numbers they show, for where nothing can be drawn."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from sociable.core.view import (
    MISSING,
    Column,
    CurvePlot,
    IntervalPlot,
    Plot,
    Point,
    RadarPlot,
    Row,
    ScatterPlot,
    Table,
    figure,
    with_interval,
)
from sociable.render.figures.axis import finite
from sociable.render.figures.curves import drawable_points
from sociable.render.figures.scatter import NO_GROUP, counts_of_groups
from sociable.render.thinning import thinned

_MOST_ROWS = 12
_LARGEST_WITH_DECIMALS, _SMALLEST_WITH_DECIMALS = 1e7, 1e-3


def plot_as_table(plot: Plot) -> Table:
    """A value that is no number is left out, or is a dash where its row still says something."""
    match plot:
        case IntervalPlot():
            return _interval_table(plot)
        case CurvePlot():
            return _curve_table(plot)
        case ScatterPlot():
            return _scatter_table(plot)
        case RadarPlot():
            return _radar_table(plot)


def _interval_table(plot: IntervalPlot) -> Table:
    rows = [Row([mark.label, _estimate(mark.value, mark.low, mark.high)]) for mark in plot.marks]
    return Table(plot.caption, [Column(""), Column(plot.axis, numeric=True)], rows)


def _curve_table(plot: CurvePlot) -> Table:
    """A row an x, a column a curve."""
    curves = [drawable_points(curve, plot.logarithmic) for curve in plot.curves]
    places = {point.x for points in curves for point in points}
    shown = thinned(places, _MOST_ROWS, plot.logarithmic)
    rows = [Row([f"{x:.6g}", *(_value_at(x, points, plot.steps) for points in curves)]) for x in shown]
    alone = len(plot.curves) == 1
    titles = [curve.label or (plot.y_axis if alone else f"curve {n}") for n, curve in enumerate(plot.curves, start=1)]
    notes = [
        f"The columns give {plot.y_axis}." if plot.y_axis and plot.y_axis not in titles else "",
        f"Shown are {len(shown)} of {len(places)} values of {plot.x_axis or 'x'}." if len(shown) < len(places) else "",
    ]
    columns = [Column(title, numeric=True) for title in (plot.x_axis, *titles)]
    return Table(plot.caption, columns, rows, " ".join(note for note in notes if note))


def _value_at(x: float, points: Sequence[Point], steps: bool) -> str:
    """Of steps, between a curve's first and last point, the value that still holds."""
    number = bisect.bisect_right(points, x, key=lambda point: point.x) - 1
    if number < 0 or (points[number].x != x and (not steps or number == len(points) - 1)):
        return MISSING
    return _estimate(points[number].y, points[number].low, points[number].high)


def _scatter_table(plot: ScatterPlot) -> Table:
    counts = counts_of_groups(plot)
    rows = [Row([group or NO_GROUP, f"{count:,}"]) for group, count in counts.items()]
    left_out = len(plot.dots) - sum(counts.values())
    note = f"Without a place in the plane, and not counted: {left_out:,}." if left_out else ""
    return Table(plot.caption, [Column("Group"), Column("Items", numeric=True)], rows, note)


def _radar_table(plot: RadarPlot) -> Table:
    pairs = itertools.zip_longest(plot.axes, plot.values)
    rows = [Row([label or "", _number(value)]) for label, value in pairs]
    return Table(plot.caption, [Column("Axis"), Column("Value", numeric=True)], rows)


def _estimate(value: float | None, low: float | None, high: float | None) -> str:
    value, low, high = finite(value), finite(low), finite(high)
    if all(number is None or _has_usual_size(number) for number in (value, low, high)):
        return with_interval(value, low, high)
    if value is None or low is None or high is None:
        return _number(value)
    return f"{_number(value)} [{low:.3g}, {high:.3g}]"


def _number(value: float | None) -> str:
    """With three decimals, unless these would hide the number or fill the line."""
    value = finite(value)
    return figure(value) if value is None or _has_usual_size(value) else f"{value:.3g}"


def _has_usual_size(number: float) -> bool:
    return number == 0 or _SMALLEST_WITH_DECIMALS <= abs(number) < _LARGEST_WITH_DECIMALS
