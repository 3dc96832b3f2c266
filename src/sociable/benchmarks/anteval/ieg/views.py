"""The part of a report on intention expression, as plain view records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import cast

import numpy as np

from sociable.benchmarks.anteval.ieg.metrics import METRICS, find_doubts
from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.ieg.results import KINDS, Bounds, Confusion, Predictor, Results, name_gap_metric, read_results
from sociable.benchmarks.anteval.ieg.study import IegStudy
from sociable.benchmarks.anteval.published import TABLE_2
from sociable.benchmarks.anteval.views import ANOTHER_DATA_SET, TableViews, format_percent, make_counts_table, make_table_1
from sociable.core.plots import Curve, CurvePlot, IntervalPlot, Mark, Point
from sociable.core.records import EpisodeStatus, Estimate
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Column,
    Paragraph,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    format_figure,
    format_with_interval,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import make_metrics_table, make_outcomes_table

PREDICTORS: Mapping[str, str] = {
    Predictor.BASE: "untuned (f_0)",
    Predictor.GENERATED: "tuned on generated sessions (f_g)",
    Predictor.REAL: "tuned on real sessions (f_r)",
    Predictor.SHUFFLED: "tuned on generated sessions, labels shuffled",
    Predictor.LAST: "last speaker, most frequent skill",
}
_KIND_TITLES = {"character": "who acts", "tuple": "who acts, with which skill"}
_SHORT = {"character": "characters", "tuple": "overall"}
FEWEST_RESAMPLES = 10
"""Resamples below which the difference of two runs has no interval."""
_COMPARED = [metric for kind in KINDS for metric in (Predictor.GENERATED.name_f_metric(kind), name_gap_metric(kind))]

Run = RunResult[IegStudy]


class IegViews(TableViews):
    def list_remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        return find_doubts(estimates)

    def show_summary(self, runs: Sequence[Run]) -> Table:
        intervals = " ".join(dict.fromkeys(map(_describe_intervals, runs)))
        note = f"F-scores of virtual DMs on held-out real sessions, as shares. {intervals}"
        return make_metrics_table("AntEval, intention expression", runs, METRICS.select_named(*_COMPARED), note)

    def show_published(self) -> list[Table]:
        return [make_table_1([]), _make_table_2([])]

    def show_scores(self, runs: Sequence[Run]) -> list[Block]:
        return [*_warn_of_silence(runs), _make_plot(runs), make_table_1(runs), _make_table_2(runs)]

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        found = [(run.label, each) for run in runs if (each := _read_results(run)) is not None]
        conduct = make_metrics_table("How it was played", runs, METRICS.select_groups("conduct"), "95% intervals by session.")
        parts = [
            Section("Controls", [*(table for label, each in found for table in _make_controls(label, each)), conduct]),
            Section("Over the size of the training set", [plot for label, each in found for plot in _make_curves(label, each)]),
            Section("Confusion", [table for label, each in found for table in _make_confusion(label, each)]),
            Section("The experiment", [_make_counts(label, each) for label, each in found]),
        ]
        # Without a curve, or where nothing was said, some have nothing to show.
        return [section for section in parts if section.blocks]

    def show_counts(self, run: Run) -> Table:
        return make_outcomes_table(run, [metric.name for metric in METRICS.select_groups("conduct")])

    def show_episodes(self, run: Run) -> Iterator[Block]:
        done = [each for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
        yield Paragraph(
            f"The first {min(len(done), self.sessions_shown)} of {len(done)}. Any other: sociable show {run.folder} EPISODE."
        )
        for episode in done[: self.sessions_shown]:
            yield from self.show_episode(run, cast(IegEpisode, episode))

    def show_episode(self, run: Run, episode: IegEpisode) -> list[Block]:
        """The scene, who means to do what, and who said what."""
        scenario = run.study.scenarios[episode.scenario]
        scene, intentions = scenario.scene, scenario.intentions
        tags = [Tag(f"{player.split()[0]}: {skill}") for player, skill in intentions.items()] or [Tag("no intention")]
        problem = episode.error or episode.npc_failure
        return self.make_case(scene.title, tags, scenario, episode, problem, scene.scene, scene.npc.motive, intentions)

    def contrast(self, first: Run, second: Run) -> list[Section]:
        """f_g and G of both, their difference over resamples that drew the same real sessions, and what speaks against G."""
        drawn = [results.drawn if (results := _read_results(run)) else {} for run in (first, second)]
        rows = []
        for metric in _COMPARED:
            before, after = (each.value if (each := run.estimate(metric)) else None for run in (first, second))
            difference = MISSING
            if before is not None and after is not None:
                difference = _format_difference(after - before, *(each.get(metric, ()) for each in drawn))
            rows.append(Row([metric, format_figure(before), format_figure(after), difference]))
        columns = [Column("Metric"), Column("A", True), Column("B", True), Column("B − A", True)]
        note = "Intervals over resamples in which both runs drew the same real sessions; DMs are trained again where they can be."
        table = Table("Virtual DMs on the same held-out sessions", columns, rows, note)
        doubts = [
            Callout(f"{called}: {doubt}", Tone.WARNING)
            for called, run in zip("AB", (first, second), strict=True)
            for doubt in find_doubts(run.estimates)
        ]
        return [Section("Virtual DMs", [table, *doubts])]


def _format_difference(value: float, first: Sequence[float | None], second: Sequence[float | None]) -> str:
    """The difference with its interval over the resamples in which both runs have a value."""
    pairs = zip(first, second, strict=False)
    drawn = [after - before for before, after in pairs if before is not None and after is not None]
    if len(drawn) < FEWEST_RESAMPLES:
        return format_with_interval(value, None, None)
    low, high = (float(each) for each in np.quantile(drawn, [0.025, 0.975]))
    return format_with_interval(value, min(low, value), max(high, value))


def _describe_intervals(run: Run) -> str:
    """A sentence on where a run's intervals come from."""
    options = run.study.options
    if options.resamples == 0:
        return "No intervals were asked for."
    if options.master != "local":
        return "95% intervals: held-out sessions resampled; DMs are not trained again."
    return "95% intervals: sessions resampled, generated and real, and DMs trained again."


