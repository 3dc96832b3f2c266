"""Draws a ``RadarPlot``: one value on each of several axes around a centre, and rings that give the measure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sociable.core.view import RadarPlot
from sociable.render.figures.axis import Scale, finite, round_maximum, short, tick_labels, ticks
from sociable.render.figures.canvas import (
    ACCENT,
    EDGE,
    INK,
    MUTED,
    RULE,
    SMALL_SIZE,
    Name,
    draw_area,
    draw_dot,
    draw_line,
    draw_ring,
    drawn,
    on_a_line,
    write,
)
from sociable.render.figures.legend import Legend, laid_out_legend
from sociable.render.figures.page_element import page_element
from sociable.render.lettering import width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_HEIGHT = 16.0
_FROM_RIM = 12.0
_WIDEST_LABEL = 190.0
_NUMBER_WIDTH = 24.0
_DOT_RADIUS = 3.6


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the same figure is laid out for a page of a certain width."""

    width: float
    radius: float


_WIDE = _Shape(width=720, radius=140)
_NARROW = _Shape(width=340, radius=112)


@dataclass(frozen=True, slots=True)
class _Axis:
    label: str
    value: float | None
    """``None``: the axis is drawn and the outline is interrupted."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A place for text; ``x`` is where ``side`` says, ``top`` and ``bottom`` as y, downwards from the centre."""

    lines: Sequence[str]
    x: float
    top: float
    side: Literal["left", "center", "right"]

    @property
    def bottom(self) -> float:
        return self.top + len(self.lines) * _LINE_HEIGHT

    @property
    def ends(self) -> tuple[float, float]:
        width = max((width_of(line, SMALL_SIZE) for line in self.lines), default=0.0)
        left = self.x - {"left": 0.0, "center": width / 2, "right": width}[self.side]
        return left, left + width

    @property
    def middle(self) -> tuple[float, float]:
        left, right = self.ends
        return (left + right) / 2, (self.top + self.bottom) / 2

    def covers(self, corner: tuple[float, float]) -> bool:
        """Or nearly: the dot that is drawn there would touch the text."""
        (x, y), (left, right) = corner, self.ends
        return left - _DOT_RADIUS < x < right + _DOT_RADIUS and self.top - 1 < y < self.bottom + 1

    def meets(self, other: _Box) -> bool:
        (left, right), (its_left, its_right) = self.ends, other.ends
        return left < its_right and its_left < right and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class _Layout:
    """``labels`` and ``ring_labels`` are relative to the centre. ``legend`` is empty unless the labels are numbers."""

    shape: _Shape
    height: float
    centre: tuple[float, float]
    scale: Scale
    rings: Sequence[float]
    ring_labels: Sequence[_Box]
    labels: Sequence[_Box]
    legend: Legend


