"""Agreement beyond chance: between two raters, among several, with answers missing, each with its interval; and of ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sociable.statistics.intervals import FEWEST_CLUSTERS, Floats, Interval, joint_bootstrap

Label = Hashable | None
"""A rater's answer on an item; None where there is none."""


def observed_agreement(first: Sequence[Label], second: Sequence[Label]) -> float | None:
    """The share of items on which two raters gave the same label, of those both answered; None without any."""
    both = _answered(first, second)
    return sum(a == b for a, b in both) / len(both) if both else None


def cohen(first: Sequence[Label], second: Sequence[Label]) -> float | None:
    """Cohen's kappa (Cohen 1960, "A coefficient of agreement for nominal scales"), in [-1, 1].

    Over the items both answered. None where chance agreement is complete (one label only) or nothing was answered.
    """
    both = _answered(first, second)
    labels = _labels(label for pair in both for label in pair)
    if len(labels) < 2:
        return None
    table = np.zeros((len(labels), len(labels)))
    for a, b in both:
        table[labels[a], labels[b]] += 1
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]

    return _number(cohens_kappa(table, return_results=False))


def fleiss(items: Sequence[Sequence[Label]]) -> float | None:
    """Fleiss' kappa (Fleiss 1971, "Measuring nominal scale agreement among many raters"), in [-1, 1].

    ``items`` holds the labels each item got, from any raters. Items must have equally many: those that everybody who
    rated anything did not rate are left out by the caller (see ``krippendorff_alpha`` for missing answers).
    None for fewer than two raters, no item, or one label only. Raises ValueError when counts differ.
    """
    counts = {len(item) for item in items}
    if len(counts) > 1:
        raise ValueError(f"items have {sorted(counts)} labels; Fleiss' kappa needs equally many for each")
    if not items or counts.pop() < 2:
        return None
    labels = _labels(label for item in items for label in item)
    if len(labels) < 2:
        return None
    table = np.zeros((len(items), len(labels)))
    for row, item in enumerate(items):
        for label in item:
            table[row, labels[label]] += 1
    from statsmodels.stats.inter_rater import fleiss_kappa

    return _number(fleiss_kappa(table))


def krippendorff_alpha(raters: Sequence[Sequence[Label]]) -> float | None:
    """Krippendorff's alpha for nominal labels (Krippendorff 2011), at most 1; answers may be missing.

    ``raters`` is [raters][items]. None where fewer than two labels were given, or no item has two answers.
    """
    labels = _labels(label for rater in raters for label in rater if label is not None)
    answers = [[label for label in column if label is not None] for column in zip(*raters, strict=True)]
    # An answer that nobody else gave one beside says nothing of agreement.
    paired = {label for answer in answers if len(answer) > 1 for label in answer}
    if len(paired) < 2:
        return None
    numbers = np.array([[np.nan if label is None else labels[label] for label in rater] for rater in raters], dtype=float)
    import krippendorff

    return _number(krippendorff.alpha(reliability_data=numbers, level_of_measurement="nominal"))


RESAMPLES = 2000
"""Of the items, for an interval."""


def cohen_interval(
    first: Sequence[Label], second: Sequence[Label], *, seed: int, clusters: Sequence[Hashable] | None = None
) -> Interval:
    """``cohen`` with a 95% percentile interval from resampling the items that both answered, or whole ``clusters`` of them.

    ``clusters`` has for each item what it is no independent sample of. There are no limits where the two never differ, or for
    fewer than 8 items or clusters: a bootstrap sees only what varies.
    """
    both = _answered(first, second)
    kept = [a is not None and b is not None for a, b in zip(first, second, strict=True)]
    labels = _labels(label for pair in both for label in pair)
    cells = np.zeros((len(both), len(labels) ** 2))
    for item, (a, b) in enumerate(both):
        cells[item, labels[a] * len(labels) + labels[b]] = 1.0

    def kappa(totals: Floats) -> Floats:
        table = totals.reshape(*totals.shape[:-1], len(labels), len(labels))
        shares = table / table.sum(axis=(-2, -1), keepdims=True)
        return _beyond_chance(np.trace(shares, axis1=-2, axis2=-1), (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1))

    differ = any(a != b for a, b in both)
    return _with_limits(cohen(first, second), cells, kappa, differ, seed, _of(clusters, kept))


