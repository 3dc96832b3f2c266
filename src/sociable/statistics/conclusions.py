"""What a comparison of two agents on several metrics allows one to say of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.statistics.power import LEVEL, POWER, Spread, find_smallest_difference, find_smallest_p


@dataclass(frozen=True, slots=True)
class Contrasted:
    """One metric of a comparison."""

    p_value: float | None
    spread: Spread | None
    plausible: float | None
    """The largest difference that would have to be found; None: nobody knows one."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What can be said of one metric."""

    p_value: float | None
    """Corrected for all metrics that were tested; None: so few clusters differ that no test could tell."""
    is_told_apart: bool
    smallest: float | None = None
    """Where they are not told apart: the smallest difference that would have been, with power ``POWER``; None: none would."""


def draw_conclusions(metrics: Sequence[Contrasted], level: float = LEVEL) -> list[Conclusion | None]:
    """What can be said of each metric, so that with probability 1 - ``level`` none is said to differ that does not.

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure". A metric on which so few clusters differ
    that no pattern of signs could reject is not counted among those that are tested (Tarone 1990, "A modified Bonferroni
    method for discrete data"): flips of sign take the sizes of the differences as given.

    What would have been found is worked out at the level that the metric would have had to reach: ``level`` over the number of
    those not told apart. Not even a difference of what is ``plausible`` need be enough: then the two could not have been told
    apart. None stands for a metric on which no cluster differs, or without a p-value.
    """
    tested = sorted(
        (each.p_value, place)
        for place, each in enumerate(metrics)
        if each.p_value is not None and each.spread and find_smallest_p(each.spread.differing) <= level
    )
    corrected: dict[int, float] = {}
    highest = 0.0
    for rank, (p_value, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p_value))
        corrected[place] = highest
    remaining = sum(p_value > level for p_value in corrected.values())
    return [
        _conclude(each, corrected.get(place), level, level / max(1, remaining + (place not in corrected)))
        for place, each in enumerate(metrics)
    ]


def _conclude(metric: Contrasted, p_value: float | None, level: float, own_level: float) -> Conclusion | None:
    if metric.p_value is None or (metric.spread is not None and metric.spread.differing == 0):
        return None
    if p_value is not None and p_value <= level:
        return Conclusion(p_value, True)
    smallest = find_smallest_difference(metric.spread, own_level, POWER) if metric.spread else None
    if smallest is not None and metric.plausible is not None and smallest > metric.plausible:
        smallest = None
    return Conclusion(p_value, False, smallest)
