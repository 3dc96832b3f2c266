"""HSII live's part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from sociable.benchmarks.hsii.live.dataset import Level
from sociable.benchmarks.hsii.live.metrics import Played
from sociable.benchmarks.hsii.live.outcome import count_gains
from sociable.benchmarks.hsii.live.records import LiveEpisode, LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.study import LiveStudy
from sociable.core.records import EpisodeStatus
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    format_figure,
    format_interval,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import make_metrics_table
from sociable.reports.views import Views

Run = RunResult[LiveStudy]

SAME = 1e-9
"""Shares that differ by no more are the same."""


class LiveViews(Views):
    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = (
            "Share of the best possible: 0 is what takes no asking (the open arrangement, or the majority's), 1 the best policy "
            "within the budget. 95% intervals by dossier."
        )
        return make_metrics_table(self.benchmark.title, runs, runs[0].study.metrics.select_groups("main"), note)

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        metrics = runs[0].study.metrics
        parts = make_metrics_table("What it is made of", runs, metrics.select_groups("parts"), "95% intervals by dossier.")
        return [Section("Levels and parts", [_show_levels(runs), parts])]

    def show_episode(self, run: Run, episode: LiveEpisode) -> list[Block]:
        """One episode in full: what was said, the arrangement, and what came of it for each person."""
        if episode.status is EpisodeStatus.ERRORED:
            return list(super().show_episode(run, episode))
        scenario = run.study.scenarios[episode.scenario]
        played = run.study.make_played(episode, run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        found = next(
            (s.value for s in run.scores if (s.metric, s.scenario, s.repeat) == ("share", episode.scenario, episode.repeat)), None
        )
        tags = [Tag(str(scenario.level)), *([Tag(f"share {found:.2f}")] if found is not None else [])]
        return [Case(episode.id, tags, list(_show_played(scenario, played)))]


def _show_levels(runs: Sequence[Run]) -> Table:
    """Shares by level beside those of the reference agents that track minds to a depth, in the same scenarios."""
    rows = []
    for level in Level:
        for run in runs:
            estimate = run.estimate(f"share/{level}")
            if estimate is None or estimate.value is None:
                continue
            played = {s.scenario for s in run.scores if s.metric == f"share/{level}" and s.value is not None}
            marks = [fmean(each) for each in zip(*map(run.study.measure_depths, sorted(played)), strict=True)]
            low, high = (estimate.value if end is None else end for end in (estimate.low, estimate.high))
            share = format_interval(estimate)
            reached = name_depth(marks, low, high)
            beside = ", ".join(format_figure(mark, 2) for mark in marks[1:-1])
            rows.append(Row([str(level), run.label, str(estimate.scored), share, reached, beside]))
    columns = [Column("Level"), Column("Model"), Column("Scenarios", True), Column("Share", True)]
    columns.append(Column("Reached", explanation="the depths between which the interval lies"))
    columns.append(Column("Depth 1, 2", True, "the shares of reference/depth@1 and @2 in the same scenarios"))
    note = (
        "95% intervals by dossier. Depth: what one reaches who tracks minds so far. 0, who goes by what is said openly, has 0; "
        "1 asks each what is behind it; 2 also opens people with what another knows; 3, who also doubts what people say of "
        "themselves and asks others, has 1."
    )
    return Table("By level", columns, rows, note)


def name_depth(marks: Sequence[float], low: float, high: float) -> str:
    """The depths between which a share from ``low`` to ``high`` lies, by the shares of the depths from 0 up."""
    above = max((depth for depth, mark in enumerate(marks) if mark <= low + SAME), default=0)
    below = min((depth for depth, mark in enumerate(marks) if mark >= high - SAME), default=len(marks) - 1)
    if above > below:
        return f"{below} or more"
    return str(above) if above == below else f"{above} to {below}"


def _show_played(scenario: Scenario, played: Played) -> Iterator[Paragraph | Callout | Transcript | Table]:
    episode, solution = played.episode, played.solution
    for problem in filter(None, (episode.partner_failure, *episode.unread)):
        yield Callout(problem, Tone.WARNING)
    yield Paragraph(scenario.dossier.setting)
    yield Transcript("What was written", [_show_turn(turn) for turn in episode.turns])
    rows = []
    for matter in scenario.dossier.matters:
        words = {option.id: option.text for option in matter.options}
        chosen = [
            arrangement.get(matter.id, "")
            for arrangement in (scenario.dossier.open, episode.arrangement or {}, solution.arrangement)
        ]
        rows.append(Row([matter.id, *(words.get(each, MISSING) for each in chosen)]))
    yield Table(
        "What was settled",
        [Column("Matter"), Column("Lay open"), Column("Proposed"), Column("Best")],
        rows,
        _say_accepted(played),
    )
    open_, best = count_gains(scenario, scenario.dossier.open), count_gains(scenario, solution.arrangement, scenario.decisions)
    people = [Row([name, *(format_figure(gains[name], 1) for gains in (open_, played.gains, best))]) for name in scenario.people]
    columns = [Column("Person"), Column("Lay open", True), Column("Now", True), Column("Best", True)]
    yield Table(
        "Points of each person", columns, people, "Everybody begins with 1; decisions and broken confidences are counted in."
    )
    decided = []
    for decision in scenario.decisions.values():
        words = {option.id: option.text for option in decision.options}
        answer = words.get(episode.decided.get(decision.id, ""), MISSING)
        decided.append(Row([decision.person, decision.question, answer, words[decision.best]]))
    if decided:
        yield Table("What people decided", [Column("Person"), Column("Question"), Column("Decided"), Column("Best")], decided)
    if episode.believed:
        yield _show_beliefs(scenario, episode)
    if played.broken:
        told = "; ".join(scenario.facts[fact].text for fact in sorted(played.broken))
        yield Callout(f"Told to somebody who was not to know: {told}", Tone.BAD)


def _show_beliefs(scenario: Scenario, episode: LiveEpisode) -> Table:
    """What those who may not know a confidence think in the end."""
    rows = []
    for quiz in scenario.dossier.quizzes:
        words, truth = scenario.list_beliefs(quiz), scenario.find_truth(quiz)
        for name, thought in episode.believed.get(quiz.fact, {}).items():
            rows.append(Row([name, quiz.question, words.get(thought, "does not know"), words[truth]]))
    columns = [Column("Person"), Column("Question"), Column("Thinks"), Column("It is so that")]
    return Table("What those think who may not know", columns, rows)


def _say_accepted(played: Played) -> str:
    return "All said yes." if played.is_settled else "Not all said yes: nothing was settled."


def _show_turn(turn: LiveTurn) -> Line:
    said = f"[passed on] {turn.content}" if turn.is_aside else turn.content
    return Line(turn.speaker or "News", ", ".join(turn.addressees), f"[{turn.round}] {said}")
