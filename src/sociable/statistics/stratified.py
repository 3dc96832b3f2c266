"""The mean of a finite population from a sample drawn by strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from statistics import variance

from sociable.statistics.intervals import CONFIDENCE, Interval


def estimate_stratified_mean(sampled: Mapping[str, Sequence[float]], sizes: Mapping[str, int]) -> Interval:
    """Sum over strata of W_h times the sample mean in h, with an interval for what was not sampled.

    Source: Cochran 1977, "Sampling Techniques", sections 5.3 and 5.4 (5.6 and 5.7 for the variance with finite population
    correction; 5.16 for Satterthwaite's degrees of freedom). A stratum with one sampled value of several has the pooled
    variance of the others.

    Args:
        sampled: the values observed in each stratum, in any unit; at most as many as its size.
        sizes: how many units each stratum of the population has. A stratum of size 0 counts for nothing.

    Returns:
        None for all three where a stratum has units and no sampled value, or there are no units. Limits are None where
        the variance cannot be estimated; they equal the value where everything was sampled.

    Raises:
        ValueError: more values than units in a stratum.
    """
    strata = [(size, sampled.get(name, ())) for name, size in sizes.items() if size]
    if any(len(values) > size for size, values in strata):
        raise ValueError("more values than units in a stratum")
    if not strata or not all(values for _, values in strata):
        return Interval(None)
    total = sum(size for size, _ in strata)
    mean = fsum(size / total * fsum(values) / len(values) for size, values in strata)
    several = [values for _, values in strata if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    pooled = fsum(variance(values) * (len(values) - 1) for values in several) / freedom if several else None
    parts, weights = [], []
    for size, values in strata:
        count = len(values)
        if count == size:
            continue
        own = variance(values) if count > 1 else pooled
        if own is None:
            return Interval(mean)
        part = (size / total) ** 2 * (1 - count / size) * own / count
        parts.append(part)
        weights.append(part**2 / max(1, count - 1))
    error = sqrt(fsum(parts))
    if error == 0.0:
        # Everything was sampled, or nothing seen to vary; only in the first case that is all there is to know.
        known = mean if not parts else None
        return Interval(mean, known, known)
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    half = float(stdtrit(fsum(parts) ** 2 / fsum(weights), (1 + CONFIDENCE) / 2)) * error
    return Interval(mean, mean - half, mean + half)
