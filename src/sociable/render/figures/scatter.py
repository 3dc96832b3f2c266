"""Draws a ``ScatterPlot``: items in a plane without axes, their groups told apart by colour and sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sociable.core.view import ScatterPlot
from sociable.render.figures.style import (
    MUTED,
    Titles,
    add_legend,
    get_series_style,
    put_on_a_line,
    set_size,
    to_array,
)
from sociable.render.plots_as_tables import NO_GROUP, count_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST_HEIGHT, _MOST_HEIGHT = 0.27, 0.7
"""Of the plane, as shares of the figure's width."""

_MANY = 400
"""Above this the dots are drawn smaller."""


def draw_scatter_plot(figure: Figure, plot: ScatterPlot, narrow: bool) -> Titles:
    """Fills the figure and returns its titles. Both directions have one scale, or distances would deceive."""
    counts = count_groups(plot)
    dots = [dot for dot in plot.dots if np.isfinite([dot.x, dot.y]).all()]
    across, upwards = (np.ptp(to_array(numbers)) for numbers in ((dot.x for dot in dots), (dot.y for dot in dots)))
    share = np.clip(upwards / across if across else 0, _LEAST_HEIGHT, _MOST_HEIGHT)
    set_size(figure, share * set_size(figure, 1, narrow), narrow)
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.margins(0.04)
    titles, labels, handles = {}, [], []
    for number, (group, count) in enumerate(counts.items()):
        name = put_on_a_line(group) or (NO_GROUP if not group else "group without a name")
        look = get_series_style(number) | ({} if group else {"color": MUTED, "marker": "o", "markersize": 4.0, "zorder": 1})
        look["markersize"] *= (0.82 if narrow else 1.0) * (0.75 if len(dots) > _MANY else 1.0)
        own = [dot for dot in dots if dot.group == group]
        xs, ys = to_array(dot.x for dot in own), to_array(dot.y for dot in own)
        handles += axes.plot(xs, ys, linestyle="none", gid=f"dots-{number}", **look)
        labels.append(f"{name} ({count})")
        said = (put_on_a_line(dot.label) for dot in own)
        titles[f"dots-{number}"] = [f"{label} ({name})" if label else name for label in said]
    add_legend(figure, handles, labels, sample_width=10)
    return titles
