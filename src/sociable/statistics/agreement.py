"""Agreement beyond chance: between two raters, among several, with answers missing; and of ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

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
