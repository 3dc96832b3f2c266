"""Rubrics over the episodes of a run: who is rated by whom, and what scores come of it.

Ratings stand in ``rubrics.jsonl`` of the run folder. They are scores like others, named after rubric and dimension; the
rating of an episode is the mean over the judges who gave one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sociable.core.errors import InputError
from sociable.core.records import Episode, Estimate, Outcome, Score
from sociable.core.seeding import derive_seed
from sociable.engine.seats import Role, Seat
from sociable.engine.study import Rated
from sociable.judging.rubric import RUBRICS, RatedParticipant, Rubric, RubricJudgment
from sociable.statistics.estimates import estimate_jointly


def find_rubric(name: str) -> Rubric:
    """The rubric of this name. Raises InputError naming those there are."""
    if name not in RUBRICS:
        raise InputError(f"There is no rubric '{name}'; there are: {', '.join(RUBRICS)}.")
    return RUBRICS[name]


@dataclass(frozen=True, slots=True)
class RatingTask:
    """One judge's rating of one participant."""

    id: str
    episode: Episode
    rated: RatedParticipant
    seat: Seat


def list_rating_tasks(study: Rated[Any], rubric: Rubric, episode: Episode, raters: Sequence[Seat]) -> Iterator[RatingTask]:
    """The tasks of each rater for a completed episode."""
    for who, rated in study.list_rated_participants(episode).items():
        for seat in raters:
            yield RatingTask(make_rating_id(episode.id, rubric.name, who, seat.name), episode, rated, seat)


def make_rating_id(episode: str, rubric: str, who: str, judge: str) -> str:
    return f"{episode}|{rubric}|{who}|{judge}"


def name_rating_metric(rubric: str, dimension: str, role: Role) -> str:
    return f"{rubric}_{dimension}" if role is Role.SUBJECT else f"{rubric}_{dimension}_{role}"


OVERALL = "overall"
"""The mean of all dimensions, as SOTOPIA reports it."""


def score_ratings(
    study: Rated[Any], rubric: Rubric, episode: Episode, given: Mapping[str, RubricJudgment], raters: Sequence[str]
) -> list[Score]:
    """The scores of one completed episode from the ratings ``given``, by id; a role's are the means over its participants."""
    by_role: dict[Role, list[RubricJudgment | None]] = defaultdict(list)
    for who in study.list_rated_participants(episode):
        role = Role(who.partition(":")[0])
        by_role[role] += [given.get(make_rating_id(episode.id, rubric.name, who, judge)) for judge in raters]
    scores = []
    for role, opinions in by_role.items():
        values = {}
        for dimension in rubric.dimensions:
            found = [opinion.ratings[dimension.name] for opinion in opinions if opinion and dimension.name in opinion.ratings]
            values[dimension.name] = fmean(found) if found and None not in opinions else None
        known = [value for value in values.values() if value is not None]
        values[OVERALL] = fmean(known) if len(known) == len(rubric.dimensions) else None
        failures = [f"{each.judge}: {next(iter(each.failures.values()))}" for each in opinions if each and each.failures]
        missing = Outcome.ERRORED if None in opinions else Outcome.UNSCORED
        why = "rating was not finished" if None in opinions else "; ".join(failures)
        for name, value in values.items():
            outcome, reason = (missing, why) if value is None else (Outcome.SCORED, "")
            scores.append(episode.make_score(name_rating_metric(rubric.name, name, role), value, outcome, reason))
    return scores


def estimate_ratings(rubric: Rubric, scores: Sequence[Score], seed: int) -> list[Estimate]:
    """The mean of each dimension and of all, with a bootstrap over clusters."""
    prefix = f"{rubric.name}_"
    metrics = dict.fromkeys(score.metric for score in scores if score.metric.startswith(prefix))
    return [
        estimate_jointly(name, scores, (name,), lambda means: means[..., 0], seed=derive_seed(seed, "bootstrap", name))
        for name in metrics
    ]
