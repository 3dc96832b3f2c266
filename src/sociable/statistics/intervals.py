"""Confidence intervals for scores whose cases are not independent but come in clusters.

Cases of one cluster (one scenario, one story, one dialogue) share material, so an interval that counts
cases as independent is too narrow. Every interval here takes the cluster as the sampling unit.

scipy is imported where it is needed: it takes a fifth of a second of every command.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""Nominal coverage of all limits."""

ROUNDING_STANDARD_ERROR = 1e-12
"""A smaller standard error is rounding, not variation: scores lie in [0, 1] and have about 16 digits."""

FEWEST_CLUSTERS = 8
"""Clusters from which on rank correlations and kappas have limits. For a rank correlation only those count that hold anything
but the most frequent value."""

WEIGHTS_IN_MEMORY = 4_000_000
"""Resampling weights held in memory at once (8 bytes each, twice): about 64 MB."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence limits, of nominal coverage ``CONFIDENCE``.

    ``value`` is None when there is nothing to estimate from; ``low`` and ``high`` are None together, when the
    estimate's uncertainty is not estimable.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class AveragedCases:
    """One value per case that has any, in order of first appearance; the three tuples run in parallel.

    A weight, in (0, 1], is the share of the case's repeats that have a value.
    """

    values: tuple[float, ...]
    clusters: tuple[str, ...]
    weights: tuple[float, ...]


def estimate_mean(
    values: Sequence[float],
    clusters: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Weighted mean of scores in [0, 1], with a Wilson interval on the effective sample size.

    Source: Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", Survey Methodology 24: the effective sample size and its degrees-of-freedom adjustment,
    here in the interval of Wilson 1927 rather than Clopper and Pearson's.

    With C clusters, cluster totals x_c = sum w v of weights m_c = sum w, n = sum m_c and p = sum x_c / n:
    v = C/(C-1) * sum (x_c - p m_c)^2 / n^2 (linearised ratio estimator, clusters drawn with replacement),
    n_eff = min(n, p(1-p)/v * (z / t_{C-1})^2).

    Args:
        values: one score per case: 0 or 1, or a fraction (repeats averaged, see ``average_repeats``; ties as half).
        clusters: the cluster of each value.
        weights: the share of a case that each value counts for, in (0, 1]; None: all 1.
        confidence: the nominal coverage, in (0, 1).

    Returns:
        The mean and its limits, 0 <= low <= value <= high <= 1; all three are None without values. Where every cluster has
        the same mean (above all 0 or 1, so that v = 0), each cluster counts as one case: n_eff = min(n, C (z / t_{C-1})^2).
        With one cluster v and t_0 do not exist; the limits for n_eff = min(n, 1) are then a convention, not an estimate,
        and may be narrower than those from two or three clusters.

    Raises:
        ValueError: lengths differ, or a value or a weight is out of its range.
    """
    weights = [1.0] * len(values) if weights is None else weights
    _require_proportions(values, clusters, weights)
    if len(values) == 0:
        return Interval(None)
    members: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for value, cluster, weight in zip(values, clusters, weights, strict=True):
        members[cluster].append((value * weight, weight))
    proportion = fsum(part for own in members.values() for part, _ in own) / fsum(weights)
    size = _measure_effective_size(proportion, members, confidence)
    return Interval(proportion, *find_wilson_limits(proportion, size, confidence))


def measure_effective_size(values: Sequence[float], clusters: Sequence[str]) -> float:
    """The number of independent cases that these would be worth: n_eff of ``estimate_mean``, unweighted; 0 without values."""
    members: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        members[cluster].append((value, 1.0))
    return _measure_effective_size(fsum(values) / len(values), members, CONFIDENCE) if values else 0.0


