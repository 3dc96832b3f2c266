"""Draws with matplotlib: a surface in CSS pixels, y downwards, and what the figures have in common on it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Literal

from sociable.render.displayable import LONGEST_LINE, displayable_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Stand-ins: matplotlib knows no CSS, so each of the page's colours is drawn as a colour nobody uses.
INK, MUTED, RULE, ACCENT, PAGE = "#000001", "#000002", "#000003", "#000004", "#000005"
_VOICES = ("#000006", "#000007", "#000008", "#000009", "#00000a", "#00000b")
OF_THE_PAGE = {
    INK: "currentColor",
    MUTED: "var(--muted, currentColor)",
    RULE: "var(--rule, currentColor)",
    ACCENT: "var(--accent, currentColor)",
    PAGE: "var(--page, none)",
    **{voice: f"var(--voice-{number}, currentColor)" for number, voice in enumerate(_VOICES, start=1)},
}

LABEL_SIZE, SMALL_SIZE = 13.0, 12.0
LINE_HEIGHT = 18.0
GAP, EDGE = 14.0, 12.0

_UNITS_PER_INCH = 72  # of matplotlib's SVG; so one unit is one CSS pixel of the page

Name = str
"""Of what belongs together and has a title: ``mark-`` and numbers."""


class Sign(Enum):
    """Shapes that stay distinct when they are small, as matplotlib's letter and the size that makes them equally heavy."""

    CIRCLE = ("o", 1.0)
    SQUARE = ("s", 0.88)
    TRIANGLE = ("^", 1.12)
    DIAMOND = ("D", 0.78)
    HANGING_TRIANGLE = ("v", 1.12)
    CROSS = ("P", 1.12)
    STAR = ("*", 1.4)


_SIGNS = tuple(Sign)


def voice(number: int) -> str:
    """The colour of the series with this number, from 0; with more than six they repeat."""
    return _VOICES[number % len(_VOICES)]


def sign(number: int) -> Sign:
    """Seven signs to six colours: the two together repeat only after 42."""
    return _SIGNS[number % len(_SIGNS)]


def on_a_line(text: str) -> str:
    """A figure says with an ellipsis that something was left out; a note would be cut as well."""
    return displayable_line(text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…")


def drawn(width: float, height: float, draw: Callable[[Axes], None]) -> str:
    """What ``draw`` puts on a surface of this size, as matplotlib writes it."""
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    # The reader's own matplotlibrc must not show in a report, nor a report's settings in the reader's plots.
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sociable"})
        # matplotlib only measures the text; whether its font has the letters does not matter.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=(width / _UNITS_PER_INCH, height / _UNITS_PER_INCH))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_autoscale_on(False)
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)  # as in SVG: downwards
        draw(axes)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return written.getvalue()


def draw_line(
    axes: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    colour: str,
    thickness: float,
    dashes: Sequence[float] = (),
    name: Name | None = None,
) -> None:
    from matplotlib.lines import Line2D

    line = Line2D(xs, ys, color=colour, linewidth=thickness, solid_capstyle="butt", gid=name, clip_on=False)
    if dashes:
        line.set_dashes(dashes)
    axes.add_line(line)


def draw_area(axes: Axes, corners: Sequence[tuple[float, float]], colour: str, opacity: float) -> None:
    from matplotlib.patches import Polygon

    axes.add_patch(Polygon(corners, closed=True, facecolor=colour, edgecolor="none", alpha=opacity, clip_on=False))


def draw_ring(axes: Axes, x: float, y: float, radius: float, colour: str) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((x, y), radius, facecolor="none", edgecolor=colour, linewidth=1.0, clip_on=False))


def draw_dot(axes: Axes, x: float, y: float, radius: float, filling: str, edge: str, name: Name | None = None) -> None:
    from matplotlib.patches import Circle

    dot = Circle((x, y), radius, facecolor=filling, edgecolor=edge, linewidth=1.6, clip_on=False, gid=name)
    dot.set_zorder(5)  # above its interval, which would show through a hollow dot
    axes.add_patch(dot)


def draw_sign(
    axes: Axes, x: float, y: float, shape: Sign, radius: float, filling: str, edge: str, name: Name | None = None
) -> None:
    from matplotlib.markers import MarkerStyle
    from matplotlib.patches import PathPatch
    from matplotlib.transforms import Affine2D

    letter, weight = shape.value
    style = MarkerStyle(letter)
    size = 2 * radius * weight
    placed = style.get_transform() + Affine2D().scale(size, -size).translate(x, y)
    path = style.get_path().transformed(placed)
    patch = PathPatch(path, facecolor=filling, edgecolor=edge, linewidth=0.9, clip_on=False, gid=name)
    patch.set_zorder(5)
    axes.add_patch(patch)


def write(
    axes: Axes,
    x: float,
    baseline: float,
    text: str,
    colour: str,
    size: float,
    side: Literal["left", "center", "right"],
    name: Name | None = None,
) -> None:
    """``side`` is where x lies in the text; a dollar sign is only a dollar sign."""
    written = axes.text(x, baseline, text, color=colour, fontsize=size, ha=side, va="baseline", gid=name)
    written.set_parse_math(False)
