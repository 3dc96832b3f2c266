"""Runs that end by rule: when the interval of a metric is as narrow as was asked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sociable.core.errors import InputError
from sociable.core.records import Estimate, Score
from sociable.core.seeding import make_generator
from sociable.engine.study import AnyStudy
from sociable.statistics.metrics import Metric, share
from sociable.statistics.sequential import estimate_at_look, find_level, find_narrowest, plan_looks

_FORM = re.compile(r"(?P<metric>.+?)\s*(?:±|\+/?-)\s*(?P<width>[0-9.eE+-]+)")


@dataclass(frozen=True)
class StoppingRule:
    """The metric whose interval is looked at, and half the width at which the run ends, in the metric's unit."""

    metric: str
    width: float

    def __str__(self) -> str:
        return f"{self.metric} ± {self.width:g}"


def parse_rule(text: str) -> StoppingRule:
    """The rule in a text like ``r2 ± 0.03`` or ``r2 +- 0.03``. Raises ValueError."""
    found = _FORM.fullmatch(text.strip())
    try:
        rule = StoppingRule(found["metric"], float(found["width"])) if found else None
    except ValueError:
        rule = None
    if rule is None or not 0 < rule.width < float("inf"):
        raise ValueError(f"'{text}' is no rule: write a metric and half the width of its interval, as in 'r2 ± 0.03'")
    return rule


@dataclass(frozen=True)
class Looks:
    """The clusters of a study in the order in which they are taken, and the numbers of them at which one looks."""

    rule: StoppingRule
    order: Sequence[str]
    counts: tuple[int, ...]

    @property
    def level(self) -> float:
        """The level of the interval at each look."""
        return find_level(self.counts)

    def take(self, study: AnyStudy, count: int) -> dict[str, Any]:
        """The scenarios of the first ``count`` clusters."""
        taken = set(self.order[:count])
        return {name: each for name, each in study.scenarios.items() if study.find_cluster(name) in taken}

    def find_estimate(self, study: AnyStudy, scores: Sequence[Score], estimate: Estimate | None = None) -> Estimate:
        """The rule's metric over ``scores``, with limits that hold over all looks; the rest as in ``estimate``."""
        found = estimate_at_look(study.metrics[self.rule.metric], scores, self.level)
        before = estimate or Estimate(metric=self.rule.metric, value=found.value)
        return before.model_copy(update={"low": found.low, "high": found.high})

    def is_hopeless(self, count: int, estimate: Estimate) -> bool:
        """Whether the first look, at ``count`` clusters, found no case at all with a value: nobody should buy the rest."""
        return count == self.counts[0] and estimate.value is None

    def is_met(self, estimate: Estimate) -> bool:
        """Whether the interval is as narrow as the rule asks."""
        width = measure_half_width(estimate)
        return width is not None and width <= self.rule.width


def measure_half_width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def plan_run(study: AnyStudy, rule: StoppingRule) -> Looks:
    """The order of the study's clusters, drawn by its seed, and the looks."""
    order = sorted(set(map(study.find_cluster, study.scenarios)))
    make_generator(study.seed, "until").shuffle(order)
    return Looks(StoppingRule(find_metric(study, rule.metric).name, rule.width), order, plan_looks(len(order)))


def find_metric(study: AnyStudy, text: str) -> Metric[Any]:
    """The mean of this name, or of this title. Raises InputError."""
    known = {name: metric for name, metric in study.metrics.items() if metric.is_of_means}
    found = known.get(text) or next((each for each in known.values() if each.title.casefold() == text.casefold()), None)
    if found is None:
        named = (name if name == metric.title else f"{name} ({metric.title})" for name, metric in known.items())
        raise InputError(f"--until: there is no mean called '{text}' here. There are: {', '.join(named)}.")
    return found


def check_rule(study: AnyStudy, rule: StoppingRule, scenarios: Collection[str]) -> None:
    """Raises InputError for an unknown metric, a width that any or no result reaches, or cases chosen by hand."""
    if scenarios:
        raise InputError("--until takes cases in a random order: leave --scenario out, or --until.")
    metric = find_metric(study, rule.metric)
    if metric.width is not None and rule.width >= metric.width / 2:
        raise InputError(
            f"--until '{rule}' asks for nothing: {metric.name} lies between {metric.low:g} and {metric.high:g}. Name a width "
            f"below {metric.width / 2:g}."
        )
    if metric.aggregate is share:
        cases = len(study.scenarios)
        narrowest = find_narrowest(cases, find_level(plan_looks(len(plan_run(study, rule).order))))
        if rule.width < narrowest:
            raise InputError(
                f"--until '{rule}' cannot be reached: no result of {cases} cases has an interval narrower than ± {narrowest:.2g}."
            )


@contextmanager
def narrow(study: AnyStudy, scenarios: Mapping[str, Any]) -> Iterator[None]:
    """Has the study hold only these scenarios for a while."""
    everything = study.scenarios
    study.scenarios = scenarios
    try:
        yield
    finally:
        study.scenarios = everything
