"""Two runs, side by side: are they comparable, and how do they differ on the cases both reached?"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from statistics import fmean
from typing import Any

import numpy as np

from sociable.core.view import (
    MISSING,
    Callout,
    Column,
    Document,
    Row,
    Section,
    Table,
    Tone,
    format_figure,
    format_with_interval,
)
from sociable.engine.result import RunResult
from sociable.people.corrected import compare_corrected
from sociable.statistics.conclusions import Conclusion, Contrasted, draw_conclusions
from sociable.statistics.estimates import average_by_case, find_common_cases, sum_by_cluster
from sociable.statistics.intervals import Floats
from sociable.statistics.metrics import CombinedMeans, Metric
from sociable.statistics.paired import PairedComparison, choose_sign_flips, compare_combined, compare_paired
from sociable.statistics.power import LEVEL, POWER, Spread, count_fewest_clusters

_MAY_DIFFER = frozenset(
    {"model", "partner", "opponent", "judges", "rubric", "raters", "reference", "reference_file", "roles", "prices", "base_url"}
    | {"max_connections", "max_cost", "limit", "scenarios", "until", "repeats", "dataset", "people"}
)
"""Settings that change no case, or are looked at by what came of them (digests, references, cases both reached)."""
TOLD_APART = "told apart"
FEWEST_CLUSTERS = count_fewest_clusters(LEVEL)
NOT_MEASURED = "not measured"
COULD_NOT_HAVE_BEEN = "not told apart, and could not have been"


_EXPLAINED = (
    f"Told apart: the corrected p is at most {LEVEL:g}. Where no metric truly differs, none is called so in "
    f"{1 - LEVEL:.0%} of comparisons. A difference of d would have been: if the two truly differed by d, such cases would "
    f"show it {POWER:.0%} of the time; a smaller one may be missed. Could not have been: not even half the "
    f"metric's range would be found so often, or there are too few clusters for any test. {MISSING}: nothing differs."
)


def find_differences(
    first: RunResult, second: RunResult, *, across_seeds: bool = False, across_conditions: bool = False
) -> list[str]:
    """The differences that make the scores of two runs incomparable; empty where there are none.

    ``across_seeds``: but for the seed, and for the reference conversations, which may come of it. ``across_conditions``: but for
    prompts, if judges read the same.
    """
    one, other = first.manifest, second.manifest
    prompts_may_differ = across_conditions and first.study.judge_prompts == second.study.judge_prompts
    may_differ = (
        _MAY_DIFFER | {"options"} | ({"seed"} if across_seeds else set()) | ({"prompts"} if prompts_may_differ else set())
    )
    found = [name for name in ("benchmark", "version") if one[name] != other[name]]
    found += [
        f"{name} digest"
        for name in one["digests"]
        if one["digests"][name] != other["digests"].get(name) and not (prompts_may_differ and name.endswith("prompts"))
    ]
    found += [
        f"{role} ({one['models'].get(role)} and {other['models'].get(role)})"
        for role in ("partner", "opponent", "judges", "people")
        if one["models"].get(role) != other["models"].get(role)
    ]
    found += [
        f"{name} ({one['settings'].get(name)} and {other['settings'].get(name)})"
        for name in one["settings"]
        if name not in may_differ and one["settings"].get(name) != other["settings"].get(name)
    ]
    found += _find_different_options(first, second)
    if _find_sampling_of_others(one) != _find_sampling_of_others(other):
        found.append("sampling of partner, opponent or judges")
    made, others = first.records.references, second.records.references
    common = set() if across_seeds else set(made.list_ids()) & set(others.list_ids())
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
    pairs = compare_metrics(first, second)
    drawn = draw_conclusions([pair.contrasted for pair in pairs])
    warning = f"These runs are not comparable. They differ in: {'; '.join(different)}."
    return Document(
        title="Comparison",
        subtitle=f"A: {names[0]} ({first.folder}). B: {names[1]} ({second.folder}).",
        summary=Table(
            caption="On the cases both reached",
            columns=[
                Column("Metric"),
                *(Column(title, True, name) for title, name in zip("AB", names, strict=True)),
                Column("B − A", True),
                Column("p (Holm)", True, "two-sided, by sign flips of clusters, and corrected for the metrics of this table"),
                *(Column(title, True) for title in ("Cases", "Clusters")),
            ],
            rows=[_make_row(*each) for each in zip(pairs, drawn, strict=True)],
            note="Intervals by bootstrap over clusters; p by sign flips of clusters, two-sided, corrected by Holm for the "
            f"metrics of this table that can be tested; {MISSING}: the two differ in too few clusters for any test "
            f"({FEWEST_CLUSTERS - 1} or fewer). A score that is made of several means has them of all cases that both ran.",
        ),
        sections=[
            *([Section("Warning", [Callout(warning, Tone.BAD)])] if different else []),
            Section("What follows", [_show_conclusions(pairs, drawn, "" if different else _tell_how_to_plan(first, second))]),
            *compare_corrected(first, second),
            *contrast,
        ],
    )


def compare_several(runs: Sequence[RunResult], different: Sequence[str]) -> Document:
    """More than two runs: every two on the cases both reached, and all metrics of all pairs corrected together."""
    letters = [chr(ord("A") + place) if place < 26 else f"run {place + 1}" for place in range(len(runs))]
    named = list(zip(letters, runs, strict=True))
    metrics = runs[0].study.metrics
    tests = comb(len(runs), 2) * (len(metrics.list_compared()) + len(metrics.list_combined()))
    by_metric: dict[str, list[tuple[str, MetricPair]]] = defaultdict(list)
    for (one, first), (other, second) in combinations(named, 2):
        for pair in compare_metrics(first, second, tests):
            by_metric[pair.metric].append((f"{one} – {other}", pair))
    drawn = iter(draw_conclusions([pair.contrasted for pairs in by_metric.values() for _, pair in pairs]))
    sections = []
    for metric, pairs in by_metric.items():
        table = make_pairs_table(metric, pairs, [next(drawn) for _ in pairs], "all metrics of all pairs")
        known = metrics.get(metric)
        sections.append(Section(f"{metric}: {known.meaning}" if known else metric, [table]))
    for (one, first), (other, second) in combinations(named, 2):
        corrected = compare_corrected(first, second)
        sections += [replace(section, title=f"{section.title}: {one} as A, {other} as B") for section in corrected]
    estimates = [[run.estimate(metric) for run in runs] for metric in by_metric]
    warning = f"These runs are not comparable. They differ in: {'; '.join(different)}."
    return Document(
        title="Comparison",
        subtitle=". ".join(f"{letter}: {run.manifest['models']['subject']} ({run.folder})" for letter, run in named) + ".",
        summary=Table(
            caption="Each on all of its own cases",
            columns=[Column("Metric"), *(Column(letter, True, run.manifest["models"]["subject"]) for letter, run in named)],
            rows=[
                Row([metric, *(format_with_interval(e.value, e.low, e.high) if e else MISSING for e in own)])
                for metric, own in zip(by_metric, estimates, strict=True)
            ],
            note="95% intervals by cluster. Whether two differ is told by the tables of pairs, on the cases that both reached: "
            "intervals that overlap say little about it.",
        ),
        sections=[*([Section("Warning", [Callout(warning, Tone.BAD)])] if different else []), *sections],
    )


@dataclass(frozen=True)
class MetricPair:
    """One metric of two runs."""

    metric: str
    means: Sequence[float | None]
    found: PairedComparison
    low: float | None
    high: float | None

    @property
    def spread(self) -> Spread | None:
        """The spread of the difference, where in the range the two runs are."""
        known, spread = [each for each in self.means if each is not None], self.found.spread
        return spread.place(fmean(known), self.low, self.high) if spread and known else spread

    @property
    def plausible(self) -> float | None:
        """Half the range of the metric: who cannot find that much finds nothing; None where the range has no two ends."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def contrasted(self) -> Contrasted:
        return Contrasted(self.found.p_value, self.spread, self.plausible)


