"""From a table of scores to estimates."""

from collections.abc import Callable, Iterable, Sequence
from math import isclose

import numpy as np

from sociable.core.records import Estimate, Outcome, Score
from sociable.statistics.intervals import Floats, clustered_proportion, joint_bootstrap, repeats_averaged


def estimate_proportion(metric: str, scores: Sequence[Score], confidence: float = 0.95) -> Estimate:
    """The mean of a metric with values in [0, 1], a scenario counting once at most however often it was repeated.

    A scenario weighs as much as the share of its repeats that have a value (see ``repeats_averaged``), so that with as
    many repeats of each this is the mean over all values: n2 / n1, say, for the second of two stages. Wilson interval on
    the effective sample size, by cluster (see ``clustered_proportion``).
    """
    own = [score for score in scores if score.metric == metric]
    cases = repeats_averaged(_observations(own))
    interval = clustered_proportion(cases.values, cases.clusters, confidence, cases.weights)
    return Estimate(
        metric=metric,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        confidence=confidence,
        **outcome_counts(own),
    )


def estimate_jointly(
    metric: str,
    scores: Sequence[Score],
    parts: Sequence[str],
    combine: Callable[[Floats], Floats],
    *,
    seed: int,
    confidence: float = 0.95,
) -> Estimate:
    """A quantity made of the means of several metrics, with a joint bootstrap over clusters.

    ``combine`` maps the means [..., len(parts)] to [...]; a mean over nothing is nan. An episode counts as errored or
    unscored if any of its parts is, otherwise as scored. Where all clusters are alike a bootstrap sees no variation:
    then there are no limits, rather than limits of no width (or of rounding's).
    """
    totals = cluster_totals(scores, parts)
    interval = joint_bootstrap(totals, lambda sums: combine(sums[..., 0::2] / sums[..., 1::2]), confidence, seed=seed)
    estimable = interval.low is not None and interval.high is not None and not isclose(interval.low, interval.high, abs_tol=1e-12)
    return Estimate(
        metric=metric,
        value=interval.value,
        low=interval.low if estimable else None,
        high=interval.high if estimable else None,
        confidence=confidence,
        **episode_counts(score for score in scores if score.metric in parts),
    )


def cluster_totals(scores: Sequence[Score], metrics: Sequence[str]) -> Floats:
    """[clusters, 2 x metrics]: for each metric the weighted sum over the cluster's cases and their weight, side by side.

    A case weighs the share of its repeats that have a value of the metric.
    """
    rows: dict[str, Floats] = {score.cluster: np.zeros(2 * len(metrics)) for score in scores}
    for place, metric in enumerate(metrics):
        cases = repeats_averaged(_observations(score for score in scores if score.metric == metric))
        for value, cluster, weight in zip(cases.values, cases.clusters, cases.weights, strict=True):
            rows[cluster][2 * place] += weight * value
            rows[cluster][2 * place + 1] += weight
    return np.array(list(rows.values())).reshape(len(rows), 2 * len(metrics))


def outcome_counts(scores: Iterable[Score]) -> dict[str, int]:
    """How many scores there are of each outcome, repeats included, by the names the Estimate has for them."""
    counts = dict.fromkeys((outcome.name.lower() for outcome in Outcome), 0)
    for score in scores:
        counts[score.outcome.name.lower()] += 1
    return counts


def episode_counts(scores: Iterable[Score]) -> dict[str, int]:
    """How many episodes there are of each outcome, taking the worst of an episode's scores."""
    severity = (Outcome.SCORED, Outcome.UNSCORED, Outcome.ERRORED)
    worst: dict[tuple[str, int], int] = {}
    for score in scores:
        episode = (score.scenario, score.repeat)
        # A stage that was not reached is part of the result: it contributes nothing.
        rank = severity.index(score.outcome) if score.outcome in severity else 0
        worst[episode] = max(worst.get(episode, 0), rank)
    ranks = list(worst.values())
    return {outcome.name.lower(): ranks.count(rank) for rank, outcome in enumerate(severity)}


def _observations(scores: Iterable[Score]) -> list[tuple[str, str, float | None]]:
    return [(score.cluster, score.scenario, score.value) for score in scores]
