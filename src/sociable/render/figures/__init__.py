"""Draws each kind of plot as an SVG element that lives in the page: in its colours, its text as text.

One module a kind lays a figure out and says what is drawn; ``canvas`` draws, ``page_element`` frees what
matplotlib wrote from everything that would reach beyond the figure. Importing matplotlib takes a moment and
happens with the first figure.
"""

from __future__ import annotations

from sociable.core.view import CurvePlot, IntervalPlot, Plot, RadarPlot, ScatterPlot
from sociable.render.figures.curves import curve_plot_svg, drawable_points
from sociable.render.figures.intervals import interval_plot_svg
from sociable.render.figures.radar import radar_plot_svg
from sociable.render.figures.scatter import drawable_dots, scatter_plot_svg

__all__ = ["curve_plot_svg", "has_something_to_draw", "interval_plot_svg", "plot_svg", "radar_plot_svg", "scatter_plot_svg"]


def plot_svg(plot: Plot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` is its layout for a telephone."""
    match plot:
        case IntervalPlot():
            return interval_plot_svg(plot, narrow)
        case CurvePlot():
            return curve_plot_svg(plot, narrow)
        case ScatterPlot():
            return scatter_plot_svg(plot, narrow)
        case RadarPlot():
            return radar_plot_svg(plot, narrow)


def has_something_to_draw(plot: Plot) -> bool:
    """A row or an axis without a value is drawn, for its absence says something; a curve without a point is not."""
    match plot:
        case IntervalPlot():
            return bool(plot.marks)
        case CurvePlot():
            return any(drawable_points(curve, plot.logarithmic) for curve in plot.curves)
        case ScatterPlot():
            return bool(drawable_dots(plot))
        case RadarPlot():
            return bool(plot.axes or plot.values)
