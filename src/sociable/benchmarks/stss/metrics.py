"""STSS's metrics: what was measured to scores, scores to estimates. Pure.

The overall score is the mean over the templates, so that types weigh as they have templates (10:5:5:5:5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sociable.benchmarks.stss.records import Measured, Stage, StssEpisode
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score
from sociable.statistics.estimates import estimate_jointly, estimate_proportion

SCORE = "score"
RATIO = "conversation_ratio"
STAGES: Mapping[Stage, str] = {stage: f"stage: {stage}" for stage in Stage}
"""Shares of the people who could have come, by how far the task came with them."""

NOTHING = "came_to_nothing"
"""Of the performer's plans and words the share in which nothing could be read."""

METRICS = (SCORE, RATIO, *STAGES.values(), NOTHING)


def score_episode(task: Task, episode: StssEpisode, measured: Measured | None, failure: str = "") -> list[Score]:
    """All scores of one episode. ``failure``: why the background cannot be trusted with it; then nothing is scored."""
    values: dict[str, float | None] = dict.fromkeys(METRICS)
    if episode.status is EpisodeStatus.ERRORED:
        outcome, reason = Outcome.ERRORED, episode.error
    elif failure or measured is None:
        outcome, reason = Outcome.UNSCORED, failure
    else:
        outcome, reason = Outcome.SCORED, measured.reason
        people = len(measured.stages)
        shares = {name: sum(each is stage for each in measured.stages.values()) / people for stage, name in STAGES.items()}
        values |= {SCORE: measured.score, RATIO: measured.conversation_ratio, **shares, NOTHING: measured.came_to_nothing}
    return [
        episode.score(
            metric,
            value,
            Outcome.NOT_REACHED if value is None and outcome is Outcome.SCORED else outcome,
            reason if metric == SCORE or value is None else "",
        )
        for metric, value in values.items()
        # Of help there is no conversation ratio (Table 4's caption).
        if metric != RATIO or task.type is not TaskType.HELP
    ]


def estimate_all(scores: Sequence[Score], types: Mapping[str, TaskType], *, seed: int) -> list[Estimate]:
    """``types``: by scenario."""
    estimates = [estimate_proportion(SCORE, scores)]
    for kind in TaskType:
        own = [
            score.model_copy(update={"metric": f"{SCORE}/{kind}"})
            for score in scores
            if score.metric == SCORE and types[score.scenario] is kind
        ]
        if own:
            estimates.append(estimate_proportion(f"{SCORE}/{kind}", own))
    estimates.append(estimate_jointly(RATIO, scores, [RATIO], lambda means: means[..., 0], seed=seed))
    return [*estimates, *(estimate_proportion(metric, scores) for metric in (*STAGES.values(), NOTHING))]
