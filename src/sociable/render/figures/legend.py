"""Sets the names of a figure's series in rows, each beside a sample of how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.render.figures.canvas import SMALL_SIZE
from sociable.render.lettering import fitted, width_of

_ROW_HEIGHT = 20.0
_BESIDE_SAMPLE, _BETWEEN_ENTRIES = 8.0, 22.0


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """``sample_x`` is where the sample's middle is, ``y`` the middle of the row; ``text_x`` where the text begins."""

    sample_x: float
    text_x: float
    y: float
    text: str

    @property
    def baseline(self) -> float:
        return self.y + SMALL_SIZE / 3


@dataclass(frozen=True, slots=True)
class Legend:
    entries: Sequence[LegendEntry]
    height: float


def laid_out_legend(texts: Sequence[str], left: float, right: float, sample_width: float, top: float = 0.0) -> Legend:
    """In one row if there is room, otherwise in columns of equal width; one that is too long is cut."""
    before_text = sample_width + _BESIDE_SAMPLE
    shown = [fitted(text, right - left - before_text, SMALL_SIZE) for text in texts]
    widths = [before_text + width_of(text, SMALL_SIZE) + _BETWEEN_ENTRIES for text in shown]
    room = right - left + _BETWEEN_ENTRIES
    if sum(widths) <= room:
        starts = [(sum(widths[:number]), 0) for number in range(len(widths))]
    else:
        columns = max(1, int(room // max(widths)))
        starts = [(number % columns * room / columns, number // columns) for number in range(len(widths))]
    entries = [
        LegendEntry(left + x + sample_width / 2, left + x + before_text, top + (row + 0.5) * _ROW_HEIGHT, text)
        for (x, row), text in zip(starts, shown, strict=True)
    ]
    rows = starts[-1][1] + 1 if starts else 0
    return Legend(entries, rows * _ROW_HEIGHT)
