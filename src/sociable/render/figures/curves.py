"""Draws a ``CurvePlot``: lines with the bands of their intervals, told apart by colour, dashes and signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sociable.core.view import CurvePlot, Point
from sociable.render.figures.style import (
    BAND_OPACITY,
    TEXT_SIZE,
    FloatArray,
    Titles,
    add_legend,
    find_range,
    get_dashes,
    get_series_style,
    put_on_a_line,
    set_size,
    to_array,
    wrap,
)
from sociable.render.plots_as_tables import find_placed_points, format_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT, _NARROW_HEIGHT = 330.0, 270.0
_BETWEEN_SIGNS = 34.0
_STEPS_OF_TICKS = [1, 2, 2.5, 5, 10]


def draw_curve_plot(figure: Figure, plot: CurvePlot, narrow: bool) -> Titles:
    """Fills the figure and returns its titles. A point without a value interrupts its line."""
    width = set_size(figure, _NARROW_HEIGHT if narrow else _HEIGHT, narrow)
    curves = [find_placed_points(curve, plot.logarithmic) for curve in plot.curves]
    axes = figure.add_subplot()
    axes.set_title(wrap(put_on_a_line(plot.y_axis), width - 5 * TEXT_SIZE), loc="left")
    axes.set_xlabel(wrap(put_on_a_line(plot.x_axis), width - 5 * TEXT_SIZE))
    axes.grid(axis="y")
    _set_scales(axes, plot, [point for points in curves for point in points if np.isfinite(point.y)], narrow)
    titles, labels, handles = {}, [], []
    for number, (curve, points) in enumerate(zip(plot.curves, curves, strict=True)):
        label = put_on_a_line(curve.label) or (f"curve {number + 1}" if len(curves) > 1 else "")
        look, x_axis = get_series_style(number), put_on_a_line(plot.x_axis) or "x"
        xs, ys = to_array(point.x for point in points), to_array(point.y for point in points)
        _draw_bands(axes, points, xs, ys, plot.steps, look["color"])
        (line,) = axes.plot(
            xs,
            ys,
            color=look["color"],
            linestyle=get_dashes(number),
            drawstyle="steps-post" if plot.steps else "default",
            clip_on=False,
            gid=f"line-{number}",
        )
        with_sign = _choose_points_with_sign(axes, xs, ys, number)
        (signs,) = axes.plot(xs[with_sign], ys[with_sign], linestyle="none", gid=f"signs-{number}", **look)
        titles[f"line-{number}"] = [label]
        titles[f"signs-{number}"] = [
            f"{f'{label}, ' if label else ''}{x_axis} {p.x:.6g}: {format_estimate(p.y, p.low, p.high)}"
            for p in (points[index] for index in with_sign)
        ]
        labels.append(label if with_sign.size else f"{label} (no values)")
        handles.append((line, signs))
    if any(curve.label for curve in plot.curves) or len(curves) > 1:
        add_legend(figure, handles, labels, sample_width=34)
    return titles


def _set_scales(axes: Axes, plot: CurvePlot, points: Sequence[Point], narrow: bool) -> None:
    """The x axis ends at the first and the last point, unless they are at one place."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    xs, ys = to_array(point.x for point in points), to_array(point.y for point in points)
    bounds = to_array(bound for point in points for bound in (point.low, point.high))
    axes.set_ylim(find_range(ys, bounds, plot.minimum, plot.maximum))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=_STEPS_OF_TICKS))
    first, last = float(xs.min()), float(xs.max())
    if plot.logarithmic:
        axes.set_xscale("log")
        first, last = (first, last) if last > first * 1.001 else (first / 2, last * 2)
        decades = np.log10(last / first)
        round_ones = LogLocator(subs=(1, 2, 5) if decades < (2.2 if narrow else 5) else (1,))
        axes.xaxis.set_major_locator(round_ones if decades > 0.7 else MaxNLocator(5 if narrow else 10))
        axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:.6g}")
        axes.xaxis.minorticks_off()
    else:
        first, last = find_range(xs, bounds[:0], first, last)
        whole = bool(np.all(xs == np.round(xs)))
        axes.xaxis.set_major_locator(MaxNLocator(5 if narrow else 10, steps=_STEPS_OF_TICKS, integer=whole))
    axes.set_xlim(first, last)


def _draw_bands(axes: Axes, points: Sequence[Point], xs: FloatArray, ys: FloatArray, steps: bool, colour: str) -> None:
    """A bound that is missing is the value itself. An interval that stands alone has no width as a band; it is a line."""
    lows, highs = to_array(point.low for point in points), to_array(point.high for point in points)
    bounded = np.isfinite(ys) & (np.isfinite(lows) | np.isfinite(highs))
    below = np.clip(np.fmin(ys, np.fmin(lows, highs)), *axes.get_ylim())
    above = np.clip(np.fmax(ys, np.fmax(lows, highs)), *axes.get_ylim())
    step = "post" if steps else None
    axes.fill_between(xs, below, above, bounded, step=step, color=colour, alpha=BAND_OPACITY, linewidth=0, clip_on=False)
    beside = np.concatenate([bounded[1:], [False]]) | np.concatenate([[False], bounded[:-1]])
    alone = bounded & ~beside[: len(bounded)]
    axes.vlines(xs[alone], below[alone], above[alone], color=colour, clip_on=False)


def _choose_points_with_sign(axes: Axes, xs: FloatArray, ys: FloatArray, number: int) -> npt.NDArray[np.intp]:
    """Returns the indices of the first point, the last, and between them of as many as stay apart.

    Where points are dense, each curve begins at another place, so that signs of curves that run together do not
    cover one another.
    """
    (known,) = np.nonzero(np.isfinite(ys))
    pixels = axes.transData.transform(np.column_stack([xs, ys])[known])[:, 0]
    if known.size < 3 or pixels[-1] - pixels[0] >= (known.size - 1) * _BETWEEN_SIGNS:
        return known
    _, first_of_each = np.unique((pixels + 11 * (number % 3)) // _BETWEEN_SIGNS, return_index=True)
    return known[[0, *first_of_each[1:-1], -1]]
