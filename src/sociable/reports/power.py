"""What runs of a benchmark could tell apart: the smallest differences, and the cases, repeats and judges that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sociable.core.errors import InputError
from sociable.core.records import Score
from sociable.core.view import MISSING, Column, Document, Row, Section, Table, format_figure
from sociable.engine.benchmark import Benchmark
from sociable.engine.result import RunResult
from sociable.engine.study import AnyStudy, MeasuredByRule
from sociable.statistics.components import Components, Side, measure_components
from sociable.statistics.intervals import Floats
from sociable.statistics.metrics import CombinedMeans
from sociable.statistics.power import LEVEL, count_clusters_needed, count_fewest_clusters, find_smallest_difference

REPEATS = (1, 2, 3)
FEWEST_CLUSTERS = count_fewest_clusters(LEVEL)


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
    runs. Raises InputError where hardly anything varied, and for a ``difference`` beyond the range of every metric.
    """
    repeats = repeats or max(run.manifest["settings"]["repeats"] for run in runs)
    measured = {name: each.change_repeats(repeats) or each for name, each in _measure(study, runs).items()}
    found = {name: each for name, each in measured.items() if each.spread.differing >= FEWEST_CLUSTERS}
    if not found:
        raise InputError(
            f"In no metric of these runs as many as {FEWEST_CLUSTERS} clusters varied, so that nothing can be planned from them. "
            "Name longer runs, or runs of other models, with --runs."
        )
    widths = [study.metrics[name].width for name in found]
    if all(width is not None and difference > width for width in widths):
        raise InputError(f"--difference {difference:g} is more than any two models can differ by here. Name a smaller one.")
    level = LEVEL / len(found)
    projected = _project(found, study, runs)
    plans = {name: _Plan(each, study.metrics[name].width, difference, level, power) for name, each in projected.items()}
    left_out = [name for name in measured if name not in found]
    return Document(
        title=f"Power on {benchmark.name}",
        subtitle=f"{benchmark.name} {benchmark.version}. Variances: {origin}.",
        summary=_show_now(benchmark, plans, left_out, _say_times(repeats), level=level, power=power),
        sections=[Section("What it takes", [_show_needs(plans, _say_times(repeats), difference=difference, power=power)])],
    )


class _Plan:
    """What can be found in one metric."""

    def __init__(self, components: Components, width: float | None, difference: float, level: float, power: float) -> None:
        def find_smallest(found: Components | None, level: float) -> float | None:
            smallest = find_smallest_difference(found.spread, level, power) if found else None
            return None if smallest is None or (width is not None and smallest > width) else smallest

        self.components = components
        self.smallest, self.alone = find_smallest(components, level), find_smallest(components, LEVEL)
        self.is_possible = width is None or difference <= width
        self.needed = count_clusters_needed(difference, components.spread, level, power)
        self.is_enough = self.smallest is not None and self.smallest <= difference
        changed = [*(components.change_repeats(count) for count in REPEATS), components.add_judge()]
        self.changed = [find_smallest(each, level) for each in changed]

    @property
    def cases_needed(self) -> int | None:
        """The cases of the clusters that are needed, if these have as many as those that there are."""
        now = self.components
        return None if self.needed is None else round(self.needed * now.cases / now.spread.clusters)


def _measure(study: AnyStudy, runs: Sequence[RunResult]) -> dict[str, Components]:
    """The parts of the variance in each metric that a comparison shows, and in which anything varied."""
    sides = [score_by_judge(run) for run in runs]
    found = {}
    for metric in (*study.metrics.list_compared(), *study.metrics.list_combined()):
        # Whatever its estimate is, a metric with a value per case is compared by the mean of its cases.
        find_means = metric.find_means if isinstance(metric.aggregate, CombinedMeans) else partial(_take_mean, metric.name)
        components = measure_components(sides, find_means)
        if components and components.spread.differing:
            spread = components.spread.place(components.value, metric.low, metric.high)
            found[metric.name] = replace(components, spread=spread)
    return found


def _take_mean(name: str, _: Sequence[Score]) -> tuple[list[str], Callable[[Floats], Floats]]:
    return [name], lambda means: means[..., 0]


def _project(found: dict[str, Components], study: AnyStudy, runs: Sequence[RunResult]) -> dict[str, Components]:
    """The same over all cases of the study, of which the runs may have taken a part."""
    ran = set.intersection(*({score.scenario for score in run.scores} for run in runs)) & study.scenarios.keys()
    cases = len(study.scenarios) / len(ran)
    clusters = len(set(map(study.find_cluster, study.scenarios))) / len(set(map(study.find_cluster, ran)))
    return {name: each.scale(each.spread.clusters * clusters, each.cases * cases) for name, each in found.items()}


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


def _say_times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times"


def _show_now(
    benchmark: Benchmark, plans: dict[str, _Plan], left_out: Sequence[str], times: str, *, level: float, power: float
) -> Table:
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
    note = (
        "Between, within and repeats: standard deviations of the difference of two models in one case, in the metric's own unit. "
        f"Smallest: the smallest difference that all cases of the data, each run {times}, "
        f"show {power:.0%} of the time in a comparison of these {len(plans)} metrics; alone: if only this one were compared. A "
        f"test by flips of sign takes at least {FEWEST_CLUSTERS} clusters for one metric, and {fewest} for "
        f"{len(plans)}. "
        f"{MISSING}: not known, or not to be had."
    )
    if left_out:
        note += f" Left out, since fewer than {FEWEST_CLUSTERS} clusters varied in these runs: {', '.join(left_out)}."
    return Table("What the data can show", columns, rows, note)


def _show_needs(plans: dict[str, _Plan], times: str, *, difference: float, power: float) -> Table:
    rows = [
        Row(
            [
                name,
                *(_count(each) if plan.is_possible else MISSING for each in (plan.needed, plan.cases_needed)),
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
        f"Clusters and cases, each run {times}, needed for a difference of {difference:g}; the smallest difference with other "
        "repeats or one more judge",
        columns,
        rows,
        f"{_say_what_follows(plans, difference, power)} Repeats are known where cases were repeated (--repeats 2), "
        "and judges where there were two or more.",
    )


def _count(number: int | None) -> str:
    return "> 1 million" if number is None else f"{number:,}"


def _say_what_follows(plans: dict[str, _Plan], difference: float, power: float) -> str:
    enough = [name for name, plan in plans.items() if plan.is_enough]
    lacking = [name for name, plan in plans.items() if plan.is_possible and not plan.is_enough]
    said = []
    if enough:
        said.append(f"A difference of {difference:g} is told apart {power:.0%} of the time or more in: {', '.join(enough)}.")
    if lacking:
        said.append(f"Too few clusters for a difference of {difference:g} in: {', '.join(lacking)}.")
    return " ".join(said)
