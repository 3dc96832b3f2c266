"""How much a score depends on who is played: profile sensitivity (section 3.4) and the test of templates (App. D.7). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from statistics import fmean, pvariance

import numpy as np

from sociable.core.records import Estimate, Score
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_outcomes
from sociable.statistics.intervals import Floats, bootstrap_jointly
from sociable.statistics.variation import find_deviation_bias, find_excess_probability, measure_deviation

Casts = Mapping[str, Mapping[str, Mapping[int, float]]]
"""By template, scenario and repeat, the value."""


def values_by_cast(scores: Iterable[Score]) -> Casts:
    """Of one metric; scenes without a value are left out."""
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for score in scores:
        if score.value is not None:
            found[score.cluster][score.scenario][score.repeat] = score.value
    return found


def profile_sensitivity(name: str, scores: Sequence[Score], *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """PSI (section 3.4): the standard deviation over a template's casts, averaged over templates.

    With repeats, ``_noise`` is what remains when the cast stays the same, over its repeats, brought to as many values as
    there are casts; ``_excess`` is the difference. Intervals resample templates. None where no template has two casts.
    """
    rows = [row for template in values_by_cast(scores).values() if (row := _deviations(template)) is not None]
    totals = np.array([[across, within, float(within == within)] for across, within in rows]).reshape(len(rows), 3)
    known = np.where(np.isnan(totals), 0.0, totals)
    counts = count_outcomes(scores)

    def estimate(metric: str, table: Floats, statistic: Callable[[Floats], Floats]) -> Estimate:
        interval = bootstrap_jointly(table, statistic, confidence, seed=derive_seed(seed, "bootstrap", metric))
        return Estimate(
            metric=metric, value=interval.value, low=interval.low, high=interval.high, confidence=confidence, **counts
        )

    ones = np.ones((len(rows), 1))
    found = [estimate(name, np.hstack([known[:, :1], ones]), lambda sums: sums[..., 0] / sums[..., 1])]
    repeated = known[known[:, 2] == 1]
    if len(repeated):
        found.append(estimate(f"{name}_noise", repeated, lambda sums: sums[..., 1] / sums[..., 2]))
        found.append(estimate(f"{name}_excess", repeated, lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., 2]))
    return found


def _deviations(casts: Mapping[str, Mapping[int, float]]) -> tuple[float, float] | None:
    """(across casts, averaged over repeats; within a cast, comparable with it, or nan without repeats)."""
    repeats = sorted({repeat for values in casts.values() for repeat in values})
    columns = [[values[repeat] for values in casts.values() if repeat in values] for repeat in repeats]
    columns = [column for column in columns if len(column) > 1]
    if not columns:
        return None
    across = [measure_deviation(column) or 0.0 for column in columns]
    within = [
        deviation / find_deviation_bias(len(values))
        for values in casts.values()
        if (deviation := measure_deviation(list(values.values()))) is not None
    ]
    as_many = fmean(find_deviation_bias(len(column)) for column in columns)
    return fmean(across), (fmean(within) * as_many if within else nan)


ABNORMAL = 0.05
"""App. D.7's level."""


def depending_templates(scores: Sequence[Score]) -> dict[str, float]:
    """By template, how likely a spread over its casts as large as its own is, if they were drawn from all scenes.

    The population variance is that of all scenes (App. D.7). A scene counts with the mean of its repeats.
    """
    means = {
        template: [fmean(values.values()) for values in casts.values()] for template, casts in values_by_cast(scores).items()
    }
    everything = [value for values in means.values() for value in values]
    if len(everything) < 2:
        return {}
    population = pvariance(everything)
    tested = {template: find_excess_probability(values, population) for template, values in means.items()}
    return {template: probability for template, probability in tested.items() if probability is not None}