def fleiss_interval(items: Sequence[Sequence[Label]], *, seed: int, clusters: Sequence[Hashable] | None = None) -> Interval:
    """``fleiss`` with a 95% percentile interval from resampling items or clusters; without limits as in ``cohen_interval``."""

    def kappa(totals: Floats) -> Floats:
        agreeing, counted, counts = totals[..., 0], totals[..., 1], totals[..., 2:]
        shares = counts / counts.sum(axis=-1, keepdims=True)
        return _beyond_chance(agreeing / counted, (shares**2).sum(axis=-1))

    differ = any(len(set(item)) > 1 for item in items)
    # Of each item: the share of its pairs of labels that are equal.
    rows = [
        (sum(n * (n - 1) for n in counts) / (len(item) * (len(item) - 1)), 1.0, *counts)
        for item, counts in _counted(items)
        if len(item) > 1
    ]
    several = _of(clusters, [len(item) > 1 for item in items])
    return _with_limits(fleiss(items), np.array(rows, dtype=np.float64), kappa, differ, seed, several)


def alpha_interval(raters: Sequence[Sequence[Label]], *, seed: int, clusters: Sequence[Hashable] | None = None) -> Interval:
    """``krippendorff_alpha`` with a 95% percentile interval from resampling what has two answers or more: items, or clusters.

    Without limits as in ``cohen_interval``. Differs from Krippendorff's own bootstrap, which draws pairs of answers as if
    those of one item were independent: here an item's answers stay together.
    """
    answers = [[label for label in column if label is not None] for column in zip(*raters, strict=True)]
    paired = [answer for answer in answers if len(answer) > 1]

    def alpha(totals: Floats) -> Floats:
        agreeing, counts = totals[..., 0], totals[..., 1:]
        given = counts.sum(axis=-1)
        return _beyond_chance(agreeing / given, (counts * (counts - 1)).sum(axis=-1) / (given * (given - 1)))

    differ = any(len(set(answer)) > 1 for answer in paired)
    rows = [(sum(n * (n - 1) for n in counts) / (len(item) - 1), *counts) for item, counts in _counted(paired)]
    several = _of(clusters, [len(answer) > 1 for answer in answers])
    return _with_limits(krippendorff_alpha(raters), np.array(rows, dtype=np.float64), alpha, differ, seed, several)


def _counted(items: Sequence[Sequence[Label]]) -> list[tuple[Sequence[Label], list[int]]]:
    """Each item with how many of each label it got, the labels in one order."""
    labels = _labels(label for item in items for label in item)
    return [(item, [counts[label] for label in labels]) for item in items for counts in (Counter(item),)]


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    agreement: Floats = (observed - chance) / (1 - chance)
    return agreement


def _of(clusters: Sequence[Hashable] | None, kept: Sequence[bool]) -> list[Hashable] | None:
    """Of the items that are kept."""
    return None if clusters is None else [cluster for cluster, is_kept in zip(clusters, kept, strict=True) if is_kept]


def _with_limits(
    value: float | None,
    rows: Floats,
    statistic: Callable[[Floats], Floats],
    differ: bool,
    seed: int,
    clusters: Sequence[Hashable] | None,
    confidence: float = 0.95,
) -> Interval:
    """The libraries' value with the limits of thousands of its like, which a library would make one at a time."""
    if clusters is not None and len(rows):
        places = _labels(clusters)
        summed = np.zeros((len(places), rows.shape[1]))
        np.add.at(summed, [places[cluster] for cluster in clusters], rows)
        rows = summed
    if value is None or not differ or len(rows) < FEWEST_CLUSTERS:
        return Interval(value, None, None, confidence)
    found = joint_bootstrap(rows, statistic, confidence, RESAMPLES, seed=seed)
    return Interval(value, found.low, found.high, confidence)


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Of two lists of numbers over the same items; None where either does not vary or there are under three items."""

    spearman: float | None
    kendall: float | None
    items: int


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b, both in [-1, 1]; ties get mean ranks."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} numbers")
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return RankCorrelation(None, None, len(first))
    from scipy.stats import kendalltau, spearmanr  # type: ignore[import-untyped]

    return RankCorrelation(_number(spearmanr(first, second).statistic), _number(kendalltau(first, second).statistic), len(first))


def _answered(first: Sequence[Label], second: Sequence[Label]) -> list[tuple[Hashable, Hashable]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def _labels(found: Iterable[Label]) -> dict[Label, int]:
    return {label: place for place, label in enumerate(dict.fromkeys(found))}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
