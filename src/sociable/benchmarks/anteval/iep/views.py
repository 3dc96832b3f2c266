"""The part of a report on information exchange, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sociable.benchmarks.anteval.iep.cards import IepScenario
from sociable.benchmarks.anteval.iep.metrics import BEFORE, IEP, MAIN, METRICS, name_player_criterion
from sociable.benchmarks.anteval.iep.records import IepEpisode, Recall, When
from sociable.benchmarks.anteval.iep.study import IepStudy
from sociable.benchmarks.anteval.views import TableViews, make_table_1
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import PANEL, EpisodeStatus, Estimate, Verdict, Verdicts
from sociable.core.view import MISSING, Block, Column, Paragraph, Quotation, Row, Section, Table, Tag, Tone
from sociable.engine.result import RunResult
from sociable.judging.panel import add_panel
from sociable.reports.result_tables import list_members, make_metrics_table, make_outcomes_table, warn_of_unjudged

LOW = 0.5
"""Sessions below it are looked at (section 5.4)."""
OFTEN = 0.1
"""Share of unreadable answers from which on nobody should miss them."""
Run = RunResult[IepStudy]


class IepViews(TableViews):
    def list_remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        unread = next((each.value for each in estimates if each.metric == "unreadable"), None) or 0.0
        low = "IEP is low for want of form, whatever players had learned."
        return [f"{unread:.0%} of the answers to what players know could not be read: {low}"] if unread > OFTEN else []

    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = "95% intervals by session. IEP: Information Exchange Precision, as a share."
        return make_metrics_table("AntEval, information exchange", runs, METRICS.select_groups("main"), note)

    def show_published(self) -> list[Table]:
        return [make_table_1([])]

    def show_scores(self, runs: Sequence[Run]) -> list[Block]:
        return [*warn_of_unjudged(runs, "what claims state"), _make_plot(runs), make_table_1(runs)]

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        note = "95% intervals by session."
        kinds = make_metrics_table("IEP", runs, METRICS.select_groups("kinds"), note)
        conduct = make_metrics_table("Told, let pass, answered", runs, METRICS.select_groups("conduct"), note)
        turns = list_members(METRICS.select_groups("turns"), runs)
        asked = any(run.estimate("iep_area") for run in runs)
        curve = "What players know after so many turns. Area: the mean of the curve over the session. 95% intervals by session."
        by_turn = [Section("Turn by turn", [make_metrics_table("IEP", runs, turns, curve)])] if asked else []
        return [*by_turn, Section("By kind of card", [kinds]), Section("How it was played", [conduct])]

    def show_counts(self, run: Run) -> Table:
        return make_outcomes_table(run, [*MAIN, *(metric.name for metric in METRICS.select_groups("conduct"))])

    def show_episodes(self, run: Run) -> Iterator[Block]:
        """The sessions below 0.5, the lowest first; then the best; then those without a score."""
        values = {(score.scenario, score.repeat): score.value for score in run.scores if score.metric == IEP}
        done = [cast(IepEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
        scored = [(value, each) for each in done if (value := values.get((each.scenario, each.repeat))) is not None]
        ranked = sorted(scored, key=lambda pair: pair[0])
        low = [each for value, each in ranked if value < LOW]
        best = [each for value, each in ranked[::-1] if value >= LOW]
        looked_at = f"{len(low)} of {len(scored)} sessions have an IEP below {LOW} (as looked at in the paper, section 5.4)"
        missing = [each for each in done if values.get((each.scenario, each.repeat)) is None]
        words = f" A sheet for readers' words: sociable judge {run.folder} --export-words FILE."
        shown = ((f"{looked_at}; the lowest", low, words), ("The best sessions", best, ""), ("Not scored", missing, ""))
        for heading, episodes, remark in shown:
            if episodes:
                yield Paragraph(f"{heading}. Any other: sociable show {run.folder} EPISODE.{remark}")
                for episode in episodes[: self.sessions_shown]:
                    yield from self.show_episode(run, episode)

    def show_episode(self, run: Run, episode: IepEpisode) -> list[Block]:
        """The scene, what the NPC knew, who said what, which turn told what, and who learned it."""
        scenario = run.study.scenarios[episode.scenario]
        card = scenario.card
        own = {s.metric: s.value for s in run.scores if (s.scenario, s.repeat) == (episode.scenario, episode.repeat)}
        tags = [Tag(card.kind)]
        for metric, label in ((IEP, "IEP"), (BEFORE, "before")):
            if (value := own.get(metric)) is not None:
                tone = Tone.NEUTRAL if metric == BEFORE else Tone.GOOD if value >= LOW else Tone.BAD
                tags.append(Tag(f"{label} {value:.2f}", tone))
        verdicts = add_panel(run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        measured = run.find_measurement(episode)
        told = measured.told if measured else {}
        by_turn: dict[int, list[str]] = defaultdict(list)
        for place, index in told.items():
            by_turn[index].append(str(place + 1))
        remarks = {index: f"tells key point {', '.join(places)}" for index, places in by_turn.items()}
        more: list[Table | Quotation] = [_make_points_table(scenario, episode, verdicts, told)]
        for recall in episode.recalls:
            claims = "\n".join(f"- {claim}" for claim in recall.claims) or "(nothing)"
            note = f"\n({recall.note})" if recall.note else ""
            more.append(Quotation(f"What {recall.player} claims to know {_name_moment(recall)}", f"{claims}{note}"))
        problem, secret = episode.error or episode.npc_failure, f"Knows: {card.knowledge}"
        return self.make_case(card.title, tags, scenario, episode, problem, card.scene, secret, remarks=remarks, more=more)


def _name_moment(recall: Recall) -> str:
    return f"after turn {recall.turn}" if recall.when is When.DURING else f"{recall.when.value} the session"


def _make_plot(results: Sequence[Run]) -> IntervalPlot:
    marks = [
        Mark(f"{result.label}, {label}", found.value, found.low, found.high)
        for result in results
        for metric, label in ((IEP, "after"), (BEFORE, "before"))
        if (found := result.estimate(metric)) is not None
    ]
    return IntervalPlot("What players know of the card, before and after the session", "share", marks, minimum=0.0, maximum=1.0)


def _make_points_table(scenario: IepScenario, episode: IepEpisode, verdicts: Verdicts, told: Mapping[int, int]) -> Table:
    """A row a key point, a column a player."""
    rows = []
    for place, point in enumerate(scenario.card.key_points):
        cells = [_show_learned(scenario, episode, verdicts, player, place) for player in scenario.counted]
        rows.append(Row([str(place + 1), point.point, str(told.get(place, MISSING)), *cells]))
    columns = [Column("No.", True), Column("Key point"), Column("Told in turn", True), *map(Column, scenario.counted)]
    note = "Told: the first turn of the NPC that says it in one of the card's wordings. Players: before → after the session."
    return Table("Key points", columns, rows, note)


def _show_learned(scenario: IepScenario, episode: IepEpisode, verdicts: Verdicts, player: str, place: int) -> str:
    """Whether a player knew a key point before the session and after it."""
    if place not in scenario.counted[player]:
        return "in its own sheet"
    claims = {recall.when: recall.claims for recall in episode.recalls if recall.player == player}
    answers = []
    for when in (When.BEFORE, When.AFTER):
        verdict, _ = verdicts.get((name_player_criterion(when.value, player, place), PANEL), (Verdict.UNSCORED, ""))
        answers.append({Verdict.WIN: "yes", Verdict.LOSS: "no"}.get(verdict, MISSING) if claims.get(when) else "no")
    return " → ".join(answers)
