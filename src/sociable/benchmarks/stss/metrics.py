"""STSS's metrics: what was measured to scores, scores to estimates. Pure.

The overall score is the mean over the templates, so that types weigh as they have templates (10:5:5:5:5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sociable.benchmarks.stss.records import Measured, Stage
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import Estimate, Score
from sociable.statistics.estimates import estimate_jointly, estimate_proportion
from sociable.statistics.metrics import Metric, Metrics, Value, mean
from sociable.town.events import REFUSED

SCORE = "score"
RATIO = "conversation_ratio"
NOTHING = "came_to_nothing"
REFUSED_EVENTS = "refused_events"
AGREEMENT = "filter_agreement"
TYPES = {kind: f"{SCORE}/{kind}" for kind in TaskType}
STAGES = {stage: f"stage: {stage}" for stage in Stage}
"""Shares of the people who could have come, by how far the task came with them."""

_TYPE_TITLES = {
    TaskType.PUBLIC: "Pub. act.",
    TaskType.APPOINTMENT: "Appo.",
    TaskType.COMPANIONS: "Inv. com.",
    TaskType.ONLINE: "Online act.",
    TaskType.HELP: "Help",
}
"""Table 4's, in its order."""
_STAGES = {
    Stage.NOT_MET: ("Not met", "never in the performer's sight, nor told by anybody"),
    Stage.NOT_TOLD: ("Not told", "nobody told them all that they would have had to know"),
    Stage.NOT_AGREED: ("Not agreed", "told, and did not agree"),
    Stage.NOT_DONE: ("Not done", "agreed, and did not do it"),
    Stage.DONE: ("Done", "took part"),
}


@dataclass(frozen=True, slots=True)
class MeasuredTask:
    """One episode's task, and what was measured in it; nothing of an errored episode."""

    task: Task
    measured: Measured | None


class TaskMetrics(Metrics[MeasuredTask]):
    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """One estimate a metric, but none of a type that no task is of."""
        types = {metric.name for metric in self.select_groups("types")}
        return [each for each in super().estimate(scores, seed) if each.metric not in types or each.episodes]


def declare_metrics(types: Mapping[str, TaskType]) -> TaskMetrics:
    """All metrics. ``types``: each scenario's."""
    return TaskMetrics(
        Metric(SCORE, "Overall", "mean over all tasks", "score", _measure(lambda found: found.score, explained=True), best=1.0),
        *(_declare_type(types, kind) for kind in TaskType),
        Metric(
            RATIO,
            "Conv. ratio",
            "different people talked with before the event's day, over those expected; help left out",
            "ratio",
            _measure(lambda found: found.conversation_ratio),
            # Of help there is no conversation ratio (Table 4's caption).
            applies=lambda each: each.task.type is not TaskType.HELP,
            aggregate=lambda name, scores, seed: estimate_jointly(name, scores, [name], lambda means: means[..., 0], seed=seed),
            unit="ratio",
            high=None,
        ),
        *(
            Metric(name, *_STAGES[stage], "stages", _measure(partial(_measure_share_of_people, stage)))
            for stage, name in STAGES.items()
        ),
        Metric(
            NOTHING,
            "Came to nothing",
            "share of the performer's plans and words in which nothing could be read",
            "conduct",
            _measure(lambda found: found.came_to_nothing),
        ),
        Metric(
            REFUSED_EVENTS,
            "Refused",
            "events that the performer's architecture wrote and may not write, such as others' doings; none counts",
            "conduct",
            _measure(lambda found: sum(note.count for note in found.notes if note.of_performer and note.about == REFUSED)),
            aggregate=mean,
            unit="events",
            high=None,
        ),
        Metric(
            AGREEMENT,
            "Filter agrees",
            "share of the texts of activities that judges decided about in which the keyword filter decides the same",
            "instrument",
            _measure(_measure_agreement),
            applies=lambda each: each.measured is not None and bool(each.measured.judged),
        ),
    )


def _declare_type(types: Mapping[str, TaskType], kind: TaskType) -> Metric[MeasuredTask]:
    meaning = f"mean score of the tasks of {kind}"
    return Metric(TYPES[kind], _TYPE_TITLES[kind], meaning, "types", aggregate=partial(_estimate_type, types, kind))


def _measure(find: Callable[[Measured], float | None], *, explained: bool = False) -> Callable[[MeasuredTask], Value]:
    """Reads a value off what was measured; ``explained``: with the reason for it."""

    def find_value(each: MeasuredTask) -> Value:
        assert each.measured is not None, "an errored episode has no value"
        value = find(each.measured)
        if value is None:
            return Value.not_reached(each.measured.reason)
        return Value(value, each.measured.reason if explained else "")

    return find_value


def _measure_agreement(measured: Measured) -> float | None:
    return sum(each.by_filter is each.by_judge for each in measured.judged) / len(measured.judged) if measured.judged else None


def _measure_share_of_people(stage: Stage, measured: Measured) -> float:
    return sum(each is stage for each in measured.stages.values()) / len(measured.stages)


def _estimate_type(types: Mapping[str, TaskType], kind: TaskType, name: str, scores: Sequence[Score], seed: int) -> Estimate:
    own = [
        score.model_copy(update={"metric": name}) for score in scores if score.metric == SCORE and types[score.scenario] is kind
    ]
    return estimate_proportion(name, own)
