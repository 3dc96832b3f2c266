"""Draws each kind of plot with matplotlib, as an SVG element that takes its colours and its font from the page.

One module a kind fills a matplotlib figure; ``style`` and ``house.mplstyle`` hold what all figures share;
``page_element`` turns what matplotlib wrote into an element of the page. Importing this package imports matplotlib,
which takes a moment.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

from matplotlib import RcParams, rc_context, rc_params_from_file
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from sociable.core.view import Plot
from sociable.render.figures.page_element import make_page_element
from sociable.render.figures.style import PIXELS_PER_INCH, Titles

_WIDE, _NARROW = 624, 288
"""The least room a figure has on a page and on a telephone, in CSS pixels: it is shown at this width or wider."""


def render_figure(plot: Plot, narrow: bool = False) -> str:
    """Returns the plot as an ``<svg>`` element; ``narrow`` lays it out for a telephone. The plot has something to draw."""
    # Other settings of matplotlib do not show in a report, nor these in other plots.
    with rc_context(_read_house_style()), warnings.catch_warnings():
        # matplotlib measures a letter that its font lacks as a wide one; that is all it is needed for.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=((_NARROW if narrow else _WIDE) / PIXELS_PER_INCH, 1), layout="constrained")
        titles = _find_drawing(plot)(figure, plot, narrow)
        written = io.StringIO()
        # ``savefig`` would draw everything twice, the first time to lay it out, which drawing does as well.
        metadata = {"Date": None, "Creator": None}
        FigureCanvasSVG(figure).print_svg(written, metadata=metadata)  # type: ignore[no-untyped-call]
        return make_page_element(written.getvalue(), plot.caption, titles)


@cache
def _read_house_style() -> RcParams:
    return rc_params_from_file(Path(__file__).with_name("house.mplstyle"), use_default_template=False)


def _find_drawing(plot: Plot) -> Callable[[Figure, Plot, bool], Titles]:
    """Returns ``draw`` of the module that is named after the record: an ``IntervalPlot`` is drawn by ``interval_plot``."""
    kind = next(each for each in type(plot).__mro__ if Plot in each.__bases__)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
    drawing: Callable[[Figure, Plot, bool], Titles] = import_module(f"{__name__}.{name}").draw
    return drawing
