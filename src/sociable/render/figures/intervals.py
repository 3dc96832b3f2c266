"""Draws an ``IntervalPlot``: dots with intervals, one row a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sociable.core.view import IntervalPlot, Mark
from sociable.render.figures.axis import NO_VALUE, Scale, axis_range, finite, short, tick_labels, ticks, with_interval
from sociable.render.figures.canvas import (
    ACCENT,
    EDGE,
    GAP,
    INK,
    LABEL_SIZE,
    LINE_HEIGHT,
    MUTED,
    PAGE,
    RULE,
    SMALL_SIZE,
    draw_dot,
    draw_line,
    drawn,
    on_a_line,
    write,
)
from sociable.render.figures.page_element import page_element
from sociable.render.lettering import fitted, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOT_RADIUS, _HOLLOW_DOT_RADIUS = 4.2, 3.8


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the same figure is laid out for a page of a certain width."""

    width: float
    row_height: float
    labels_above: bool
    most_ticks: int


_WIDE = _Shape(width=720, row_height=25, labels_above=False, most_ticks=6)
_NARROW = _Shape(width=340, row_height=43, labels_above=True, most_ticks=4)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where everything is, in units of the drawing; ``left`` to ``bottom`` enclose the marks."""

    shape: _Shape
    height: float
    top: float
    bottom: float
    scale: Scale
    ticks: Sequence[float]
    axis_lines: Sequence[str]

    @property
    def left(self) -> float:
        return self.scale.start

    @property
    def right(self) -> float:
        return self.scale.end

    def x(self, value: float) -> float:
        return self.scale.place(value)

    def y(self, row: int) -> float:
        return self.top + (row + (0.7 if self.shape.labels_above else 0.5)) * self.shape.row_height


def interval_plot_svg(plot: IntervalPlot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` sets the labels above their marks, for a telephone."""
    marks = [_with_finite_numbers(mark) for mark in plot.marks]
    layout = _laid_out(plot, marks, _NARROW if narrow else _WIDE)
    written = drawn(layout.shape.width, layout.height, lambda axes: _draw(axes, plot, marks, layout))
    titles = {_name(row): _in_words(mark) for row, mark in enumerate(marks)}
    return page_element(written, [plot.caption, plot.axis], [*titles.values(), *_reference_in_words(plot)], titles)


# ------------------------------------------------------------------------------------------------------------
# What is drawn


def _with_finite_numbers(mark: Mark) -> Mark:
    """A value that is no number counts as none, and without a value there is nothing to have an interval."""
    value, low, high = (finite(number) for number in (mark.value, mark.low, mark.high))
    label = on_a_line(mark.label)
    if value is None:
        return Mark(label, None, published=mark.published)
    return Mark(label, value, low, high, mark.published)


def _numbers(plot: IntervalPlot, marks: Sequence[Mark]) -> Sequence[float | None]:
    """Everything the axis has to hold besides its ends."""
    return [plot.reference, *(number for mark in marks for number in (mark.value, mark.low, mark.high))]


def _reference_label(plot: IntervalPlot) -> str:
    if finite(plot.reference) is None:
        return ""
    return on_a_line(plot.reference_label) or short(plot.reference)


def _name(row: int) -> str:
    return f"mark-{row}"


# ------------------------------------------------------------------------------------------------------------
# Where it is drawn


def _laid_out(plot: IntervalPlot, marks: Sequence[Mark], shape: _Shape) -> _Layout:
    minimum, maximum = axis_range(_numbers(plot, marks), plot.minimum, plot.maximum)
    label_room = 0.0 if shape.labels_above else _label_room(marks, shape)
    found = _ticks(Scale(minimum, maximum, label_room + EDGE, shape.width - EDGE), shape)
    overhang = max(EDGE, max(width_of(text, SMALL_SIZE) for text in tick_labels(found)) / 2 + 2)
    left = max(overhang, label_room + GAP + _DOT_RADIUS) if label_room else overhang
    top = 26.0 if _reference_label(plot) else 6.0
    bottom = top + len(marks) * shape.row_height
    axis_lines = wrapped(on_a_line(plot.axis), shape.width - 2 * EDGE, SMALL_SIZE, lines=2)
    return _Layout(
        shape,
        height=bottom + 26 + LINE_HEIGHT * len(axis_lines),
        top=top,
        bottom=bottom,
        scale=Scale(minimum, maximum, left, shape.width - overhang),
        ticks=found,
        axis_lines=axis_lines,
    )