def compare_metrics(first: RunResult, second: RunResult, tests: int = 1) -> list[MetricPair]:
    """All metrics that have a value per case, or are made of others' means, in the order of the table.

    ``tests`` is a number of p-values, all metrics of this pair among them or not, that will be corrected together.
    """
    compared = [metric.name for metric in first.study.metrics.list_compared()]
    pairs = [_compare_means(first, second, metric, tests) for metric in (*compared, *_find_common_ratings(first, second))]
    combined = first.study.metrics.list_combined()
    return pairs + [pair for metric in combined for pair in _compare_combined(first, second, metric, tests)]


def compare_metric(first: RunResult, second: RunResult, metric: Metric[Any], tests: int = 1) -> MetricPair | None:
    """One metric of two runs, one of so many ``tests``; None where it is not made of means of cases, or a run lacks it."""
    if metric.value is not None:
        return _compare_means(first, second, metric.name, tests)
    return next(_compare_combined(first, second, metric, tests), None) if isinstance(metric.aggregate, CombinedMeans) else None


def _compare_means(first: RunResult, second: RunResult, metric: str, tests: int) -> MetricPair:
    one, other = average_by_case(first.scores, metric), average_by_case(second.scores, metric)
    clusters = {score.scenario: score.cluster for score in (*first.scores, *second.scores)}
    common = one.keys() & other.keys()
    means = [fmean(values[case] for case in common) if common else None for values in (one, other)]
    known = first.study.metrics.get(metric)
    low, high = (known.low, known.high) if known else (None, None)
    return MetricPair(metric, means, compare_paired(one, other, clusters, sign_flips=choose_sign_flips(tests)), low, high)


