"""How much room the cases leave above the runs over them: cases that all or none get right, and metrics at their ceiling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sociable.core.errors import InputError
from sociable.core.records import Estimate
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Column,
    Row,
    Section,
    Table,
    Tone,
    format_figure,
    format_interval,
    format_with_interval,
)
from sociable.engine.result import RunResult
from sociable.reports.audits import shorten_list
from sociable.reports.comparison import find_differences
from sociable.statistics.estimates import average_by_case
from sociable.statistics.intervals import Interval, bootstrap_jointly, estimate_mean
from sociable.statistics.items import Item, measure_items
from sociable.statistics.metrics import Metric, Metrics

FEWEST = 4
"""Cases below which a score at the ceiling says nothing: with one less the interval reaches down to half of the scale."""


def touches_ceiling(metric: Metric[Any], estimate: Estimate) -> bool:
    """Whether the best value lies within an estimate's interval, give or take half a case, and the worst half does not."""
    if metric.best is None or estimate.value is None or estimate.scored < FEWEST:
        return False
    reached = sorted(metric.measure_reached(each) for each in (estimate.value, estimate.low, estimate.high) if each is not None)
    return reached[-1] >= 1.0 - 0.5 / estimate.scored and reached[0] > 0.5


def warn_of_ceilings(metrics: Metrics[Any], model: str, estimates: Sequence[Estimate]) -> list[str]:
    """The warning that a model stands at the ceiling of what the cases measure; reference agents stand there by design."""
    if model.startswith("reference/"):
        return []
    rated = {metric.name: metric for metric in metrics.list_rated()}
    at = [each.metric for each in estimates if each.metric in rated and touches_ceiling(rated[each.metric], each)]
    if not at:
        return []
    return [f"At the ceiling, as far as these cases tell: {', '.join(at)}. This model is beyond what they can measure there."]


def show_headroom(runs: Sequence[RunResult]) -> list[Section]:
    """What the cases tell of these runs, and how much room is left above the best. Raises InputError for too few models."""
    models = dict.fromkeys(run.manifest["models"]["subject"] for run in runs)
    if len(models) < 2:
        named = f"; these are of {next(iter(models))} alone" if models else ""
        raise InputError(f"Cases are measured by runs of at least two different models{named}. Name more with --runs.")
    rated = [each for each in runs[0].study.metrics.list_rated() if each.value and _count_runs(each, runs) > 1]
    if not rated:
        raise InputError("These runs have no metric in common that says how able a model is. Score them with the same judges.")
    remarks = [
        Callout(f"{run.label} and {runs[0].label} are not comparable: {'; '.join(different)}.", Tone.WARNING)
        for run in runs[1:]
        if (different := find_differences(runs[0], run))
    ]
    found = {metric.name: _measure(metric, runs) for metric in rated}
    rows = [_describe(metric, found[metric.name], runs) for metric in rated]
    blocks: list[Block] = [*remarks, _make_summary(rows), *_list_ceilings(rated, runs)]
    for metric in rated:
        blocks += _list_odd(metric, found[metric.name])
    return [Section("Headroom", blocks), Section("Cases", [_make_items_table(rated, found)])]


def _count_runs(metric: Metric[Any], runs: Sequence[RunResult]) -> int:
    return sum(bool(average_by_case(run.scores, metric.name)) for run in runs)


def _measure(metric: Metric[Any], runs: Sequence[RunResult]) -> list[Item]:
    reached = [
        {case: metric.measure_reached(value) for case, value in average_by_case(run.scores, metric.name).items()} for run in runs
    ]
    return measure_items(reached)


def _find_estimate(metric: Metric[Any], run: RunResult) -> Estimate:
    """The run's own, or what it would be, where a run shows only figures that are made of it."""
    return run.estimate(metric.name) or metric.aggregate(metric.name, run.scores, 0)


def _find_best_run(metric: Metric[Any], runs: Sequence[RunResult]) -> tuple[RunResult, Estimate]:
    found = [(run, estimate) for run in runs if (estimate := _find_estimate(metric, run)).value is not None]
    return max(found, key=lambda pair: metric.measure_reached(pair[1].value or 0.0))