def _read_results(run: Run) -> Results | None:
    kept = read_results(Path(run.folder))
    return kept[1] if kept else None


def _warn_of_silence(runs: Sequence[Run]) -> Iterator[Callout]:
    """Warnings about runs in which nobody said anything."""
    why = "no session was finished in which anything was said, so that nothing can be learned from it"
    for run in runs:
        if _read_results(run) is None:
            yield Callout(f"{run.label}: {why}.", Tone.WARNING)


def _make_plot(results: Sequence[Run]) -> IntervalPlot:
    """The plot: values that do not depend on the model under test stand once, where runs agree on them; then each model's own."""
    marks: dict[Mark, None] = {}
    for kind in KINDS:
        for master in (Predictor.LAST, Predictor.BASE, Predictor.REAL):
            estimates = ((result.label, result.estimate(master.name_f_metric(kind))) for result in results)
            shared = [(label, found) for label, found in estimates if found is not None and found.value is not None]
            agree = len({(found.value, found.low, found.high) for _, found in shared}) == 1
            for label, found in shared:
                called = f"{_SHORT[kind]}: {PREDICTORS[master].partition(',')[0]}{'' if agree else f' ({label})'}"
                marks[Mark(called, found.value, found.low, found.high)] = None
        for result in results:
            if own := result.estimate(Predictor.GENERATED.name_f_metric(kind)):
                marks[Mark(f"{_SHORT[kind]}: {result.label} (f_g)", own.value, own.low, own.high)] = None
    return IntervalPlot("F-scores on held-out real sessions", "F-score", list(marks), minimum=0.0, maximum=1.0)


def _make_table_2(results: Sequence[Run]) -> Table:
    """Table 2's layout: our runs first, then the published rows."""
    columns = [Column("Interaction agent"), Column("Virtual DM")]
    columns += [Column(f"{name} {kind}", True) for kind in ("char.", "overall") for name in ("f_0", "f_g", "f_r", "G")]
    shown = (Predictor.BASE, Predictor.GENERATED, Predictor.REAL)
    metrics = [metric for kind in KINDS for metric in (*(master.name_f_metric(kind) for master in shown), name_gap_metric(kind))]
    rows = []
    for result in results:
        cells = [format_percent(found.value) if (found := result.estimate(metric)) else MISSING for metric in metrics]
        rows.append(Row([result.label, result.study.options.master, *cells], emphasis=True))
    for row in TABLE_2:
        agents, master, *figures = astuple(row)
        rows.append(Row([f"{agents} (paper)", master, *(f"{each:.2f}" for each in figures)]))
    return Table("Virtual DMs in percent, in the layout of the paper's Table 2", columns, rows, ANOTHER_DATA_SET)


