"""Estimates from a table of scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from math import isclose
from statistics import fmean

import numpy as np

from sociable.core.records import Estimate, Outcome, Score
from sociable.statistics.intervals import AveragedCases, Floats, average_repeats, bootstrap_jointly, estimate_mean

LOST = frozenset({Outcome.UNSCORED, Outcome.ERRORED})


def estimate_proportion(metric: str, scores: Sequence[Score]) -> Estimate:
    """The mean of a metric with values in [0, 1], a scenario counting once at most however often it was repeated.

    A scenario weighs as much as the share of its repeats that have a value (see ``average_repeats``), so that with as
    many repeats of each this is the mean over all values: n2 / n1, say, for the second of two stages. Wilson interval on
    the effective sample size, by cluster (see ``estimate_mean``).
    """
    cases = list_cases(metric, scores)
    interval = estimate_mean(cases.values, cases.clusters, cases.weights)
    return Estimate(metric=metric, **asdict(interval), **count_outcomes(score for score in scores if score.metric == metric))


def estimate_jointly(
    metric: str, scores: Sequence[Score], parts: Sequence[str], combine: Callable[[Floats], Floats], *, seed: int
) -> Estimate:
    """A quantity made of the means of several metrics, with a joint bootstrap over clusters.

    ``combine`` maps the means [..., len(parts)] to [...]; a mean over nothing is nan. An episode counts as errored or
    unscored if any of its parts is, otherwise as scored. Where all clusters are alike a bootstrap sees no variation:
    then there are no limits, rather than limits of no width (or of rounding's).
    """
    totals = sum_by_cluster(scores, parts)
    interval = bootstrap_jointly(totals, lambda sums: combine(sums[..., 0::2] / sums[..., 1::2]), seed=seed)
    if interval.low is not None and interval.high is not None and isclose(interval.low, interval.high, abs_tol=1e-12):
        interval = replace(interval, low=None, high=None)
    return Estimate(metric=metric, **asdict(interval), **count_episodes(score for score in scores if score.metric in parts))


def sum_by_cluster(scores: Sequence[Score], metrics: Sequence[str]) -> Floats:
    """[clusters, 2 x metrics]: for each metric the weighted sum over the cluster's cases and their weight, side by side.

    Clusters are in the order of their names.

    A case weighs the share of its repeats that have a value of the metric.
    """
    rows: dict[str, Floats] = {cluster: np.zeros(2 * len(metrics)) for cluster in sorted({score.cluster for score in scores})}
    for place, metric in enumerate(metrics):
        cases = list_cases(metric, scores)
        for value, cluster, weight in zip(cases.values, cases.clusters, cases.weights, strict=True):
            rows[cluster][2 * place : 2 * place + 2] += (weight * value, weight)
    return np.array(list(rows.values())).reshape(len(rows), 2 * len(metrics))


def list_cases(metric: str, scores: Iterable[Score]) -> AveragedCases:
    """The cases that have a value of the metric, their repeats averaged."""
    return average_repeats((score.cluster, score.scenario, score.value) for score in scores if score.metric == metric)


def average_by_case(scores: Iterable[Score], metric: str) -> Mapping[str, float]:
    """The value of each scenario that has one, its repeats averaged."""
    repeats: dict[str, list[float]] = {}
    for score in scores:
        if score.metric == metric and score.outcome is Outcome.SCORED and score.value is not None:
            repeats.setdefault(score.scenario, []).append(score.value)
    return {scenario: fmean(values) for scenario, values in repeats.items()}


def find_common_cases(sides: Sequence[Sequence[Score]], parts: Sequence[str]) -> dict[str, str]:
    """The cases on which a comparison of runs rests, in order, with their clusters.

    Of a mean (one of ``parts``) those that all sides have a value of; of what is made of several means, those that all have run
    and of which nothing is lost.
    """
    clusters = {score.scenario: score.cluster for side in sides for score in side}
    if len(parts) == 1:
        of_each = [set(average_by_case(side, parts[0])) for side in sides]
    else:
        lost = {score.scenario for side in sides for score in side if score.metric in parts and score.outcome in LOST}
        of_each = [{score.scenario for score in side} - lost for side in sides]
    return {case: clusters[case] for case in sorted(set.intersection(*of_each))}


def count_outcomes(scores: Iterable[Score]) -> dict[str, int]:
    """The number of scores of each outcome, repeats included, by the names the Estimate has for them."""
    counts = Counter(score.outcome for score in scores)
    return {outcome.name.lower(): counts[outcome] for outcome in Outcome}


def count_episodes(scores: Iterable[Score]) -> dict[str, int]:
    """The number of episodes of each outcome, taking the worst of an episode's scores."""
    # A stage that was not reached is part of the result: it contributes nothing.
    severity = {Outcome.NOT_REACHED: 0, Outcome.SCORED: 0, Outcome.UNSCORED: 1, Outcome.ERRORED: 2}
    worst: Counter[tuple[str, int]] = Counter()
    for score in scores:
        worst[score.scenario, score.repeat] = max(worst[score.scenario, score.repeat], severity[score.outcome])
    counts = Counter(worst.values())
    return {"scored": counts[0], "unscored": counts[1], "errored": counts[2]}
