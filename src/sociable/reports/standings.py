"""Runs of several models and benchmarks as a leaderboard counts them: rows, columns, and who is better than whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

from sociable.core.people_files import PeopleFiles
from sociable.core.records import Estimate, Outcome, Score
from sociable.engine.benchmark import Benchmark
from sociable.engine.result import RunResult
from sociable.engine.study import Concluded
from sociable.people.corrected import list_corrected_metrics
from sociable.reports.comparison import MetricPair, compare_metric, find_differences
from sociable.statistics.conclusions import Conclusion, draw_conclusions
from sociable.statistics.intervals import Interval
from sociable.statistics.metrics import Metric
from sociable.statistics.prediction_powered import correct_mean
from sociable.statistics.ranks import Pair, RankRange, find_better, rank

NOT_RUN, ERRORED = "not run", "errored"


def is_reference(name: str) -> bool:
    """Whether a model, or the row that is named after it, is a reference agent."""
    return name.startswith("reference/")


@dataclass(frozen=True)
class Listed:
    """A run that was asked for; ``result`` is None where it was not begun."""

    benchmark: Benchmark
    model: str
    result: RunResult | None
    condition: str = ""
    """The name that a study gives to what is tried out in it; empty: none, or one that the run's options tell."""


@dataclass(frozen=True)
class Entry:
    """One model under one condition in one column: runs that differ in their seed, or in the cases taken, and in nothing else."""

    name: str
    model: str
    runs: Sequence[RunResult]
    """Runs without scores among them: they are not finished."""
    not_begun: int = 0
    """Further runs that were asked for."""

    @property
    def is_reference(self) -> bool:
        return is_reference(self.model)

    @property
    def scored(self) -> list[RunResult]:
        return [run for run in self.runs if run.scores or run.estimates]

    @cached_property
    def pooled(self) -> RunResult | None:
        """All runs that have scores as one; None where there is none."""
        return pool_runs(self.scored) if self.scored else None

    def estimate(self, metric: Metric[Any] | None) -> Estimate | None:
        """The estimate over all runs; None where there is none."""
        if self.pooled is None or metric is None:
            return None
        # Some benchmarks list only what is made of a metric.
        return self.pooled.estimate(metric.name) or metric.aggregate(metric.name, self.pooled.scores, self.pooled.study.seed)

    def find_value(self, metric: Metric[Any] | None) -> float | None:
        """The value over all runs; None where there is none."""
        found = self.estimate(metric)
        return found.value if found else None

    @cached_property
    def corrected(self) -> Mapping[str, Interval]:
        """The metrics that people's verdicts correct; none of several runs, whose sheets were drawn apart."""
        if len(self.runs) != 1 or not self.scored:
            return {}
        with PeopleFiles(Path(self.runs[0].folder)) as people:
            metrics = list(list_corrected_metrics(self.runs[0], people)) if len(people.verdicts) else []
        found = {each.name: correct_mean(each.units) for each in metrics if each.verdicts}
        return {name: interval for name, interval in found.items() if interval.value is not None}

    @cached_property
    def missing(self) -> str:
        """What is missing of the runs, in words; empty where every episode has its scores."""
        wanted = sum(run.manifest["episodes"] for run in self.runs)
        played, errored = 0, 0
        for run in self.runs:
            outcomes: dict[tuple[str, int], set[Outcome]] = defaultdict(set)
            for score in run.scores:
                outcomes[score.scenario, score.repeat].add(score.outcome)
            failed = sum(Outcome.ERRORED in found for found in outcomes.values())
            errored += failed
            played += (len(outcomes) if run in self.scored else len(run.records.episodes)) - failed
        if errored and not played:
            return ERRORED
        told = [f"{played} of {wanted} episodes"] if played < wanted else []
        told += [f"{errored} {ERRORED}"] if errored else []
        return ", ".join([*told, *([f"{self.not_begun} more runs not begun"] if self.not_begun else [])])


def pool_runs(runs: Sequence[RunResult]) -> RunResult:
    """Several runs of one model as one: what one case has from each seed are repeats of that case.

    So seeds share their cases and clusters, and no interval takes a case that was played with two seeds for two cases.
    """
    first, count = runs[0], len(runs)
    if count == 1:
        return first
    scores: list[Score] = [
        score.model_copy(update={"repeat": score.repeat * count + place})
        for place, run in enumerate(runs)
        for score in run.scores
    ]
    return replace(first, scores=scores, estimates=first.study.estimate(scores))