def _label_room(marks: Sequence[Mark], shape: _Shape) -> float:
    return min(max((width_of(mark.label, LABEL_SIZE) for mark in marks), default=0.0), 0.46 * shape.width)


def _ticks(scale: Scale, shape: _Shape) -> Sequence[float]:
    return ticks(scale, shape.most_ticks, lambda text: width_of(text, SMALL_SIZE) + GAP)


# ------------------------------------------------------------------------------------------------------------
# The drawing


def _draw(axes: Axes, plot: IntervalPlot, marks: Sequence[Mark], layout: _Layout) -> None:
    _draw_axis(axes, layout)
    _draw_reference(axes, plot, layout)
    for row, mark in enumerate(marks):
        _draw_mark(axes, mark, row, layout)


def _draw_axis(axes: Axes, layout: _Layout) -> None:
    for tick, text in zip(layout.ticks, tick_labels(layout.ticks), strict=True):
        x = layout.x(tick)
        draw_line(axes, (x, x), (layout.top, layout.bottom), RULE, 1.0)
        draw_line(axes, (x, x), (layout.bottom, layout.bottom + 4), MUTED, 1.0)
        write(axes, x, layout.bottom + 18, text, MUTED, SMALL_SIZE, "center")
    draw_line(axes, (layout.left, layout.right), (layout.bottom, layout.bottom), MUTED, 1.0)
    for number, text in enumerate(layout.axis_lines):
        middle = _kept_inside((layout.left + layout.right) / 2, text, layout)
        write(axes, middle, layout.bottom + 38 + LINE_HEIGHT * number, text, MUTED, SMALL_SIZE, "center")


def _draw_reference(axes: Axes, plot: IntervalPlot, layout: _Layout) -> None:
    label = _reference_label(plot)
    if not label or plot.reference is None:
        return
    x = layout.x(plot.reference)
    text = fitted(label, layout.shape.width - 2 * EDGE, SMALL_SIZE)
    draw_line(axes, (x, x), (layout.top - 6, layout.bottom), INK, 1.0, dashes=(4, 3))
    write(axes, _kept_inside(x, text, layout), layout.top - 12, text, INK, SMALL_SIZE, "center")


def _kept_inside(middle: float, text: str, layout: _Layout) -> float:
    """The middle of a centred text, moved as far as the edges of the figure demand."""
    half = width_of(text, SMALL_SIZE) / 2 + 2
    return max(half, min(middle, layout.shape.width - half))


def _draw_mark(axes: Axes, mark: Mark, row: int, layout: _Layout) -> None:
    y, name = layout.y(row), _name(row)
    _draw_label(axes, mark, row, layout)
    if mark.value is None:
        write(axes, layout.left + 2, y + SMALL_SIZE / 3, NO_VALUE, MUTED, LABEL_SIZE, "left", name)
        return
    x, colour = layout.x(mark.value), MUTED if mark.published else ACCENT
    ends = [layout.x(number) for number in (mark.low, mark.high) if number is not None]
    if ends:
        draw_line(axes, (min(*ends, x), max(*ends, x)), (y, y), colour, 1.8, name=name)
        for end in ends:
            draw_line(axes, (end, end), (y - 3.5, y + 3.5), colour, 1.8, name=name)
    radius, filling = (_HOLLOW_DOT_RADIUS, PAGE) if mark.published else (_DOT_RADIUS, colour)
    draw_dot(axes, x, y, radius, filling, colour, name)


def _draw_label(axes: Axes, mark: Mark, row: int, layout: _Layout) -> None:
    y, name = layout.y(row), _name(row)
    ink = MUTED if mark.published else INK
    if layout.shape.labels_above:
        room = layout.shape.width - 2 * layout.left
        text = fitted(mark.label, room, LABEL_SIZE)
        write(axes, layout.left, y - 13, text, ink, LABEL_SIZE, "left", name)
        return
    end = layout.left - GAP - _DOT_RADIUS
    text = fitted(mark.label, end, LABEL_SIZE)
    write(axes, end, y + LABEL_SIZE / 3, text, ink, LABEL_SIZE, "right", name)


# ------------------------------------------------------------------------------------------------------------
# In words


def _in_words(mark: Mark) -> str:
    value = "no value" if mark.value is None else with_interval(mark.value, mark.low, mark.high)
    return f"{mark.label}: {value}{', published' if mark.published else ''}"


def _reference_in_words(plot: IntervalPlot) -> Sequence[str]:
    label = _reference_label(plot)
    return [f"{label}: {short(plot.reference)}"] if label else []
