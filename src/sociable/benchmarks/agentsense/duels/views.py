"""Duels' part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.benchmarks.agentsense.duels.briefing import describe_offer, write_offer
from sociable.benchmarks.agentsense.duels.metrics import CONDUCT, Played
from sociable.benchmarks.agentsense.duels.outcome import count_gains
from sociable.benchmarks.agentsense.duels.records import KEEPS, DuelEpisode
from sociable.benchmarks.agentsense.duels.scenario import Contest
from sociable.benchmarks.agentsense.duels.study import DuelStudy
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
from sociable.reports.result_tables import list_estimated_metrics, make_metrics_table
from sociable.reports.views import Views
from sociable.statistics.metrics import Value

Run = RunResult[DuelStudy]


class DuelViews(Views):
    def make_label(self, manifest: Mapping[str, Any]) -> str:
        models = manifest["models"]
        return f"{models['subject']} against {models['opponent']}"

    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = (
            "Won: the larger share of what it could gain, where something was agreed; .5 for equal shares. Every scene is played "
            "twice, seats swapped. 95% intervals by scene."
        )
        return make_metrics_table(self.benchmark.title, runs, runs[0].study.metrics.select_groups("main"), note)

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        contests = list_estimated_metrics(runs[0].study.metrics.select_groups("contests"), runs)
        note = "Won where one goal was reached and not the other; both or neither count .5. 95% intervals by scene."
        tables = [make_metrics_table("Contests", runs, contests, note)] if contests else []
        return [Section("Both sides", [*(_show_both(run) for run in runs), *tables])]

    def show_episode(self, run: Run, episode: DuelEpisode) -> list[Block]:
        """One episode in full: what was said and put on the table, what was agreed, and what it gave each."""
        if episode.status is EpisodeStatus.ERRORED:
            return list(super().show_episode(run, episode))
        played = run.study.make_played(episode, run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        subject = played.name(played.subject)
        under_test = Tag(f"under test: {subject}")
        if not played.is_bargain:
            return [Case(episode.id, [under_test], list(_show_contest(played)))]
        tags = [under_test, Tag("agreed" if episode.agreement else "nothing agreed")]
        return [Case(episode.id, tags, list(_show_bargain(played)))]


def _show_both(run: Run) -> Table:
    """The model under test and its opponent, side by side."""
    rows = []
    for name in CONDUCT:
        metric = run.study.metrics[name]
        found = [run.estimate(each) for each in (name, f"opponent_{name}")]
        if any(each and each.value is not None for each in found):
            cells = [format_interval(e, metric.decimals) for e in found]
            rows.append(Row([metric.title, *cells, metric.meaning]))
    models = run.manifest["models"]
    columns = [Column(""), Column(models["subject"], True), Column(models["opponent"], True), Column("Meaning")]
    note = "95% intervals by scene. Promises and false statements need a judge that is a model."
    return Table(run.label, columns, rows, note)


def _show_contest(played: Played) -> Iterator[Paragraph | Callout | Transcript]:
    contest, episode = played.scenario, played.episode
    assert isinstance(contest, Contest)
    if episode.partner_failure:
        yield Callout(episode.partner_failure, Tone.WARNING)
    yield Paragraph(contest.scene.background)
    yield Transcript("What was said", [Line(turn.speaker, "", turn.content or "(says nothing)") for turn in episode.turns])
    reached = played.reached
    for side, name in enumerate(contest.names):
        goal = contest.list_probes(side)[0].goal.goal
        outcome = reached.reason if isinstance(reached, Value) else "reached" if reached[side] else "not reached"
        yield Paragraph(f"{name} wants: {goal} ({outcome})")


def _show_bargain(played: Played) -> Iterator[Paragraph | Callout | Transcript | Table]:
    bargain, episode = played.bargain, played.episode
    if episode.partner_failure:
        yield Callout(episode.partner_failure, Tone.WARNING)
    yield Paragraph(bargain.situation)
    lines = []
    for turn in episode.turns:
        offer = f"OFFER: {write_offer(turn.offer)}" if turn.offer else (turn.move or "").upper()
        done = f" [{offer}]" if offer else ""
        note = f" ({turn.note})" if turn.note else ""
        lines.append(Line(turn.speaker, "", f"{turn.content or '(says nothing)'}{done}{note}"))
    yield Transcript("What was said", lines)
    ended = f"{episode.left} walked away." if episode.left else "Nothing was agreed."
    yield Paragraph(f"Agreed: {describe_offer(bargain, episode.agreement)}." if episode.agreement else ended)
    gains = count_gains(bargain, episode.agreement, episode.deeds)
    rows = []
    for side, own in enumerate(bargain.sides):
        deed = episode.deeds.get(own.name)
        done = MISSING
        if own.afterwards and deed is not None:
            texts = {KEEPS: own.afterwards.keeps.text, "": "no answer that can be read"}
            done = texts.get(deed, own.afterwards.breaks.text)
        place = episode.read.get(own.name)
        guess = MISSING if place is None else bargain.issues[place].title
        right = bargain.issues[bargain.sides[1 - side].main_issue].title
        cells = [f"{gains[side] + own.fallback:g} (fallback {own.fallback})", format_figure(played.shares[side], 2), done]
        rows.append(Row([own.name, *cells, guess, right]))
    columns = [
        Column("Side"),
        Column("Points", True),
        Column("Share", True),
        Column("Afterwards"),
        Column("Takes for the other's main issue"),
        Column("It is"),
    ]
    yield Table("What it gave", columns, rows)
