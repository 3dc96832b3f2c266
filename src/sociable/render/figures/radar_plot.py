"""Draws a ``RadarPlot``: one value on each of several axes around a centre, and rings that give the measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from sociable.core.plots import RadarPlot, format_number, pair_axes
from sociable.render.displayable import make_displayable_line
from sociable.render.figures import style

_RADIUS, _NARROW_RADIUS = 125, 100
_WIDEST_LABEL = 150.0
_LINE_HEIGHT, _FROM_RIM = 16, 12
_MOST_NUMBERS = 36


def draw(figure: Figure, plot: RadarPlot, narrow: bool) -> style.Titles:
    """Fills the figure and returns its titles. An axis without a value interrupts the outline.

    Where the labels have no room around the rim, numbers stand there, and the labels below.
    """
    pairs = [(make_displayable_line(label), format_number(value)) for label, value in pair_axes(plot)]
    in_words = [": ".join(filter(None, pair)) for pair in pairs]
    blocks = [[*style.wrap(label, _WIDEST_LABEL).split("\n"), value] for label, value in pairs]
    values = style.to_array(value for _, value in pair_axes(plot))
    angles = np.linspace(0, 2 * np.pi, len(pairs), endpoint=False)
    figure.set_layout_engine("none")
    axes = figure.add_subplot(projection="polar", theta_offset=np.pi / 2, theta_direction=-1)
    radius = _NARROW_RADIUS if narrow else _RADIUS
    axes.set_ylim(0, _find_maximum(plot.maximum, values))
    _place(figure, axes, radius, lines=max(map(len, blocks)))
    labels = [_write_at_rim(axes, angle, lines) for angle, lines in zip(angles, blocks, strict=True)]
    if not _are_legible(labels, figure.bbox.width):
        for text in chain(*labels):
            text.remove()
        for number in range(0, len(pairs), math.ceil(len(pairs) / _MOST_NUMBERS)):
            _write_at_rim(axes, angles[number], [str(number + 1)])
        numbered = [f"{number} {text}" for number, text in enumerate(in_words, start=1)]
        figure.set_figheight(0)
        style.add_legend(figure, [Patch(visible=False)] * len(numbered), numbered, sample_width=0, loc="lower left")
        _place(figure, axes, radius, lines=1, below=figure.bbox.height)
    axes.set_xticks(angles, [""] * len(angles))
    axes.spines["polar"].set_color(style.RULE)
    shown = np.clip(values, *axes.get_ylim())
    axes.plot(np.append(angles, angles[:1]), np.append(shown, shown[:1]), color=style.ACCENT, clip_on=False)
    if len(pairs) > 2 and np.isfinite(shown).all():
        axes.fill(angles, shown, color=style.ACCENT, alpha=style.BAND_OPACITY, linewidth=0, clip_on=False)
    axes.plot(angles, shown, "o", color=style.ACCENT, markersize=7, clip_on=False, gid="values")
    _draw_rings(axes, angles, shown)
    return {"values": [text for text, value in zip(in_words, values, strict=True) if np.isfinite(value)]}


def _find_maximum(asked: float | None, values: style.Numbers) -> float:
    """Returns the one that was asked for unless a value lies outside; otherwise a round one."""
    (maximum,), highest = style.to_array([asked]), max(values[np.isfinite(values)], default=0.0)
    suits = maximum >= highest and maximum > 0
    return float(maximum if suits else style.choose_ticks(4).tick_values(0, highest if highest > 0 else 1)[-1])


def _place(figure: Figure, axes: Axes, radius: float, lines: int, below: float = 0.0) -> None:
    """Makes room for the circle, labels of so many lines around it and ``below`` pixels under them."""
    half = radius + _FROM_RIM + lines * _LINE_HEIGHT + 2
    width, height = figure.bbox.width, 2 * half + below
    figure.set_figheight(height / style.PIXELS_PER_INCH)
    axes.set_position((0.5 - radius / width, (below + half - radius) / height, 2 * radius / width, 2 * radius / height))


def _write_at_rim(axes: Axes, angle: float, lines: Sequence[str]) -> Sequence[Annotation]:
    """Writes the higher above the end of the axis the higher the axis points. The last line is muted."""
    across, up = math.sin(angle), math.cos(angle)
    top = _FROM_RIM * up + (up + 1) / 2 * len(lines) * _LINE_HEIGHT
    side = "center" if abs(across) < 0.1 else "left" if across > 0 else "right"
    look: style.Look = {"textcoords": "offset points", "ha": side, "va": "top", "annotation_clip": False}
    texts = []
    for number, line in enumerate(lines, start=1):
        place = (_FROM_RIM * across, top - (number - 1) * _LINE_HEIGHT)
        colour = style.INK if number < len(lines) else style.MUTED
        texts.append(axes.annotate(line, (angle, axes.get_ylim()[1]), place, color=colour, **look))
    return texts


def _are_legible(labels: Sequence[Sequence[Annotation]], width: float) -> bool:
    """Whether no label is cut, sticks out of a figure of this width or meets another."""
    if any("…" in text.get_text() for text in chain(*labels)):
        return False
    boxes = [Bbox.union([text.get_window_extent() for text in texts]) for texts in labels]
    inside = all(box.x0 > 0 and box.x1 < width for box in boxes)
    return inside and not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def _draw_rings(axes: Axes, angles: style.Numbers, values: style.Numbers) -> None:
    """Labels the rings between the two axes with the lowest values; labels that would cover a value are left out."""
    maximum = axes.get_ylim()[1]
    rings = [ring for ring in style.choose_ticks(4).tick_values(0, maximum) if 0 < ring <= maximum]
    axes.set_yticks(rings, [""] * len(rings))
    dots = axes.transData.transform(np.column_stack([angles, values])[np.isfinite(values)])
    between = angles - np.pi / len(angles)
    # Upwards or downwards, not to the side, where labels are wider than the rings are apart.
    sums = np.nan_to_num(values + np.roll(values, 1)) + np.where(np.abs(np.cos(between)) < 0.6, np.inf, 0)
    gap = between[np.argmin(sums)]
    for ring in rings:
        text = f"{ring:.6g}"
        away = np.abs(dots - axes.transData.transform((gap, ring))) > (style.measure_width(text) / 2 + 5, 11)
        if away.any(axis=1).all():
            axes.text(gap, ring, text, ha="center", va="center_baseline", color=style.MUTED)
