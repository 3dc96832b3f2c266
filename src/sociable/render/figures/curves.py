"""Draws a ``CurvePlot``: lines with the bands of their intervals, told apart by colour, dashes and signs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sociable.core.view import Curve, CurvePlot, Point
from sociable.render.figures.axis import Scale, axis_range, finite, full_range, short, tick_labels, ticks, with_interval
from sociable.render.figures.canvas import (
    EDGE,
    GAP,
    INK,
    LINE_HEIGHT,
    MUTED,
    PAGE,
    RULE,
    SMALL_SIZE,
    Name,
    draw_area,
    draw_line,
    draw_sign,
    drawn,
    on_a_line,
    sign,
    voice,
    write,
)
from sociable.render.figures.legend import Legend, laid_out_legend
from sociable.render.figures.page_element import page_element
from sociable.render.lettering import width_of, wrapped
from sociable.render.thinning import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: Sequence[Sequence[float]] = ((), (5, 2.2), (1.2, 1.6), (7, 2, 1.2, 2), (10, 2.6))
"""In widths of the line. Five to seven signs: curves look alike without colour only after 35."""

_THICKNESS, _BAND_OPACITY = 1.8, 0.14
_SIGN_RADIUS, _BETWEEN_SIGNS = 3.9, 34.0
_SAMPLE_WIDTH = 34.0
_POINTS_IN_WORDS = 12


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the same figure is laid out for a page of a certain width."""

    width: float
    plot_height: float
    most_ticks: int


_WIDE = _Shape(width=720, plot_height=270, most_ticks=10)
_NARROW = _Shape(width=340, plot_height=210, most_ticks=6)


@dataclass(frozen=True, slots=True)
class _Series:
    """A curve as it is drawn; ``stretches`` are its points without those that have no value, which interrupt it."""

    label: str
    points: Sequence[Point]
    stretches: Sequence[Sequence[Point]]
    bands: Sequence[Sequence[Point]]


@dataclass(frozen=True, slots=True)
class _Layout:
    shape: _Shape
    height: float
    legend: Legend
    x: Scale
    y: Scale
    x_ticks: Sequence[float]
    y_ticks: Sequence[float]
    x_lines: Sequence[str]
    y_lines: Sequence[str]