def _compare_combined(first: RunResult, second: RunResult, metric: Metric[Any], tests: int) -> Iterator[MetricPair]:
    """The row of a metric that is made of others' means; none where a run lacks it."""
    assert isinstance(metric.aggregate, CombinedMeans)
    if any(
        estimate is None or estimate.value is None for estimate in (first.estimate(metric.name), second.estimate(metric.name))
    ):
        return
    parts = metric.aggregate.list_parts(first.scores)
    if parts is None or parts != metric.aggregate.list_parts(second.scores):
        return
    common = find_common_cases([first.scores, second.scores], parts)
    one, other = (sum_by_cluster([score for score in run.scores if score.scenario in common], parts) for run in (first, second))
    sizes = [size for _, size in sorted(Counter(common.values()).items())]

    combine_means = metric.aggregate.combine

    def combine(sums: Floats) -> Floats:
        return combine_means(sums[..., 0::2] / sums[..., 1::2])

    with np.errstate(invalid="ignore"):
        means = [float(combine(each.sum(axis=0))) for each in (one, other)]
    found = compare_combined(one, other, sizes, combine, sign_flips=choose_sign_flips(tests))
    yield MetricPair(metric.name, means, found, metric.low, metric.high)


def _make_row(pair: MetricPair, conclusion: Conclusion | None, name: str = "") -> Row:
    found = pair.found
    p = conclusion.p_value if conclusion else None
    p_value = "< 0.001" if p is not None and p < 0.001 else format_figure(p)
    shown = format_with_interval(found.difference, found.low, found.high)
    counts = map(str, (found.cases, found.clusters))
    return Row([name or pair.metric, *map(format_figure, pair.means), shown, p_value, *counts])


def make_pairs_table(
    caption: str, pairs: Sequence[tuple[str, MetricPair]], drawn: Sequence[Conclusion | None], tested: str
) -> Table:
    """One metric of many pairs: their means, differences and what follows; ``tested`` says for what p is corrected."""
    rows = []
    for (name, pair), conclusion in zip(pairs, drawn, strict=True):
        smallest = conclusion.smallest if conclusion else None
        apart = MISSING if conclusion is None else "yes" if conclusion.is_told_apart else "no"
        rows.append(Row([*_make_row(pair, conclusion, name).cells, apart, MISSING if smallest is None else f"{smallest:.2g}"]))
    columns = [Column("Pair"), *(Column(title, True) for title in ("First", "Second", "Second − first"))]
    columns += [Column("p (Holm)", True, f"two-sided, by sign flips of clusters, and corrected for {tested}")]
    columns += [Column(title, True) for title in ("Cases", "Clusters", "Told apart")]
    columns += [Column("Would have been", True, "the difference that would have been told apart; a dash beside a no: none would")]
    note = f"On the cases both reached. Intervals by bootstrap over clusters. {_EXPLAINED}"
    return Table(caption, columns, rows, note)


def _show_conclusions(pairs: Sequence[MetricPair], drawn: Sequence[Conclusion | None], remedy: str) -> Table:
    note = f"{_EXPLAINED}{remedy}"
    rows = [Row([pair.metric, _say(pair, conclusion)]) for pair, conclusion in zip(pairs, drawn, strict=True)]
    return Table("A and B are …", [Column("Metric"), Column("Conclusion")], rows, note)


def _say(pair: MetricPair, conclusion: Conclusion | None) -> str:
    if conclusion is None:
        return NOT_MEASURED if pair.found.p_value is None else MISSING
    if conclusion.is_told_apart:
        return TOLD_APART
    if conclusion.smallest is None:
        return COULD_NOT_HAVE_BEEN
    return f"not told apart, and a difference of {conclusion.smallest:.2g} would have been"


def _tell_how_to_plan(first: RunResult, second: RunResult) -> str:
    command = ["sociable", "power", str(first.manifest["benchmark"]), "--runs", first.folder, second.folder]
    return f" How many cases a smaller difference takes: {shlex.join(command)}"


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
