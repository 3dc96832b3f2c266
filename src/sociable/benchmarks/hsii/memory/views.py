"""The memory test's part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.benchmarks.hsii.memory.metrics import METRICS
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.benchmarks.hsii.memory.study import MemoryStudy
from sociable.core.records import EpisodeStatus, Judgment, Score, Verdict
from sociable.core.view import (
    Block,
    Callout,
    Column,
    IntervalPlot,
    Line,
    Mark,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    figure,
)
from sociable.core.view import Case as CaseView
from sociable.engine.result import RunResult
from sociable.reports.result_tables import counts_table, metrics_table
from sociable.reports.views import Views
from sociable.statistics.estimates import estimate_proportion

BINS = ((0, 3), (4, 7), (8, 11), (12, 1000))
"""Of distances, in messages."""


CASES_SHOWN = 6
"""Cases shown of those that failed, and of those that passed."""
Run = RunResult[MemoryStudy]


class MemoryViews(Views):
    episodes_called = "Cases"

    def summary(self, runs: Sequence[Run]) -> Table:
        metrics, note = METRICS.in_group("main"), "95% intervals by scenario. — : nothing to measure."
        return metrics_table("Memory retention", runs, metrics, note)

    def parts(self, runs: Sequence[Run]) -> list[Section]:
        note = "The interlude is left out or not; everything else is the same."
        heeded = metrics_table("Directives heeded, by distance", runs, METRICS.in_group("distance"), note)
        return [Section("Distance", [heeded, _by_distance(runs)]), Section("By device", [_by_device(run) for run in runs])]

    def counts(self, run: Run) -> Table:
        return counts_table(run, ("retention", "carry_over", "role_play", "restraint"))

    def shown_episodes(self, run: Run) -> Iterator[Block]:
        values = {(s.scenario, s.repeat): s.value for _, s in _own(run, ["retention", "restraint"])}
        done = [cast(MemoryEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
        for heading, wanted in (("Failed", 0.0), ("Passed", 1.0)):
            if found := [each for each in done if values.get((each.scenario, each.repeat)) == wanted]:
                shown = found[:CASES_SHOWN]
                yield Paragraph(f"{heading}: {len(shown)} of {len(found)}. Any other: sociable show {run.folder} EPISODE.")
                for each in shown:
                    yield from self.episode(run, each)

    def episode(self, run: Run, episode: MemoryEpisode) -> list[Block]:
        """The directive, what lies between, the answer, and how it was decided."""
        case = run.study.scenarios[episode.scenario]
        scores = [s for s in run.scores if s.metric in METRICS and (s.scenario, s.repeat) == (episode.scenario, episode.repeat)]
        tags = [Tag(case.topic), Tag("control" if case.control else case.test), Tag(case.directive.device)]
        tags.append(Tag(f"distance {case.distance}"))
        if scores and scores[0].value is not None:
            tags.append(Tag("right", Tone.GOOD) if scores[0].value else Tag("wrong", Tone.BAD))
        return [CaseView(episode.id, tags, list(_case_blocks(case, episode, scores, run.judgments_of(episode))))]


def _own(run: Run, metrics: Sequence[str]) -> list[tuple[MemoryCase, Score]]:
    return [(run.study.scenarios[s.scenario], s) for s in run.scores if s.metric in metrics]


def _by_distance(runs: Sequence[Run]) -> IntervalPlot:
    marks = []
    for run in runs:
        for low, high in BINS:
            own = [score for case, score in _own(run, ["retention"]) if low <= case.distance <= high]
            found = estimate_proportion("retention", own)
            between = f"{low} to {high}" if high < BINS[-1][1] else f"{low} or more"
            name = f"{run.label}, {between}" if len(runs) > 1 else between
            marks.append(Mark(f"{name} (n = {found.scored})", found.value, found.low, found.high))
    return IntervalPlot(
        caption="Directives heeded, by the number of messages between directive and answer",
        axis="share of directives",
        marks=marks,
        minimum=0.0,
        maximum=1.0,
    )


def _by_device(run: Run) -> Table:
    devices = sorted({case.directive.device for case in run.study.scenarios.values()})
    rows = []
    for device in devices:
        shares = []
        for metric in ("retention", "restraint"):
            own = [score for case, score in _own(run, [metric]) if case.directive.device == device]
            found = estimate_proportion(metric, own)
            shares += [str(found.scored), figure(found.value, 2)]
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


def _case_blocks(
    case: MemoryCase, episode: MemoryEpisode, scores: Sequence[Score], judgments: Sequence[Judgment]
) -> Iterator[Paragraph | Callout | Transcript | Quotation]:
    if episode.error:
        yield Callout(episode.error, Tone.WARNING)
    directive = case.directive
    yield Paragraph(case.background.scene)
    yield Quotation(f"The directive, from {directive.given_by}", directive.demand)
    yield Transcript(
        "The conversation so far",
        [
            Line(m.role_from, m.role_to, m.content, Tone.NEUTRAL if place == directive.given_at else None)
            for place, m in enumerate(case.messages, start=1)
        ],
        folded=len(case.messages) > 6,
    )
    if episode.turns:
        yield Transcript("The model", [Line(ASSISTANT, case.target, episode.reply or "(empty)")])
    yield Transcript("A right answer", [Line(ASSISTANT, case.target, case.right)])
    if case.why:
        yield Paragraph(case.why)
    reason = next((score.reason for score in scores if score.reason), "")
    if reason and not judgments:
        yield Paragraph(f"By rule: {reason}.")
    for judgment in judgments:
        tone = {Verdict.WIN: Tone.GOOD, Verdict.LOSS: Tone.BAD}.get(judgment.verdict, Tone.WARNING)
        answer = {Verdict.WIN: "right", Verdict.LOSS: "wrong"}.get(judgment.verdict, "no answer")
        heading = f"{judgment.judge}: {answer} ({case.check.question})"
        yield Quotation(heading, judgment.reason or "(no reason given)", tone)