def _describe(metric: Metric[Any], items: Sequence[Item], runs: Sequence[RunResult]) -> Row:
    clusters = {score.scenario: score.cluster for run in runs for score in run.scores}
    of_items = [clusters[each.case] for each in items]
    difficulty = estimate_mean([min(max(each.difficulty, 0.0), 1.0) for each in items], of_items)
    told = _average_discrimination(items, of_items)
    best, estimate = _find_best_run(metric, runs)
    assert metric.best is not None and estimate.value is not None
    left = sorted(abs(metric.best - each) for each in (estimate.value, estimate.low, estimate.high) if each is not None)
    room = abs(metric.best - estimate.value)
    low, high = (left[0], left[-1]) if estimate.low is not None else (None, None)
    return Row(
        [
            metric.name,
            str(len(items)),
            str(sum(each.difficulty <= 1e-9 for each in items)),
            str(sum(each.difficulty >= 1.0 - 1e-9 for each in items)),
            format_interval(difficulty, 2),
            format_interval(told, 2),
            best.label,
            format_with_interval(room, low, high, metric.decimals),
        ]
    )


def _average_discrimination(items: Sequence[Item], clusters: Sequence[str]) -> Interval:
    totals: dict[str, list[float]] = {}
    for each, cluster in zip(items, clusters, strict=True):
        if each.discrimination is not None:
            total = totals.setdefault(cluster, [0.0, 0.0])
            total[0] += each.discrimination
            total[1] += 1.0
    return bootstrap_jointly(
        np.array([totals[name] for name in sorted(totals)]).reshape(-1, 2), lambda sums: sums[..., 0] / sums[..., 1], seed=0
    )


def _make_summary(rows: Sequence[Row]) -> Table:
    columns = (
        Column("Metric"),
        Column("Cases", True, "those for which at least two runs have a value"),
        Column("All", True, "cases in which all runs reach the best"),
        Column("None", True, "cases in which no run reaches anything"),
        Column("Difficulty", True, "1 less the mean of what runs reach"),
        Column("Discrimination", True, "how much more the better run of two reaches in a case, better by all other cases"),
        Column("Best run"),
        Column("Headroom", True, "how far the best run is from the best possible value"),
    )
    note = "95% intervals by cluster. Over few runs the discrimination of a single case is a hint, no more."
    return Table("Room above these runs", columns, rows, note)


def _list_ceilings(rated: Sequence[Metric[Any]], runs: Sequence[RunResult]) -> Iterator[Callout]:
    at = []
    for metric in rated:
        best, estimate = _find_best_run(metric, runs)
        if touches_ceiling(metric, estimate):
            at.append(f"{metric.name} ({best.label})")
    if at:
        yield Callout(f"No room is left above the best run, as far as these cases tell: {', '.join(at)}.", Tone.BAD)
    else:
        yield Callout("Above the best run there is room in every metric.", Tone.GOOD)


def _list_odd(metric: Metric[Any], items: Sequence[Item]) -> Iterator[Callout]:
    """The cases that worse runs do better at: ambiguous, or wrong, or measuring something else."""
    odd = sorted(
        (each.discrimination, each.case) for each in items if each.discrimination is not None and each.discrimination < 0
    )
    for said in shorten_list([f"{case} ({value:+.2f})" for value, case in odd]):
        yield Callout(f"{metric.name}: worse runs do better at {said}", Tone.WARNING)


def _make_items_table(rated: Sequence[Metric[Any]], found: dict[str, list[Item]]) -> Table:
    by_metric = {name: {each.case: each for each in items} for name, items in found.items()}
    cases = dict.fromkeys(each.case for items in found.values() for each in items)

    def rank(case: str) -> float:
        return -sum(own[case].difficulty for own in by_metric.values() if case in own)

    rows = []
    for case in sorted(cases, key=rank):
        cells = [case]
        for metric in rated:
            item = by_metric[metric.name].get(case)
            told = MISSING if item is None or item.discrimination is None else f"{item.discrimination:+.2f}"
            cells += [format_figure(item.difficulty, 2) if item else MISSING, told]
        rows.append(Row(cells))
    columns = [Column("Case")]
    for metric in rated:
        columns += [Column(metric.title, True, f"difficulty: {metric.meaning}"), Column("D", True, "discrimination")]
    return Table("Every case, the hardest first", columns, rows)