_CONTROLS = (
    "With shuffled labels a DM knows which skills are frequent, and not the play: f_g must beat it to mean something. Macro: the "
    "mean over windows in place of all counted together. Behind the floor: between what 95% of ways of halving real sessions lie."
)
_FLOOR = "floor of G: half of the real sessions as if generated"
_MASKED = "The names of skills are taken out of all windows, so that saying them is no help."


def _make_controls(label: str, results: Results) -> Iterator[Table]:
    """All predictors: micro and macro; then the same with the names of skills taken out."""
    titles = ("characters", "overall", "char., macro", "overall, macro")
    columns = [Column("Virtual DM"), *(Column(title, True) for title in titles)]
    for title, figures, suffix, note in (
        ("", results.figures, "", _CONTROLS),
        (", skills' names masked", results.masked, " masked", _MASKED),
    ):
        rows = []
        for name, called in PREDICTORS.items():
            cells = [format_with_interval(**bounds.model_dump()) for _, bounds in figures[name]]
            rows.append(Row([called, *cells], emphasis=name in (Predictor.GENERATED, Predictor.REAL)))
        for called, before in (("G", ""), ("signed G: above 0 where f_r is better", "signed ")):
            gaps = [format_with_interval(**results.gaps[f"{before}{kind}{suffix}"].model_dump()) for kind in KINDS]
            rows.append(Row([called, *gaps, MISSING, MISSING]))
        if not suffix:
            for called, bounds in ((_FLOOR, results.floor), ("G as a share: floor 0, shuffled labels 1", results.shares)):
                cells = [format_with_interval(**bounds.get(kind, Bounds()).model_dump()) for kind in KINDS]
                rows.append(Row([called, *cells, MISSING, MISSING]))
        yield Table(f"{label}: virtual DMs on {results.tested_on} held-out windows{title}", columns, rows, note)


def _make_curves(label: str, results: Results) -> Iterator[Block]:
    for kind in KINDS:
        curves = []
        for master in (Predictor.GENERATED, Predictor.REAL):
            points = [(each.windows, getattr(each, kind)) for each in results.curve if each.master == master]
            known = [Point(float(windows), value) for windows, value in points if value is not None]
            if known:
                curves.append(Curve(PREDICTORS[master], known))
        if curves:
            caption = f"{label}: F-score for {_KIND_TITLES[kind]}"
            yield CurvePlot(caption, "training windows", "F-score", curves, logarithmic=True, minimum=0.0, maximum=1.0)


def _make_confusion(label: str, results: Results) -> Iterator[Block]:
    for each in results.confusion:
        yield _make_skills_table(label, each)
        caption = f"{label}, {PREDICTORS[each.master]}: players"
        yield make_counts_table(caption, "What became of them", "Players", each.who)


def _make_skills_table(label: str, confusion: Confusion) -> Table:
    """A row a skill called for, a column a skill said."""
    said = sorted({skill for counts in confusion.skills.values() for skill in counts})
    rows = []
    for called, counts in confusion.skills.items():
        total = sum(counts.values())
        cells = [str(counts[skill]) if skill in counts else "" for skill in said]
        rows.append(Row([called, *cells], shades=[None, *(counts.get(skill, 0) / total for skill in said)]))
    note = (
        "Of players rightly picked: the skill called for (rows) and the skill the DM said (columns, by their first letters). "
        "The darker, the larger its share of the row."
    )
    return Table(
        f"{label}, {PREDICTORS[confusion.master]}: skills",
        [Column("Called for"), *(Column(each[:4], True, each) for each in said)],
        rows,
        note,
    )


def _make_counts(label: str, results: Results) -> Table:
    rows = [
        Row(["windows each DM was tuned on", str(results.trained_on)]),
        Row(["held-out real windows", str(results.tested_on)]),
        Row(["real sessions for training, held out", f"{results.real_sessions[0]}, {results.real_sessions[1]}"]),
        Row(["generated sessions", str(results.generated_sessions)]),
        Row(["resamples", f"{results.resamples}, {'each trained on anew' if results.retrained else 'none trained on anew'}"]),
        *(
            Row([f"held-out skills that no window had: {PREDICTORS[master]}", lacking])
            for master, _, lacking in (each.partition(": ") for each in results.unseen)
        ),
        *([Row(["DMs of an earlier run, tuned on the same", ", ".join(results.taken_over)])] if results.taken_over else []),
    ]
    return Table(f"{label}: the experiment", [Column("What"), Column("Count", True)], rows)