def _require_proportions(values: Sequence[float], clusters: Sequence[str], weights: Sequence[float]) -> None:
    for name, beside in (("clusters", clusters), ("weights", weights)):
        if len(beside) != len(values):
            raise ValueError(f"{len(values)} values but {len(beside)} {name}")
    for value, weight in zip(values, weights, strict=True):
        if not 0 <= value <= 1:
            raise ValueError(f"value {value!r} is not in [0, 1]")
        if not 0 < weight <= 1:
            raise ValueError(f"weight {weight!r} is not in (0, 1]")


def _measure_effective_size(proportion: float, members: Mapping[str, Sequence[tuple[float, float]]], confidence: float) -> float:
    from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

    sums = [fsum(part for part, _ in own) for own in members.values()]
    sizes = [fsum(weight for _, weight in own) for own in members.values()]
    cases, clusters = fsum(sizes), len(sizes)
    if clusters == 1:
        return min(cases, 1.0)
    squares = fsum((total - proportion * size) ** 2 for total, size in zip(sums, sizes, strict=True))
    variance = clusters / (clusters - 1) * squares / cases**2
    size = float(clusters) if variance < ROUNDING_STANDARD_ERROR**2 else proportion * (1 - proportion) / variance
    upper = (1 + confidence) / 2
    # Fractions vary less than 0/1 scores, and clusters can be alike by luck; neither may make the cases
    # count for more than they are.
    return min(cases, size * float((ndtri(upper) / stdtrit(clusters - 1, upper)) ** 2))


