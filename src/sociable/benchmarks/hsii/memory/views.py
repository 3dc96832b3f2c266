"""The memory test's part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from sociable.benchmarks.hsii.forms import CaseBlock, show_conversation, show_error, show_reply
from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryEpisode
from sociable.benchmarks.hsii.memory.metrics import METRICS
from sociable.benchmarks.hsii.memory.study import MemoryStudy
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import EpisodeStatus, Judgment, Score, Verdict
from sociable.core.view import Case as CaseView
from sociable.core.view import Column, Paragraph, Quotation, Row, Section, Table, Tag, Tone, format_figure
from sociable.engine.result import RunResult
from sociable.reports.result_tables import make_metrics_table, make_outcomes_table
from sociable.reports.views import Views
from sociable.statistics.estimates import estimate_proportion

BINS = ((0, 3), (4, 7), (8, 11), (12, 1000))
"""The bins of distances, in messages."""
CASES_SHOWN = 6
"""The number of cases shown of those that failed, and of those that passed."""

Run = RunResult[MemoryStudy]


class MemoryViews(Views):
    episodes_called = "Cases"

    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = "95% intervals by scenario. — : nothing to measure."
        return make_metrics_table("Memory retention", runs, METRICS.select_groups("main"), note)

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        note = "The interlude is left out or not; everything else is the same."
        heeded = make_metrics_table("Directives heeded, by distance", runs, METRICS.select_groups("distance"), note)
        return [
            Section("Distance", [heeded, _plot_distances(runs)]),
            Section("By device", [_make_device_table(run) for run in runs]),
        ]

    def show_counts(self, run: Run) -> Table:
        return make_outcomes_table(run, ("retention", "carry_over", "role_play", "restraint"))

    def show_episodes(self, run: Run) -> Iterator[Paragraph | CaseView]:
        values = {(s.scenario, s.repeat): s.value for _, s in _pair_with_cases(run, ["retention", "restraint"])}
        done = [cast(MemoryEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
        for heading, wanted in (("Failed", 0.0), ("Passed", 1.0)):
            if found := [each for each in done if values.get((each.scenario, each.repeat)) == wanted]:
                shown = found[:CASES_SHOWN]
                yield Paragraph(f"{heading}: {len(shown)} of {len(found)}. Any other: sociable show {run.folder} EPISODE.")
                for each in shown:
                    yield from self.show_episode(run, each)

    def show_episode(self, run: Run, episode: MemoryEpisode) -> list[CaseView]:
        """The directive, what lies between, the answer, and how it was decided."""
        case = run.study.scenarios[episode.scenario]
        scores = [s for s in run.scores if s.metric in METRICS and (s.scenario, s.repeat) == (episode.scenario, episode.repeat)]
        kind = "control" if case.control else case.test
        tags = [Tag(text) for text in (case.topic, kind, case.directive.device, f"distance {case.distance}")]
        if scores and scores[0].value is not None:
            tags.append(Tag("right", Tone.GOOD) if scores[0].value else Tag("wrong", Tone.BAD))
        return [CaseView(episode.id, tags, list(_show_case(case, episode, scores, run.find_judgments(episode))))]


def _pair_with_cases(run: Run, metrics: Sequence[str]) -> list[tuple[MemoryCase, Score]]:
    return [(run.study.scenarios[s.scenario], s) for s in run.scores if s.metric in metrics]


def _plot_distances(runs: Sequence[Run]) -> IntervalPlot:
    marks = []
    for run in runs:
        for low, high in BINS:
            own = [score for case, score in _pair_with_cases(run, ["retention"]) if low <= case.distance <= high]
            found = estimate_proportion("retention", own)
            between = f"{low} to {high}" if high < BINS[-1][1] else f"{low} or more"
            name = f"{run.label}, {between}" if len(runs) > 1 else between
            marks.append(Mark(f"{name} (n = {found.scored})", found.value, found.low, found.high))
    caption = "Directives heeded, by the number of messages between directive and answer"
    return IntervalPlot(caption, "share of directives", marks, minimum=0.0, maximum=1.0)


def _make_device_table(run: Run) -> Table:
    rows = []
    for device in sorted({case.directive.device for case in run.study.scenarios.values()}):
        shares = []
        for metric in ("retention", "restraint"):
            own = [score for case, score in _pair_with_cases(run, [metric]) if case.directive.device == device]
            found = estimate_proportion(metric, own)
            shares += [str(found.scored), format_figure(found.value, 2)]
        rows.append(Row([device, *shares]))
    columns = [
        Column("Device"),
        Column("Directives", True),
        Column("heeded", True, METRICS["retention"].meaning),
        Column("Controls", True),
        Column("restraint", True, METRICS["restraint"].meaning),
    ]
    note = "What kind of thing was asked for. Few scenarios a device support no interval: read these as descriptions."
    return Table(run.label, columns, rows, note)


def _show_case(
    case: MemoryCase, episode: MemoryEpisode, scores: Sequence[Score], judgments: Sequence[Judgment]
) -> Iterator[CaseBlock]:
    yield from show_error(episode)
    directive = case.directive
    yield Paragraph(case.background.scene)
    yield Quotation(f"The directive, from {directive.given_by}", directive.demand)
    yield show_conversation(case.messages, folded=len(case.messages) > 6, marked=directive.given_at)
    if episode.turns:
        yield show_reply("The model", case.target, episode.reply or "(empty)")
    yield show_reply("A right answer", case.target, case.right)
    if case.why:
        yield Paragraph(case.why)
    reason = next((score.reason for score in scores if score.reason), "")
    if reason and not judgments:
        yield Paragraph(f"By rule: {reason}.")
    answers = {Verdict.WIN: ("right", Tone.GOOD), Verdict.LOSS: ("wrong", Tone.BAD)}
    for judgment in judgments:
        answer, tone = answers.get(judgment.verdict, ("no answer", Tone.WARNING))
        heading = f"{judgment.judge}: {answer} ({case.check.question})"
        yield Quotation(heading, judgment.reason or "(no reason given)", tone)
