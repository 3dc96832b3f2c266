"""How runs of a benchmark are shown. What a benchmark does not say itself is derived from its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.core.records import EpisodeStatus, Estimate
from sociable.core.view import Block, Callout, Case, Line, Section, Table, Tag, Tone, Transcript
from sociable.engine.benchmark import Benchmark
from sociable.reports.result_tables import cost_block, counts_table, estimated_metrics, metrics_table, notes_of

EPISODES_SHOWN = 5


class Views:
    """The parts of a report on one or several runs of a benchmark, as plain view records."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark

    def label(self, manifest: Mapping[str, Any]) -> str:
        """What a run is called in tables and figures."""
        return str(manifest["models"]["subject"])

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        """What nobody who reads the estimates should miss: that the model was hardly understood, say."""
        return ()

    def summary(self, runs: Sequence[Any]) -> Table:
        """The table of the main metrics, one row a run."""
        note = f"95% intervals by {self.benchmark.cluster_unit}. — : nothing to measure."
        return metrics_table(self.benchmark.title, runs, estimated_metrics([*runs[0].study.metrics.values()], runs), note)

    def sections(self, runs: Sequence[Any]) -> list[Section]:
        """The body of the report."""
        scores = [*notes_of(runs), *self.scores(runs)]
        return [
            *([Section("Scores", scores)] if scores else []),
            *self.parts(runs),
            Section("What was counted", [self.counts(run) for run in runs]),
            Section("Cost", [cost_block(runs), *self.costs(runs)]),
            *(self._show_episodes(run, several=len(runs) > 1) for run in runs),
        ]

    def scores(self, runs: Sequence[Any]) -> Sequence[Block]:
        """What the first section shows, beside what a reader must know."""
        return []

    def parts(self, runs: Sequence[Any]) -> Sequence[Section]:
        """The sections that only this benchmark has."""
        return []

    def counts(self, run: Any) -> Table:
        """How many values there are of each outcome, and why the others are none."""
        return counts_table(run, [metric.name for metric in run.study.metrics.compared() if run.estimate(metric.name)])

    def costs(self, runs: Sequence[Any]) -> Sequence[Block]:
        """What is said of cost beside the table of all benchmarks."""
        return []

    episodes_called = "Episodes"
    """The title of the section that shows some in full."""

    def _show_episodes(self, run: Any, *, several: bool) -> Section:
        title = self.episodes_called
        return Section(f"{title}: {run.label}" if several else title, list(self.shown_episodes(run)))

    def shown_episodes(self, run: Any) -> Iterator[Block]:
        """Some episodes in full; by default the first few."""
        for episode in run.records.episodes.ids()[:EPISODES_SHOWN]:
            yield from self.episode(run, run.records.episodes.read(episode))

    def episode(self, run: Any, episode: Any) -> Sequence[Block]:
        """One episode, readable in full."""
        if episode.status is EpisodeStatus.ERRORED:
            return [Case(episode.id, [Tag("errored", Tone.WARNING)], [Callout(episode.error, Tone.WARNING)])]
        lines = [Line(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in episode.turns]
        return [Case(episode.id, [], [Transcript("What was said", lines)])]

    def contrast(self, first: Any, second: Any) -> list[Section]:
        """What a difference between two runs is made of: the cases that one wins and the other loses."""
        return []
