"""Scores and estimates; the arithmetic of the paper's Table 4."""

from __future__ import annotations

import pytest

from sociable.benchmarks.stss.metrics import KEPT, OF_BEST, RATIO, SCORE, SET_RIGHT, STAGES, MeasuredTask, declare_metrics
from sociable.benchmarks.stss.obstacles import Obstacles, Secret
from sociable.benchmarks.stss.published import TABLE_4, divide_by_resident_days
from sociable.benchmarks.stss.records import Measured, Stage, StssEpisode
from sociable.benchmarks.stss.task import Signs, Subtask, Task, TaskType
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score
from sociable.engine.registry import find_benchmark


@pytest.mark.parametrize("model", TABLE_4)
def test_the_overall_of_table_4_is_the_mean_over_the_templates(model: str) -> None:
    # GPT-4 GA+TDP: (10 x .759 + 5 x .400 + 5 x .200 + 5 x .686 + 5 x .500) / 30 = 16.52 / 30 = .5507; printed .550.
    *by_type, printed, _ = TABLE_4[model]
    overall = sum(templates * value for templates, value in zip((10, 5, 5, 5, 5), by_type, strict=True)) / 30
    assert overall == pytest.approx(printed, abs=0.001)
    # Types do not weigh alike: their plain mean is another figure.
    assert sum(by_type) / 5 != pytest.approx(printed, abs=0.001)


def test_what_the_original_took() -> None:
    # 13,705 requests / 25 agents / 10.2 hours x 24 hours = 1,289.9; 6.6 M tokens likewise 621,176.
    assert divide_by_resident_days(13_705) == pytest.approx(1289.9, abs=0.1)
    assert divide_by_resident_days(6_600_000) == pytest.approx(621_176, abs=1)


def task(kind: TaskType, name: str) -> Task:
    return Task(
        id=name,
        template=name,
        type=kind,
        activity="walk",
        goal="",
        first_person="",
        description="",
        performer="P",
        cast=("A", "B", "C"),
        start=0,
        end=60,
        expected=2,
        place="The Guildhall: hall",
        signs=Signs(keywords=(("walk",),)),
        subtasks=(Subtask(doing="walk", place="The Guildhall: hall", signs=Signs(keywords=(("walk",),))),),
    )


def episode(name: str, repeat: int = 0, **fields: object) -> StssEpisode:
    return StssEpisode(id=f"{name}#{repeat}", scenario=name, cluster=name, repeat=repeat, **fields)  # type: ignore[arg-type]


def measured(score: float, ratio: float | None = 0.5, **stages: Stage) -> Measured:
    return Measured(id="x", score=score, reason="because", stages=stages or {"A": Stage.DONE}, conversation_ratio=ratio)


def score_episode(task: Task, episode: StssEpisode, measured: Measured | None, failure: str = "") -> list[Score]:
    return declare_metrics({}).score(episode, MeasuredTask(task, measured), failure=failure)


def test_scores_of_one_episode() -> None:
    found = {
        score.metric: score
        for score in score_episode(
            task(TaskType.PUBLIC, "a"),
            episode("a"),
            measured(0.5, 1.5, A=Stage.DONE, B=Stage.NOT_MET, C=Stage.NOT_MET, D=Stage.NOT_AGREED),
        )
    }
    assert (found[SCORE].value, found[SCORE].reason) == (0.5, "because")
    assert found[RATIO].value == 1.5
    assert found[STAGES[Stage.NOT_MET]].value == 0.5
    assert found[STAGES[Stage.NOT_TOLD]].value == 0.0
    assert sum(found[name].value or 0.0 for name in STAGES.values()) == 1.0


def test_help_has_no_conversation_ratio() -> None:
    metrics = {score.metric for score in score_episode(task(TaskType.HELP, "a"), episode("a"), measured(1.0, None))}
    assert RATIO not in metrics
    assert SCORE in metrics


def test_the_three_kinds_of_failure_are_not_mixed() -> None:
    errored = score_episode(task(TaskType.PUBLIC, "a"), episode("a", status=EpisodeStatus.ERRORED, error="no network"), None)
    assert {(score.outcome, score.reason) for score in errored} == {(Outcome.ERRORED, "no network")}
    unscored = score_episode(task(TaskType.PUBLIC, "a"), episode("a"), None, "the background was dumb")
    assert {(score.outcome, score.reason) for score in unscored} == {(Outcome.UNSCORED, "the background was dumb")}
    failed = score_episode(task(TaskType.PUBLIC, "a"), episode("a"), measured(0.0))
    assert next(score for score in failed if score.metric == SCORE).outcome is Outcome.SCORED


def test_estimates_weigh_templates_and_not_types() -> None:
    # Two public tasks at 1 and one of help at 0: 2/3 overall, not the mean of the types' 1 and 0.
    types = {"a": TaskType.PUBLIC, "b": TaskType.PUBLIC, "c": TaskType.HELP}
    values = {"a": 1.0, "b": 1.0, "c": 0.0}
    scores = [
        score
        for name, kind in types.items()
        for repeat in (0, 1)
        for score in score_episode(
            task(kind, name), episode(name, repeat), measured(values[name], None if kind is TaskType.HELP else 2.0)
        )
    ]
    found = {estimate.metric: estimate for estimate in declare_metrics(types).estimate(scores, 0)}
    assert found[SCORE].value == pytest.approx(2 / 3)
    assert found[f"{SCORE}/{TaskType.PUBLIC}"].value == 1.0
    assert found[f"{SCORE}/{TaskType.HELP}"].value == 0.0
    assert f"{SCORE}/{TaskType.ONLINE}" not in found
    # The ratio may exceed 1; help has no part in it.
    assert found[RATIO].value == 2.0
    assert found[SCORE].scored == 6


def test_over_nothing_there_is_no_estimate() -> None:
    scores = score_episode(task(TaskType.PUBLIC, "a"), episode("a"), None, "no background")
    found = {estimate.metric: estimate for estimate in declare_metrics({"a": TaskType.PUBLIC}).estimate(scores, 0)}
    assert found[SCORE].value is None
    assert found[SCORE].unscored == 1
    assert found[RATIO].value is None


@pytest.mark.parametrize(("refused", "warned"), [(0.0, 0), (0.5, 1), (None, 0)])
def test_an_architecture_that_writes_what_is_not_its_own_is_warned_of(refused: float | None, warned: int) -> None:
    said = find_benchmark("stss").load_views().list_remarks([Estimate(metric="refused_events", value=refused)])
    assert len(said) == warned
    assert all("not its own to write" in each for each in said)


def test_an_errored_episode_of_a_hard_task_counts_as_errored() -> None:
    hard = task(TaskType.PUBLIC, "a").model_copy(
        update={"obstacles": Obstacles(level=2, wills=(), secret=Secret(keeps_from="A"))}
    )
    errored = episode("a", status=EpisodeStatus.ERRORED, error="broke")
    found = declare_metrics({}, has_obstacles=True).score(errored, MeasuredTask(hard, None))
    outcomes = {score.metric: score.outcome for score in found}
    assert outcomes[OF_BEST] == outcomes[KEPT] == Outcome.ERRORED
    # There is no rumour to set right.
    assert SET_RIGHT not in outcomes
