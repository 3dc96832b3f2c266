"""The mean of a finite population from a sample drawn by strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from statistics import variance

from scipy.special import stdtrit  # type: ignore[import-untyped]

from sociable.statistics.intervals import Interval


def stratified_mean(sampled: Mapping[str, Sequence[float]], sizes: Mapping[str, int], confidence: float = 0.95) -> Interval:
    """Sum over strata of W_h times the sample mean in h, with an interval for what was not sampled.

    Source: Cochran 1977, "Sampling Techniques", sections 5.3 and 5.4 (5.6 and 5.7 for the variance with finite population
    correction; 5.16 for Satterthwaite's degrees of freedom). A stratum with one sampled value of several has the pooled
    variance of the others.

    Args:
        sampled: the values observed in each stratum, in any unit; at most as many as its size.
        sizes: how many units each stratum of the population has. A stratum of size 0 counts for nothing.
        confidence: nominal coverage, in (0, 1).

    Returns:
        None for all three where a stratum has units and no sampled value, or there are no units. Limits are None where
        the variance cannot be estimated; they equal the value where everything was sampled.

    Raises:
        ValueError: more values than units in a stratum.
    """
    strata = [name for name, size in sizes.items() if size]
    if any(len(sampled.get(name, ())) > sizes[name] for name in strata):
        raise ValueError("more values than units in a stratum")
    if not strata or any(not sampled.get(name) for name in strata):
        return Interval(None, None, None, confidence)
    total = sum(sizes[name] for name in strata)
    value = fsum(sizes[name] / total * fsum(sampled[name]) / len(sampled[name]) for name in strata)
    variances = _variances([sampled[name] for name in strata])
    parts, freedom = [], []
    for name, own in zip(strata, variances, strict=True):
        size, count = sizes[name], len(sampled[name])
        if count == size:
            continue
        if own is None:
            return Interval(value, None, None, confidence)
        part = (size / total) ** 2 * (1 - count / size) * own / count
        parts.append(part)
        freedom.append(part**2 / max(1, count - 1))
    error = sqrt(fsum(parts))
    if error == 0.0:
        # Everything was sampled, or nothing seen to vary; only in the first case that is all there is to know.
        known = value if not parts else None
        return Interval(value, known, known, confidence)
    half = float(stdtrit(fsum(parts) ** 2 / fsum(freedom), (1 + confidence) / 2)) * error
    return Interval(value, value - half, value + half, confidence)


def _variances(samples: Sequence[Sequence[float]]) -> list[float | None]:
    """Of each sample; for a sample of one the pooled variance of the others."""
    own = [variance(sample) if len(sample) > 1 else None for sample in samples]
    known = [(found, len(sample) - 1) for found, sample in zip(own, samples, strict=True) if found is not None]
    pooled = fsum(found * weight for found, weight in known) / sum(weight for _, weight in known) if known else None
    return [pooled if found is None else found for found in own]
