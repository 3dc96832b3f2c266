"""Draws an ``IntervalPlot``: dots with intervals, one row a mark."""

from __future__ import annotations

from itertools import repeat

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sociable.core.plots import SOURCES, IntervalPlot, format_estimate, format_number
from sociable.render.displayable import make_displayable_line
from sociable.render.figures import style

_NO_VALUE = "no value"
_ABOVE: style.Look = {"xytext": (0, 8), "ha": "left", "va": "bottom"}
_AT_THE_LEFT: style.Look = {"xytext": (-14, 0), "ha": "right", "va": "center_baseline"}
_ROW_HEIGHT, _ROW_HEIGHT_UNDER_LABEL = 25, 43


def draw(figure: Figure, plot: IntervalPlot, narrow: bool) -> style.Titles:
    """Fills the figure and returns its titles; ``narrow`` sets the labels above their marks."""
    width, rows = figure.bbox.width, len(plot.marks)
    figure.set_figheight((60 + rows * (_ROW_HEIGHT_UNDER_LABEL if narrow else _ROW_HEIGHT)) / style.PIXELS_PER_INCH)
    values, lows, highs = style.to_arrays(plot.marks, "value", "low", "high")
    (reference,) = style.to_array([plot.reference])
    axes = figure.add_subplot()
    axes.set_xlim(style.find_range(np.append(values, reference), np.append(lows, highs), plot.minimum, plot.maximum))
    axes.set_ylim(rows - 0.5, -0.9 if narrow else -0.5)
    axes.set_yticks([])
    axes.grid(axis="x")
    axes.xaxis.set_major_locator(style.choose_ticks(4 if narrow else 6))
    style.name_x_axis(axes, plot.axis, (0.85 if narrow else 0.5) * width)
    if np.isfinite(reference):
        label = make_displayable_line(plot.reference_label) or format_number(plot.reference)
        _draw_reference(axes, reference, style.shorten(label, width / 2))
    beside: style.Look = {"textcoords": "offset points"} | (_ABOVE if narrow else _AT_THE_LEFT)
    titles, handles = {}, {}
    for row, (mark, value, low, high) in enumerate(zip(plot.marks, values, lows, highs, strict=True)):
        name, label = f"mark-{row}", make_displayable_line(mark.label)
        ink, colour = (style.MUTED, style.MUTED) if mark.published else (style.INK, style.ACCENT)
        shown = style.shorten(label, (0.9 if narrow else 0.45) * width)
        axes.annotate(shown, (0, row), color=ink, gid=name, xycoords=axes.get_yaxis_transform(), **beside)
        ticks = style.to_array([*mark.scale])
        axes.plot(ticks, np.full(len(ticks), row), "|", color=style.MUTED, markersize=13, markeredgewidth=1, gid=name)
        said = _NO_VALUE if np.isnan(value) else format_estimate(mark.value, mark.low, mark.high)
        titles[name] = repeat(f"{label}: {said}{', published' if mark.published else ''}")
        if np.isnan(value):
            axes.text(0.01, row, _NO_VALUE, transform=axes.get_yaxis_transform(), va="center_baseline", color=style.MUTED)
            continue
        look: style.Look = {"color": colour, "clip_on": False, "gid": name}
        known = [number for number in (low, value, high) if np.isfinite(number)]
        if len(known) > 1:
            ends = np.clip([min(known), max(known)], *axes.get_xlim())
            axes.plot(ends, [row, row], marker="|", markersize=7, markeredgewidth=1.8, **look)
        look |= {"markersize": 8, "markeredgewidth": 1.6, "markerfacecolor": style.PAGE if mark.published else colour}
        (handles[SOURCES[mark.published]],) = axes.plot(value, row, "o", **look)
    if len(handles) > 1:
        style.add_legend(figure, [handles[name] for name in sorted(handles)], sorted(handles), sample_width=8)
    return titles


def _draw_reference(axes: Axes, place: float, label: str) -> None:
    first, last = axes.get_xlim()
    side = ("left", "center", "right")[min(2, int(3 * (place - first) / (last - first)))]
    axes.axvline(place, color=style.INK, linewidth=1, linestyle=(0, (4, 3)), clip_on=False)
    axes.text(place, 1, label, transform=axes.get_xaxis_transform(), ha=side, va="bottom")
