"""Draws an ``IntervalPlot`` as an SVG element that lives in the page: in its colours, its text as text.

matplotlib draws; what it wrote is then freed from everything that would reach beyond the figure: style
sheets, ids, and style attributes, which the page's content security policy forbids. Importing matplotlib
takes a moment and happens with the first figure.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from sociable.core.view import IntervalPlot, Mark
from sociable.reports.displayable import LONGEST_LINE, displayable_line
from sociable.reports.lettering import fitted, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Stand-ins: matplotlib knows no CSS, so each of the page's colours is drawn as a colour nobody uses.
_INK, _MUTED, _RULE, _ACCENT, _PAGE = "#000001", "#000002", "#000003", "#000004", "#000005"
_OF_THE_PAGE = {
    _INK: "currentColor",
    _MUTED: "var(--muted, currentColor)",
    _RULE: "var(--rule, currentColor)",
    _ACCENT: "var(--accent, currentColor)",
    _PAGE: "var(--page, none)",
}

_UNITS_PER_INCH = 72  # of matplotlib's SVG; so one unit is one CSS pixel of the page
_LABEL_SIZE, _SMALL_SIZE = 13.0, 12.0
_DOT_RADIUS, _HOLLOW_DOT_RADIUS = 4.2, 3.8
_GAP, _EDGE = 14.0, 12.0
_NO_VALUE = "–"


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
    left: float
    right: float
    top: float
    bottom: float
    minimum: float
    maximum: float
    ticks: Sequence[float]
    axis_lines: Sequence[str]

    def x(self, value: float) -> float:
        share = (value - self.minimum) / (self.maximum - self.minimum)
        return self.left + share * (self.right - self.left)

    def y(self, row: int) -> float:
        return self.top + (row + (0.7 if self.shape.labels_above else 0.5)) * self.shape.row_height


def interval_plot_svg(plot: IntervalPlot, narrow: bool = False) -> str:
    """The plot as an ``<svg>`` element; ``narrow`` sets the labels above their marks, for a telephone."""
    marks = [_with_finite_numbers(mark) for mark in plot.marks]
    layout = _laid_out(plot, marks, _NARROW if narrow else _WIDE)
    root = _of_the_page(fromstring(_drawn(plot, marks, layout)))  # noqa: S314 - matplotlib wrote it
    _describe(root, plot, marks)
    return tostring(root, encoding="unicode")


# ------------------------------------------------------------------------------------------------------------
# What is drawn


def _with_finite_numbers(mark: Mark) -> Mark:
    """A value that is no number counts as none, and without a value there is nothing to have an interval."""
    value, low, high = (_finite(number) for number in (mark.value, mark.low, mark.high))
    label = _on_a_line(mark.label)
    if value is None:
        return Mark(label, None, published=mark.published)
    return Mark(label, value, low, high, mark.published)


def _on_a_line(text: str) -> str:
    """A figure says with an ellipsis that something was left out; a note would be cut as well."""
    return displayable_line(text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…")


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _numbers(plot: IntervalPlot, marks: Sequence[Mark]) -> Sequence[float]:
    """Everything the axis has to hold."""
    of_marks = [number for mark in marks for number in (mark.value, mark.low, mark.high)]
    of_axis = [_finite(number) for number in (plot.minimum, plot.maximum, plot.reference)]
    return [number for number in [*of_marks, *of_axis] if number is not None]


def _reference_label(plot: IntervalPlot) -> str:
    if _finite(plot.reference) is None:
        return ""
    return _on_a_line(plot.reference_label) or _short(plot.reference)


def _short(number: float | None) -> str:
    return _NO_VALUE if number is None else f"{number:.3g}".replace("-", "−")


# ------------------------------------------------------------------------------------------------------------
# Where it is drawn


def _laid_out(plot: IntervalPlot, marks: Sequence[Mark], shape: _Shape) -> _Layout:
    minimum, maximum = _axis_range(plot, _numbers(plot, marks))
    label_room = 0.0 if shape.labels_above else _label_room(marks, shape)
    ticks = _ticks(minimum, maximum, shape.width - label_room - 2 * _EDGE, shape.most_ticks)
    overhang = max(_EDGE, max(width_of(text, _SMALL_SIZE) for text in _tick_labels(ticks)) / 2 + 2)
    left = max(overhang, label_room + _GAP + _DOT_RADIUS) if label_room else overhang
    top = 26.0 if _reference_label(plot) else 6.0
    bottom = top + len(marks) * shape.row_height
    axis_lines = wrapped(_on_a_line(plot.axis), shape.width - 2 * _EDGE, _SMALL_SIZE, lines=2)
    return _Layout(
        shape,
        height=bottom + 26 + 18 * len(axis_lines),
        left=left,
        right=shape.width - overhang,
        top=top,
        bottom=bottom,
        minimum=minimum,
        maximum=maximum,
        ticks=ticks,
        axis_lines=axis_lines,
    )


def _axis_range(plot: IntervalPlot, numbers: Sequence[float]) -> tuple[float, float]:
    """The range that was asked for, wider where a number lies outside; with some air where none was given."""
    lowest, highest = min(numbers, default=0.0), max(numbers, default=1.0)
    air = (highest - lowest) * 0.05 or abs(highest) * 0.1 or 1.0
    fixed_below = plot.minimum is not None and _finite(plot.minimum) == lowest
    fixed_above = plot.maximum is not None and _finite(plot.maximum) == highest
    if fixed_below and fixed_above and lowest == highest:
        fixed_above = False
    return lowest if fixed_below else lowest - air, highest if fixed_above else highest + air


def _label_room(marks: Sequence[Mark], shape: _Shape) -> float:
    return min(max((width_of(mark.label, _LABEL_SIZE) for mark in marks), default=0.0), 0.42 * shape.width)


def _ticks(minimum: float, maximum: float, room: float, most: int) -> Sequence[float]:
    """As many round numbers as there is room for; in the worst case one."""
    from matplotlib.ticker import MaxNLocator

    ticks: Sequence[float] = []
    for count in range(most, 0, -1):
        located = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(minimum, maximum)
        ticks = [float(tick) for tick in located if minimum <= tick <= maximum] or [minimum]
        widest = max(width_of(text, _SMALL_SIZE) for text in _tick_labels(ticks))
        step = ticks[1] - ticks[0] if len(ticks) > 1 else math.inf
        if widest + _GAP <= room * step / (maximum - minimum):
            return ticks
    return ticks[:1]


def _tick_labels(ticks: Sequence[float]) -> Sequence[str]:
    """All with as many decimals as the one that needs the most."""
    general = [f"{tick:.6g}" for tick in ticks]
    if any("e" in text for text in general):
        return [_short(tick) for tick in ticks]
    decimals = max(len(text.partition(".")[2]) for text in general)
    return [f"{tick + 0.0:.{decimals}f}".replace("-", "−") for tick in ticks]


# ------------------------------------------------------------------------------------------------------------
# The drawing


def _drawn(plot: IntervalPlot, marks: Sequence[Mark], layout: _Layout) -> str:
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    # The reader's own matplotlibrc must not show in a report, nor a report's settings in the reader's plots.
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sociable"})
        # matplotlib only measures the text; whether its font has the letters does not matter.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=(layout.shape.width / _UNITS_PER_INCH, layout.height / _UNITS_PER_INCH))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, layout.shape.width)
        axes.set_ylim(layout.height, 0)  # as in SVG: downwards
        _draw_axis(axes, layout)
        _draw_reference(axes, plot, layout)
        for row, mark in enumerate(marks):
            _draw_mark(axes, mark, row, layout)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return written.getvalue()


def _draw_axis(axes: Axes, layout: _Layout) -> None:
    for tick, text in zip(layout.ticks, _tick_labels(layout.ticks), strict=True):
        x = layout.x(tick)
        _draw_line(axes, (x, x), (layout.top, layout.bottom), _RULE, 1.0)
        _draw_line(axes, (x, x), (layout.bottom, layout.bottom + 4), _MUTED, 1.0)
        _write(axes, x, layout.bottom + 18, text, _MUTED, _SMALL_SIZE, "center")
    _draw_line(axes, (layout.left, layout.right), (layout.bottom, layout.bottom), _MUTED, 1.0)
    for number, text in enumerate(layout.axis_lines):
        middle = _kept_inside((layout.left + layout.right) / 2, text, layout)
        _write(axes, middle, layout.bottom + 38 + 18 * number, text, _MUTED, _SMALL_SIZE, "center")


def _draw_reference(axes: Axes, plot: IntervalPlot, layout: _Layout) -> None:
    label = _reference_label(plot)
    if not label or plot.reference is None:
        return
    x = layout.x(plot.reference)
    text = fitted(label, layout.shape.width - 2 * _EDGE, _SMALL_SIZE)
    _draw_line(axes, (x, x), (layout.top - 6, layout.bottom), _INK, 1.0, dashes=(4, 3))
    _write(axes, _kept_inside(x, text, layout), layout.top - 12, text, _INK, _SMALL_SIZE, "center")


def _kept_inside(middle: float, text: str, layout: _Layout) -> float:
    """The middle of a centred text, moved as far as the edges of the figure demand."""
    half = width_of(text, _SMALL_SIZE) / 2 + 2
    return max(half, min(middle, layout.shape.width - half))


def _draw_mark(axes: Axes, mark: Mark, row: int, layout: _Layout) -> None:
    y, name = layout.y(row), f"mark-{row}"
    _draw_label(axes, mark, row, layout)
    if mark.value is None:
        _write(axes, layout.left + 2, y + _SMALL_SIZE / 3, _NO_VALUE, _MUTED, _LABEL_SIZE, "left", name)
        return
    x, colour = layout.x(mark.value), _MUTED if mark.published else _ACCENT
    ends = [layout.x(number) for number in (mark.low, mark.high) if number is not None]
    if ends:
        _draw_line(axes, (min(*ends, x), max(*ends, x)), (y, y), colour, 1.8, name=name)
        for end in ends:
            _draw_line(axes, (end, end), (y - 3.5, y + 3.5), colour, 1.8, name=name)
    _draw_dot(axes, x, y, colour, mark.published, name)


def _draw_label(axes: Axes, mark: Mark, row: int, layout: _Layout) -> None:
    y, name = layout.y(row), f"mark-{row}"
    ink = _MUTED if mark.published else _INK
    if layout.shape.labels_above:
        room = layout.shape.width - 2 * layout.left
        text = fitted(mark.label, room, _LABEL_SIZE)
        _write(axes, layout.left, y - 13, text, ink, _LABEL_SIZE, "left", name)
        return
    end = layout.left - _GAP - _DOT_RADIUS
    text = fitted(mark.label, end, _LABEL_SIZE)
    _write(axes, end, y + _LABEL_SIZE / 3, text, ink, _LABEL_SIZE, "right", name)


def _draw_line(
    axes: Axes,
    xs: tuple[float, float],
    ys: tuple[float, float],
    colour: str,
    thickness: float,
    dashes: tuple[float, float] | None = None,
    name: str | None = None,
) -> None:
    (line,) = axes.plot(xs, ys, color=colour, linewidth=thickness, solid_capstyle="butt", gid=name)
    line.set_clip_on(False)
    if dashes:
        line.set_dashes(dashes)


def _draw_dot(axes: Axes, x: float, y: float, colour: str, hollow: bool, name: str) -> None:
    from matplotlib.patches import Circle

    radius = _HOLLOW_DOT_RADIUS if hollow else _DOT_RADIUS
    filling = _PAGE if hollow else colour
    dot = Circle((x, y), radius, facecolor=filling, edgecolor=colour, linewidth=1.6, clip_on=False, gid=name)
    dot.set_zorder(5)  # above its interval, which would show through a hollow dot
    axes.add_patch(dot)


def _write(
    axes: Axes,
    x: float,
    baseline: float,
    text: str,
    colour: str,
    size: float,
    side: Literal["left", "center", "right"],
    name: str | None = None,
) -> None:
    """``side`` is where x lies in the text; a dollar sign is only a dollar sign."""
    written = axes.text(x, baseline, text, color=colour, fontsize=size, ha=side, va="baseline", gid=name)
    written.set_parse_math(False)


# ------------------------------------------------------------------------------------------------------------
# From matplotlib's file to an element of the page


def _of_the_page(root: Element) -> Element:
    """A new element with the shapes and texts in their order, those of a mark together, and nothing else."""
    _, _, width, height = root.get("viewBox", "").split()
    page = Element("svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height})
    groups: dict[str, Element] = {"": page}
    for name, shape in _shapes(root, ""):
        if name not in groups:
            groups[name] = SubElement(page, "g", {"class": name})
        copy = SubElement(groups[name], _local(shape.tag), dict(_attributes(shape)))
        copy.text = shape.text
    return page


def _shapes(element: Element, name: str) -> Iterator[tuple[str, Element]]:
    """Every visible path and text, with the name of the mark it belongs to."""
    for child in element:
        if _local(child.tag) in ("path", "text"):
            if "#000" in child.get("style", ""):
                yield name, child
        elif _local(child.tag) == "g":
            own = child.get("id", "")
            yield from _shapes(child, own if own.startswith("mark-") else name)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attributes(shape: Element) -> Iterator[tuple[str, str]]:
    """Where the shape is, and its style as attributes, since the page allows no inline styles."""
    for name in ("d", "x", "y"):
        if value := shape.get(name):
            yield name, " ".join(value.split())
    for declaration in shape.get("style", "").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name and name != "font-family":  # the page's
            yield name, _OF_THE_PAGE.get(value, value)


def _describe(root: Element, plot: IntervalPlot, marks: Sequence[Mark]) -> None:
    """For those who cannot see the figure all that it shows; for those who point at a mark its numbers."""
    caption = _on_a_line(plot.caption)
    root.set("role", "img")
    root.set("aria-label", ". ".join(text for text in (caption, _on_a_line(plot.axis)) if text))
    for group in root.iter("g"):
        title = Element("title")
        title.text = _in_words(marks[int(group.get("class", "").removeprefix("mark-"))])
        group.insert(0, title)
    description = Element("desc")
    description.text = "; ".join([*map(_in_words, marks), *_reference_in_words(plot)])
    root.insert(0, description)


def _in_words(mark: Mark) -> str:
    has_interval = mark.low is not None or mark.high is not None
    interval = f" [{_short(mark.low)}, {_short(mark.high)}]" if has_interval else ""
    value = "no value" if mark.value is None else _short(mark.value)
    return f"{mark.label}: {value}{interval}{', published' if mark.published else ''}"


def _reference_in_words(plot: IntervalPlot) -> Sequence[str]:
    label = _reference_label(plot)
    return [f"{label}: {_short(plot.reference)}"] if label else []
