"""Draws a ``RadarPlot``: one value on each of several axes around a centre, and rings that give the measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from sociable.core.view import RadarPlot
from sociable.render.figures.style import (
    ACCENT,
    BAND_OPACITY,
    INK,
    MUTED,
    RULE,
    FloatArray,
    Titles,
    add_legend,
    get_size,
    measure_width,
    put_on_a_line,
    set_size,
    to_array,
    wrap,
)
from sociable.render.plots_as_tables import format_number, pair_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes
    from matplotlib.text import Annotation

_RADIUS, _NARROW_RADIUS = 125.0, 100.0
_WIDEST_LABEL, _BETWEEN_LINES = 150.0, 16.0
_FROM_RIM = 12.0
_MOST_NUMBERS = 36


def draw_radar_plot(figure: Figure, plot: RadarPlot, narrow: bool) -> Titles:
    """Fills the figure and returns its titles. An axis without a value interrupts the outline.

    Where the labels have no room around the rim, numbers stand there, and the labels below.
    """
    from matplotlib.patches import Patch

    pairs = [(put_on_a_line(label), value) for label, value in pair_axes(plot)]
    in_words = [f"{label}: {format_number(value)}" for label, value in pairs]
    angles, values = np.linspace(0, 2 * np.pi, len(pairs), endpoint=False), to_array(value for _, value in pairs)
    figure.set_layout_engine("none")
    axes = figure.add_subplot(projection="polar", theta_offset=np.pi / 2, theta_direction=-1)
    blocks = [[*wrap(label, _WIDEST_LABEL).split("\n"), format_number(value)] for label, value in pairs]
    radius, margin = _NARROW_RADIUS if narrow else _RADIUS, _FROM_RIM + max(map(len, blocks)) * _BETWEEN_LINES
    set_size(figure, 2 * (radius + margin), narrow)
    _place(axes, radius, margin)
    axes.set_ylim(0, _find_maximum(plot.maximum, values))
    labels = [_write_at_rim(axes, angle, lines) for angle, lines in zip(angles, blocks, strict=True)]
    if not _are_legible(labels):
        for text in chain(*labels):
            text.remove()
        for number in range(0, len(pairs), math.ceil(len(pairs) / _MOST_NUMBERS)):
            _write_at_rim(axes, angles[number], [str(number + 1)])
        margin = _FROM_RIM + _BETWEEN_LINES
        set_size(figure, 2 * (radius + margin), narrow)
        numbered = [f"{number} {text}" for number, text in enumerate(in_words, start=1)]
        add_legend(figure, [Patch(visible=False)] * len(numbered), numbered, sample_width=0, place="lower left")
        _place(axes, radius, margin)
    axes.set_xticks(angles, [""] * len(angles))
    axes.spines["polar"].set_color(RULE)
    shown = np.clip(values, *axes.get_ylim())
    axes.plot(np.append(angles, angles[:1]), np.append(shown, shown[:1]), color=ACCENT, clip_on=False)
    if len(pairs) > 2 and np.isfinite(shown).all():
        axes.fill(angles, shown, color=ACCENT, alpha=BAND_OPACITY, linewidth=0, clip_on=False)
    axes.plot(angles, shown, "o", color=ACCENT, markersize=7, clip_on=False, gid="values")
    _draw_rings(axes, angles, shown)
    return {"values": [text for text, value in zip(in_words, values, strict=True) if np.isfinite(value)]}


def _place(axes: PolarAxes, radius: float, margin: float) -> None:
    """Puts the circle in the middle of its figure, ``margin`` pixels below the upper edge."""
    width, height = get_size(axes.figure)
    axes.set_position((0.5 - radius / width, 1 - (2 * radius + margin) / height, 2 * radius / width, 2 * radius / height))


def _find_maximum(asked: float | None, values: FloatArray) -> float:
    """Returns the one that was asked for unless a value lies outside; otherwise a round one."""
    from matplotlib.ticker import MaxNLocator

    highest, (maximum,) = max(values[np.isfinite(values)], default=0.0), to_array([asked])
    if maximum >= highest and maximum > 0:
        return float(maximum)
    return float(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)[-1]) if highest > 0 else 1.0


def _write_at_rim(axes: PolarAxes, angle: float, lines: Sequence[str]) -> Sequence[Annotation]:
    """The higher the axis points, the more of its label stands above its end. The last line is muted."""
    across, up = math.sin(angle), math.cos(angle)
    top = 12 * up + (up + 1) / 2 * len(lines) * _BETWEEN_LINES
    side = "center" if abs(across) < 0.1 else "left" if across > 0 else "right"
    return [
        axes.annotate(
            line,
            (angle, axes.get_ylim()[1]),
            (12 * across, top - number * _BETWEEN_LINES),
            textcoords="offset points",
            ha=side,
            va="top",
            color=MUTED if number == len(lines) - 1 else INK,
            annotation_clip=False,
        )
        for number, line in enumerate(lines)
    ]


def _are_legible(labels: Sequence[Sequence[Annotation]]) -> bool:
    """Whether no label is cut, sticks out of the figure or meets another."""
    from matplotlib.transforms import Bbox

    if any("…" in text.get_text() for text in chain(*labels)):
        return False
    boxes = [Bbox.union([text.get_window_extent() for text in texts]) for texts in labels]
    width, _ = get_size(labels[0][0].figure)
    inside = all(0 < box.x0 and box.x1 < width for box in boxes)
    return inside and not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def _draw_rings(axes: PolarAxes, angles: FloatArray, values: FloatArray) -> None:
    """Labels the rings between two axes, rather low ones, where the fewest labels would cover a value; those are left out."""
    from matplotlib.ticker import MaxNLocator

    maximum = axes.get_ylim()[1]
    rings = [ring for ring in MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, maximum) if 0 < ring <= maximum]
    axes.set_yticks(rings, [""] * len(rings))
    dots = axes.transData.transform(np.column_stack([angles, values])[np.isfinite(values)])

    def find_free(angle: float) -> list[float]:
        kept: list[float] = []
        for ring in reversed(rings):
            half = measure_width(f"{ring:.6g}") / 2
            place, *others = axes.transData.transform([(angle, ring), *((angle, other) for other in kept)])
            if all(np.any(np.abs(place - dot) > (half + 5, 11)) for dot in dots) and all(
                np.any(np.abs(place - other) > (2 * half + 4, 15)) for other in others
            ):
                kept.append(ring)
        return kept

    low_first = sorted(range(len(angles)), key=lambda number: np.nan_to_num(values[number] + values[number - 1]))
    gap = max((angles[number] - np.pi / len(angles) for number in low_first), key=lambda angle: len(find_free(angle)))
    for ring in find_free(gap):
        axes.text(gap, ring, f"{ring:.6g}", ha="center", va="center_baseline", color=MUTED)
