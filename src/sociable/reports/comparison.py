"""Two runs, side by side: are they comparable, and how do they differ on the cases both reached?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from sociable.core.records import Outcome
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_with_interval
from sociable.engine.result import RunResult
from sociable.people.corrected import compare_corrected
from sociable.statistics.estimates import average_by_case, sum_by_cluster
from sociable.statistics.intervals import Floats
from sociable.statistics.metrics import CombinedMeans, Metric
from sociable.statistics.paired import compare_combined, compare_paired

_MAY_DIFFER = frozenset(
    {"model", "partner", "opponent", "judges", "rubric", "raters", "reference", "reference_file", "roles", "prices", "base_url"}
    | {"max_connections", "max_cost", "limit", "scenarios", "repeats", "dataset"}
)
"""Settings that change no case, or are looked at by what came of them (digests, references, cases both reached)."""
_LOST = frozenset({Outcome.UNSCORED, Outcome.ERRORED})


def find_differences(first: RunResult, second: RunResult) -> list[str]:
    """The differences that make the scores of two runs incomparable; empty where there are none."""
    one, other = first.manifest, second.manifest
    found = [name for name in ("benchmark", "version") if one[name] != other[name]]
    found += [f"{name} digest" for name in one["digests"] if one["digests"][name] != other["digests"].get(name)]
    found += [
        f"{role} ({one['models'].get(role)} and {other['models'].get(role)})"
        for role in ("partner", "opponent", "judges")
        if one["models"].get(role) != other["models"].get(role)
    ]
    found += [
        f"{name} ({one['settings'].get(name)} and {other['settings'].get(name)})"
        for name in one["settings"]
        if name not in {*_MAY_DIFFER, "options"} and one["settings"].get(name) != other["settings"].get(name)
    ]
    found += _find_different_options(first, second)
    if _find_sampling_of_others(one) != _find_sampling_of_others(other):
        found.append("sampling of partner, opponent or judges")
    made, others = first.records.references, second.records.references
    common = set(made.list_ids()) & set(others.list_ids())
    if any(_find_turns(made.read(case)) != _find_turns(others.read(case)) for case in common):
        found.append("reference conversations (run one with --reference-file of the other)")
    return found


def _find_different_options(first: RunResult, second: RunResult) -> list[str]:
    """Options of the benchmark that change its cases; what is under test, as models are, may differ."""
    one, other = (run.manifest["settings"].get("options", {}) for run in (first, second))
    tested = first.study.tested_options
    return [
        f"option {name} ({one.get(name, 'its default')} and {other.get(name, 'its default')})"
        for name in sorted({*one, *other})
        if name not in tested and one.get(name) != other.get(name)
    ]


def compare_runs(first: RunResult, second: RunResult, different: Sequence[str], contrast: Sequence[Section] = ()) -> Document:
    """Mean difference (second − first) for every metric that has a value per case; then what it is made of."""
    names = [run.manifest["models"]["subject"] for run in (first, second)]
    compared = [metric.name for metric in first.study.metrics.list_compared()]
    rows = [_compare_means(first, second, metric) for metric in (*compared, *_find_common_ratings(first, second))]
    rows += [row for metric in first.study.metrics.list_combined() for row in _compare_combined(first, second, metric)]
    warning = f"These runs are not comparable. They differ in: {'; '.join(different)}."
    return Document(
        title="Comparison",
        subtitle=f"A: {names[0]} ({first.folder}). B: {names[1]} ({second.folder}).",
        summary=Table(
            caption="On the cases both reached",
            columns=[
                Column("Metric"),
                *(Column(title, True, name) for title, name in zip("AB", names, strict=True)),
                *(Column(title, True) for title in ("B − A", "p", "Cases", "Clusters")),
            ],
            rows=rows,
            note="Intervals by bootstrap over clusters; p by sign flips of clusters, two-sided, one test a row. "
            "A score that is made of several means has them of all cases that both ran.",
        ),
        sections=[
            *([Section("Warning", [Callout(warning, Tone.BAD)])] if different else []),
            *compare_corrected(first, second),
            *contrast,
        ],
    )


def _compare_means(first: RunResult, second: RunResult, metric: str) -> Row:
    one, other = average_by_case(first.scores, metric), average_by_case(second.scores, metric)
    clusters = {score.scenario: score.cluster for score in (*first.scores, *second.scores)}
    found = compare_paired(one, other, clusters)
    common = one.keys() & other.keys()
    means = [fmean(values[case] for case in common) if common else None for values in (one, other)]
    return _make_row(metric, means, (found.difference, found.low, found.high, found.p_value), found.cases, found.clusters)


def _compare_combined(first: RunResult, second: RunResult, metric: Metric[Any]) -> Iterator[Row]:
    """The row of a metric that is made of others' means; none where a run lacks it."""
    assert isinstance(metric.aggregate, CombinedMeans)
    if any(
        estimate is None or estimate.value is None for estimate in (first.estimate(metric.name), second.estimate(metric.name))
    ):
        return
    parts = metric.aggregate.list_parts(first.scores)
    if parts is None or parts != metric.aggregate.list_parts(second.scores):
        return
    lost = {score.scenario for run in (first, second) for score in run.scores if score.metric in parts and score.outcome in _LOST}
    common = {score.scenario for score in first.scores} & {score.scenario for score in second.scores} - lost
    one, other = (sum_by_cluster([score for score in run.scores if score.scenario in common], parts) for run in (first, second))

    combine_means = metric.aggregate.combine

    def combine(sums: Floats) -> Floats:
        return combine_means(sums[..., 0::2] / sums[..., 1::2])

    with np.errstate(invalid="ignore"):
        means = [float(combine(each.sum(axis=0))) for each in (one, other)]
    yield _make_row(metric.name, means, compare_combined(one, other, combine), len(common), len(one))


def _make_row(metric: str, means: Sequence[float | None], found: tuple[float | None, ...], cases: int, clusters: int) -> Row:
    difference, low, high, p = found
    p_value = "< 0.001" if p is not None and p < 0.001 else format_figure(p)
    shown = format_with_interval(difference, low, high)
    return Row([metric, *map(format_figure, means), shown, p_value, str(cases), str(clusters)])


def _find_common_ratings(first: RunResult, second: RunResult) -> list[str]:
    """The metrics that both runs were rated on, if by the same rubric and the same judges."""
    one, other = first.manifest, second.manifest
    rubric = one["settings"].get("rubric")
    if not rubric or rubric != other["settings"].get("rubric") or one["rubric"] != other["rubric"]:
        return []
    rated = [estimate.metric for estimate in first.estimates if estimate.metric.startswith(f"{rubric}_")]
    return [metric for metric in rated if second.estimate(metric)]


def _find_sampling_of_others(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling of partner, opponent and judges. References are compared themselves."""
    return {who: how for who, how in manifest["sampling"].items() if not who.startswith(("subject ", "reference "))}


def _find_turns(reference: object) -> object:
    return getattr(reference, "turns", reference)
