"""From numbers to places in a figure, and the round numbers an axis is labelled with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NO_VALUE = "–"

_LARGEST, _SMALLEST = 1e300, 1e-300
"""Beyond these a difference or a quotient may be no number any more; what lies beyond is drawn at the edge."""

_MANTISSAS = (1, 2, 5)
_ROUND_STEPS = [1, 2, 2.5, 5, 10]


@dataclass(frozen=True, slots=True)
class Scale:
    """``minimum`` is drawn at ``start``, ``maximum`` at ``end``."""

    minimum: float
    maximum: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        least, most, at = (math.log10(n) if self.logarithmic else n for n in (self.minimum, self.maximum, value))
        share = (at - least) / (most - least)
        return self.start + max(0.0, min(share, 1.0)) * (self.end - self.start)


def finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def short(number: float | None) -> str:
    """Three digits that count; thousands in full, for 1240 is easier to read than 1.24e+03."""
    if number is None:
        return NO_VALUE
    return f"{number:{'.0f' if 999.5 <= abs(number) < 999_999.5 else '.3g'}}".replace("-", "−")


def with_interval(value: float, low: float | None, high: float | None) -> str:
    return short(value) if low is None and high is None else f"{short(value)} [{short(low)}, {short(high)}]"


# ------------------------------------------------------------------------------------------------------------
# The range of an axis


def axis_range(
    numbers: Sequence[float | None], minimum: float | None = None, maximum: float | None = None
) -> tuple[float, float]:
    """The range that was asked for, wider where a number lies outside; with some air where none was given."""
    known = [_bounded(number) for number in (*numbers, minimum, maximum) if finite(number) is not None]
    lowest, highest = min(known, default=0.0), max(known, default=1.0)
    air = _air(lowest, highest)
    fixed_below = minimum is not None and _bounded(minimum) == lowest
    fixed_above = maximum is not None and _bounded(maximum) == highest
    if fixed_below and fixed_above and highest - lowest < _SMALLEST:
        fixed_above = False
    return lowest if fixed_below else lowest - air, highest if fixed_above else highest + air


def full_range(numbers: Sequence[float], logarithmic: bool = False) -> tuple[float, float]:
    """From the lowest to the highest without air, unless they are the same. Logarithmic: all are above 0."""
    if not logarithmic:
        ends = (min(numbers, default=0.0), max(numbers, default=1.0))
        return axis_range(numbers, *ends) if ends[1] - ends[0] > _SMALLEST else axis_range(numbers)
    lowest, highest = (max(_SMALLEST, _bounded(end)) for end in (min(numbers, default=1.0), max(numbers, default=1.0)))
    return (lowest, highest) if highest > lowest * 1.001 else (lowest / 2, highest * 2)


def _bounded(number: float | None) -> float:
    known = finite(number)
    return math.nan if known is None else max(-_LARGEST, min(known, _LARGEST))


def _air(lowest: float, highest: float) -> float:
    span = highest - lowest
    return span * 0.05 if span >= _SMALLEST else max(abs(lowest), abs(highest)) * 0.1 or 1.0


def round_maximum(highest: float) -> float:
    """A round number not below the highest, for an axis that begins at 0."""
    from matplotlib.ticker import MaxNLocator

    highest = _bounded(highest)
    if highest < _SMALLEST:
        return 1.0
    return max(highest, float(MaxNLocator(4, steps=_ROUND_STEPS).tick_values(0.0, highest)[-1]))


# ------------------------------------------------------------------------------------------------------------
# Ticks


def ticks(scale: Scale, most: int, extent: Callable[[str], float], whole: bool = False) -> Sequence[float]:
    """As many round numbers as there is room for, in the worst case one; ``extent`` is the room a label takes."""
    if scale.logarithmic and len(round_numbers := _round_numbers(scale.minimum, scale.maximum, _MANTISSAS)) > 1:
        return _those_with_room(round_numbers, scale, extent)
    located: Sequence[float] = []
    for count in range(most, 0, -1):
        located = _evenly_spaced(scale, count, whole)
        if _have_room(located, scale, extent):
            return located
    return located[:1]


def _evenly_spaced(scale: Scale, count: int, whole: bool) -> Sequence[float]:
    from matplotlib.ticker import MaxNLocator

    located = MaxNLocator(count, steps=_ROUND_STEPS, integer=whole).tick_values(scale.minimum, scale.maximum)
    return [float(tick) for tick in located if scale.minimum <= tick <= scale.maximum] or [scale.minimum]


def _round_numbers(minimum: float, maximum: float, mantissas: Sequence[int]) -> Sequence[float]:
    """1, 2, 5, 10 and so on; a power of ten is written as one, for a product may miss it by a digit."""
    decades = range(math.floor(math.log10(minimum)), math.ceil(math.log10(maximum)) + 1)
    numbers = [float(f"{mantissa}e{decade}") for decade in decades for mantissa in mantissas]
    return [number for number in numbers if minimum <= number <= maximum]


def _those_with_room(round_numbers: Sequence[float], scale: Scale, extent: Callable[[str], float]) -> Sequence[float]:
    powers = _round_numbers(scale.minimum, scale.maximum, (1,))
    fewer = (powers[::step] for step in range(1, len(powers) + 1))
    return next((found for found in (round_numbers, *fewer) if _have_room(found, scale, extent)), round_numbers[:1])


def _have_room(found: Sequence[float], scale: Scale, extent: Callable[[str], float]) -> bool:
    extents = [extent(text) for text in tick_labels(found, scale.logarithmic)]
    places = [scale.place(tick) for tick in found]
    needed = [(one + other) / 2 for one, other in itertools.pairwise(extents)]
    there_is = [abs(other - one) for one, other in itertools.pairwise(places)]
    return all(room >= need for room, need in zip(there_is, needed, strict=True))


def tick_labels(found: Sequence[float], logarithmic: bool = False) -> Sequence[str]:
    """All with as many decimals as the one that needs the most; on a logarithmic axis each with its own."""
    general = [f"{tick:.6g}" for tick in found]
    if logarithmic:
        return [short(tick) if "e" in text else text for tick, text in zip(found, general, strict=True)]
    if any("e" in text for text in general):
        return [f"{tick:.3g}".replace("-", "−") for tick in found]
    decimals = max((len(text.partition(".")[2]) for text in general), default=0)
    return [f"{tick + 0.0:.{decimals}f}".replace("-", "−") for tick in found]
