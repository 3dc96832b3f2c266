"""Draws a ``ScatterPlot``: items in a plane without axes, their groups told apart by colour and sign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sociable.core.view import Dot, ScatterPlot
from sociable.render.figures.axis import finite
from sociable.render.figures.canvas import (
    EDGE,
    INK,
    MUTED,
    PAGE,
    SMALL_SIZE,
    Name,
    Sign,
    draw_sign,
    drawn,
    on_a_line,
    sign,
    voice,
    write,
)
from sociable.render.figures.legend import Legend, laid_out_legend
from sociable.render.figures.page_element import page_element

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_GROUP = "no group"

_SAMPLE_WIDTH = 10.0
_MANY = 400
"""Above this the dots are drawn smaller; in the legend they are not."""

_LARGEST, _SMALLEST = 1e300, 1e-300


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the same figure is laid out for a page of a certain width."""

    width: float
    least_height: float
    most_height: float
    sign_radius: float


_WIDE = _Shape(width=720, least_height=170, most_height=430, sign_radius=4.4)
_NARROW = _Shape(width=340, least_height=130, most_height=340, sign_radius=3.6)


@dataclass(frozen=True, slots=True)
class _Plane:
    """Both axes have the same scale, or distances would deceive; what lies in the middle is drawn in the middle."""

    middle: tuple[float, float]
    drawn_at: tuple[float, float]
    scale: float

    def place(self, dot: Dot) -> tuple[float, float]:
        """y upwards, as in a plane."""
        x, y = _bounded(dot.x) - self.middle[0], _bounded(dot.y) - self.middle[1]
        return self.drawn_at[0] + x * self.scale, self.drawn_at[1] - y * self.scale


@dataclass(frozen=True, slots=True)
class _Layout:
    shape: _Shape
    height: float
    legend: Legend
    plane: _Plane
    sign_radius: float


def scatter_plot_svg(plot: ScatterPlot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` is for a telephone."""
    dots, counts = drawable_dots(plot), counts_of_groups(plot)
    layout = _laid_out(dots, counts, _NARROW if narrow else _WIDE)
    written = drawn(layout.shape.width, layout.height, lambda axes: _draw(axes, dots, counts, layout))
    titles = {_name(number): _in_words(dot) for number, dot in enumerate(dots)}
    return page_element(written, [plot.caption], [f"{_shown(group)}: {n}" for group, n in counts.items()], titles)


def drawable_dots(plot: ScatterPlot) -> Sequence[Dot]:
    """Those with a place; the ones without a group first, for the others are drawn above them."""
    placed = [dot for dot in plot.dots if finite(dot.x) is not None and finite(dot.y) is not None]
    return sorted(placed, key=lambda dot: dot.group != "")


def counts_of_groups(plot: ScatterPlot) -> Mapping[str, int]:
    """How many dots of each group are drawn, in the order of the groups' first dots, those without a group last."""
    counts = Counter(dot.group for dot in drawable_dots(plot))
    in_order = [*(group for group in counts if group), *([""] if "" in counts else [])]
    return {group: counts[group] for group in in_order}


# ------------------------------------------------------------------------------------------------------------
# Where it is drawn


def _laid_out(dots: Sequence[Dot], counts: Mapping[str, int], shape: _Shape) -> _Layout:
    texts = [f"{_shown(group)} ({count})" for group, count in counts.items()]
    legend = laid_out_legend(texts, EDGE, shape.width - EDGE, _SAMPLE_WIDTH, top=2.0)
    top = legend.height + 10
    width = shape.width - 2 * EDGE
    across, upwards = _span([dot.x for dot in dots]), _span([dot.y for dot in dots])
    wanted = width * upwards[1] / across[1] if across[1] else shape.least_height
    height = max(shape.least_height, min(wanted, shape.most_height)) - 2 * EDGE
    scales = [room / span for room, span in ((width, across[1]), (height, upwards[1])) if span]
    plane = _Plane((across[0], upwards[0]), (shape.width / 2, top + EDGE + height / 2), min(scales, default=1.0))
    return _Layout(
        shape,
        height=top + height + 2 * EDGE,
        legend=legend,
        plane=plane,
        sign_radius=shape.sign_radius * (1.0 if len(dots) <= _MANY else 0.75),
    )


def _span(numbers: Sequence[float]) -> tuple[float, float]:
    """The middle and the length; a length nothing can be divided by counts as none."""
    lowest, highest = (_bounded(end) for end in (min(numbers, default=0.0), max(numbers, default=0.0)))
    length = highest - lowest
    return lowest + length / 2, length if length > _SMALLEST else 0.0


def _bounded(number: float) -> float:
    return max(-_LARGEST, min(number, _LARGEST))


# ------------------------------------------------------------------------------------------------------------
# The drawing


def _draw(axes: Axes, dots: Sequence[Dot], counts: Mapping[str, int], layout: _Layout) -> None:
    numbers = {group: number for number, group in enumerate(counts)}
    for group, entry in zip(counts, layout.legend.entries, strict=True):
        _draw_item(axes, entry.sample_x, entry.y, group, numbers[group], _WIDE.sign_radius)
        write(axes, entry.text_x, entry.baseline, entry.text, INK, SMALL_SIZE, "left")
    for index, dot in enumerate(dots):
        x, y = layout.plane.place(dot)
        _draw_item(axes, x, y, dot.group, numbers[dot.group], layout.sign_radius, _name(index))


def _draw_item(axes: Axes, x: float, y: float, group: str, number: int, radius: float, name: Name | None = None) -> None:
    if group:
        draw_sign(axes, x, y, sign(number), radius, voice(number), PAGE, name)
    else:
        draw_sign(axes, x, y, Sign.CIRCLE, radius / 2, MUTED, PAGE, name)


# ------------------------------------------------------------------------------------------------------------
# In words


def _name(number: int) -> Name:
    return f"mark-{number}"


def _shown(group: str) -> str:
    return on_a_line(group) or (NO_GROUP if not group else "group without a name")


def _in_words(dot: Dot) -> str:
    label = on_a_line(dot.label)
    return f"{label} ({_shown(dot.group)})" if label else _shown(dot.group)