@dataclass(frozen=True)
class Column:
    """One benchmark, on runs of it that are comparable with each other."""

    title: str
    benchmark: Benchmark
    entries: Sequence[Entry]
    is_of_condition: bool = False
    """Whether all runs here, and no others of the benchmark, are of one condition of a study: the title names it, and no row."""
    differs: str = ""
    """The reasons why these runs are not in the first column of the benchmark; empty for those that are."""
    tests: int = 1
    """The pairs of all columns, whose p-values are corrected together for mean ranks."""

    @cached_property
    def metric(self) -> Metric[Any] | None:
        """The main metric: the first of the benchmark's that any run here has a value of."""
        studies = [run.study for entry in self.entries for run in entry.scored]
        main = studies[0].list_main_metrics() if studies else ()
        return next((each for each in main if any(entry.find_value(each) is not None for entry in self.entries)), None)

    def find(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.name == name), None)

    @property
    def sign(self) -> int:
        """-1 where the least value is the best, else 1."""
        return -1 if self.metric and self.metric.is_better_low else 1

    @cached_property
    def ordered(self) -> list[Entry]:
        """The entries, the best first; those without a value last."""

        def place(entry: Entry) -> tuple[bool, float, str]:
            value = entry.find_value(self.metric)
            return value is None, -self.sign * (value or 0.0), entry.name

        return sorted(self.entries, key=place)

    @cached_property
    def contenders(self) -> list[Entry]:
        """Those who are ranked, the best first: models; reference agents where nobody else has a value."""
        valued = [entry for entry in self.ordered if entry.find_value(self.metric) is not None]
        return [entry for entry in valued if not entry.is_reference] or valued

    @cached_property
    def pairs(self) -> Mapping[Pair, MetricPair]:
        """Every two contenders on the cases, and with the seeds, that both have; empty where the metric has no value per case."""
        found = {}
        for one, other in combinations(self.contenders, 2):
            if self.metric and (pair := _compare(one, other, self.metric, self.tests)):
                found[one.name, other.name] = pair
        return found

    @cached_property
    def conclusions(self) -> Sequence[Conclusion | None]:
        """What follows for each of the pairs, corrected for all of this column."""
        return draw_conclusions([pair.contrasted for pair in self.pairs.values()])

    def find_better(self, conclusions: Sequence[Conclusion | None]) -> set[Pair]:
        """(the better, the worse) of each of the pairs that these conclusions tell apart."""
        found = (each.found.difference for each in self.pairs.values())
        ahead = (None if difference is None else self.sign * difference for difference in found)
        return find_better(zip(self.pairs, ahead, conclusions, strict=True))

    @cached_property
    def ranks(self) -> Mapping[str, RankRange]:
        """The ranks of the contenders, at 95% for all pairs of this column at once; empty where none were compared."""
        if not self.pairs:
            return {}
        return rank([entry.name for entry in self.contenders], self.find_better(self.conclusions))


def _compare(one: Entry, other: Entry, metric: Metric[Any], tests: int) -> MetricPair | None:
    """Two entries, paired, with the seeds that both have."""
    seeds = {_get_seed(run) for run in one.scored} & {_get_seed(run) for run in other.scored}
    sides = [[run for run in entry.scored if _get_seed(run) in seeds] for entry in (one, other)]
    return compare_metric(pool_runs(sides[0]), pool_runs(sides[1]), metric, tests) if seeds else None


def _get_seed(run: RunResult) -> Any:
    return run.manifest["settings"]["seed"]


