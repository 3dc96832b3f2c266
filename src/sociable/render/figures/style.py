"""What all figures share: the page's colours, sizes in CSS pixels, signs of series, legends, and text cut to its room."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sociable.render.displayable import LONGEST_LINE, displayable_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

TEXT_SIZE = 12.0
LINE_HEIGHT = 20.0
_BETWEEN_ENTRIES = 18.0
BAND_OPACITY = 0.14

_WIDE, _NARROW = 624.0, 288.0
"""The narrowest room a figure has on a page and on a telephone: it is shown at this size or larger, never smaller."""

_LARGEST = 1e300

_UNITS_PER_INCH = 72  # of matplotlib's SVG; so one point is one CSS pixel of the page

_SIGNS = (("o", 7.8), ("s", 6.9), ("^", 8.7), ("D", 6.1), ("v", 8.7), ("P", 8.7), ("*", 10.9))
"""Shapes that stay distinct when they are small, each with the size that makes them equally heavy."""

_DASHES = ("-", (0, (5, 2.2)), (0, (1.2, 1.6)), (0, (7, 2, 1.2, 2)), (0, (10, 2.6)))

FloatArray = npt.NDArray[np.float64]

Titles = Mapping[str, Sequence[str]]
"""For the shapes of the artists with this gid, in their order, what is shown when one is pointed at."""


@contextmanager
def use_house_style() -> Iterator[None]:
    """The reader's own matplotlibrc does not show in a report, nor a report's settings in the reader's plots."""
    from matplotlib import rc_context, rcdefaults, rcParams

    with rc_context(), warnings.catch_warnings():
        # matplotlib measures a letter that its font lacks as a wide one; that is all it is needed for.
        warnings.filterwarnings("ignore", message="Glyph")
        rcdefaults()
        rcParams.update(
            {
                "figure.dpi": _UNITS_PER_INCH,
                "svg.fonttype": "none",
                "svg.hashsalt": "sociable",
                "text.parse_math": False,
                "text.color": INK,
                "font.size": TEXT_SIZE,
                "axes.titlesize": TEXT_SIZE,
                "axes.titlecolor": MUTED,
                "axes.labelcolor": MUTED,
                "axes.edgecolor": MUTED,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.spines.left": False,
                "axes.axisbelow": True,
                "axes.formatter.limits": (-4, 6),
                "grid.color": RULE,
                "grid.linewidth": 1.0,
                "xtick.color": MUTED,
                "ytick.color": MUTED,
                "ytick.left": False,
                "lines.linewidth": 1.8,
                "lines.solid_capstyle": "butt",
                "legend.frameon": False,
                "legend.borderpad": 0.0,
                "legend.borderaxespad": 0.2,
                "legend.labelspacing": LINE_HEIGHT / TEXT_SIZE - 1.0,
            }
        )
        yield


def set_size(figure: Figure, height: float, narrow: bool) -> float:
    """Sets the figure's size in CSS pixels and returns its width."""
    width = _NARROW if narrow else _WIDE
    figure.set_size_inches(width / _UNITS_PER_INCH, height / _UNITS_PER_INCH)
    return width


def get_series_style(number: int) -> dict[str, Any]:
    """The look of series ``number``, from 0, as arguments of ``plot``: seven signs to six colours repeat only after 42."""
    sign, size = _SIGNS[number % len(_SIGNS)]
    return {
        "color": _VOICES[number % len(_VOICES)],
        "marker": sign,
        "markersize": size,
        "markeredgecolor": PAGE,
        "markeredgewidth": 0.9,
        "clip_on": False,
    }


def get_dashes(number: int) -> Any:
    """The line style of series ``number``: with the signs, series look alike without colour only after 35."""
    return _DASHES[number % len(_DASHES)]


def get_size(figure: Figure) -> tuple[float, float]:
    """Returns the figure's width and height in CSS pixels."""
    width, height = figure.get_size_inches() * _UNITS_PER_INCH
    return float(width), float(height)


def add_legend(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], sample_width: float, place: str = "outside upper left"
) -> None:
    """Makes the figure higher by a legend; labels that are too long are cut, and in one row if there is room."""
    width, height = get_size(figure)
    before_text = sample_width + (10 if sample_width else 0)
    shown = [shorten(label, width - before_text - _BETWEEN_ENTRIES) for label in labels]
    widths = [before_text + measure_width(label) + _BETWEEN_ENTRIES for label in shown]
    columns = len(shown) if sum(widths) <= width else max(1, int(width // max(widths)))
    rows = -(-len(shown) // columns)
    figure.set_size_inches(width / _UNITS_PER_INCH, (height + rows * LINE_HEIGHT + 10) / _UNITS_PER_INCH)
    figure.legend(
        handles,
        shown,
        loc=place,
        ncols=columns,
        handlelength=sample_width / TEXT_SIZE,
        handletextpad=(before_text - sample_width) / TEXT_SIZE,
        columnspacing=_BETWEEN_ENTRIES / TEXT_SIZE,
    )


# ------------------------------------------------------------------------------------------------------------
# Numbers


def to_array(numbers: Iterable[float | None]) -> FloatArray:
    """Returns the numbers, the missing and the infinite as NaN; the span of larger ones than these would be infinite."""
    array = np.array(list(numbers), dtype=float)
    return np.where(np.isfinite(array), np.clip(array, -_LARGEST, _LARGEST), np.nan)


def find_range(
    values: FloatArray, bounds: FloatArray, minimum: float | None, maximum: float | None
) -> tuple[float, float]:
    """Returns the ends of an axis: those asked for, farther out where a value lies outside.

    Where no end was asked for, the bounds of intervals count too, and there is some air.
    """
    asked = to_array([minimum, maximum])
    lowest, highest = (_keep_known(values, asked, bounds if np.isnan(end) else ()) for end in asked)
    first, last = min(lowest, default=0.0), max(highest, default=1.0)
    air = (last - first) * 0.05 or abs(last) * 0.1 or 1.0
    return first if first == asked[0] else first - air, last if first < last == asked[1] else last + air


def _keep_known(*arrays: npt.ArrayLike) -> FloatArray:
    joined = np.concatenate(arrays)
    return joined[np.isfinite(joined)]


# ------------------------------------------------------------------------------------------------------------
# Text


def put_on_a_line(text: str) -> str:
    """The text made harmless, on one line; a figure says with an ellipsis that something was left out."""
    return displayable_line(text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…")


@lru_cache(maxsize=4096)
def measure_width(text: str, size: float = TEXT_SIZE) -> float:
    """Returns the width in pixels in DejaVu Sans, which is as wide as any font that people read reports in."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0])


def shorten(text: str, room: float) -> str:
    """Returns the text, or its beginning and its end around an ellipsis: names of models differ at both."""

    def keep(count: int) -> str:
        tail = count // 3
        return f"{text[: count - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"

    if measure_width(text) <= room:
        return text
    return keep(max(0, bisect_right(range(len(text)), room, key=lambda count: measure_width(keep(count))) - 1))


def wrap(text: str, room: float, lines: int = 2) -> str:
    """Returns the text on at most so many lines, broken between words; what is left over is cut into the last."""
    words, done = text.split(), list[str]()
    while words:
        fitting = bisect_right(range(1, len(words) + 1), room, key=lambda count: measure_width(" ".join(words[:count])))
        count = max(1, fitting) if len(done) < lines - 1 else len(words)
        done.append(shorten(" ".join(words[:count]), room))
        words = words[count:]
    return "\n".join(done)
