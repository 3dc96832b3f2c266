"""Draws a ``CurvePlot``: lines with the bands of their intervals, told apart by colour, dashes and signs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Locator, LogLocator

from sociable.core.plots import CurvePlot, Point, find_placed_points, format_estimate
from sociable.render.displayable import make_displayable_line
from sociable.render.figures import style

_HEIGHT, _NARROW_HEIGHT = 330, 270
_BETWEEN_SIGNS = 34.0


def draw(figure: Figure, plot: CurvePlot, narrow: bool) -> style.Titles:
    """Fills the figure and returns its titles. A point without a value interrupts its line."""
    figure.set_figheight((_NARROW_HEIGHT if narrow else _HEIGHT) / style.PIXELS_PER_INCH)
    curves = [find_placed_points(curve, plot.logarithmic) for curve in plot.curves]
    axes = figure.add_subplot()
    axes.set_title(style.wrap(make_displayable_line(plot.y_axis), figure.bbox.width - 60))
    axes.grid(axis="y")
    _set_scales(axes, plot, [point for point in chain(*curves) if np.isfinite(point.y)], narrow)
    style.name_x_axis(axes, plot.x_axis, figure.bbox.width - 60)
    titles, labels, handles = {}, [], []
    for number, (curve, points) in enumerate(zip(plot.curves, curves, strict=True)):
        label = make_displayable_line(curve.label) or (f"curve {number + 1}" if len(curves) > 1 else "")
        look = style.get_series_style(number)
        xs, ys = style.to_arrays(points, "x", "y")
        _draw_bands(axes, points, plot.steps, look["color"])
        (line,) = axes.plot(
            xs, ys, drawstyle="steps-post" if plot.steps else "default", gid=f"line-{number}", **look | {"marker": ""}
        )
        chosen = _choose_points_with_sign(axes, xs, ys, number)
        (signs,) = axes.plot(xs[chosen], ys[chosen], gid=f"signs-{number}", **look | {"linestyle": "none"})
        before = ", ".join(filter(None, [label, make_displayable_line(plot.x_axis) or "x"]))
        with_sign = (points[index] for index in chosen)
        titles[f"line-{number}"] = [label]
        titles[f"signs-{number}"] = [f"{before} {p.x:.6g}: {format_estimate(p.y, p.low, p.high)}" for p in with_sign]
        labels.append(label if chosen.size else f"{label} (no values)")
        handles.append((line, signs))
    if any(labels):
        style.add_legend(figure, handles, labels, sample_width=_BETWEEN_SIGNS)
    return titles


def _set_scales(axes: Axes, plot: CurvePlot, points: Sequence[Point], narrow: bool) -> None:
    """Sets both axes and their ticks. The x axis ends at the first and the last point, unless they are at one place."""
    xs, ys, *bounds = style.to_arrays(points, "x", "y", "low", "high")
    axes.set_ylim(style.find_range(ys, np.concatenate(bounds), plot.minimum, plot.maximum))
    axes.yaxis.set_major_locator(style.choose_ticks(6))
    ticks: Locator = style.choose_ticks(5 if narrow else 10, whole=bool(np.all(xs == np.round(xs))))
    first, last = style.find_range(xs, xs, xs.min(), xs.max())
    if plot.logarithmic:
        axes.set_xscale("log")
        first, last = (xs.min(), xs.max()) if xs.max() > xs.min() * 1.001 else (xs.min() / 2, xs.min() * 2)
        decades = np.log10(last / first)
        if decades > 0.7:
            ticks = LogLocator(subs=(1, 2, 5) if decades < (2.2 if narrow else 5) else (1,))
        axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:.6g}")
        axes.xaxis.minorticks_off()
    axes.set_xlim(first, last)
    axes.xaxis.set_major_locator(ticks)


def _draw_bands(axes: Axes, points: Sequence[Point], steps: bool, colour: str) -> None:
    """A bound that is missing is the value itself. An interval that stands alone has no width as a band; it is a line."""
    xs, ys, lows, highs = style.to_arrays(points, "x", "y", "low", "high")
    bounded = np.isfinite(ys) & (np.isfinite(lows) | np.isfinite(highs))
    framed = np.concatenate([[False], bounded, [False]])
    alone = bounded & ~framed[:-2] & ~framed[2:]
    below = np.clip(np.fmin(ys, np.fmin(lows, highs)), *axes.get_ylim())
    above = np.clip(np.fmax(ys, np.fmax(lows, highs)), *axes.get_ylim())
    look: style.Look = {"color": colour, "clip_on": False}
    band = {"step": "post" if steps else None, "alpha": style.BAND_OPACITY, "linewidth": 0}
    axes.fill_between(xs, below, above, bounded & ~alone, **look | band)
    axes.vlines(xs[alone], below[alone], above[alone], **look)


def _choose_points_with_sign(axes: Axes, xs: style.Numbers, ys: style.Numbers, number: int) -> npt.NDArray[np.intp]:
    """Returns the indices of the first point, the last, and between them of as many as stay apart, elsewhere on each curve."""
    (known,) = np.nonzero(np.isfinite(ys))
    pixels = axes.transData.transform(np.column_stack([xs, ys])[known])[:, 0]
    if known.size < 3 or pixels[-1] - pixels[0] >= (known.size - 1) * _BETWEEN_SIGNS:
        return known
    _, first_of_each = np.unique((pixels + 11 * (number % 3)) // _BETWEEN_SIGNS, return_index=True)
    return known[[0, *first_of_each[1:-1], -1]]
