"""Comparison of two agents, or two settings of one, on the cases both were scored on."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import fsum

import numpy as np
from numpy.typing import NDArray

from sociable.statistics.intervals import Floats, bootstrap_jointly
from sociable.statistics.power import LEVEL, Spread, measure_spread

FLIPS_IN_MEMORY = 4_000_000
"""Sign flips held in memory at once, over all clusters: about 32 MB per copy scipy makes."""

SIGN_FLIPS = 9999
"""The sign patterns that are tried of a single comparison; the smallest p-value is then 0.0002."""


def choose_sign_flips(tests: int) -> int:
    """The sign patterns to try where p-values are corrected for so many ``tests``.

    The smallest p-value, twice one over their number, is then a tenth of what Bonferroni asks for, so that chance in the flips
    keeps nobody from being told apart.
    """
    return max(SIGN_FLIPS, round(20 * tests / LEVEL))


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Mean difference over common cases, with its confidence limits and a test that there is none.

    ``difference``, ``low`` and ``high`` are in the unit of the scores; ``p_value`` is two-sided, in (0, 1].
    ``cases`` and ``clusters`` count what both sides have in common. None: not estimable.
    """

    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    cases: int
    clusters: int
    spread: Spread | None = field(default=None, compare=False)
    """How much the difference varies by the draw of clusters; None for fewer than two."""


def compare_paired(
    first: Mapping[str, float],
    second: Mapping[str, float],
    cluster_of: Mapping[str, str],
    *,
    seed: int = 0,
    replicates: int = 4000,
    sign_flips: int = SIGN_FLIPS,
) -> PairedComparison:
    """Mean of second - first over the cases both have, with clusters as the independent units.

    Source: Davison and Hinkley 1997, "Bootstrap Methods and their Application", section 3.8 (cluster bootstrap, percentile
    limits); Fisher 1935, "The Design of Experiments", section 21 (sign flips); Phipson and Smyth 2010 (the p-value of a
    random sample of flips counts the observed one).

    The test's hypothesis is that the summed differences of each cluster are as likely to have the opposite sign. Over C
    clusters all 2^C sign patterns are tried when they are at most ``sign_flips``, otherwise that many random ones. The
    smallest attainable p-value is 2 / 2^C: under 6 clusters, none is below 0.05.

    Args:
        first, second: case id to finite score, in one unit; cases only one side has are left out.
        cluster_of: case id to cluster, for every common case at least.
        seed: fixes the resamples and the random flips. Order and names of clusters do not matter.
        replicates: bootstrap resamples, at least 1.
        sign_flips: the most sign patterns tried, at least 1.

    Returns:
        Without a common case difference, limits and p-value are None. With one cluster the limits are None and the p-value
        is 1 (both signs are equally far from zero). Limits of width zero, from the same mean difference in every cluster,
        say that nothing was seen to vary, not that the difference is known.

    Raises:
        KeyError: a common case has no cluster.
        ValueError: a difference is not finite, or an argument out of its range.
    """
    differences: dict[str, list[float]] = defaultdict(list)
    for case in first:
        if case in second:
            differences[cluster_of[case]].append(second[case] - first[case])
    rows = [(fsum(members), float(len(members))) for members in differences.values()]
    totals = np.array(rows, dtype=np.float64).reshape(-1, 2)
    sums, sizes = totals.T

    def average(sums: Floats) -> Floats:
        return sums[..., 0] / sums[..., 1]

    interval = bootstrap_jointly(totals, average, replicates, seed=seed)
    return PairedComparison(
        difference=interval.value,
        low=interval.low,
        high=interval.high,
        p_value=_test_by_sign_flips(sums, sign_flips, seed),
        cases=int(sizes.sum()),
        clusters=len(totals),
        spread=measure_spread(totals, average, sizes, int(np.count_nonzero(sums))),
    )


