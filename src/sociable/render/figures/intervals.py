"""Draws an ``IntervalPlot``: dots with intervals, one row a mark."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from sociable.core.view import IntervalPlot
from sociable.render.figures.style import (
    ACCENT,
    INK,
    MUTED,
    PAGE,
    TEXT_SIZE,
    Titles,
    add_legend,
    find_range,
    put_on_a_line,
    set_size,
    shorten,
    to_array,
    wrap,
)
from sociable.render.plots_as_tables import format_estimate, format_number, name_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_VALUE = "no value"

_ROW_HEIGHT, _ROW_HEIGHT_UNDER_LABEL = 25.0, 43.0


def draw_interval_plot(figure: Figure, plot: IntervalPlot, narrow: bool) -> Titles:
    """Fills the figure and returns its titles; ``narrow`` sets the labels above their marks.

    An interval ends where the axis ends.
    """
    from matplotlib.ticker import MaxNLocator

    width = set_size(figure, 60 + len(plot.marks) * (_ROW_HEIGHT_UNDER_LABEL if narrow else _ROW_HEIGHT), narrow)
    values, lows, highs = (to_array(getattr(mark, name) for mark in plot.marks) for name in ("value", "low", "high"))
    reference = to_array([plot.reference])
    axes = figure.add_subplot()
    axes.set_xlim(find_range(np.append(values, reference), np.append(lows, highs), plot.minimum, plot.maximum))
    axes.set_ylim(len(plot.marks) - 0.5, -0.9 if narrow else -0.5)
    axes.set_yticks([])
    axes.grid(axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 6))
    axes.set_xlabel(wrap(put_on_a_line(plot.axis), width - 2 * TEXT_SIZE))
    if np.isfinite(reference[0]):
        label = put_on_a_line(plot.reference_label) or format_number(plot.reference)
        _draw_reference(axes, float(reference[0]), shorten(label, width / 2))

    titles, handles = {}, {}
    for row, (mark, value, low, high) in enumerate(zip(plot.marks, values, lows, highs, strict=True)):
        name, label = f"mark-{row}", put_on_a_line(mark.label)
        estimate = format_estimate(mark.value, mark.low, mark.high) if np.isfinite(value) else NO_VALUE
        titles[name] = repeat(f"{label}: {estimate}{', published' if mark.published else ''}")
        _write_label(axes, shorten(label, (0.9 if narrow else 0.45) * width), row, narrow, name, MUTED if mark.published else INK)
        if not np.isfinite(value):
            axes.text(0.01, row, NO_VALUE, transform=axes.get_yaxis_transform(), va="center_baseline", color=MUTED, gid=name)
            continue
        look = {"color": MUTED if mark.published else ACCENT, "clip_on": False, "gid": name}
        if np.isfinite(low) or np.isfinite(high):
            known = [end for end in (low, value, high) if np.isfinite(end)]
            ends = np.clip([min(known), max(known)], *axes.get_xlim())
            axes.plot(ends, [row, row], marker="|", markersize=7, markeredgewidth=1.8, **look)
        filling = PAGE if mark.published else ACCENT
        (dot,) = axes.plot(value, row, "o", markersize=8, markerfacecolor=filling, markeredgewidth=1.6, **look)
        handles[name_source(mark.published)] = dot
    if len(handles) > 1:
        add_legend(figure, list(handles.values()), list(handles), sample_width=8)
    return titles


def _write_label(axes: Axes, label: str, row: int, above: bool, name: str, colour: str) -> None:
    """Writes the label at the left of its row or, ``above`` it, at the edge of the axes."""
    axes.annotate(
        label,
        (0, row),
        (0, 8) if above else (-14, 0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="left" if above else "right",
        va="bottom" if above else "center_baseline",
        color=colour,
        gid=name,
    )


def _draw_reference(axes: Axes, place: float, label: str) -> None:
    first, last = axes.get_xlim()
    side = ("left", "center", "right")[min(2, int(3 * (place - first) / (last - first)))]
    axes.axvline(place, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), clip_on=False)
    axes.text(place, 1, label, transform=axes.get_xaxis_transform(), ha=side, va="bottom")