@dataclass(frozen=True)
class MeanRank:
    """Somebody's mean rank over several columns, with the least and the greatest that the data allow."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Standings:
    """All rows and columns."""

    columns: Sequence[Column]
    planned: Sequence[tuple[str, str]] = ()
    """(column, row) of every run that was not begun."""

    @cached_property
    def names(self) -> list[str]:
        """The rows: models by their mean place, then reference agents; in order of name where there is nothing to go by."""
        named = {entry.name for column in self.columns for entry in column.entries} | {name for _, name in self.planned}
        places: dict[str, list[float]] = defaultdict(list)
        for column in self.columns:
            valued = [entry.name for entry in column.ordered if entry.find_value(column.metric) is not None]
            for place, name in enumerate(valued):
                places[name].append((place + 0.5) / len(valued))
        means = {name: sum(own) / len(own) for name, own in places.items()}
        return sorted(named, key=lambda name: (is_reference(name), means.get(name, 2.0), name))

    @cached_property
    def ranked(self) -> list[Column]:
        """The columns in which two or more were compared."""
        return [column for column in self.columns if column.ranks]

    @cached_property
    def mean_ranks(self) -> Mapping[str, MeanRank]:
        """Mean ranks over all ranked columns of those who are ranked in each, best first; the limits hold for all at once.

        All pairs of all columns are corrected together. Ranks are counted among those who are in every column.
        """
        if len(self.ranked) < 2:
            return {}
        names = [name for name in self.names if all(name in column.ranks for column in self.ranked)]
        from scipy.stats import rankdata  # type: ignore[import-untyped]

        conclusions = iter(draw_conclusions([pair.contrasted for column in self.ranked for pair in column.pairs.values()]))
        of_all: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
        for column in self.ranked:
            better = column.find_better([next(conclusions) for _ in column.pairs])
            values = {entry.name: entry.find_value(column.metric) for entry in column.contenders if entry.name in names}
            places = rankdata([-column.sign * (value or 0.0) for value in values.values()])
            for place, (name, found) in zip(places, rank(list(values), better).items(), strict=True):
                of_all[name].append((float(place), found.best, found.worst))
        means = {
            name: MeanRank(*(sum(each) / len(self.ranked) for each in zip(*own, strict=True))) for name, own in of_all.items()
        }
        return dict(sorted(means.items(), key=lambda item: (item[1].value, item[0])))


def arrange_runs(listed: Sequence[Listed]) -> Standings:
    """The standings of these runs. The order in which they come does not matter."""
    planned = Counter((each.benchmark.name, each.model, each.condition) for each in listed if each.result is None)
    by_benchmark: dict[str, list[tuple[Listed, RunResult]]] = defaultdict(list)
    begun = [(each, each.result) for each in listed if each.result]
    for each, run in sorted(begun, key=lambda pair: (pair[0].benchmark.name, pair[1].folder)):
        by_benchmark[each.benchmark.name].append((each, run))
    columns = [column for own in by_benchmark.values() for column in _list_columns(own[0][0].benchmark, own, planned)]
    tests = sum(comb(len(column.entries), 2) for column in columns)
    apart = {column.title for column in columns if column.is_of_condition}
    cells = set()
    for benchmark, model, condition in planned:
        title = _name_row(benchmark, condition)
        cells.add((title, model) if title in apart else (benchmark, _name_row(model, condition)))
    return Standings([replace(column, tests=tests) for column in columns], sorted(cells))


def _name_row(*parts: str) -> str:
    return " · ".join(filter(None, parts))


_Runs = Sequence[tuple[Listed, RunResult]]


def _list_columns(benchmark: Benchmark, runs: _Runs, planned: Mapping[tuple[str, str, str], int]) -> Iterator[Column]:
    """The runs of one benchmark in groups that may be compared; the largest first."""
    groups: list[list[tuple[Listed, RunResult]]] = []
    for each in runs:
        fitting = next((group for group in groups if not _find_barriers(group, *each)), None)
        if fitting is None:
            groups.append([each])
        else:
            fitting.append(each)
    groups.sort(key=lambda group: (-len(group), group[0][1].folder))
    conditions = [{listed.condition for listed, _ in group} for group in groups]
    for number, (group, own) in enumerate(zip(groups, conditions, strict=True), start=1):
        differs = "; ".join(_find_barriers(groups[0], *group[0])) if number > 1 else ""
        is_of_condition = own != {""} and len(own) == 1 < len(groups) and sum(bool(own & each) for each in conditions) == 1
        title = f"{benchmark.name} ({number})" if number > 1 else benchmark.name
        if is_of_condition:
            title = _name_row(benchmark.name, *own)
        entries = list(_list_entries(group, planned, is_named=not is_of_condition))
        yield Column(title, benchmark, entries, is_of_condition, differs)


def _find_barriers(group: _Runs, listed: Listed, run: RunResult) -> list[str]:
    """The reasons why a run cannot be compared with those of a group: of its own seed, where there is one."""
    alike = next((each for each in group if _get_seed(each[1]) == _get_seed(run)), None)
    other, first = alike or group[0]
    across_conditions = bool(listed.condition and other.condition and listed.condition != other.condition)
    return find_differences(first, run, across_seeds=alike is None, across_conditions=across_conditions)


def _list_entries(runs: _Runs, planned: Mapping[tuple[str, str, str], int], *, is_named: bool) -> Iterator[Entry]:
    """The runs of a column by model and condition, which its rows name or not."""
    described = [_describe_condition(run) for _, run in runs]
    varied = {name for each in described for name in each if len({str(other.get(name)) for other in described}) > 1}
    found: dict[tuple[str, str], list[RunResult]] = defaultdict(list)
    not_begun: dict[tuple[str, str], int] = {}
    for (listed, run), options in zip(runs, described, strict=True):
        said = ", ".join(f"{name} {value}" for name, value in options.items() if name in varied)
        found[listed.model, listed.condition or said].append(run)
        of_it = (listed.benchmark.name, listed.model, listed.condition)
        not_begun[listed.model, listed.condition or said] = planned.get(of_it, 0)
    for (model, condition), alike in found.items():
        ways: dict[str, list[RunResult]] = defaultdict(list)
        for run in alike:
            ways[_describe_way(run)].append(run)
        for way, own in ways.items():
            # How it was asked is part of a row's name only where there are several ways.
            name = _name_row(model, condition if is_named else "", way if len(ways) > 1 else "")
            ordered = sorted(own, key=lambda run: (_get_seed(run), run.folder))
            yield Entry(name, model, ordered, not_begun[model, condition])


def _describe_condition(run: RunResult) -> dict[str, Any]:
    """The options under test that were given."""
    options = run.manifest["settings"].get("options", {})
    return {name: options[name] for name in sorted(run.study.tested_options & options.keys())}


def _describe_way(run: RunResult) -> str:
    """How the model was asked; and the seed, where the estimates are of an experiment on all episodes, which no pooling makes."""
    own: dict[str, Any] = next((how for who, how in run.manifest["sampling"].items() if who.startswith("subject ")), {})
    seed = {"seed": _get_seed(run)} if isinstance(run.study, Concluded) else {}
    return ", ".join(f"{name} {value}" for name, value in sorted({**own, **seed}.items()) if value is not None)
