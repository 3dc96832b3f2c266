"""Rubrics over the episodes of a run: who is rated by whom, and what scores come of it.

Ratings stand in ``rubrics.jsonl`` of the run folder. They are scores like others, named after rubric and dimension; the
rating of an episode is the mean over the judges who gave one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sociable.core.errors import InputError
from sociable.core.records import Episode, EpisodeStatus, Estimate, Outcome, Score
from sociable.core.seeding import derive_seed
from sociable.core.view import Column, Row, Section, Table, with_interval
from sociable.engine.benchmark import RunResult, Study
from sociable.engine.seats import Role, Seat
from sociable.judging.rubric import RUBRICS, RatedParticipant, Rubric, RubricJudgment
from sociable.statistics.estimates import estimate_jointly


def find_rubric(name: str) -> Rubric:
    """Raises InputError naming those there are."""
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


def rating_tasks(study: Study, rubric: Rubric, episode: Episode, raters: Sequence[Seat]) -> Iterator[RatingTask]:
    if episode.status is EpisodeStatus.COMPLETED:
        for role, rated in study.rated_participants(episode).items():
            for seat in raters:
                yield RatingTask(rating_id(episode.id, rubric.name, role, seat.name), episode, rated, seat)


def rating_id(episode: str, rubric: str, role: Role, judge: str) -> str:
    return f"{episode}|{rubric}|{role}|{judge}"


def rating_metric(rubric: str, dimension: str, role: Role) -> str:
    return f"{rubric}_{dimension}" if role is Role.SUBJECT else f"{rubric}_{dimension}_{role}"


OVERALL = "overall"
"""The mean of all dimensions, as SOTOPIA reports it."""


def rating_scores(
    study: Study, rubric: Rubric, episode: Episode, given: Mapping[str, RubricJudgment], raters: Sequence[str]
) -> list[Score]:
    """The scores of one episode from the ratings ``given``, by id. Nothing for an episode in which nobody has a goal."""
    if episode.status is not EpisodeStatus.COMPLETED:
        return []
    scores = []
    for role in study.rated_participants(episode):
        opinions = [given.get(rating_id(episode.id, rubric.name, role, judge)) for judge in raters]
        values = {}
        for dimension in rubric.dimensions:
            found = [opinion.ratings[dimension.name] for opinion in opinions if opinion and dimension.name in opinion.ratings]
            values[dimension.name] = fmean(found) if found and None not in opinions else None
        known = [value for value in values.values() if value is not None]
        values[OVERALL] = fmean(known) if len(known) == len(rubric.dimensions) else None
        missing = Outcome.ERRORED if None in opinions else Outcome.UNSCORED
        why = "rating was not finished" if None in opinions else _failures(opinions)
        scores += [
            Score(
                metric=rating_metric(rubric.name, name, role),
                scenario=episode.scenario,
                cluster=episode.cluster,
                repeat=episode.repeat,
                outcome=missing if value is None else Outcome.SCORED,
                value=value,
                reason=why if value is None else "",
            )
            for name, value in values.items()
        ]
    return scores


def _failures(opinions: Sequence[RubricJudgment | None]) -> str:
    return "; ".join(f"{each.judge}: {reason}" for each in opinions if each for reason in list(each.failures.values())[:1])


def rating_estimates(rubric: Rubric, scores: Sequence[Score], seed: int) -> list[Estimate]:
    """The mean of each dimension and of all, with a bootstrap over clusters."""
    prefix = f"{rubric.name}_"
    metrics = dict.fromkeys(score.metric for score in scores if score.metric.startswith(prefix))
    return [
        estimate_jointly(name, scores, (name,), lambda means: means[..., 0], seed=derive_seed(seed, "bootstrap", name))
        for name in metrics
    ]


def rubric_section(rubric: Rubric, results: Sequence[RunResult]) -> Section:
    """One row a dimension, one column a run."""
    named = {OVERALL: "mean of all dimensions", **{each.name: each.meaning for each in rubric.dimensions}}
    ranges = {each.name: f"{each.low} to {each.high}" for each in rubric.dimensions}
    found: dict[Role, list[Row]] = defaultdict(list)
    for role in (Role.SUBJECT, Role.PARTNER):
        for name, meaning in named.items():
            estimates = [result.estimate(rating_metric(rubric.name, name, role)) for result in results]
            if any(estimates):
                cells = [with_interval(e.value, e.low, e.high, 2) if e else "—" for e in estimates]
                found[role].append(Row([name.replace("_", " "), ranges.get(name, ""), *cells, meaning]))
    who = {Role.SUBJECT: "The model under test", Role.PARTNER: "The partner"}
    columns = [Column("Dimension"), Column("Range"), *(Column(result.label, True) for result in results), Column("Meaning")]
    note = "Means over episodes in which the participant spoke; several judges count by their mean. 95% intervals by cluster."
    return Section(f"Rubric: {rubric.name}", [Table(who[role], columns, rows, note) for role, rows in found.items()])
