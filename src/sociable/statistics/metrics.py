"""A metric is declared once: its name, what it means, its value for one episode, and how values become one figure.

Tables, comparisons, rows of errored episodes and the READMEs' lists of metrics are derived from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sociable.core.records import Episode, EpisodeStatus, Estimate, Outcome, Score
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import estimate_jointly, estimate_proportion
from sociable.statistics.intervals import Floats

C = TypeVar("C", contravariant=True)
"""The context from which a value is worked out: an episode, with all that is beside it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A metric's value for one episode, or why there is none."""

    value: float | None
    reason: str = ""
    outcome: Outcome = Outcome.SCORED

    @classmethod
    def not_reached(cls, reason: str = "") -> Value:
        """No value because an earlier stage ended the episode, or there was nothing to measure."""
        return cls(None, reason, Outcome.NOT_REACHED)

    @classmethod
    def unscored(cls, reason: str) -> Value:
        """No value because an instrument (judge, partner, reference) failed."""
        return cls(None, reason, Outcome.UNSCORED)

    @classmethod
    def errored(cls, reason: str) -> Value:
        """No value because the run failed."""
        return cls(None, reason, Outcome.ERRORED)


Aggregate = Callable[[str, Sequence[Score], int], Estimate]
"""(name of the metric, all scores of a run, seed) → its estimate."""