def compare_combined(
    first: Floats,
    second: Floats,
    sizes: Sequence[int],
    combine: Callable[[Floats], Floats],
    *,
    seed: int = 0,
    replicates: int = 4000,
    sign_flips: int = SIGN_FLIPS,
) -> PairedComparison:
    """The difference of a quantity that is made of several sums, as HSII's overall score is of four rates.

    Source: as ``compare_paired``. A flip of sign is here a swap of the two sides' sums of a cluster.

    Args:
        first, second: [C, K], the sums of each side by cluster, over the same cases, in the same order of clusters.
        sizes: [C], the number of cases of each cluster.
        combine: maps sums [..., K] to [...]; it may divide by zero.

    Returns:
        The second side's quantity less the first's; None, as the rest, where it is not defined.
    """
    width = first.shape[1]

    def subtract(sums: Floats) -> Floats:
        return combine(sums[..., width:]) - combine(sums[..., :width])

    both = np.hstack([first, second])
    interval = bootstrap_jointly(both, subtract, replicates, seed=seed)
    if interval.value is None:
        return PairedComparison(None, None, None, None, sum(sizes), len(first))
    clusters = len(first)
    every = 2**clusters <= sign_flips
    as_far = tried = 0
    for swaps in [np.array(list(product((0, 1), repeat=clusters)))] if every else _draw_swaps(clusters, sign_flips, seed):
        moved = swaps @ (second - first)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = subtract(np.hstack([first.sum(axis=0) + moved, second.sum(axis=0) - moved]))
        # Sums that tie with the observed one may differ by rounding. Where a quantity is not defined, it is as far as any.
        as_far += int(np.count_nonzero(~(np.abs(found) < abs(interval.value) - 1e-9)))
        tried += len(swaps)
    p_value = as_far / tried if every else (as_far + 1) / (tried + 1)
    spread = measure_spread(both, subtract, sizes, int((first != second).any(axis=1).sum()))
    return PairedComparison(interval.value, interval.low, interval.high, p_value, sum(sizes), clusters, spread)


def _draw_swaps(clusters: int, sign_flips: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Random patterns of 0 and 1, [.., clusters], so many in all."""
    generator, chunk = np.random.default_rng(seed), max(SIGN_FLIPS, FLIPS_IN_MEMORY // clusters)
    for start in range(0, sign_flips, chunk):
        yield generator.integers(0, 2, (min(chunk, sign_flips - start), clusters))


def _test_by_sign_flips(sums: Floats, sign_flips: int, seed: int) -> float | None:
    if sign_flips < 1:
        raise ValueError(f"sign_flips {sign_flips!r} is below 1")
    if len(sums) == 0:
        return None
    if len(sums) == 1 or not sums.any():
        return 1.0
    # scipy pairs signs with positions; sorting keeps the order of the clusters out of the p-value.
    scaled = np.sort(sums) / np.abs(sums).max()
    if sign_flips > SIGN_FLIPS and 2 ** len(sums) > sign_flips:
        return _test_by_many_sign_flips(scaled, sign_flips, seed)
    # Imported when asked for: scipy.stats takes most of a second.
    from scipy.stats import permutation_test  # type: ignore[import-untyped]

    result = permutation_test(
        (scaled,),
        # Sign patterns with equal totals must tie with the observed one, or the p-value is too small; summing
        # in floating point breaks such ties where large terms cancel. The largest term is 1.
        lambda flipped, axis: np.round(flipped.sum(axis=axis), 9),
        permutation_type="samples",
        vectorized=True,
        n_resamples=sign_flips,
        batch=max(1, FLIPS_IN_MEMORY // len(sums)),
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _test_by_many_sign_flips(sums: Floats, sign_flips: int, seed: int) -> float:
    """What scipy's test finds, several times as fast: where many tests are corrected together it takes many flips."""
    total, above, below = float(sums.sum()), 0, 0
    for swaps in _draw_swaps(len(sums), sign_flips, seed):
        flipped = np.round(2 * (swaps.astype(np.float64) @ sums) - total, 9)
        above += int(np.count_nonzero(flipped >= round(total, 9)))
        below += int(np.count_nonzero(flipped <= round(total, 9)))
    return min(1.0, 2 * (min(above, below) + 1) / (sign_flips + 1))