def curve_plot_svg(plot: CurvePlot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` is for a telephone."""
    series = [_series(curve, number, plot) for number, curve in enumerate(plot.curves)]
    layout = _laid_out(plot, series, _NARROW if narrow else _WIDE)
    written = drawn(layout.shape.width, layout.height, lambda axes: _draw(axes, plot, series, layout))
    axis_names = [name for name in (on_a_line(plot.y_axis), on_a_line(plot.x_axis)) if name]
    return page_element(written, [plot.caption, " by ".join(axis_names)], _in_words(plot, series), _titles(plot, series))


def drawable_points(curve: Curve, logarithmic: bool = False) -> Sequence[Point]:
    """From left to right those with a place on the x axis and a value."""
    return [point for point in _placed_points(curve, logarithmic) if finite(point.y) is not None]


# ------------------------------------------------------------------------------------------------------------
# What is drawn


def _series(curve: Curve, number: int, plot: CurvePlot) -> _Series:
    placed = _placed_points(curve, plot.logarithmic)
    label = on_a_line(curve.label) or (f"curve {number + 1}" if len(plot.curves) > 1 else "")
    return _Series(
        label,
        points=drawable_points(curve, plot.logarithmic),
        stretches=list(_stretches(placed, plot.steps, _has_value)),
        bands=list(_stretches(placed, plot.steps, _has_interval)),
    )


def _placed_points(curve: Curve, logarithmic: bool) -> Sequence[Point]:
    """Bounds that are no number count as none; a bound that is missing is the value itself."""
    placed = [point for point in curve.points if finite(point.x) is not None and (point.x > 0 or not logarithmic)]
    in_order = sorted(placed, key=lambda point: point.x)
    return [replace(point, low=finite(point.low), high=finite(point.high)) for point in in_order]


def _has_value(point: Point) -> bool:
    return finite(point.y) is not None


def _has_interval(point: Point) -> bool:
    return _has_value(point) and (point.low is not None or point.high is not None)


def _stretches(points: Sequence[Point], steps: bool, belongs: Callable[[Point], bool]) -> Iterator[Sequence[Point]]:
    """Runs of points that belong; of steps each reaches to the point that ends it, as a value holds until then."""
    run: list[Point] = []
    for point in points:
        if belongs(point):
            run.append(point)
        elif run:
            yield [*run, replace(run[-1], x=point.x)] if steps else run
            run = []
    if run:
        yield run


def _numbers(series: Sequence[_Series]) -> Sequence[float | None]:
    """Everything the y axis has to hold."""
    return [number for one in series for point in one.points for number in (point.y, point.low, point.high)]


# ------------------------------------------------------------------------------------------------------------
# Where it is drawn


def _laid_out(plot: CurvePlot, series: Sequence[_Series], shape: _Shape) -> _Layout:
    y_lines = wrapped(on_a_line(plot.y_axis), shape.width - 2 * EDGE, SMALL_SIZE, lines=2)
    x_lines = wrapped(on_a_line(plot.x_axis), shape.width - 2 * EDGE, SMALL_SIZE, lines=2)
    legend = laid_out_legend(_legend_texts(series), EDGE, shape.width - EDGE, _SAMPLE_WIDTH, top=2.0)
    top = 12 + legend.height + (10 if legend.entries and y_lines else 0) + LINE_HEIGHT * len(y_lines)
    y = Scale(*axis_range(_numbers(series), plot.minimum, plot.maximum), top + shape.plot_height, top)
    y_ticks = ticks(y, 6, lambda text: SMALL_SIZE * 2)
    xs = [point.x for one in series for point in one.points]
    whole = all(number.is_integer() for number in map(float, xs))
    left = EDGE + max(width_of(text, SMALL_SIZE) for text in tick_labels(y_ticks)) + 8
    x, x_ticks = _x_axis(Scale(*full_range(xs, plot.logarithmic), left, 0, plot.logarithmic), shape, whole)
    return _Layout(
        shape,
        height=y.start + 26 + LINE_HEIGHT * len(x_lines),
        legend=legend,
        x=x,
        y=y,
        x_ticks=x_ticks,
        y_ticks=y_ticks,
        x_lines=x_lines,
        y_lines=y_lines,
    )


def _x_axis(scale: Scale, shape: _Shape, whole: bool) -> tuple[Scale, Sequence[float]]:
    """The axis ends where half of the widest label still has room at the edge of the figure."""
    scale = replace(scale, end=shape.width - EDGE)
    found = ticks(scale, shape.most_ticks, lambda text: width_of(text, SMALL_SIZE) + GAP, whole)
    half = max(width_of(text, SMALL_SIZE) for text in tick_labels(found, scale.logarithmic)) / 2
    return replace(scale, start=max(scale.start, half + 2), end=shape.width - max(EDGE, half + 2)), found


def _legend_texts(series: Sequence[_Series]) -> Sequence[str]:
    if not any(one.label for one in series):
        return []
    return [one.label if one.points else f"{one.label} (no values)" for one in series]


# ------------------------------------------------------------------------------------------------------------
# The drawing


def _draw(axes: Axes, plot: CurvePlot, series: Sequence[_Series], layout: _Layout) -> None:
    _draw_axes(axes, layout)
    _draw_legend(axes, layout.legend)
    for number, one in enumerate(series):
        for band in one.bands:
            _draw_band(axes, band, plot.steps, voice(number), layout)
        for stretch in one.stretches:
            outline = _outline([(point.x, point.y) for point in stretch], plot.steps, layout)
            _draw_stretch(axes, outline, number)
        for index, point in _with_room(one.points, number, layout):
            x, y = layout.x.place(point.x), layout.y.place(point.y)
            draw_sign(axes, x, y, sign(number), _SIGN_RADIUS, voice(number), PAGE, _name_of_point(number, index))


def _draw_axes(axes: Axes, layout: _Layout) -> None:
    left, right, top, bottom = layout.x.start, layout.x.end, layout.y.end, layout.y.start
    for tick, text in zip(layout.y_ticks, tick_labels(layout.y_ticks), strict=True):
        y = layout.y.place(tick)
        draw_line(axes, (left, right), (y, y), RULE, 1.0)
        write(axes, left - 8, y + SMALL_SIZE / 3, text, MUTED, SMALL_SIZE, "right")
    for tick, text in zip(layout.x_ticks, tick_labels(layout.x_ticks, layout.x.logarithmic), strict=True):
        x = layout.x.place(tick)
        draw_line(axes, (x, x), (bottom, bottom + 4), MUTED, 1.0)
        write(axes, x, bottom + 18, text, MUTED, SMALL_SIZE, "center")
    draw_line(axes, (left, right), (bottom, bottom), MUTED, 1.0)
    for number, text in enumerate(reversed(layout.y_lines)):
        write(axes, EDGE, top - 16 - LINE_HEIGHT * number, text, MUTED, SMALL_SIZE, "left")
    for number, text in enumerate(layout.x_lines):
        half = width_of(text, SMALL_SIZE) / 2 + 2
        middle = max(half, min((left + right) / 2, layout.shape.width - half))
        write(axes, middle, bottom + 38 + LINE_HEIGHT * number, text, MUTED, SMALL_SIZE, "center")


def _draw_legend(axes: Axes, legend: Legend) -> None:
    for number, entry in enumerate(legend.entries):
        half, colour = _SAMPLE_WIDTH / 2, voice(number)
        dashes = _DASHES[number % len(_DASHES)]
        draw_line(axes, (entry.sample_x - half, entry.sample_x + half), (entry.y, entry.y), colour, _THICKNESS, dashes)
        draw_sign(axes, entry.sample_x, entry.y, sign(number), _SIGN_RADIUS, colour, PAGE)
        write(axes, entry.text_x, entry.baseline, entry.text, INK, SMALL_SIZE, "left")


def _draw_stretch(axes: Axes, outline: Sequence[tuple[float, float]], number: int) -> None:
    """Of a curve with a single point nothing but its sign is seen."""
    xs, ys = [x for x, _ in outline], [y for _, y in outline]
    draw_line(axes, xs, ys, voice(number), _THICKNESS, _DASHES[number % len(_DASHES)], _name(number))


def _draw_band(axes: Axes, band: Sequence[Point], steps: bool, colour: str, layout: _Layout) -> None:
    """An interval that stands alone has no width as a band; it is a line."""
    ends = [(point.x, *_ordered([number for number in (point.y, point.low, point.high) if number is not None])) for point in band]
    below = _outline([(x, low) for x, low, _ in ends], steps, layout)
    above = _outline([(x, high) for x, _, high in ends], steps, layout)
    if len(band) == 1:
        draw_line(axes, (below[0][0], above[0][0]), (below[0][1], above[0][1]), colour, _THICKNESS)
    else:
        draw_area(axes, [*below, *reversed(above)], colour, _BAND_OPACITY)


def _ordered(numbers: Sequence[float]) -> tuple[float, float]:
    return min(numbers), max(numbers)


def _outline(points: Sequence[tuple[float, float]], steps: bool, layout: _Layout) -> Sequence[tuple[float, float]]:
    placed = [(layout.x.place(x), layout.y.place(y)) for x, y in points]
    if not steps:
        return placed
    corners = [[(x, before), (x, y)] for (_, before), (x, y) in itertools.pairwise(placed)]
    return [placed[0], *(corner for pair in corners for corner in pair)]


def _with_room(points: Sequence[Point], number: int, layout: _Layout) -> Iterator[tuple[int, Point]]:
    """The points that get a sign: the first, the last, and between them as many as stay apart.

    Where points are dense, each curve begins at another place, so that signs of curves that run together do not
    cover one another.
    """
    if not points:
        return
    last = len(points) - 1
    end = layout.x.place(points[last].x)
    latest = layout.x.place(points[0].x)
    dense = end - latest < last * _BETWEEN_SIGNS
    needed = _BETWEEN_SIGNS * (1 + 0.3 * (number % 3)) if dense else 0.0
    yield 0, points[0]
    for index, point in enumerate(points[1:last], start=1):
        x = layout.x.place(point.x)
        if x - latest >= needed and end - x >= (_BETWEEN_SIGNS if dense else 0.0):
            yield index, point
            latest = x
    if last:
        yield last, points[last]


# ------------------------------------------------------------------------------------------------------------
# In words


def _name(number: int) -> Name:
    return f"mark-{number}"


def _name_of_point(number: int, index: int) -> Name:
    return f"mark-{number}-{index}"


def _titles(plot: CurvePlot, series: Sequence[_Series]) -> Mapping[Name, str]:
    titles = {_name(number): one.label or on_a_line(plot.caption) for number, one in enumerate(series)}
    for number, one in enumerate(series):
        for index, point in enumerate(one.points):
            titles[_name_of_point(number, index)] = ", ".join(part for part in (one.label, _place_in_words(plot, point)) if part)
    return titles


def _place_in_words(plot: CurvePlot, point: Point) -> str:
    x_axis = on_a_line(plot.x_axis) or "x"
    return f"{x_axis} {short(point.x)}: {with_interval(point.y, point.low, point.high)}"


def _in_words(plot: CurvePlot, series: Sequence[_Series]) -> Iterator[str]:
    for one in series:
        shown = thinned([point.x for point in one.points], _POINTS_IN_WORDS, plot.logarithmic)
        points = ", ".join(_place_in_words(plot, point) for point in one.points if point.x in shown)
        yield f"{one.label}: {points or 'no values'}" if one.label else points or "no values"
