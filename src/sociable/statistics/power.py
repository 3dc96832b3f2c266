"""Power of a comparison of two agents: how large a difference must be to be found, and how many clusters it takes.

The test is that of ``compare_paired``: the signs of the clusters' differences are flipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum, log2, sqrt

import numpy as np

from sociable.statistics.influence import differentiate
from sociable.statistics.intervals import CONFIDENCE, Floats

LEVEL = 1 - CONFIDENCE
"""The probability of telling apart what does not differ, over all metrics of a comparison."""

POWER = 0.8
"""The probability of telling apart what does differ, by convention (Cohen 1988)."""

NOTHING = 1e-9
"""A smaller difference is rounding."""

SURE = 30.0
"""A difference of so many standard errors is always found, and farther the non-central t cannot be computed."""

MOST_CLUSTERS = 1_000_000
"""Clusters beyond which no plan is made."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How much a difference between two agents varies by the draw of clusters; in the unit of the scores."""

    standard_error: float
    clusters: int
    step: float
    """What one cluster in which the two differ usually adds to the difference: the sum of squares of what clusters add, over
    the sum of their absolute values."""
    differing: int
    """Clusters in which the two differ at all."""
    grain: float = 0.0
    """The steps in which the difference changes, as of shares of few cases; 0 where it can have any value."""
    edge: float | None = None
    """How far the agents are from the nearer end of the metric's range, in the unit of the scores; None: it has no two ends."""
    width: float = 1.0
    """The distance between the two ends."""

    def place(self, value: float, low: float | None, high: float | None) -> Spread:
        """The spread where the agents have about this value, of a metric with these bounds."""
        if low is None or high is None:
            return self
        return replace(self, edge=max(0.0, min(value - low, high - value)), width=high - low)

    def find_error(self, difference: float) -> float:
        """The standard error if one agent is by ``difference`` nearer to the middle of the range, where scores vary more.

        The variance of scores whose mean is p on the way from end to end is in proportion to p (1 - p), as that of shares is.
        """
        if not self.edge:
            return self.standard_error
        here, there = (min(0.5, each / self.width) for each in (self.edge, self.edge + difference))
        return self.standard_error * sqrt((1 + there * (1 - there) / (here * (1 - here))) / 2)

    def scale(self, clusters: float) -> Spread:
        """The spread over so many clusters like these."""
        times = clusters / self.clusters
        return replace(
            self,
            standard_error=self.standard_error / sqrt(times),
            clusters=round(clusters),
            step=self.step / times,
            grain=self.grain / times,
            differing=round(self.differing * times),
        )


def measure_spread(
    rows: Floats, statistic: Callable[[Floats], Floats], sizes: Sequence[float] | Floats, differing: int
) -> Spread | None:
    """The spread of ``statistic``, a difference, of the sum of ``rows`` [C, K], one for each cluster.

    Its variance is C / (C - 1) times the sum of the squared influences of the clusters (Davison and Hinkley 1997, section
    2.7.2): of a difference of means, that of the linearised ratio. ``sizes`` are the numbers of cases. None for fewer than two
    clusters, or where the statistic is not defined.
    """
    found = differentiate(rows, statistic) if len(rows) > 1 else None
    if found is None:
        return None
    difference, influences = found
    return make_spread(difference, influences, np.asarray(sizes, dtype=np.float64), differing)


def make_spread(difference: float, influences: Floats, sizes: Floats, differing: int) -> Spread:
    """The spread of a ``difference``, from the ``influences`` of two or more clusters of these ``sizes`` on it."""
    clusters = len(influences)
    added = influences + difference * sizes / sizes.sum()
    absolute = float(np.abs(added).sum())
    step = fsum(added**2) / absolute if absolute > NOTHING else 0.0
    return Spread(
        standard_error=sqrt(clusters / (clusters - 1) * fsum(influences**2)),
        clusters=clusters,
        step=step,
        differing=differing if step else 0,
        grain=find_grain(added),
    )


def find_grain(added: Floats) -> float:
    """The smallest gap between two absolute values, and 0: that of whole numbers, and next to nothing of any others."""
    gaps = np.diff(np.sort(np.append(np.abs(added).ravel(), 0.0)))
    return float(min(gaps[gaps > NOTHING], default=0.0))


def find_smallest_p(clusters: int) -> float:
    """The smallest p-value that flips of sign can give over so many clusters: 2 / 2^C, at most 1."""
    return min(1.0, 2.0 ** (1 - min(clusters, 1000)))


def count_fewest_clusters(level: float) -> int:
    """The clusters below which no p-value is as small as ``level``: 6 for 0.05."""
    return ceil(1 - log2(level))


def find_power(difference: float, spread: Spread, level: float = LEVEL) -> float:
    """The probability that flips of sign, two-sided at ``level``, reject on the right side where the true difference is this.

    Flips of sign reject where the t-test of the clusters' sums does, but for terms that vanish as clusters grow (Lehmann and
    Romano 2005, "Testing Statistical Hypotheses", section 15.2); so the power is that of the non-central t, with C - 1 degrees
    of freedom. Sums that tie with the observed one count against it, which is half a step of what flips of sign can give: one
    ``grain`` of the difference. Where few clusters differ, as of shares near 0 or 1, the variance seen is too small for a
    difference that is not there yet: a difference of d takes d / ``step`` clusters that differ, whose squares are added. Near an
    end of a metric's range the power is that of the direction in which it is smaller, which is the one towards the middle.
    """
    from scipy.special import nctdtr, stdtrit  # type: ignore[import-untyped]

    if spread.clusters < count_fewest_clusters(level):
        return 0.0
    added = difference * spread.step - difference**2 / spread.clusters
    shift = min(
        (difference - spread.grain) / spread.find_error(difference) if spread.standard_error else SURE,
        difference / sqrt(added) if added > 0 else SURE,
        SURE,
    )
    freedom = spread.clusters - 1
    return 1.0 - float(nctdtr(freedom, shift, stdtrit(freedom, 1 - level / 2)))


def find_smallest_difference(spread: Spread, level: float = LEVEL, power: float = POWER) -> float | None:
    """The smallest difference that is found with this power; None where there are too few clusters for any."""
    if spread.clusters < count_fewest_clusters(level):
        return None
    high = max(spread.standard_error, spread.step, NOTHING)
    for _ in range(30):
        if find_power(high, spread, level) >= power:
            break
        high *= 2
    else:
        return None
    low = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if find_power(middle, spread, level) >= power else (middle, high)
    return high


def count_clusters_needed(difference: float, spread: Spread, level: float = LEVEL, power: float = POWER) -> int | None:
    """The fewest clusters over which ``difference`` is found with this power; None where a million are too few."""
    low, high = count_fewest_clusters(level) - 1, MOST_CLUSTERS
    if find_power(difference, spread.scale(high), level) < power:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if find_power(difference, spread.scale(middle), level) >= power else (middle, high)
    return high
