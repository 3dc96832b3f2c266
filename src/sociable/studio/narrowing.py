"""How estimates narrow while a run goes on, as small lines with the bands of their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.core.records import Estimate
from sociable.core.view import format_figure, format_with_interval
from sociable.engine.status import EstimatesSoFar

WIDTH, HEIGHT = 200, 56
_EDGE = 4
"""Pixels around the drawing, for half a line's width and the dot at its end."""


@dataclass(frozen=True)
class Narrowing:
    """One metric's estimates so far: the last in words, all of them as the points of an SVG drawing."""

    metric: str
    last: str
    scored: int
    line: str
    """The values, as ``points``; empty where there is nothing to draw."""
    band: str
    """The intervals, there along their upper ends and back along their lower ones."""
    end: tuple[float, float] = (0.0, 0.0)
    description: str = ""


def draw_narrowing(history: Sequence[EstimatesSoFar]) -> Iterator[Narrowing]:
    """The main metrics in their order, each over the number of episodes from which it was estimated."""
    for metric in dict.fromkeys(each.metric for moment in history for each in moment.estimates):
        found = [(moment.episodes, each) for moment in history for each in moment.estimates if each.metric == metric]
        yield _draw(metric, found)


def _draw(metric: str, found: Sequence[tuple[int, Estimate]]) -> Narrowing:
    last = found[-1][1]
    said = format_with_interval(last.value, last.low, last.high)
    points = [(episodes, each.value, *_find_bounds(each)) for episodes, each in found if each.value is not None]
    if len(points) < 2:
        return Narrowing(metric, said, last.scored, "", "")
    first, final = points[0][0], points[-1][0]
    lowest, highest = min(low for *_, low, _ in points), max(high for *_, high in points)

    def place(episodes: int, value: float) -> tuple[float, float]:
        across = (episodes - first) / (final - first) if final > first else 1.0
        up = (value - lowest) / (highest - lowest) if highest > lowest else 0.5
        return round(_EDGE + across * (WIDTH - 2 * _EDGE), 1), round(HEIGHT - _EDGE - up * (HEIGHT - 2 * _EDGE), 1)

    upper = [place(episodes, high) for episodes, _, _, high in points]
    lower = [place(episodes, low) for episodes, _, low, _ in points]
    line = [place(episodes, value) for episodes, value, _, _ in points]
    return Narrowing(
        metric,
        said,
        last.scored,
        _join(line),
        _join([*upper, *reversed(lower)]),
        line[-1],
        f"after {first} to {final} episodes, between {format_figure(lowest, 2)} and {format_figure(highest, 2)}",
    )


def _find_bounds(estimate: Estimate) -> tuple[float, float]:
    """The interval's ends; where there is none, the value itself."""
    assert estimate.value is not None
    low, high = (estimate.value if each is None else each for each in (estimate.low, estimate.high))
    return low, high


def _join(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
