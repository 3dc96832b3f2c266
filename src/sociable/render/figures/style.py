"""The style that all figures share: the page's colours, signs of series, legends, ranges of axes, and text cut to its room."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from sociable.render.displayable import make_displayable_line

# Stand-ins: matplotlib knows no CSS, so each of the page's colours is drawn as a colour nobody uses.
INK, MUTED, RULE, ACCENT, PAGE = "#000001", "#000002", "#000003", "#000004", "#000005"
_VOICES = ("#000006", "#000007", "#000008", "#000009", "#00000a", "#00000b")
COLOURS_OF_THE_PAGE = {
    INK: "currentColor",
    MUTED: "var(--muted, currentColor)",
    RULE: "var(--rule, currentColor)",
    ACCENT: "var(--accent, currentColor)",
    PAGE: "var(--page, none)",
    **{voice: f"var(--voice-{number}, currentColor)" for number, voice in enumerate(_VOICES, start=1)},
}

PIXELS_PER_INCH = 72
TEXT_SIZE = 12.0
BAND_OPACITY = 0.14

_LEGEND_ROW, _BESIDE_SAMPLE, _BETWEEN_ENTRIES = 20.0, 10.0, 18.0

_SIGNS = (("o", 7.8), ("s", 6.9), ("^", 8.7), ("D", 6.1), ("v", 8.7), ("P", 8.7), ("*", 10.9))
"""Shapes that stay distinct when they are small, each with the size that makes them equally heavy."""

_DASHES: Sequence[Any] = ("-", (0, (5, 2.2)), (0, (1.2, 1.6)), (0, (7, 2, 1.2, 2)), (0, (10, 2.6)))

Numbers = npt.NDArray[np.float64]
Look = dict[str, Any]
"""Arguments of matplotlib's functions that say how something looks."""

Titles = Mapping[str, Iterable[str]]
"""The texts shown when a shape is pointed at: by gid of the artists, one for each shape, in order."""


def get_series_style(number: int) -> Look:
    """Returns the look of series ``number``, from 0: two are alike after 35 without colour, and after 42 without dashes."""
    sign, size = _SIGNS[number % len(_SIGNS)]
    line = {"color": _VOICES[number % len(_VOICES)], "linestyle": _DASHES[number % len(_DASHES)], "clip_on": False}
    return line | {"marker": sign, "markersize": size, "markeredgecolor": PAGE, "markeredgewidth": 0.9}


def add_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], sample_width: float, **place: Any) -> None:
    """Makes the figure higher by a legend, in one row if there is room; labels that are too long are cut."""
    around_text = sample_width + _BESIDE_SAMPLE + _BETWEEN_ENTRIES
    shown = [shorten(label, figure.bbox.width - around_text) for label in labels]
    widths = [around_text + measure_width(label) for label in shown]
    columns = len(shown) if sum(widths) <= figure.bbox.width else max(1, int(figure.bbox.width // max(widths)))
    rows = -(-len(shown) // columns)
    figure.set_figheight((figure.bbox.height + rows * _LEGEND_ROW + 10) / PIXELS_PER_INCH)
    look: Look = {"loc": "outside upper left", "ncols": columns, "handlelength": sample_width / TEXT_SIZE}
    figure.legend(handles, shown, **look | place)


def choose_ticks(at_most: int, whole: bool = False) -> MaxNLocator:
    """Returns what puts ticks at round numbers, or only at ``whole`` ones, with at most so many spaces between them."""
    return MaxNLocator(at_most, steps=(1, 2, 2.5, 5, 10), integer=whole)


def name_x_axis(axes: Axes, name: str, room: float) -> None:
    """Writes the name below the axis, and after it the power of ten that the figures of the ticks are multiples of."""
    formatter = axes.xaxis.get_major_formatter()
    formatter.set_locs(list(axes.get_xticks()))
    power = f"({formatter.get_offset()})" if formatter.get_offset() else ""
    axes.xaxis.get_offset_text().set_visible(False)
    axes.set_xlabel(wrap(f"{make_displayable_line(name)} {power}".strip(), room))


def to_array(numbers: Iterable[float | None]) -> Numbers:
    """Returns the numbers, the missing and the infinite as NaN; the span of larger ones than these would be infinite."""
    array = np.array(list(numbers), dtype=float)
    return np.where(np.isfinite(array), np.clip(array, -1e200, 1e200), np.nan)


def to_arrays(records: Iterable[object], *names: str) -> Sequence[Numbers]:
    """Returns an array of each of these fields of the records."""
    rows = list(records)
    return [to_array(getattr(row, name) for row in rows) for name in names]


def find_range(values: Numbers, bounds: Numbers, minimum: float | None, maximum: float | None) -> tuple[float, float]:
    """Returns the ends of an axis: those asked for, farther out where a value (not a bound) lies outside, or with some air."""
    asked = to_array([minimum, maximum])
    known = np.concatenate([values, asked, bounds if np.isnan(asked).any() else []])
    known = known[np.isfinite(known)]
    first, last = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    air = (last - first) * 0.05 or abs(last) * 0.1 or 1.0
    return first if first == asked[0] else first - air, last if first < last == asked[1] else last + air


@lru_cache(maxsize=4096)
def measure_width(text: str) -> float:
    """Returns the width in pixels in DejaVu Sans, which is as wide as any font that people read reports in."""
    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=TEXT_SIZE), False)[0])


def shorten(text: str, room: float) -> str:
    """Returns the text, or its beginning and its end around an ellipsis: names of models differ at both."""

    def keep(count: int) -> str:
        tail = count // 3
        return f"{text[: count - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"

    if measure_width(text) <= room:
        return text
    return keep(max(0, bisect_right(range(len(text)), room, key=lambda count: measure_width(keep(count))) - 1))


def wrap(text: str, room: float) -> str:
    """Returns the text on at most two lines, broken between words; what is left over is cut."""
    words = text.split()
    fitting = bisect_right(range(1, len(words) + 1), room, key=lambda count: measure_width(" ".join(words[:count])))
    lines = (" ".join(words[: max(1, fitting)]), " ".join(words[max(1, fitting) :]))
    return "\n".join(shorten(line, room) for line in lines if line)
