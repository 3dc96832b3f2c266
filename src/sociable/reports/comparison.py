"""Two runs, side by side: are they comparable, and how do they differ on the cases both reached?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sociable.core.records import Outcome, Score
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_with_interval
from sociable.engine.result import RunResult
from sociable.statistics.paired import compare_paired

_MAY_DIFFER = frozenset(
    {"model", "partner", "judges", "rubric", "raters", "reference", "reference_file", "roles", "prices", "base_url"}
    | {"max_connections", "max_cost", "limit", "scenarios", "repeats", "dataset"}
)
"""Settings that change no case, or are looked at by what came of them (digests, references, cases both reached)."""


def find_differences(first: RunResult, second: RunResult) -> list[str]:
    """The differences that make the scores of two runs incomparable; empty where there are none."""
    one, other = first.manifest, second.manifest
    found = [name for name in ("benchmark", "version") if one[name] != other[name]]
    found += [f"{name} digest" for name in one["digests"] if one["digests"][name] != other["digests"].get(name)]
    found += [
        f"{role} ({one['models'][role]} and {other['models'][role]})"
        for role in ("partner", "judges")
        if one["models"][role] != other["models"][role]
    ]
    found += [
        f"{name} ({one['settings'].get(name)} and {other['settings'].get(name)})"
        for name in one["settings"]
        if name not in {*_MAY_DIFFER, "options"} and one["settings"].get(name) != other["settings"].get(name)
    ]
    found += _find_different_options(first, second)
    if _find_sampling_of_others(one) != _find_sampling_of_others(other):
        found.append("sampling of partner or judges")
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
    rows = []
    compared = [metric.name for metric in first.study.metrics.list_compared()]
    for metric in (*compared, *_find_common_ratings(first, second)):
        one, other = _average_repeats(first.scores, metric), _average_repeats(second.scores, metric)
        clusters = {score.scenario: score.cluster for score in (*first.scores, *second.scores)}
        found = compare_paired(one, other, clusters)
        common = one.keys() & other.keys()
        means = [format_figure(fmean(values[case] for case in common) if common else None) for values in (one, other)]
        p_value = "< 0.001" if found.p_value is not None and found.p_value < 0.001 else format_figure(found.p_value)
        difference = format_with_interval(found.difference, found.low, found.high)
        rows.append(Row([metric, *means, difference, p_value, str(found.cases), str(found.clusters)]))
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
            note="Intervals by bootstrap over clusters; p by sign flips of clusters, two-sided, one test a row.",
        ),
        sections=[*([Section("Warning", [Callout(warning, Tone.BAD)])] if different else []), *contrast],
    )


def _find_common_ratings(first: RunResult, second: RunResult) -> list[str]:
    """The metrics that both runs were rated on, if by the same rubric and the same judges."""
    one, other = first.manifest, second.manifest
    rubric = one["settings"].get("rubric")
    if not rubric or rubric != other["settings"].get("rubric") or one["rubric"] != other["rubric"]:
        return []
    rated = [estimate.metric for estimate in first.estimates if estimate.metric.startswith(f"{rubric}_")]
    return [metric for metric in rated if second.estimate(metric)]


def _average_repeats(scores: Sequence[Score], metric: str) -> Mapping[str, float]:
    """The value of each case, its repeats averaged."""
    repeats: dict[str, list[float]] = {}
    for score in scores:
        if score.metric == metric and score.outcome is Outcome.SCORED and score.value is not None:
            repeats.setdefault(score.scenario, []).append(score.value)
    return {case: fmean(values) for case, values in repeats.items()}


def _find_sampling_of_others(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling of partner and judges. References are compared themselves."""
    return {who: how for who, how in manifest["sampling"].items() if not who.startswith(("subject ", "reference "))}


def _find_turns(reference: object) -> object:
    return getattr(reference, "turns", reference)
