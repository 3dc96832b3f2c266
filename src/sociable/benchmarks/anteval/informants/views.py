"""The report's part on information exchange with informants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.benchmarks.anteval.iep.metrics import name_player_criterion
from sociable.benchmarks.anteval.iep.records import When
from sociable.benchmarks.anteval.informants.metrics import NET, Played
from sociable.benchmarks.anteval.informants.records import InformantsEpisode
from sociable.benchmarks.anteval.informants.study import InformantsStudy
from sociable.core.records import PANEL, EpisodeStatus, Verdict
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import list_members, make_metrics_table, warn_of_unjudged
from sociable.reports.views import Views

Run = RunResult[InformantsStudy]
_INTERVALS = "95% intervals by card."


class InformantsViews(Views):
    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = f"Net: facts that players state afterwards less what they state that is not so, over all facts. {_INTERVALS}"
        return make_metrics_table(self.benchmark.title, runs, runs[0].study.metrics.select_groups("main"), note)

    def show_scores(self, runs: Sequence[Run]) -> list[Block]:
        return list(warn_of_unjudged(runs, "what claims state"))

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        metrics = runs[0].study.metrics

        def make_table(title: str, group: str, note: str) -> Table:
            return make_metrics_table(title, runs, list_members(metrics.select_groups(group), runs), f"{note} {_INTERVALS}")

        ways = make_table("By what gets a fact", "ways", "Price, fear: after what the informant waits for. Lie: once confronted.")
        curve = make_table("Turn by turn", "turns", "Net after so many turns; area: the mean of the curve over the session.")
        asked = any(run.estimate("area") for run in runs)
        conduct = make_table("The talk", "conduct", "Told: facts that informants say, by the wordings of the card.")
        return [Section("Levels, ways, talk", [make_table("By level", "levels", ""), ways, *([curve] if asked else []), conduct])]

    def show_episode(self, run: Run, episode: InformantsEpisode) -> list[Block]:
        """One session in full: who asked whom what, what was told, and what each player took away."""
        if episode.status is EpisodeStatus.ERRORED:
            return list(super().show_episode(run, episode))
        played = run.study.make_played(episode, run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        own = {s.metric: s.value for s in run.scores if (s.scenario, s.repeat) == (episode.scenario, episode.repeat)}
        net = own.get(NET)
        tags = [Tag(str(played.scenario.level)), *([Tag(f"net {net:.2f}")] if net is not None else [])]
        return [Case(episode.id, tags, list(_show_played(played)))]


def _show_played(played: Played) -> Iterator[Paragraph | Callout | Transcript | Table | Quotation]:
    scenario, episode = played.scenario, played.episode
    if episode.partner_failure:
        yield Callout(episode.partner_failure, Tone.WARNING)
    yield Paragraph(f"{scenario.title}. {scenario.card.setting}")
    lines = []
    for turn in episode.turns:
        told = f" [{', '.join(turn.told)}]" if turn.told else ""
        to = f"aside to {turn.to}" if turn.aside else f"to {turn.to}" if turn.to else ""
        lines.append(Line(turn.speaker, to, f"{turn.content or '(passes)'}{told}"))
    yield Transcript("What was said, and which statements it tells", lines)
    yield _make_statements_table(played)
    for recall in episode.recalls:
        if recall.when is When.AFTER:
            claims = "\n".join(f"- {claim}" for claim in recall.claims) or "(nothing)"
            yield Quotation(f"What {recall.player} says that it has learned", f"{claims}\n{recall.note}".strip())


def _make_statements_table(played: Played) -> Table:
    """A row a statement, a column a player."""
    scenario = played.scenario
    facts = {each.id: each for each in scenario.facts}
    places = {name: place for place, (name, _) in enumerate(scenario.statements)}
    texts = {name: each.point for name, each in scenario.statements}
    rows = []
    for name in sorted(places, key=lambda each: (each not in facts, list(facts).index(each) if each in facts else 0, each)):
        first = next((turn.index for turn in played.episode.turns if name in turn.told), None)
        how = str(scenario.find_way(facts[name])) if name in facts else "not so"
        cells = [_show_stated(played, player, places[name]) for player in played.players]
        rows.append(Row([name, texts[name], how, MISSING if first is None else str(first), *cells]))
    columns = [Column(""), Column("Statement"), Column("Got by"), Column("Told in turn", True), *map(Column, played.players)]
    return Table("Who states what afterwards", columns, rows)


def _show_stated(played: Played, player: str, place: int) -> str:
    verdict, _ = played.verdicts.get((name_player_criterion(When.AFTER.value, player, place), PANEL), (None, ""))
    return {Verdict.WIN: "yes", Verdict.LOSS: "no"}.get(verdict, MISSING) if verdict else MISSING