def share(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """The mean of values in [0, 1], with a Wilson interval by cluster."""
    return estimate_proportion(name, scores)


def mean(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """The mean of any values, with a bootstrap over clusters."""
    return CombinedMeans([name], lambda means: means[..., 0])(name, scores, seed)


@dataclass(frozen=True, slots=True)
class CombinedMeans:
    """An aggregate: a quantity made of the means of several metrics, with a joint bootstrap over clusters."""

    parts: Sequence[str]
    """The metrics; where one of them was not run there is no value."""
    combine: Callable[[Floats], Floats]
    """Means [..., parts] → [...]; a mean over nothing is nan."""
    optional: Sequence[str] = ()
    """Further metrics, whose means follow those of ``parts`` where they were run."""
    is_known: Callable[[Sequence[Score]], bool] = lambda _: True
    """Whether the scores allow a value at all."""

    def __call__(self, name: str, scores: Sequence[Score], seed: int) -> Estimate:
        parts = self.list_parts(scores)
        combined = [] if parts is None else scores
        estimate = estimate_jointly(name, combined, parts or self.parts, self.combine, seed=derive_seed(seed, "bootstrap", name))
        return estimate if self.is_known(scores) else estimate.model_copy(update={"value": None, "low": None, "high": None})

    def list_parts(self, scores: Sequence[Score]) -> Sequence[str] | None:
        """The metrics that were run, in their order; None where one lacks that must not."""
        run = {score.metric for score in scores}
        return [*self.parts, *(part for part in self.optional if part in run)] if run.issuperset(self.parts) else None


@dataclass(frozen=True)
class Metric(Generic[C]):
    """One metric of a benchmark, or a family of metrics whose names depend on the episode.

    Without ``value`` and ``members`` it is made of other metrics' scores, by ``aggregate``.
    """

    name: str
    """The name in ``scores.json``; in a family's name "…" stands for what differs."""
    title: str
    """Short, for the head of a column."""
    meaning: str
    group: str = ""
    """The part of the report that it belongs to."""
    value: Callable[[C], Value] | None = None
    applies: Callable[[C], bool] = lambda _: True
    """Whether an episode has this metric at all; where it has not there is no score, not even of an errored episode."""
    aggregate: Aggregate = share
    unit: str = "share"
    low: float | None = 0.0
    """The least possible value; None: there is none."""
    high: float | None = 1.0
    """The greatest possible value; None: there is none."""
    best: float | None = None
    """The value of the ablest, which is one of the two bounds; None: it says nothing of ability by itself."""
    is_compared: bool = True
    """Whether `sociable compare` shows it, if it has a value per case or is made of others' means."""
    is_stage: bool = False
    """Whether it is a stage that an episode passes (1) or not (0): how many were passed says how far it came."""
    decimals: int = 3
    members: Callable[[C], Mapping[str, Callable[[C], Value]]] | None = None
    """The metrics of a family that an episode has: by name, what works out their values."""

    def __post_init__(self) -> None:
        if self.aggregate is share and not (self.value or self.members):
            raise ValueError(f"metric '{self.name}': give it a value, or an aggregate that makes it of other metrics.")
        if self.aggregate is share and (self.low, self.high) != (0.0, 1.0):
            raise ValueError(f"metric '{self.name}' is no share of 0 to 1: give it an aggregate, such as aggregate=mean.")
        if self.best is not None and (None in (self.low, self.high) or self.best not in (self.low, self.high)):
            raise ValueError(f"metric '{self.name}': 'best' must be the least or the greatest possible value, and both be known.")

    def find_means(self, scores: Sequence[Score]) -> tuple[Sequence[str], Callable[[Floats], Floats]] | None:
        """The metrics whose means this one is made of, and how; None where it is not made of means, or has no value."""
        if self.aggregate in (share, mean):
            return [self.name], lambda means: means[..., 0]
        made = self.aggregate
        parts = made.list_parts(scores) if isinstance(made, CombinedMeans) and made.is_known(scores) else None
        return (parts, made.combine) if parts and isinstance(made, CombinedMeans) else None

    @property
    def is_of_means(self) -> bool:
        """Whether it is a mean, or made of means, over all episodes."""
        return not self.members and (self.aggregate in (share, mean) or isinstance(self.aggregate, CombinedMeans))

    @property
    def width(self) -> float | None:
        """The distance between the least and the greatest possible value; None where one of the two is missing."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def is_better_low(self) -> bool:
        """Whether the least possible value is the best."""
        return self.best is not None and self.best == self.low

    def measure_reached(self, value: float) -> float:
        """How far a value is on the way from the worst possible (0) to the ``best`` (1); 1 where no other is possible."""
        assert self.best is not None and self.low is not None and self.high is not None
        worst = self.low if self.best == self.high else self.high
        return (value - worst) / (self.best - worst) if self.best != worst else 1.0

    def find_value_functions(self, context: C) -> Mapping[str, Callable[[C], Value]]:
        """The functions that work out the values of an episode, by metric's name."""
        if not self.applies(context):
            return {}
        return self.members(context) if self.members else {self.name: self.value} if self.value else {}

    def has_member(self, name: str) -> bool:
        """Whether this is a family that a metric of this name can belong to."""
        return bool(self.members and re.fullmatch(re.escape(self.name).replace("…", ".+"), name))


class Metrics(Mapping[str, Metric[C]], Generic[C]):
    """All metrics of a benchmark, by name, in the order in which episodes are scored.

    Estimates come first of those that ``first`` names, then group by group, in the order of ``groups``.
    """

    def __init__(self, *metrics: Metric[C], groups: Sequence[str] = (), first: Sequence[str] = ()) -> None:
        self._by_name = {metric.name: metric for metric in metrics}
        assert len(self._by_name) == len(metrics), "two metrics share a name"
        order = [*groups, *(metric.group for metric in metrics if metric.group not in groups)]
        grouped = sorted(metrics, key=lambda metric: order.index(metric.group))
        self._grouped = [*self.select_named(*first), *(metric for metric in grouped if metric.name not in first)]

    def __getitem__(self, name: str) -> Metric[C]:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, name: str) -> Metric[C]:
        """The metric of this name in ``scores.json``, or its family; where several families fit, the last. Raises KeyError."""
        families = (metric for metric in reversed(self._by_name.values()) if metric.has_member(name))
        found = self._by_name.get(name) or next(families, None)
        if found is None:
            raise KeyError(name)
        return found

    def select_named(self, *names: str) -> list[Metric[C]]:
        """The metrics of these names, in this order."""
        return [self[name] for name in names]

    def select_groups(self, *groups: str) -> list[Metric[C]]:
        """The metrics of these groups, group by group."""
        return [metric for group in groups for metric in self._grouped if metric.group == group]

    def list_compared(self) -> list[Metric[C]]:
        """The metrics that have a value per case and are shown by a comparison."""
        return [metric for metric in self._grouped if metric.value is not None and metric.is_compared]

    def list_rated(self) -> list[Metric[C]]:
        """The metrics that have a best value."""
        return [metric for metric in self._grouped if metric.best is not None]

    def list_combined(self) -> list[Metric[C]]:
        """The metrics that are made of others' means and are shown by a comparison."""
        return [
            each for each in self._grouped if each.is_compared and not each.value and isinstance(each.aggregate, CombinedMeans)
        ]

    def score(self, episode: Episode, context: C, *, failure: str = "") -> list[Score]:
        """All scores of one episode. With ``failure``, of an instrument that all metrics rest on, none has a value."""
        scores = []
        for metric in self.values():
            for name, value_of in metric.find_value_functions(context).items():
                if episode.status is EpisodeStatus.ERRORED:
                    value = Value.errored(episode.error)
                else:
                    value = Value.unscored(failure) if failure else value_of(context)
                scores.append(episode.make_score(name, value.value, value.outcome, value.reason))
        return scores

    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """One estimate a metric, and one for each member of a family; over nothing it is None."""
        found = dict.fromkeys(score.metric for score in scores)
        return [
            metric.aggregate(name, scores, seed)
            for metric in self._grouped
            for name in ([name for name in found if self.find(name) is metric] if metric.members else [metric.name])
        ]


def make_markdown(metrics: Mapping[str, Metric[Any]]) -> str:
    """The table of a README that lists the metrics."""
    rows = ["| metric | meaning | unit | range |", "|---|---|---|---|"]
    for metric in metrics.values():
        low, high = ("–" if bound is None else f"{bound:.3g}" for bound in (metric.low, metric.high))
        rows.append(f"| `{metric.name}` | {metric.meaning} | {metric.unit} | {low} to {high} |")
    return "\n".join(rows)
