"""STSS's metrics: what was measured to scores, scores to estimates. Pure.

The overall score is the mean over the templates, so that types weigh as they have templates (10:5:5:5:5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sociable.benchmarks.stss.obstacles import Obstacles
from sociable.benchmarks.stss.records import Hindered, Measured, Persuaded, Stage
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import Estimate, Score
from sociable.statistics.estimates import estimate_jointly, estimate_proportion
from sociable.statistics.metrics import Metric, Metrics, Value, mean
from sociable.town.events import REFUSED

SCORE = "score"
RATIO = "conversation_ratio"
NOTHING = "came_to_nothing"
REFUSED_EVENTS = "refused_events"
OF_BEST = "of_best"
LEARNT, MET, HONEST, KEPT, SET_RIGHT = "reasons_learnt", "reasons_met", "true_of_others", "secret_kept", "rumour_set_right"
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


def declare_metrics(types: Mapping[str, TaskType], *, has_obstacles: bool = False) -> TaskMetrics:
    """All metrics. ``types``: each scenario's; ``has_obstacles``: whether the tasks are of level 2 or 3."""
    return TaskMetrics(
        Metric(SCORE, "Overall", "mean over all tasks", "score", _measure(lambda found: found.score, explained=True), best=1.0),
        *(_declare_obstacles() if has_obstacles else ()),
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


def _declare_obstacles() -> Iterator[Metric[MeasuredTask]]:
    """The metrics that only levels 2 and 3 have."""
    meaning = "share of the most that could have been done, as a search found"
    yield _declare_hindered(OF_BEST, "Of best", meaning, _find_share, lambda obstacles: True)
    for name, title, meaning, find, has in (
        (
            LEARNT,
            "Learnt",
            "share of people's reasons that the performer got to hear",
            _share(lambda each: each.learnt is not None),
            _has_wills,
        ),
        (
            MET,
            "Met",
            "share of people with a reason to whom it said what moves them",
            _share(lambda each: each.moved is not None),
            _has_wills,
        ),
        (HONEST, "True", "share of those told that somebody else comes of whom that was true", _find_share_of_true, _has_third),
        (KEPT, "Kept", "share of secrets that the one they are kept from did not learn before", _find_secret_kept, _has_secret),
        (
            SET_RIGHT,
            "Set right",
            "share of those believing a rumour whom the performer told better",
            _find_share_set_right,
            _has_rumour,
        ),
    ):
        yield _declare_hindered(name, title, meaning, find, has)


def _has_wills(obstacles: Obstacles) -> bool:
    return bool(obstacles.wills)


def _has_third(obstacles: Obstacles) -> bool:
    return any(will.third for will in obstacles.wills)


def _has_secret(obstacles: Obstacles) -> bool:
    return obstacles.secret is not None


def _has_rumour(obstacles: Obstacles) -> bool:
    return obstacles.rumour is not None


def _declare_hindered(
    name: str, title: str, meaning: str, find: Callable[[Hindered], float | None], has: Callable[[Obstacles], bool]
) -> Metric[MeasuredTask]:
    """``has``: whether the task can have a value at all; an errored episode of such a task counts as errored."""

    def find_value(measured: Measured) -> float | None:
        return None if measured.hindered is None else find(measured.hindered)

    def has_value(each: MeasuredTask) -> bool:
        return each.task.obstacles is not None and has(each.task.obstacles)

    is_score = name == OF_BEST
    group = "score" if is_score else "reasons"
    value = _measure(find_value, explained=is_score)
    return Metric(name, title, meaning, group, value, applies=has_value, best=1.0 if is_score else None)


def _find_share(found: Hindered) -> float:
    return found.of_best


def _find_secret_kept(found: Hindered) -> float | None:
    return float(found.secret_out is None) if found.has_secret else None


def _share(holds: Callable[[Persuaded], bool]) -> Callable[[Hindered], float | None]:
    return lambda found: sum(map(holds, found.persuaded)) / len(found.persuaded) if found.persuaded else None


def _find_share_of_true(found: Hindered) -> float | None:
    told = [each.is_true for each in found.persuaded if each.third and each.moved is not None]
    return sum(told) / len(told) if told else None


def _find_share_set_right(found: Hindered) -> float | None:
    return sum(each is not None for each in found.set_right.values()) / len(found.set_right) if found.set_right else None


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
