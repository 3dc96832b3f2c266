"""Intervals that hold although one looks at them again and again, and stops when one likes what one sees.

Clusters are taken in a random order, and looked at at times that are fixed beforehand. At each look the interval is that of a
fixed sample, at one and the same level, which is so small that with probability ``CONFIDENCE`` all intervals of all looks hold
the true value: then so does the one at which somebody stopped, whatever the reason.

Source: Jennison and Turnbull 1989, "Interim analyses: the repeated confidence interval approach", Journal of the Royal
Statistical Society B 51; constant levels by Pocock 1977, "Group sequential methods in the design and analysis of clinical
trials", Biometrika 64. Looks are few and known, since the data are, so that this is narrower than a confidence sequence that
holds at every cluster without end (Waudby-Smith et al. 2024); and the interval at each look is that of all other scores, which
holds for small samples and for shares near 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import fsum, sqrt
from typing import Any

import numpy as np

from sociable.core.records import Score
from sociable.statistics.estimates import list_cases
from sociable.statistics.influence import count_unusual, find_influences, sum_within
from sociable.statistics.intervals import CONFIDENCE, Interval, estimate_mean, find_wilson_limits
from sociable.statistics.metrics import Metric, share
from sociable.statistics.power import NOTHING

MOST_LOOKS = 10

FEWEST_CLUSTERS = 10
"""Clusters at the first look, or all there are."""

FEWEST_DIFFERING = 8
"""Clusters that must be unlike the rest before the variance that was seen is believed."""

NODES = 96
"""Points at which a density is computed between two bounds."""


def plan_looks(clusters: int) -> tuple[int, ...]:
    """The numbers of clusters at which one looks: up to ten, a tenth of all or five apart, the last one at all ``clusters``."""
    apart = max(-(-clusters // MOST_LOOKS), FEWEST_CLUSTERS // 2)
    return (*range(max(FEWEST_CLUSTERS, apart), clusters, apart), clusters)


@lru_cache(maxsize=64)
def find_level(looks: tuple[int, ...]) -> float:
    """The level of the interval at each look, such that all hold together with probability ``CONFIDENCE``; 0.05 for one look.

    The estimate at a look is taken to be normal, with a variance in proportion to one over the number of clusters. The
    probability that it never leaves its bounds is found by integration from look to look (Armitage, McPherson and Rowe 1969,
    "Repeated significance tests on accumulating data", Journal of the Royal Statistical Society A 132).
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

    narrowest, widest = (float(-ndtri((1 - CONFIDENCE) / 2 / share)) for share in (1, len(looks)))
    if len(looks) == 1:
        return 1 - CONFIDENCE
    return float(2 * ndtr(-brentq(lambda bound: _stay_within(bound, looks) - CONFIDENCE, narrowest, widest)))


def _stay_within(bound: float, looks: Sequence[int]) -> float:
    """The probability that a Brownian motion is within ``bound`` standard deviations at each of the times ``looks``."""
    at, weights = np.polynomial.legendre.leggauss(NODES)
    mass, before, places = np.ones(1), 0, np.zeros(1)
    for look in looks:
        edge, deviation = bound * sqrt(look), sqrt(look - before)
        steps = (edge * at[:, None] - places[None, :]) / deviation
        density = np.exp(-(steps**2) / 2) / (deviation * sqrt(2 * np.pi))
        mass, before, places = (density @ mass) * weights * edge, look, edge * at
    return float(mass.sum())


def find_narrowest(cases: int, level: float) -> float:
    """Half the width that no interval of a share over so many cases falls below."""
    from scipy.special import ndtri

    z = float(ndtri(1 - level / 2))
    return z**2 / (cases + z**2) / 2


def estimate_at_look(metric: Metric[Any], scores: Sequence[Score], level: float) -> Interval:
    """The metric's value over the scores at a look, with limits at ``level``.

    The limits of a share are Wilson's, as everywhere. So are those of all metrics whose range has two ends, on the scale from
    one end to the other: the effective size is that at which a share would vary as much by the draw of clusters. Where fewer
    than ``FEWEST_DIFFERING`` clusters are unlike the rest, what varies has hardly been seen: then a cluster counts as one case.
    The limits of other metrics are those of the t distribution on the influences of the clusters, and there are none where so
    few differ. Without limits for fewer than two clusters.
    """
    if metric.aggregate is share:
        cases = list_cases(metric.name, scores)
        return estimate_mean(cases.values, cases.clusters, cases.weights, confidence=1 - level)
    means = metric.find_means(scores)
    found = find_influences(scores, *means) if means else None
    if found is None:
        return Interval(None)
    by_cluster = sum_within(found.values, found.clusters)
    clusters = len(by_cluster)
    if clusters < 2:
        return Interval(found.estimate)
    from scipy.special import ndtri, stdtrit

    by_case = sum_within(found.values, found.cases)
    has_varied = count_unusual(by_case, dict(zip(found.cases, found.clusters, strict=True))) >= FEWEST_DIFFERING
    variance = clusters / (clusters - 1) * fsum(each**2 for each in by_cluster.values())
    quantile = float(stdtrit(clusters - 1, 1 - level / 2))
    if metric.low is None or metric.high is None:
        half = quantile * sqrt(variance)
        return Interval(found.estimate, found.estimate - half, found.estimate + half) if has_varied else Interval(found.estimate)
    width = metric.high - metric.low
    place = min(max((found.estimate - metric.low) / width, 0.0), 1.0)
    size = place * (1 - place) / variance * width**2 if variance > NOTHING**2 else float(clusters)
    size = (size if has_varied else min(size, clusters)) * float(ndtri(1 - level / 2) / quantile) ** 2
    low, high = find_wilson_limits(place, size, 1 - level)
    return Interval(found.estimate, metric.low + low * width, metric.low + high * width)
