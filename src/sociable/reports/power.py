"""What runs of a benchmark could tell apart: the smallest differences, and the cases, repeats and judges that it takes."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.core.errors import InputError
from sociable.core.records import Score
from sociable.core.view import MISSING, Column, Document, Row, Section, Table, format_figure
from sociable.engine.benchmark import Benchmark
from sociable.engine.result import RunResult
from sociable.engine.study import AnyStudy, MeasuredByRule
from sociable.statistics.components import Components, Side, measure_components
from sociable.statistics.power import LEVEL, count_clusters_needed, count_fewest_clusters, find_smallest_difference

REPEATS = (1, 2, 3)


def show_power(
    benchmark: Benchmark,
    study: AnyStudy,
    runs: Sequence[RunResult],
    origin: str,
    repeats: int | None = None,
    *,
    difference: float,
    power: float,
) -> Document:
    """The power of a comparison over all cases of ``study``, from the variance of one run, or of the difference of two.

    ``origin`` says in words whose runs they are; ``repeats`` are those that are planned for each case, by default those of the
    runs. Raises InputError where nothing varied.
    """
    repeats = repeats or max(run.manifest["settings"]["repeats"] for run in runs)
    found = {name: each.change_repeats(repeats) or each for name, each in _measure(study, runs).items()}
    if not found:
        raise InputError("Nothing varied in these runs, so that nothing can be planned from them. Name runs with --runs.")
    level = LEVEL / len(found)
    plans = {name: _Plan(components, difference, level, power) for name, components in found.items()}
    return Document(
        title=f"Power on {benchmark.name}",
        subtitle=f"{benchmark.name} {benchmark.version}. Variances: {origin}.",
        summary=_show_now(benchmark, plans, repeats, level=level, power=power),
        sections=[Section("What it takes", [_show_needs(benchmark, plans, difference=difference, power=power)])],
    )


class _Plan:
    """What can be found in one metric."""

    def __init__(self, components: Components, difference: float, level: float, power: float) -> None:
        self.components = components
        self.smallest = find_smallest_difference(components.spread, level, power)
        self.alone = find_smallest_difference(components.spread, LEVEL, power)
        self.needed = count_clusters_needed(difference, components.spread, level, power)
        self.is_enough = self.smallest is not None and self.smallest <= difference
        changed = [components.change_repeats(count) for count in REPEATS]
        self.changed = [
            find_smallest_difference(each.spread, level, power) if each else None for each in (*changed, components.add_judge())
        ]

    @property
    def cases_needed(self) -> int | None:
        """The cases of the clusters that are needed, if these have as many as those that there are."""
        now = self.components
        return None if self.needed is None else round(self.needed * now.cases / now.spread.clusters)


def _measure(study: AnyStudy, runs: Sequence[RunResult]) -> dict[str, Components]:
    """The parts of the variance in each metric that a comparison shows and that varied, over all clusters of the study."""
    sides = [score_by_judge(run) for run in runs]
    ran = set.intersection(*({score.scenario for score in run.scores} for run in runs)) & study.scenarios.keys()
    more_cases = len(study.scenarios) / max(1, len(ran))
    more_clusters = len(set(map(study.find_cluster, study.scenarios))) / max(1, len(set(map(study.find_cluster, ran))))
    found = {}
    for metric in (*study.metrics.list_compared(), *study.metrics.list_combined()):
        components = measure_components(sides, metric.find_means) if metric.is_of_means else None
        if components and components.spread.differing:
            found[metric.name] = components.scale(components.spread.clusters * more_clusters, components.cases * more_cases)
    return found


def score_by_judge(run: RunResult) -> Side:
    """The scores of a run: by the whole panel under the empty name, and by each judge alone where there are several."""
    found: dict[str, Sequence[Score]] = {"": run.scores}
    panel = [seat.name for seat in run.seats.judges]
    for judge in panel if len(panel) > 1 else []:
        scores = found.setdefault(judge, [])
        assert isinstance(scores, list)
        for episode in run.episodes():
            judgments = [each for each in run.find_judgments(episode) if each.judge == judge]
            measured = run.find_measurement(episode)
            if isinstance(run.study, MeasuredByRule) and measured is not None:
                measured = run.study.measure(episode, judgments, [judge])
            scores += run.study.score(episode, judgments, [judge], measured)
    return found


def _show_now(benchmark: Benchmark, plans: dict[str, _Plan], repeats: int, *, level: float, power: float) -> Table:
    rows = []
    for name, plan in plans.items():
        now = plan.components
        deviations = (now.between, now.within, now.between_repeats)
        counts = (now.cases, now.spread.clusters)
        rows.append(Row([name, *map(str, counts), *map(format_figure, (*deviations, plan.smallest, plan.alone))]))
    columns = [
        Column("Metric"),
        Column("Cases", True),
        Column("Clusters", True, f"the independent units: each is a {benchmark.cluster_unit}"),
        Column("Between", True, "standard deviation of the difference between clusters"),
        Column("Within", True, "standard deviation of the difference between the cases of a cluster"),
        Column("Repeats", True, "standard deviation of the difference between repeats of a case"),
        Column(
            "Smallest", True, f"the smallest difference that a comparison of all these metrics finds, {power:.0%} of the time"
        ),
        Column("Alone", True, "the same if this metric alone were compared"),
    ]
    fewest = count_fewest_clusters(level)
    times = "once" if repeats == 1 else f"{repeats} times"
    note = (
        "Between, within and repeats: standard deviations of the difference of two models in one case, in the metric's own unit. "
        f"Smallest: the smallest difference that all cases of the data, each run {times}, "
        f"show {power:.0%} of the time in a comparison of these {len(plans)} metrics; alone: if only this one were compared. A "
        f"test by flips of sign takes at least {count_fewest_clusters(LEVEL)} clusters for one metric, and {fewest} for "
        f"{len(plans)}. "
        f"{MISSING}: not known, or not to be had. Metrics in which nothing varied are left out."
    )
    return Table("What the data can show", columns, rows, note)


def _show_needs(benchmark: Benchmark, plans: dict[str, _Plan], *, difference: float, power: float) -> Table:
    rows = [
        Row(
            [
                name,
                _count(plan.needed),
                _count(plan.cases_needed),
                *map(format_figure, plan.changed),
            ]
        )
        for name, plan in plans.items()
    ]
    columns = [
        Column("Metric"),
        *(Column(name, True, f"needed for a difference of {difference:g}") for name in ("Clusters", "Cases")),
        *(Column(f"{count} ×", True, f"smallest difference with {count} repeats of each case") for count in REPEATS),
        Column("+ judge", True, "smallest difference with one more judge"),
    ]
    return Table(
        f"Clusters and cases needed for a difference of {difference:g}; the smallest difference with more repeats or judges",
        columns,
        rows,
        f"{_say_what_follows(plans, difference, power)} Repeats are known where cases were repeated (--repeats 2), "
        "and judges where there were two or more.",
    )


def _count(number: int | None) -> str:
    return "> 1 million" if number is None else f"{number:,}"


def _say_what_follows(plans: dict[str, _Plan], difference: float, power: float) -> str:
    enough = [name for name, plan in plans.items() if plan.is_enough]
    lacking = [name for name, plan in plans.items() if not plan.is_enough]
    said = []
    if enough:
        said.append(f"A difference of {difference:g} is told apart {power:.0%} of the time or more in: {', '.join(enough)}.")
    if lacking:
        said.append(f"Too few clusters for that in: {', '.join(lacking)}.")
    return " ".join(said)
