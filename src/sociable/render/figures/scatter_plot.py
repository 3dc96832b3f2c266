"""Draws a ``ScatterPlot``: items in a plane without axes, their groups told apart by colour and sign."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from sociable.core.plots import NO_GROUP, ScatterPlot, find_groups
from sociable.render.displayable import make_displayable_line
from sociable.render.figures import style

_LEAST_HEIGHT, _MOST_HEIGHT = 0.27, 0.7
"""Bounds of the plane's height, as shares of the figure's width."""

_LOOK_WITHOUT_GROUP = {"color": style.MUTED, "marker": "o", "markersize": 4.0, "zorder": 1}


def draw(figure: Figure, plot: ScatterPlot, narrow: bool) -> style.Titles:
    """Fills the figure and returns its titles. Both directions have one scale, or distances would deceive."""
    groups = find_groups(plot)
    size = (0.82 if narrow else 1.0) * min(1.0, (400 / max(1, len(plot.dots))) ** 0.5)
    axes = figure.add_subplot()
    titles, labels, handles = {}, [], []
    for number, (group, dots) in enumerate(groups.items()):
        xs, ys = style.to_arrays(dots, "x", "y")
        look = style.get_series_style(number) | {"linestyle": "none"} | ({} if group else _LOOK_WITHOUT_GROUP)
        look["markersize"] *= size
        handles += axes.plot(xs, ys, gid=f"dots-{number}", **look)
        name = make_displayable_line(group) or ("group without a name" if group else NO_GROUP)
        labels.append(f"{name} ({len(dots)})")
        own = (make_displayable_line(dot.label) for dot in dots)
        titles[f"dots-{number}"] = [f"{label} ({name})" if label else name for label in own]
    across, upwards = axes.dataLim.size
    share = np.clip(upwards / across if across else 0, _LEAST_HEIGHT, _MOST_HEIGHT)
    figure.set_figheight(share * figure.get_figwidth())
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.margins(0.04)
    style.add_legend(figure, handles, labels, sample_width=10)
    return titles