def find_wilson_limits(proportion: float, size: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The limits of Wilson's score interval for a proportion of ``size`` independent cases."""
    # Two lines, for which statsmodels would be a dependency; the tests compare them with its own.
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    centre, half = proportion * size + z**2 / 2, z * sqrt(proportion * (1 - proportion) * size + z**2 / 4)
    low, high = (centre - half) / (size + z**2), (centre + half) / (size + z**2)
    # At 0 and 1 a limit equals the proportion, and rounding may put it on the wrong side.
    return max(min(low, proportion), 0.0), min(max(high, proportion), 1.0)


def average_repeats(observations: Iterable[tuple[str, str, float | None]]) -> AveragedCases:
    """The mean of each case over its repeats, so that running a case again does not make a new case.

    ``observations`` are (cluster, case, value), in any unit; None for a repeat without a value, which only lowers the weight
    of its case. The same name in two clusters is two cases. With its weight, a case counts for as many observations as it
    has values: where all cases have the same number of repeats, the weighted mean over cases is the mean over all values.
    That makes conditional rates multiply: values among those that passed a stage, times the share that passed it.
    """
    repeats: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for cluster, case, value in observations:
        repeats[cluster, case].append(value)
    known = [(cluster, [v for v in own if v is not None], len(own)) for (cluster, _), own in repeats.items()]
    known = [(cluster, values, count) for cluster, values, count in known if values]
    return AveragedCases(
        values=tuple(fsum(values) / len(values) for _, values, _ in known),
        clusters=tuple(cluster for cluster, _, _ in known),
        weights=tuple(len(values) / count for _, values, count in known),
    )


def bootstrap_jointly(
    cluster_totals: Floats, statistic: Callable[[Floats], Floats], replicates: int = 4000, *, seed: int
) -> Interval:
    """Percentile interval of a statistic of totals, from resampling whole clusters.

    Source: Davison and Hinkley 1997, "Bootstrap Methods and their Application", section 3.8 (resampling clusters with
    replacement) and section 5.3 (percentile limits). Joint, because the K totals of a cluster are drawn together: what they
    share stays shared in a ratio or a difference of them. With few clusters (under about 20) the limits are too narrow.

    Args:
        cluster_totals: [C, K >= 1], finite, in any units (for a mean: the weighted sum of scores, and the sum of weights).
        statistic: maps totals [..., K] to [...]; called with [K] and with [B, K]. It may divide by zero.
        replicates: number of resamples, at least 1.
        seed: fixes the resamples. Rows in another order, under the same seed, give the same interval.

    Returns:
        ``value`` is the statistic of the observed totals; None, with its limits, without clusters or where it is not finite.
        The limits are quantiles of the finite replicates, hence conditional on the statistic's being defined, and need not
        enclose ``value``; None for one cluster, which is its own only resample, or without a finite replicate.

    Raises:
        ValueError: an argument is not as above, or the statistic returns another shape.
    """
    if cluster_totals.ndim != 2 or cluster_totals.shape[1] == 0:
        raise ValueError(f"cluster totals have shape {cluster_totals.shape}, not [C, K] with K at least 1")
    if not np.isfinite(cluster_totals).all():
        raise ValueError("cluster totals are not all finite")
    if replicates < 1:
        raise ValueError(f"replicates {replicates!r} is below 1")
    clusters = len(cluster_totals)
    if clusters == 0:
        return Interval(None)
    # The resamples weight rows by position; sorting makes them depend on the rows alone, so that neither
    # the order of the clusters nor their names can move an interval.
    rows = cluster_totals[np.lexsort(cluster_totals.T)]
    value = float(_evaluate(statistic, rows.sum(axis=0)))
    if not np.isfinite(value):
        return Interval(None)
    if clusters == 1:
        return Interval(value)
    estimates = np.concatenate([_evaluate(statistic, totals) for totals in _resample_totals(rows, replicates, seed)])
    return Interval(value, *_find_percentile_limits(estimates[np.isfinite(estimates)]))


def _evaluate(statistic: Callable[[Floats], Floats], totals: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = np.asarray(statistic(totals), dtype=np.float64)
    if estimates.shape != totals.shape[:-1]:
        raise ValueError(f"statistic maps totals {totals.shape} to {estimates.shape}")
    return estimates


def _resample_totals(rows: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    # Drawing C rows with replacement and adding them up is weighting the rows by multinomial counts. That
    # is one matrix product; scipy.stats.bootstrap would have to gather C rows of K for every replicate,
    # and answers undefined replicates with nan limits and a warning about another method.
    generator = np.random.default_rng(seed)
    clusters = len(rows)
    shares = np.full(clusters, 1 / clusters)
    chunk = max(1, WEIGHTS_IN_MEMORY // clusters)
    for start in range(0, replicates, chunk):
        yield generator.multinomial(clusters, shares, size=min(chunk, replicates - start)) @ rows


def _find_percentile_limits(estimates: Floats) -> tuple[float | None, float | None]:
    if len(estimates) == 0:
        return None, None
    low, high = np.quantile(estimates, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


RANK_RESAMPLES = 2000


def bootstrap_rank_correlation(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], *, seed: int
) -> tuple[float | None, float | None]:
    """95% percentile limits of Spearman's rank correlation, from resampling whole clusters.

    Source: as ``bootstrap_jointly``; ranks are no totals, so whole items are drawn here. None where the items that differ
    from the most frequent value of either side stand in fewer than ``FEWEST_CLUSTERS`` clusters: a bootstrap would then
    show how often they are drawn, not how well the ranks agree.
    """
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    members: dict[str, list[int]] = defaultdict(list)
    for place, cluster in enumerate(clusters):
        members[cluster].append(place)
    for side in (first, second):
        usual = Counter(side).most_common(1)[0][0] if side else None
        if sum(any(side[place] != usual for place in own) for own in members.values()) < FEWEST_CLUSTERS:
            return None, None
    groups = [np.array(members[name]) for name in sorted(members)]
    values = np.array([first, second], dtype=np.float64)
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(RANK_RESAMPLES):
        drawn = values[:, np.concatenate([groups[place] for place in generator.integers(len(groups), size=len(groups))])]
        ranks = rankdata(drawn, axis=1)
        spread = ranks.std(axis=1)
        if spread.all():
            found.append(float(np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())) / (spread[0] * spread[1])))
    return _find_percentile_limits(np.array(found))
