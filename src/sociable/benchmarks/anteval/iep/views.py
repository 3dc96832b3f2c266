"""What a report shows of information exchange, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sociable.benchmarks.anteval.characters import in_words
from sociable.benchmarks.anteval.iep.metrics import BEFORE, CONDUCT, GAIN, IEP, MAIN, given_away, kind_metric, player_criterion
from sociable.benchmarks.anteval.iep.records import IepEpisode, When
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.benchmarks.anteval.iep.study import IepStudy
from sociable.benchmarks.anteval.views import session_lines, table_1
from sociable.core.records import PANEL, EpisodeStatus, Verdict, Verdicts
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    IntervalPlot,
    Mark,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    with_interval,
)
from sociable.engine.benchmark import RunResult
from sociable.engine.run import FinishedRun
from sociable.judging.panel import with_panel
from sociable.reports.result_tables import Metric, cost_block, counts_table, metrics_table, notes_of, unjudged

SUMMARY = {
    IEP: Metric("IEP", "share of the card's key points that players state afterwards, one claim a point"),
    BEFORE: Metric("before", "the same, asked before the session: what can be guessed"),
    GAIN: Metric("gain", "IEP less what was known before"),
}
CONDUCT_METRICS = {
    "told": Metric("told", "share of key points that the NPC says, in one of the wordings that its card lists"),
    "passed": Metric("passed", "share of the players' turns that were let pass"),
    "unreadable": Metric("unreadable", "share of answers to what players know in which no list of claims was found"),
}
LOW = 0.5
"""Sessions below it are looked at (section 5.4)."""
SESSIONS_SHOWN = 8


def summary_table(results: Sequence[RunResult]) -> Table:
    note = "95% intervals by session. IEP: Information Exchange Precision, as a share."
    return metrics_table("AntEval, information exchange", results, SUMMARY, note)


def sections(runs: Sequence[FinishedRun]) -> list[Section]:
    """The body of a report on one or several runs."""
    results = [run.result for run in runs]
    return [
        Section("Scores", [*unjudged(results, "what claims state"), *notes_of(results), _plot(results), table_1(results)]),
        Section("By kind of card", [_by_kind(results)]),
        Section(
            "How it was played",
            [metrics_table("Told, let pass, answered", results, CONDUCT_METRICS, "95% intervals by session.")],
        ),
        Section("What was counted", [counts_table(result, (*MAIN, *CONDUCT)) for result in results]),
        Section("Cost", [cost_block(results)]),
        *[Section(f"Sessions: {run.result.label}" if len(runs) > 1 else "Sessions", list(_sessions(run))) for run in runs],
    ]


def _conduct(results: Sequence[RunResult]) -> Table:
    return metrics_table("Told, let pass, unreadable", results, CONDUCT_METRICS, "95% intervals by session.")


def _plot(results: Sequence[RunResult]) -> IntervalPlot:
    marks = []
    for result in results:
        for metric, label in ((IEP, "after"), (BEFORE, "before")):
            found = result.estimate(metric)
            if found is not None:
                marks.append(Mark(f"{result.label}, {label}", found.value, found.low, found.high))
    return IntervalPlot("What players know of the card, before and after the session", "share", marks, minimum=0.0, maximum=1.0)


def _by_kind(results: Sequence[RunResult]) -> Table:
    kinds = ("place", "item", "creature", "plot")
    rows = []
    for result in results:
        found = [result.estimate(kind_metric(kind)) for kind in kinds]
        rows.append(Row([result.label, *(with_interval(e.value, e.low, e.high) if e else MISSING for e in found)]))
    return Table(
        "IEP", [Column("Model"), *(Column(kind.capitalize(), True) for kind in kinds)], rows, "95% intervals by session."
    )


def _sessions(run: FinishedRun) -> Iterator[Block]:
    """Those below 0.5 first, the lowest first; then the best."""
    values = {(score.scenario, score.repeat): score.value for score in run.result.scores if score.metric == IEP}
    done = [cast(IepEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
    scored = [(value, each) for each in done if (value := values.get((each.scenario, each.repeat))) is not None]
    ranked = sorted(scored, key=lambda pair: pair[0])
    low = [each for value, each in ranked if value < LOW]
    best = [each for value, each in ranked[::-1] if value >= LOW]
    shown = {
        f"{len(low)} of {len(scored)} sessions have an IEP below {LOW} (as looked at in the paper, section 5.4); the lowest": low,
        "The best sessions": best,
        "Not scored": [each for each in done if values.get((each.scenario, each.repeat)) is None],
    }
    for heading, episodes in shown.items():
        if episodes:
            hint = (
                f" A sheet for readers' words: sociable judge {run.result.folder} --export-words FILE." if episodes is low else ""
            )
            yield Paragraph(f"{heading}. Any other: sociable show {run.result.folder} EPISODE.{hint}")
            yield from (session_view(run, episode) for episode in episodes[:SESSIONS_SHOWN])


def session_view(run: FinishedRun, episode: IepEpisode) -> Case:
    """One session, readable in full: the scene, what the NPC knew, who said what, which turn told what, and who learned it."""
    study = cast(IepStudy, run.study)
    scenario = study.scenarios[episode.scenario]
    own = {s.metric: s.value for s in run.result.scores if (s.scenario, s.repeat) == (episode.scenario, episode.repeat)}
    tags = [Tag(scenario.card.kind)]
    for metric, label in ((IEP, "IEP"), (BEFORE, "before")):
        if (value := own.get(metric)) is not None:
            tags.append(
                Tag(f"{label} {value:.2f}", Tone.NEUTRAL if metric == BEFORE else Tone.GOOD if value >= LOW else Tone.BAD)
            )
    panel = [seat.name for seat in run.seats.judges]
    verdicts = with_panel(run.judgments_of(episode), panel)
    return Case(f"{scenario.card.title} ({episode.id})", tags, list(_session_blocks(scenario, episode, verdicts)))


def _session_blocks(
    scenario: IepScenario, episode: IepEpisode, verdicts: Verdicts
) -> Iterator[Paragraph | Callout | Transcript | Quotation | Table]:
    card = scenario.card
    for problem in filter(None, (episode.error, episode.npc_failure)):
        yield Callout(problem, Tone.WARNING)
    yield Paragraph(card.scene)
    yield Quotation(
        f"{card.npc.name} ({card.npc.pronouns}), the NPC", f"{card.npc.who}\n{card.npc.manner}\nKnows: {card.knowledge}"
    )
    for sheet in scenario.players:
        yield Quotation(f"{sheet.name}, a player", in_words(sheet))
    told = given_away(card, episode.turns)
    by_turn: dict[int, list[int]] = defaultdict(list)
    for place, index in told.items():
        by_turn[index].append(place + 1)
    remarks = {index: f"tells key point {', '.join(map(str, places))}" for index, places in by_turn.items()}
    yield session_lines(episode.turns, remarks, dict.fromkeys(by_turn, Tone.GOOD))
    yield _points(scenario, episode, verdicts, told)
    for recall in episode.recalls:
        claims = "\n".join(f"- {claim}" for claim in recall.claims) or "(nothing)"
        note = f"\n({recall.note})" if recall.note else ""
        yield Quotation(f"What {recall.player} claims to know {recall.when.value} the session", f"{claims}{note}")


def _points(scenario: IepScenario, episode: IepEpisode, verdicts: Verdicts, told: Mapping[int, int]) -> Table:
    """A row a key point, a column a player."""
    rows = []
    for place, point in enumerate(scenario.card.key_points):
        cells = [_learned(scenario, episode, verdicts, player, place) for player in scenario.counted]
        rows.append(Row([str(place + 1), point.point, str(told.get(place, MISSING)), *cells]))
    columns = [Column("No.", True), Column("Key point"), Column("Told in turn", True), *map(Column, scenario.counted)]
    note = "Told: the first turn of the NPC that says it in one of the card's wordings. Players: before → after the session."
    return Table("Key points", columns, rows, note)


def _learned(scenario: IepScenario, episode: IepEpisode, verdicts: Verdicts, player: str, place: int) -> str:
    if place not in scenario.counted[player]:
        return "in its own sheet"
    claims = {recall.when: recall.claims for recall in episode.recalls if recall.player == player}

    def shown(when: When) -> str:
        if not claims.get(when):
            return "no"
        verdict, _ = verdicts.get((player_criterion(when, player, place), PANEL), (Verdict.UNSCORED, ""))
        return {Verdict.WIN: "yes", Verdict.LOSS: "no"}.get(verdict, MISSING)

    return f"{shown(When.BEFORE)} → {shown(When.AFTER)}"
