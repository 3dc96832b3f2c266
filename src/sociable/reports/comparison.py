"""Two runs, side by side: are they comparable, and how do they differ on the cases both reached?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sociable.core.records import Outcome, Score
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure, with_interval
from sociable.engine.result import RunResult
from sociable.statistics.paired import compare_paired

_MAY_DIFFER = frozenset(
    {
        "judges",
        "rubric",
        "raters",
        "partner",
        "model",
        "max_connections",
        "max_cost",
        "base_url",
        "roles",
        "prices",
        "reference",
        "reference_file",
        "limit",
        "repeats",
        "dataset",
    }
)
"""Settings that change no case, or are looked at by what came of them (digests, references, cases both reached)."""


def differences(first: RunResult, second: RunResult) -> list[str]:
    """What makes the scores of two runs incomparable, or nothing."""
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
    found += _options_that_differ(first, second)
    if _sampling_of_others(one) != _sampling_of_others(other):
        found.append("sampling of partner or judges")
    if _references_differ(first, second):
        found.append("reference conversations (run one with --reference-file of the other)")
    return found


def _options_that_differ(first: RunResult, second: RunResult) -> list[str]:
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
    compared = [metric.name for metric in first.study.metrics.compared()]
    for metric in (*compared, *_ratings(first, second)):
        one, other = _values(first.scores, metric), _values(second.scores, metric)
        clusters = {score.scenario: score.cluster for score in (*first.scores, *second.scores)}
        found = compare_paired(one, other, clusters)
        common = one.keys() & other.keys()
        means = [figure(fmean(values[case] for case in common) if common else None) for values in (one, other)]
        p_value = "—" if found.p_value is None else f"{found.p_value:.3f}" if found.p_value >= 0.001 else "< 0.001"
        difference = with_interval(found.difference, found.low, found.high)
        rows.append(Row([metric, *means, difference, p_value, str(found.cases), str(found.clusters)]))
    warning = f"These runs are not comparable. They differ in: {'; '.join(different)}."
    return Document(
        title="Comparison",
        subtitle=f"A: {names[0]} ({first.folder}). B: {names[1]} ({second.folder}).",
        summary=Table(
            caption="On the cases both reached",
            columns=[
                Column("Metric"),
                Column("A", True, names[0]),
                Column("B", True, names[1]),
                Column("B − A", True),
                Column("p", True),
                Column("Cases", True),
                Column("Clusters", True),
            ],
            rows=rows,
            note="Intervals by bootstrap over clusters; p by sign flips of clusters, two-sided, one test a row.",
        ),
        sections=[*([Section("Warning", [Callout(warning, Tone.BAD)])] if different else []), *contrast],
    )


def _ratings(first: RunResult, second: RunResult) -> list[str]:
    """What both were rated on, if by the same rubric and the same judges."""
    one, other = first.manifest, second.manifest
    rubric = one["settings"].get("rubric")
    if not rubric or rubric != other["settings"].get("rubric") or one["rubric"] != other["rubric"]:
        return []
    rated = [estimate.metric for estimate in first.estimates if estimate.metric.startswith(f"{rubric}_")]
    return [metric for metric in rated if second.estimate(metric)]


def _values(scores: Sequence[Score], metric: str) -> Mapping[str, float]:
    """The value of each case, its repeats averaged."""
    repeats: dict[str, list[float]] = {}
    for score in scores:
        if score.metric == metric and score.outcome is Outcome.SCORED and score.value is not None:
            repeats.setdefault(score.scenario, []).append(score.value)
    return {case: fmean(values) for case, values in repeats.items()}


def _sampling_of_others(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Of partner and judges. What the reference made is compared itself."""
    return {who: how for who, how in manifest["sampling"].items() if not who.startswith(("subject ", "reference "))}


def _references_differ(first: RunResult, second: RunResult) -> bool:
    files = first.records.references, second.records.references
    common = set(files[0].ids()) & set(files[1].ids())
    return any(_turns(files[0].read(case)) != _turns(files[1].read(case)) for case in common)


def _turns(reference: object) -> object:
    return getattr(reference, "turns", reference)
