"""Agreement beyond chance: between two raters, among several, with answers missing; and of ranks.

A coefficient is (observed - chance) / (1 - chance). Both are computed from totals over items, so one function of the
totals serves the coefficient itself and its bootstrap over thousands of resamples at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.statistics.intervals import FEWEST_CLUSTERS, Floats, Interval, bootstrap_jointly

Label = Hashable | None
"""A rater's answer on an item; None where there is none."""

RESAMPLES = 2000
"""Resamples of the items for an interval."""


def measure_observed(first: Sequence[Label], second: Sequence[Label]) -> float | None:
    """The share of items on which two raters gave the same label, of those both answered; None without any."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return sum(a == b for a, b in both) / len(both) if both else None


def measure_cohen(
    first: Sequence[Label], second: Sequence[Label], *, seed: int | None = None, clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Cohen's kappa (Cohen 1960, "A coefficient of agreement for nominal scales"), in [-1, 1], over the items both answered.

    None where chance agreement is complete (one label only) or nothing was answered. With a ``seed`` it has 95% percentile
    limits from resampling the items, or whole ``clusters`` of them: for each item what it is no independent sample of.
    There are no limits where the raters never differ, or for fewer than 8 items or clusters: a bootstrap sees only what
    varies.
    """
    both = [place for place, pair in enumerate(zip(first, second, strict=True)) if None not in pair]
    labels = list(dict.fromkeys(side[place] for place in both for side in (first, second)))
    cells = np.zeros((len(both), len(labels) ** 2))
    for row, place in enumerate(both):
        cells[row, labels.index(first[place]) * len(labels) + labels.index(second[place])] = 1.0

    def kappa(totals: Floats) -> Floats:
        table = totals.reshape(*totals.shape[:-1], len(labels), len(labels))
        shares = table / table.sum(axis=(-2, -1), keepdims=True)
        return _measure_beyond_chance(
            np.trace(shares, axis1=-2, axis2=-1), (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
        )

    differ = any(first[place] != second[place] for place in both)
    return _estimate(cells, kappa, seed if differ else None, both, clusters)


def measure_fleiss(
    items: Sequence[Sequence[Label]], *, seed: int | None = None, clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Fleiss' kappa (Fleiss 1971, "Measuring nominal scale agreement among many raters"), in [-1, 1].

    ``items`` holds the labels each item got, from any raters; items must have equally many (see ``measure_alpha`` for missing
    answers). None for fewer than two raters, no item, or one label only. Limits as in ``measure_cohen``.

    Raises:
        ValueError: items have different numbers of labels.
    """
    if len(sizes := sorted({len(item) for item in items})) > 1:
        raise ValueError(f"items have {sizes} labels; Fleiss' kappa needs equally many for each")

    def kappa(totals: Floats) -> Floats:
        agreeing, counted, counts = totals[..., 0], totals[..., 1], totals[..., 2:]
        shares = counts / counts.sum(axis=-1, keepdims=True)
        return _measure_beyond_chance(agreeing / counted, (shares**2).sum(axis=-1))

    # For each item: the share of its pairs of labels that are equal.
    return _estimate_from_counts(items, lambda equal, given: (equal / (given * (given - 1)), 1.0), kappa, seed, clusters)


def measure_alpha(
    raters: Sequence[Sequence[Label]], *, seed: int | None = None, clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Krippendorff's alpha for nominal labels (Krippendorff 2011), at most 1; ``raters`` is [raters][items], with gaps.

    None where fewer than two labels were given, or no item has two answers. Limits as in ``measure_cohen``.
    Differs from Krippendorff's own bootstrap, which draws pairs of answers as if those of one item were independent: here
    an item's answers stay together.
    """
    answers = [[label for label in column if label is not None] for column in zip(*raters, strict=True)]

    def alpha(totals: Floats) -> Floats:
        agreeing, counts = totals[..., 0], totals[..., 1:]
        given = counts.sum(axis=-1)
        return _measure_beyond_chance(agreeing / given, (counts * (counts - 1)).sum(axis=-1) / (given * (given - 1)))

    return _estimate_from_counts(answers, lambda equal, given: (equal / (given - 1),), alpha, seed, clusters)


def _estimate_from_counts(
    items: Sequence[Sequence[Label]],
    weigh: Callable[[int, int], tuple[float, ...]],
    statistic: Callable[[Floats], Floats],
    seed: int | None,
    clusters: Sequence[Hashable] | None,
) -> Interval:
    """``statistic`` of rows of what ``weigh`` makes of an item's (equal ordered pairs, labels), and how often it got each label.

    An item with a single label says nothing about agreement, and has no row.
    """
    several = [place for place, item in enumerate(items) if len(item) > 1]
    labels = list(dict.fromkeys(label for place in several for label in items[place]))
    rows = []
    for item in (items[place] for place in several):
        found = Counter(item)
        rows.append((*weigh(sum(n * (n - 1) for n in found.values()), len(item)), *(found[label] for label in labels)))
    differ = any(len(set(items[place])) > 1 for place in several)
    return _estimate(np.array(rows, dtype=np.float64), statistic, seed if differ else None, several, clusters)


def _measure_beyond_chance(observed: Floats, chance: Floats) -> Floats:
    agreement: Floats = (observed - chance) / (1 - chance)
    return agreement


def _estimate(
    rows: Floats,
    statistic: Callable[[Floats], Floats],
    seed: int | None,
    places: Sequence[int],
    clusters: Sequence[Hashable] | None,
) -> Interval:
    """``statistic`` of the sum of the rows, which stand for the items at ``places``; with limits where there is a seed."""
    if not len(rows):
        return Interval(None)
    if clusters is not None:
        own = [clusters[place] for place in places]
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(own))}
        summed = np.zeros((len(numbers), rows.shape[1]))
        np.add.at(summed, [numbers[cluster] for cluster in own], rows)
        rows = summed
    resampled = seed is not None and len(rows) >= FEWEST_CLUSTERS
    # One row has no limits.
    return bootstrap_jointly(rows if resampled else rows.sum(axis=0, keepdims=True), statistic, RESAMPLES, seed=seed or 0)


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Rank correlations of two lists of numbers over the same items; None where either does not vary, or under three items."""

    spearman: float | None
    kendall: float | None
    items: int


def correlate_ranks(first: Sequence[float], second: Sequence[float]) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b, both in [-1, 1]; ties get mean ranks."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} numbers")
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return RankCorrelation(None, None, len(first))
    from scipy.stats import kendalltau, spearmanr  # type: ignore[import-untyped]

    return RankCorrelation(float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic), len(first))
