"""Draws each kind of plot with matplotlib, as an SVG element that takes its colours and its font from the page.

One module a kind fills a matplotlib figure; ``style`` holds what all figures share; ``page_element`` turns what
matplotlib wrote into an element of the page. Importing matplotlib takes a moment and happens with the first figure.
"""

from __future__ import annotations

import io

from sociable.core.view import CurvePlot, IntervalPlot, Plot, RadarPlot, ScatterPlot
from sociable.render.figures.curves import draw_curve_plot
from sociable.render.figures.intervals import draw_interval_plot
from sociable.render.figures.page_element import make_page_element
from sociable.render.figures.radar import draw_radar_plot
from sociable.render.figures.scatter import draw_scatter_plot
from sociable.render.figures.style import use_house_style


def render_figure(plot: Plot, narrow: bool = False) -> str:
    """Returns the plot as an ``<svg>`` element; ``narrow`` lays it out for a telephone. The plot has something to draw."""
    from matplotlib.figure import Figure

    with use_house_style():
        figure = Figure(layout="constrained")
        match plot:
            case IntervalPlot():
                titles = draw_interval_plot(figure, plot, narrow)
            case CurvePlot():
                titles = draw_curve_plot(figure, plot, narrow)
            case ScatterPlot():
                titles = draw_scatter_plot(figure, plot, narrow)
            case RadarPlot():
                titles = draw_radar_plot(figure, plot, narrow)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return make_page_element(written.getvalue(), plot.caption, titles)