def radar_plot_svg(plot: RadarPlot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` is for a telephone."""
    radar = _axes_of(plot)
    layout = _laid_out(plot, radar, _NARROW if narrow else _WIDE)
    written = drawn(layout.shape.width, layout.height, lambda axes: _draw(axes, radar, layout))
    titles = {_name(number): _in_words(axis) for number, axis in enumerate(radar)}
    return page_element(written, [plot.caption], [*titles.values(), f"axes end at {short(layout.scale.maximum)}"], titles)


def _axes_of(plot: RadarPlot) -> Sequence[_Axis]:
    """An axis too few or a value too few costs no report: the one has no name then, the other is missing."""
    return [_Axis(on_a_line(label or ""), finite(value)) for label, value in itertools.zip_longest(plot.axes, plot.values)]


# ------------------------------------------------------------------------------------------------------------
# Where it is drawn


def _laid_out(plot: RadarPlot, radar: Sequence[_Axis], shape: _Shape) -> _Layout:
    scale = Scale(0.0, _maximum(plot, radar), 0.0, shape.radius)
    rings = [tick for tick in ticks(scale, 4, lambda text: _LINE_HEIGHT * 1.5) if tick > 0]
    labels = _labels_beside(radar, shape)
    as_numbers = labels is None
    if labels is None:
        labels = _numbers_beside(radar, shape)
    top = 4 - min([-shape.radius, *(label.top for label in labels)])
    bottom = top + max([shape.radius, *(label.bottom for label in labels)]) + 8
    texts = [_in_words(axis) for axis in radar] if as_numbers else []
    legend = laid_out_legend(texts, EDGE, shape.width - EDGE, _NUMBER_WIDTH, top=bottom + 6)
    return _Layout(
        shape,
        height=bottom + (legend.height + 10 if legend.entries else 0),
        centre=(shape.width / 2, top),
        scale=scale,
        rings=rings,
        ring_labels=_ring_labels(rings, radar, scale),
        labels=labels,
        legend=legend,
    )


def _maximum(plot: RadarPlot, radar: Sequence[_Axis]) -> float:
    """The one that was asked for, higher where a value is; otherwise a round one."""
    highest = max((axis.value for axis in radar if axis.value is not None), default=0.0)
    asked_for = finite(plot.maximum)
    if asked_for is not None and asked_for >= highest and asked_for > 1e-300:
        return min(asked_for, 1e300)
    return round_maximum(highest)


def _direction(number: int, count: int) -> tuple[float, float]:
    """The first axis points upwards, the others follow clockwise."""
    angle = 2 * math.pi * number / count
    return math.sin(angle), -math.cos(angle)


def _labels_beside(radar: Sequence[_Axis], shape: _Shape) -> Sequence[_Box] | None:
    """Every axis' label with its value at its end; ``None`` if one would have to be cut or two would meet."""
    boxes: list[_Box] = []
    for number, axis in enumerate(radar):
        room = _room_for_label(number, len(radar), shape)
        lines = wrapped(axis.label, room, SMALL_SIZE, lines=2)
        if " ".join(lines) != axis.label or any(width_of(line, SMALL_SIZE) > room for line in lines):
            return None
        boxes.append(_box_at_rim([*lines, short(axis.value)], number, len(radar), shape))
    return None if any(one.meets(other) for one, other in itertools.combinations(boxes, 2)) else boxes


def _room_for_label(number: int, count: int, shape: _Shape) -> float:
    x, half = abs(_direction(number, count)[0]) * (shape.radius + _FROM_RIM), shape.width / 2 - 4
    return min(_WIDEST_LABEL, 2 * half if _side(number, count) == "center" else half - x)


def _side(number: int, count: int) -> Literal["left", "center", "right"]:
    across = _direction(number, count)[0]
    if abs(across) < 0.1:
        return "center"
    return "left" if across > 0 else "right"


def _box_at_rim(lines: Sequence[str], number: int, count: int, shape: _Shape) -> _Box:
    """The higher the axis points, the more of its label stands above its end."""
    across, down = _direction(number, count)
    height = len(lines) * _LINE_HEIGHT
    rim = shape.radius + _FROM_RIM
    return _Box(lines, across * rim, down * rim + (down - 1) * height / 2, _side(number, count))


def _numbers_beside(radar: Sequence[_Axis], shape: _Shape) -> Sequence[_Box]:
    """Numbers, which are explained below; with a great many axes only some of the numbers."""
    for step in itertools.count(1):
        boxes = [_number_at_rim(number, len(radar), shape) for number in range(0, len(radar), step)]
        neighbours = itertools.pairwise([*boxes, *boxes[:1]] if len(boxes) > 1 else boxes)
        if not any(one.meets(other) for one, other in neighbours):
            return boxes
    return []


def _number_at_rim(number: int, count: int, shape: _Shape) -> _Box:
    across, down = _direction(number, count)
    rim = shape.radius + 16
    return _Box([str(number + 1)], across * rim, down * rim - _LINE_HEIGHT / 2, "center")


def _ring_labels(rings: Sequence[float], radar: Sequence[_Axis], scale: Scale) -> Sequence[_Box]:
    """In the gap between two axes where they are farthest from the outline; those that would cover a value are left out."""
    if not radar:
        return []
    corners = [_corner(axis, number, len(radar), scale) for number, axis in enumerate(radar)]
    sides = list(itertools.pairwise([*corners, corners[0]]))

    def free(labels: Sequence[_Box]) -> Sequence[_Box]:
        return [label for label in labels if not any(label.covers(corner) for corner in corners)]

    def from_outline(labels: Sequence[_Box]) -> float:
        return min((_distance(label.middle, *side) for label in labels for side in sides), default=0.0)

    possible = [_ring_labels_in(gap, rings, scale) for gap in _gaps(len(radar))]
    labels = max(possible, key=lambda labels: (len(free(labels)), from_outline(labels)))
    return free(labels) or labels[:1]


def _ring_labels_in(gap: tuple[float, float], rings: Sequence[float], scale: Scale) -> Sequence[_Box]:
    """Just inside their rings, from the outermost on, as many as stay apart."""
    across, down = gap
    kept: list[_Box] = []
    for ring, text in reversed(list(zip(rings, tick_labels(rings), strict=True))):
        inwards = 3 + abs(across) * width_of(text, SMALL_SIZE) / 2 + abs(down) * _LINE_HEIGHT / 2
        distance = scale.place(ring) - inwards
        box = _Box([text], across * distance, down * distance - _LINE_HEIGHT / 2, "center")
        if distance > 0 and not any(box.meets(other) for other in kept):
            kept.append(box)
    return kept


def _gaps(count: int) -> Sequence[tuple[float, float]]:
    """Upwards or downwards rather than to the side, where labels are wider than the rings are apart."""
    gaps = [_direction(2 * number + 1, 2 * count) for number in range(count)]
    return [gap for gap in gaps if abs(gap[1]) > 0.45] or gaps


def _corner(axis: _Axis, number: int, count: int, scale: Scale) -> tuple[float, float]:
    across, down = _direction(number, count)
    distance = scale.place(axis.value or 0.0)
    return across * distance, down * distance


def _distance(point: tuple[float, float], start: tuple[float, float], end: tuple[float, float]) -> float:
    """From a point to a side of the outline."""
    along = (end[0] - start[0], end[1] - start[1])
    length = math.hypot(*along)
    if length < 0.01:
        return math.dist(point, start)
    share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / length**2
    kept = max(0.0, min(share, 1.0))
    return math.dist(point, (start[0] + kept * along[0], start[1] + kept * along[1]))


# ------------------------------------------------------------------------------------------------------------
# The drawing


def _draw(axes: Axes, radar: Sequence[_Axis], layout: _Layout) -> None:
    x, y = layout.centre
    for ring in {*layout.rings, layout.scale.maximum}:
        draw_ring(axes, x, y, layout.scale.place(ring), RULE)
    for number in range(len(radar)):
        across, down = _direction(number, len(radar))
        draw_line(axes, (x, x + across * layout.shape.radius), (y, y + down * layout.shape.radius), RULE, 1.0)
    _draw_outline(axes, radar, layout)
    for box in layout.ring_labels:
        _write_box(axes, box, layout)
    for number, box in enumerate(layout.labels):
        _write_box(axes, box, layout, _name(number) if not layout.legend.entries else None)
    for number, entry in enumerate(layout.legend.entries):
        write(axes, entry.text_x - 8, entry.baseline, str(number + 1), MUTED, SMALL_SIZE, "right")
        write(axes, entry.text_x, entry.baseline, entry.text, INK, SMALL_SIZE, "left")


def _draw_outline(axes: Axes, radar: Sequence[_Axis], layout: _Layout) -> None:
    """Filled where every axis has a value; where one has none, the outline is open and encloses nothing."""
    x, y = layout.centre
    corners = [
        (x + across, y + down)
        for across, down in (_corner(axis, number, len(radar), layout.scale) for number, axis in enumerate(radar))
    ]
    complete = all(axis.value is not None for axis in radar)
    if complete and len(corners) > 2:
        draw_area(axes, corners, ACCENT, 0.14)
    for stretch in [[*corners, *corners[:1]]] if complete else _stretches(radar, corners):
        draw_line(axes, [corner[0] for corner in stretch], [corner[1] for corner in stretch], ACCENT, 1.8)
    for number, (axis, corner) in enumerate(zip(radar, corners, strict=True)):
        if axis.value is not None:
            draw_dot(axes, *corner, _DOT_RADIUS, ACCENT, ACCENT, _name(number))


def _stretches(radar: Sequence[_Axis], corners: Sequence[tuple[float, float]]) -> Iterator[Sequence[tuple[float, float]]]:
    """The sides of the outline between neighbours that both have a value."""
    around = [*range(len(radar)), 0]
    for one, other in itertools.pairwise(around):
        if radar[one].value is not None and radar[other].value is not None:
            yield [corners[one], corners[other]]


def _write_box(axes: Axes, box: _Box, layout: _Layout, name: Name | None = None) -> None:
    """The last line is a figure, or all there is."""
    x, y = layout.centre
    for number, line in enumerate(box.lines):
        baseline = y + box.top + (number + 0.75) * _LINE_HEIGHT
        colour = MUTED if number == len(box.lines) - 1 else INK
        write(axes, x + box.x, baseline, line, colour, SMALL_SIZE, box.side, name)


# ------------------------------------------------------------------------------------------------------------
# In words


def _name(number: int) -> Name:
    return f"mark-{number}"


def _in_words(axis: _Axis) -> str:
    value = "no value" if axis.value is None else short(axis.value)
    return f"{axis.label}: {value}" if axis.label else value
