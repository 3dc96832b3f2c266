"""How much each observation moves an estimate: one way to the variance of shares, means and whatever is made of means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from sociable.core.records import Outcome, Score
from sociable.statistics.intervals import Floats

STEP = 1e-4
"""The change of weight from which a derivative is taken: the error of a central difference, and rounding, are far below 1e-6."""


@dataclass(frozen=True, slots=True)
class Influences:
    """The influence of every repeat of every case on an estimate; the sequences run in parallel.

    Influences are in the unit of the estimate and add up to 0. Of a mean over N cases, a case's is (value - mean) / N.
    """

    estimate: float
    clusters: Sequence[str]
    cases: Sequence[str]
    repeats: Sequence[int]
    values: Floats


def find_influences(scores: Sequence[Score], parts: Sequence[str], combine: Callable[[Floats], Floats]) -> Influences | None:
    """The influences of the observations on ``combine`` of the means of ``parts``; None where that is not defined.

    Source: Davison and Hinkley 1997, "Bootstrap Methods and their Application", section 2.7.2 (empirical influence values, by
    numerical differentiation). A case weighs the share of its repeats that have a value, as in ``average_repeats``.
    """
    repeats: dict[tuple[str, str, int], int] = defaultdict(int)
    place = {part: number for number, part in enumerate(parts)}
    for score in scores:
        if score.metric in place:
            repeats[score.cluster, score.scenario, place[score.metric]] += 1
    rows: dict[tuple[str, str, int], Floats] = {}
    for score in scores:
        if score.metric in place and score.outcome is Outcome.SCORED and score.value is not None:
            column = place[score.metric]
            weight = 1 / repeats[score.cluster, score.scenario, column]
            row = rows.setdefault((score.cluster, score.scenario, score.repeat), np.zeros(2 * len(parts)))
            row[2 * column : 2 * column + 2] += (weight * score.value, weight)
    if not rows:
        return None
    found = differentiate(np.array(list(rows.values())), lambda sums: combine(sums[..., 0::2] / sums[..., 1::2]))
    if found is None:
        return None
    estimate, values = found
    clusters, cases, numbers = zip(*rows, strict=True)
    return Influences(estimate, clusters, cases, numbers, values)


def differentiate(rows: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, Floats] | None:
    """The statistic of the sum of ``rows`` [N, K], and its derivative by the weight of each row; None where it is not finite."""
    total = rows.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(statistic(total))
        values = (statistic(total + STEP * rows) - statistic(total - STEP * rows)) / (2 * STEP)
    return (estimate, values) if np.isfinite(estimate) and np.isfinite(values).all() else None


def sum_within(values: Floats, groups: Sequence[str]) -> dict[str, float]:
    """The sum of the values of each group, in order of first appearance."""
    members: dict[str, list[float]] = defaultdict(list)
    for value, group in zip(values.tolist(), groups, strict=True):
        members[group].append(value)
    return {group: fsum(own) for group, own in members.items()}


def count_unusual(values: Mapping[str, float], clusters: Mapping[str, str]) -> int:
    """The clusters with a case that is not like most cases."""
    rounded = {case: round(value, 9) for case, value in values.items()}
    ((usual, _),) = Counter(rounded.values()).most_common(1)
    return len({clusters[case] for case, value in rounded.items() if value != usual})
