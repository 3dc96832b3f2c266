"""Chain of thought's part of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import cast

from sociable.benchmarks.hsii.cot.metrics import WITH, WITHOUT, estimate_solved_by_cycle
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, Cycle, End, Pair
from sociable.benchmarks.hsii.cot.study import CoTStudy
from sociable.benchmarks.hsii.forms import CaseBlock, show_conversation, show_error, show_golden
from sociable.benchmarks.hsii.published import TABLE_2
from sociable.core.plots import Curve, CurvePlot, Point
from sociable.core.records import EpisodeStatus
from sociable.core.view import Case as CaseView
from sociable.core.view import Column, Paragraph, Quotation, Row, Section, Table, Tag, Tone, format_figure
from sociable.engine.result import RunResult
from sociable.reports.result_tables import format_metric_cells, make_metric_columns, make_metrics_table, make_outcomes_table
from sociable.reports.views import Views
from sociable.statistics.estimates import estimate_proportion

TABLE_2_METRICS = ("success_without_cot", "cycle_for_70", "success_with_cot", "cot_complexity")
EXPLAINED = ("format_without_cot", "format_with_cot", "solved")
"""Metrics whose zeros have reasons worth counting."""
HEADINGS = {
    End.SOLVED: "Solved",
    End.SATISFIED: "Given up content",
    End.NO_REFLECTION: "Given up without a reflection",
    End.NO_FORMAT: "Given up for want of a format",
    End.CAP: "Never solved",
}
CYCLES_SHOWN = 6
"""Cycles shown of an episode: the first half of them, and the last."""

Run = RunResult[CoTStudy]


_OTHER_DATA = (
    "Published figures come from the authors' unreleased data. Its “COT steps needed for success rate 0.70” fits "
    "no reading we found (GPT-4 is above .70 in one pass, and 10.1 is printed); ours is the cycle by which 70% are solved."
)


class CoTViews(Views):
    episodes_called = "Cases"

    def show_summary(self, runs: Sequence[Run]) -> Table:
        names = ("success_without_cot", "success_with_cot", "cot_gain", "cot_complexity", "cycle_for_70")
        note = (
            "95% intervals by dialogue. A pair is a case under one design. The model is never told the answer, but the rule that "
            "ends its cycles knows it."
        )
        return make_metrics_table("Chain of thought and reflection", runs, runs[0].study.metrics.select_named(*names), note)

    def show_published(self) -> list[Table]:
        columns = [Column("Model"), *(Column(name.replace("_", " "), True) for name in TABLE_2[0]._fields[1:])]
        return [Table("HSII, the paper's Table 2", columns, _list_paper_rows(), _OTHER_DATA)]

    def show_scores(self, runs: Sequence[Run]) -> list[CurvePlot | Table]:
        others = runs[0].study.metrics.select_groups("others")
        left_out = make_metrics_table("What the summary leaves out", runs, others, "Intervals by dialogue.")
        return [_make_curves(runs), _make_baseline_table(runs), left_out, _make_paper_table(runs)]

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        return [Section("By design", [_make_design_table(run) for run in runs])]

    def show_costs(self, runs: Sequence[Run]) -> list[Table]:
        cost = runs[0].study.metrics.select_groups("cost")
        means = make_metrics_table("For one case under one design", runs, cost, "Means, with intervals by dialogue.")
        rows = [Row([run.label, *(format_figure(_sum_over_designs(run, metric.name), 1) for metric in cost)]) for run in runs]
        # All designs of a case together: what it costs to have its complexity.
        return [means, Table("For one case under all designs", [Column("Model"), *make_metric_columns(cost)], rows)]

    def show_counts(self, run: Run) -> Table:
        return make_outcomes_table(run, (*WITHOUT, *WITH), EXPLAINED)

    def show_episodes(self, run: Run) -> Iterator[Paragraph | CaseView]:
        """The pairs that took longest, among those that were solved and those that were not."""
        episodes = [cast(CoTEpisode, episode) for episode in run.records.episodes if episode.status is EpisodeStatus.COMPLETED]
        with_design = [each for each in episodes if run.study.scenarios[each.scenario].design != NO_DESIGN]
        longest = sorted(with_design, key=lambda each: -len(each.cycles))
        ends = Counter(each.end for each in with_design)
        for end, heading in HEADINGS.items():
            if chosen := [each for each in longest if each.end is end][:3]:
                yield Paragraph(f"{heading}: the longest {len(chosen)} of {ends[end]}.")
                for each in chosen:
                    yield from self.show_episode(run, each)

    def show_episode(self, run: Run, episode: CoTEpisode) -> list[CaseView]:
        """The case, its cycles, the golden response and why."""
        pair, count = run.study.scenarios[episode.scenario], len(episode.cycles)
        tags = [Tag(pair.case.topic), Tag(pair.design)]
        if episode.status is EpisodeStatus.ERRORED:
            tags.append(Tag("errored", Tone.WARNING))
        else:
            tone = Tone.GOOD if episode.solved else Tone.BAD
            tags += [Tag(f"{count} cycle{'' if count == 1 else 's'}"), Tag(episode.end, tone)]
        return [CaseView(episode.id, tags, list(_show_pair(pair, episode)))]


def _make_curves(runs: Sequence[Run]) -> CurvePlot:
    curves = []
    for run in runs:
        shares = estimate_solved_by_cycle(run.scores, run.study.options.cycle_cap)
        points = [Point(k, s.value, s.low, s.high) for k, s in enumerate(shares, start=1) if s.value is not None]
        if points and points[-1].x < run.study.options.cycle_cap:
            points.append(replace(points[-1], x=run.study.options.cycle_cap))
        curves.append(Curve(run.label, points))
    return CurvePlot(
        caption="Share of pairs solved by each cycle",
        x_axis="cycle (logarithmic)",
        y_axis="share solved",
        curves=curves,
        steps=True,
        logarithmic=True,
        minimum=0.0,
        maximum=1.0,
    )


def _make_baseline_table(runs: Sequence[Run]) -> Table:
    """Complexity beside what needs no thought: naming everybody in turn, and guessing blindly."""
    pairs = [pair for pair in runs[0].study.scenarios.values() if pair.design != NO_DESIGN]
    sizes = [len(pair.characters) for pair in pairs]
    # In a random order the right one of N comes in place (N + 1) / 2 on average; drawn anew each time, after N draws.
    baselines = {}
    if sizes:
        baselines = {"an enumerator, in random order": fmean((size + 1) / 2 for size in sizes), "blind guessing": fmean(sizes)}
    metrics = runs[0].study.metrics.select_named("cot_complexity")
    rows = [Row([run.label, *format_metric_cells(run, metrics)], emphasis=True) for run in runs]
    rows += [Row([f"{name} (expected)", format_figure(value, 2)]) for name, value in baselines.items()]
    rows += [
        Row([f"{row.model} (paper)", format_figure(row.cot_complexity, 1)]) for row in TABLE_2 if row.model.startswith("GPT")
    ]
    note = (
        "As the rule that ends the cycles knows the answer, whoever names one character after the other needs few of them. "
        "Every model in the paper is worse than both."
    )
    return Table("Complexity beside what needs no thought", [Column("Model"), *make_metric_columns(metrics)], rows, note)


def _make_paper_table(runs: Sequence[Run]) -> Table:
    metrics = runs[0].study.metrics.select_named(*TABLE_2_METRICS)
    own = [Row([run.label, *format_metric_cells(run, metrics)], emphasis=True) for run in runs]
    columns = [Column("Model"), *make_metric_columns(metrics)]
    return Table("Beside the paper's Table 2", columns, [*own, *_list_paper_rows()], _OTHER_DATA)


def _list_paper_rows() -> list[Row]:
    return [Row([f"{row.model} (paper)", *map(format_figure, row[1:], (3, 1, 3, 1))]) for row in TABLE_2]


def _make_design_table(run: Run) -> Table:
    designs = dict.fromkeys(pair.design for pair in run.study.scenarios.values() if pair.design != NO_DESIGN)
    rows = []
    for design in designs:
        own = [score for score in run.scores if run.study.scenarios[score.scenario].design == design]
        values = [score.value for score in own if score.metric == "cot_complexity" and score.value is not None]
        shares = [format_figure(estimate_proportion(name, own).value) for name in ("success_with_cot", "solved")]
        rows.append(Row([design, str(len(values)), *shares, format_figure(sum(values) / len(values) if values else None, 1)]))
    metrics = run.study.metrics.select_named("success_with_cot", "solved", "cot_complexity")
    return Table(run.label, [Column("Design"), Column("Pairs", True), *make_metric_columns(metrics)], rows)


def _sum_over_designs(run: Run, metric: str) -> float | None:
    """The sum over designs of the mean over the pairs that have a value."""
    by_design: dict[str, list[float]] = defaultdict(list)
    for score in run.scores:
        if score.metric == metric and score.value is not None:
            by_design[run.study.scenarios[score.scenario].design].append(score.value)
    return sum(fmean(values) for values in by_design.values()) if by_design else None


def _show_pair(pair: Pair, episode: CoTEpisode) -> Iterator[CaseBlock]:
    case = pair.case
    yield from show_error(episode)
    yield Paragraph(case.background.scene)
    yield show_conversation(case.messages, folded=True)
    shown = list(enumerate(episode.cycles, start=1))
    if len(shown) > CYCLES_SHOWN:
        shown = shown[: CYCLES_SHOWN // 2] + shown[-CYCLES_SHOWN // 2 :]
    for number, cycle in shown:
        yield from _show_cycle(number, cycle, case.golden.role_to)
    yield from show_golden(case)


def _show_cycle(number: int, cycle: Cycle, golden: str) -> Iterator[Quotation]:
    right = Tone.GOOD if cycle.target == golden else Tone.BAD
    chosen = f"without a format: {cycle.format_failure}" if cycle.format_failure else f"to {cycle.target or cycle.role_to}"
    yield Quotation(f"Cycle {number}, {chosen}", cycle.reply or "(empty)", right)
    if found := cycle.drawbacks or cycle.reflection:
        yield Quotation(f"Drawbacks found in cycle {number}" if cycle.drawbacks else f"Reflection on cycle {number}", found)
