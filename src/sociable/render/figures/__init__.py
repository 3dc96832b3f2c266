"""Draws each kind of plot with matplotlib, as an SVG element that takes its colours and its font from the page.

One module a kind fills a matplotlib figure; ``style`` and ``house.mplstyle`` hold what all figures share;
``page_element`` turns what matplotlib wrote into an element of the page. Importing this package imports matplotlib,
which takes a moment.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from sociable.core.view import CurvePlot, IntervalPlot, Plot, RadarPlot, ScatterPlot
from sociable.render.figures.curves import draw_curve_plot
from sociable.render.figures.intervals import draw_interval_plot
from sociable.render.figures.page_element import make_page_element
from sociable.render.figures.radar import draw_radar_plot
from sociable.render.figures.scatter import draw_scatter_plot
from sociable.render.figures.style import PIXELS_PER_INCH, Titles

_DRAWINGS: Mapping[type[Plot], Callable[[Figure, Any, bool], Titles]] = {
    IntervalPlot: draw_interval_plot,
    CurvePlot: draw_curve_plot,
    ScatterPlot: draw_scatter_plot,
    RadarPlot: draw_radar_plot,
}

_WIDE, _NARROW = 624, 288
"""The least room a figure has on a page and on a telephone, in CSS pixels: it is shown at this width or wider."""


def render_figure(plot: Plot, narrow: bool = False) -> str:
    """Returns the plot as an ``<svg>`` element; ``narrow`` lays it out for a telephone. The plot has something to draw."""
    # Other settings of matplotlib do not show in a report, nor these in other plots.
    with rc_context(fname=Path(__file__).with_name("house.mplstyle")), warnings.catch_warnings():
        # matplotlib measures a letter that its font lacks as a wide one; that is all it is needed for.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=((_NARROW if narrow else _WIDE) / PIXELS_PER_INCH, 1), layout="constrained")
        titles = _DRAWINGS[type(plot)](figure, plot, narrow)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return make_page_element(written.getvalue(), plot.caption, titles)
