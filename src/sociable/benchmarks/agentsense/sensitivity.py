"""A score's dependence on who is played: profile sensitivity (section 3.4) and the test of templates (App. D.7). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, pvariance

import numpy as np

from sociable.core.records import Estimate, Score
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_outcomes
from sociable.statistics.intervals import Floats, bootstrap_jointly, estimate_mean
from sociable.statistics.variation import find_deviation_bias, find_excess_probability, measure_deviation

Casts = Mapping[str, Mapping[int, float]]
"""One template's values by scenario and repeat."""

STATISTICS: Mapping[str, Callable[[Floats], Floats]] = {
    "PSI": lambda sums: sums[..., 0] / sums[..., -1],
    "noise": lambda sums: sums[..., 1] / sums[..., -1],
    "excess": lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., -1],
}
"""Functions of three sums over templates: the deviation across casts, that within a cast, and the number of templates."""


def estimate_sensitivity(part: str, of: str, name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """One of ``STATISTICS`` of the metric ``of``; its interval resamples templates.

    PSI (section 3.4) is the standard deviation over a template's casts, averaged over templates; None where no template has
    two casts. Noise is what remains when the cast stays the same, over its repeats, brought to as many values as there are
    casts; excess is the difference. Without repeats these two are over no scores at all.
    """
    own = [score for score in scores if score.metric == of]
    found = [deviations for casts in _collect_by_template(own).values() if (deviations := _measure_deviations(casts))]
    if part == "PSI":
        rows = np.array([[across, 1.0] for across, _ in found]).reshape(-1, 2)
    else:
        rows = np.array([[across, within, 1.0] for across, within in found if within is not None]).reshape(-1, 3)
        own = own if len(rows) else []
    interval = bootstrap_jointly(rows, STATISTICS[part], seed=derive_seed(seed, "bootstrap", name))
    value, low, high = interval.value, interval.low, interval.high
    return Estimate(metric=name, value=value, low=low, high=high, **count_outcomes(own))


def _collect_by_template(scores: Iterable[Score]) -> Mapping[str, Casts]:
    """The values of one metric; scenes without a value are left out."""
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for score in scores:
        if score.value is not None:
            found[score.cluster][score.scenario][score.repeat] = score.value
    return found


def _measure_deviations(casts: Casts) -> tuple[float, float | None] | None:
    """(across casts, averaged over repeats; within a cast, comparable with it, or None without repeats)."""
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
    return fmean(across), (fmean(within) * as_many if within else None)


ABNORMAL = 0.05
"""The level of App. D.7's test."""


def estimate_flagged(of: str, name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """The share of templates whose casts' spread of the metric ``of`` is abnormal, p < ABNORMAL; chance gives about ABNORMAL."""
    own = [score for score in scores if score.metric == of]
    flags = {template: float(p < ABNORMAL) for template, p in find_template_probabilities(own).items()}
    interval = estimate_mean(list(flags.values()), list(flags))
    return Estimate(
        metric=name, value=interval.value, low=interval.low, high=interval.high, **count_outcomes(own if flags else [])
    )


def find_template_probabilities(scores: Sequence[Score]) -> dict[str, float]:
    """The probability, by template, of a spread over its casts at least as large as its own, if they were drawn from all scenes.

    The population variance is that of all scenes (App. D.7). A scene counts with the mean of its repeats.
    """
    means = {
        template: [fmean(values.values()) for values in casts.values()]
        for template, casts in _collect_by_template(scores).items()
    }
    everything = [value for values in means.values() for value in values]
    if len(everything) < 2:
        return {}
    population = pvariance(everything)
    tested = {template: find_excess_probability(values, population) for template, values in means.items()}
    return {template: probability for template, probability in tested.items() if probability is not None}
