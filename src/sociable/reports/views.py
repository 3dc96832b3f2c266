"""The views of a benchmark's runs. Where a benchmark has no view of its own, one is derived from its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.core.records import EpisodeStatus, Estimate, Score
from sociable.core.view import Block, Callout, Case, Line, Section, Table, Tag, Tone, Transcript, format_figure
from sociable.engine.benchmark import Benchmark
from sociable.reports.result_tables import (
    list_estimated_metrics,
    list_notes,
    make_cost_block,
    make_metrics_table,
    make_outcomes_table,
)

EPISODES_SHOWN = 5


MOST_CELLS = 3
"""Metrics in a list of all episodes."""


class Views:
    """The parts of a report on one or several runs of a benchmark, as plain view records."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark

    def make_label(self, manifest: Mapping[str, Any]) -> str:
        """The name of a run in tables and figures."""
        return str(manifest["models"]["subject"])

    def list_remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        """Remarks that no reader of the estimates should miss: that the model was hardly understood, say."""
        return ()

    def show_summary(self, runs: Sequence[Any]) -> Table:
        """The table of the main metrics, one row a run."""
        note = f"95% intervals by {self.benchmark.cluster_unit}. — : nothing to measure."
        return make_metrics_table(
            self.benchmark.title, runs, list_estimated_metrics([*runs[0].study.metrics.values()], runs), note
        )

    def show_published(self) -> Sequence[Table]:
        """A paper's own figures, as tables of their own: none of the user's runs is in them."""
        return ()

    def show_sections(self, runs: Sequence[Any]) -> list[Section]:
        """The body of the report."""
        scores = [*list_notes(runs), *self.show_scores(runs)]
        return [
            *([Section("Scores", scores)] if scores else []),
            *self.show_parts(runs),
            Section("What was counted", [self.show_counts(run) for run in runs]),
            Section("Cost", [make_cost_block(runs), *self.show_costs(runs)]),
            *(self._show_episodes_section(run, several=len(runs) > 1) for run in runs),
        ]

    def show_scores(self, runs: Sequence[Any]) -> Sequence[Block]:
        """The blocks of the first section, beside the notes that a reader must know."""
        return []

    def show_parts(self, runs: Sequence[Any]) -> Sequence[Section]:
        """The sections that only this benchmark has."""
        return []

    def show_counts(self, run: Any) -> Table:
        """The number of values of each outcome, and why the others are none."""
        names = [metric.name for metric in run.study.metrics.list_compared() if run.estimate(metric.name)]
        return make_outcomes_table(run, names)

    def list_cells(self, run: Any, episode: Any, scores: Mapping[str, Score]) -> Sequence[str]:
        """What a list of all episodes says of one; ``scores`` are its own, by metric."""
        if episode.status is EpisodeStatus.ERRORED:
            return [f"errored: {episode.error}"]
        shown = [scores[metric.name] for metric in run.study.metrics.list_compared() if metric.name in scores][:MOST_CELLS]
        kind = str(getattr(run.study.scenarios.get(episode.scenario), "type", ""))
        return [*([kind] if kind else []), *(_write_score(score) for score in shown)]

    def show_costs(self, runs: Sequence[Any]) -> Sequence[Block]:
        """The blocks on cost, beside the table that all benchmarks have."""
        return []

    episodes_called = "Episodes"
    """The title of the section that shows some in full."""

    def _show_episodes_section(self, run: Any, *, several: bool) -> Section:
        title = self.episodes_called
        return Section(f"{title}: {run.label}" if several else title, list(self.show_episodes(run)))

    def show_episodes(self, run: Any) -> Iterator[Block]:
        """Some episodes in full; by default the first few."""
        for episode in run.records.episodes.list_ids()[:EPISODES_SHOWN]:
            yield from self.show_episode(run, run.records.episodes.read(episode))

    def show_episode(self, run: Any, episode: Any) -> Sequence[Block]:
        """One episode, readable in full."""
        if episode.status is EpisodeStatus.ERRORED:
            return [Case(episode.id, [Tag("errored", Tone.WARNING)], [Callout(episode.error, Tone.WARNING)])]
        lines = [Line(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in episode.turns]
        return [Case(episode.id, [], [Transcript("What was said", lines)])]

    def contrast(self, first: Any, second: Any) -> list[Section]:
        """The sections on a difference between two runs: the cases that one wins and the other loses."""
        return []


def _write_score(score: Score) -> str:
    return f"{score.metric} {format_figure(score.value, 2)}" if score.value is not None else f"{score.metric} not scored"
