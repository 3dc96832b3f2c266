"""What came of a tournament: ratings, who beat whom, and how each behaved while winning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import Estimate, Outcome, Score, Usage
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Column,
    Document,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
    format_figure,
    format_interval,
)
from sociable.engine.benchmark import Benchmark
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.engine.study import AnyStudy, Contested
from sociable.reports.result_tables import list_notes, make_metric_columns
from sociable.statistics.intervals import FEWEST_CLUSTERS, Interval
from sociable.statistics.metrics import Metric
from sociable.statistics.ratings import AVERAGE_POINTS, Bout, Rating, Ratings, find_groups, rate

_OPPONENT = "opponent_"
"""Before the name of a metric that is about the opponent."""


@dataclass(frozen=True)
class Pair:
    """Two participants, and the run in which they met."""

    name: str
    subject: str
    opponent: str
    run: RunResult | None
    problem: str = ""
    """The reason why there is no run to read."""

    @cached_property
    def bouts(self) -> list[Bout]:
        """Every duel that has a result, repeats included."""
        if self.run is None:
            return []
        study: AnyStudy = self.run.study
        assert isinstance(study, Contested)
        return study.list_bouts(self.run.scores, self.subject, self.opponent)

    @property
    def missing(self) -> str:
        """What is missing of this pair, and why; empty where every duel was played and scored."""
        if self.run is None:
            return self.problem
        played = {(score.scenario, score.repeat): False for score in self.run.scores}
        played |= {(score.scenario, score.repeat): True for score in self.run.scores if score.outcome is Outcome.ERRORED}
        unscored = {(score.scenario, score.repeat) for score in self.run.scores if score.outcome is Outcome.UNSCORED}
        counts = {
            "not played": self.run.manifest["episodes"] - len(played),
            "errored": sum(played.values()),
            "scored in part": len(unscored),
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count > 0)


@dataclass(frozen=True)
class Tournament:
    """Everybody who takes part, and every pair, also those that have not met yet."""

    benchmark: Benchmark
    participants: Sequence[str]
    pairs: Sequence[Pair]

    @cached_property
    def runs(self) -> list[RunResult]:
        return [pair.run for pair in self.pairs if pair.run]

    @property
    def anchor(self) -> str:
        """The reference agent that has 1000 points; empty: none takes part."""
        anchors = (f"reference/{agent}" for agent in self.benchmark.anchors)
        return next((name for name in anchors if name in self.participants), "")

    @cached_property
    def ratings(self) -> Ratings | None:
        """The ratings of the largest group of participants that have met, directly or through others; None where nobody has."""
        bouts = [bout for pair in self.pairs for bout in pair.bouts]
        if not bouts:
            return None
        group = find_groups(bouts)[0]
        anchor = self.anchor if self.anchor in group else ""
        return rate([bout for bout in bouts if bout.first in group], anchor=anchor, seed=self.runs[0].study.seed)

    @property
    def ordered(self) -> Mapping[str, Rating | None]:
        """All participants with their ratings, the best first; those without one last."""
        rated = {rating.model: rating for rating in self.ratings.models} if self.ratings else {}
        return {**rated, **{name: None for name in self.participants if name not in rated}}

    def list_results(self, participant: str, other: str = "") -> list[float]:
        """A participant's results, 1, .5 or 0, against one other or all of them."""
        found = []
        for pair in self.pairs:
            if participant in (pair.subject, pair.opponent) and (not other or other in (pair.subject, pair.opponent)):
                found += [bout.outcome if bout.first == participant else 1 - bout.outcome for bout in pair.bouts]
        return found

    @cached_property
    def metrics(self) -> list[Metric[Any]]:
        """The metrics that are shown of every participant, where any has a value."""
        if not self.runs:
            return []
        study: AnyStudy = self.runs[0].study
        assert isinstance(study, Contested)
        scored = {score.metric for run in self.runs for score in run.scores if score.value is not None}
        shown = (name for name in study.shown_in_tournaments if {name, f"{_OPPONENT}{name}"} & scored)
        return study.metrics.select_named(*shown)

    @cached_property
    def estimates(self) -> Mapping[str, list[Estimate]]:
        """Every participant's ``metrics`` over all its duels, in whichever role of a run it played them."""
        found = {}
        for name in self.participants:
            scores = list(self._list_scores(name))
            found[name] = [metric.aggregate(metric.name, scores, self.runs[0].study.seed) for metric in self.metrics]
        return found

    def _list_scores(self, participant: str) -> Iterator[Score]:
        for number, pair in enumerate(self.pairs):
            if pair.run and participant in (pair.subject, pair.opponent):
                for score in pair.run.scores if participant == pair.subject else _take_opponents_side(pair.run):
                    # The same scenario played with somebody else is one more repeat of it.
                    yield score.model_copy(update={"repeat": score.repeat * len(self.pairs) + number})


def _take_opponents_side(run: RunResult) -> Iterator[Score]:
    """The scores as they would be, had the opponent been the subject."""
    study: AnyStudy = run.study
    for score in run.scores:
        if score.metric.startswith(_OPPONENT):
            yield score.model_copy(update={"metric": score.metric.removeprefix(_OPPONENT)})
        elif f"{_OPPONENT}{score.metric}" not in study.metrics:
            yield score


def make_tournament_document(tournament: Tournament) -> Document:
    """The report on a tournament, as far as it has been played."""
    runs = tournament.runs
    sizes = sorted({len(run.study.scenarios) for run in runs})
    size = (
        f", {'–'.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))} {tournament.benchmark.scenarios_called} a pair"
        if runs
        else ""
    )
    sections = [
        Section("Ratings", list(_show_ratings(tournament))),
        Section("Who beat whom", [_make_crosstable(tournament), *_show_pairs(tournament)]),
        Section("How they won", list(_show_conduct(tournament))),
        Section("Cost", [_make_cost_block(tournament)]),
    ]
    if notes := list_notes(
        [replace(pair.run, label=f"{pair.subject} – {pair.opponent}") for pair in tournament.pairs if pair.run]
    ):
        sections.append(Section("Notes on the pairs", notes))
    if missing := _make_missing_table(tournament):
        sections.insert(1, Section("What is missing", [missing]))
    return Document(
        title=f"Tournament: {tournament.benchmark.title}",
        subtitle=f"{tournament.benchmark.name} {tournament.benchmark.version}, {len(tournament.participants)} participants, "
        f"{len(tournament.pairs)} pairs{size}",
        summary=_make_summary(tournament),
        sections=sections,
        details=list(_list_details(runs[0])) if runs else (),
    )


def _make_summary(tournament: Tournament) -> Table:
    rows = []
    for name, rating in tournament.ordered.items():
        results = tournament.list_results(name)
        counts = "–".join(str(results.count(value)) for value in (1, 0.5, 0))
        means = [format_figure(each.value, 2) for each in tournament.estimates[name]]
        rows.append(Row([name, _format_points(rating.points if rating else None), _format_ranks(rating), counts, *means]))
    scale = f"{_name_standard(tournament.ratings)} has {AVERAGE_POINTS:.0f} points"
    columns = [
        Column("Participant"),
        Column("Rating", True, f"In points, with 95% intervals by {tournament.benchmark.cluster_unit}; {scale}."),
        Column("Ranks", True, "The ranks that the data allow, at 95% for all pairs at once."),
        Column("Won–tied–lost", True),
        *make_metric_columns(tournament.metrics),
    ]
    note = (
        f"Rating: {scale}; 400 more are ten times the odds to win. 95% intervals by {tournament.benchmark.cluster_unit}. "
        "— : nothing to measure."
    )
    return Table("Participants", columns, rows, note)


def _name_standard(ratings: Ratings | None) -> str:
    """Who has 1000 points."""
    return (ratings and ratings.anchor) or "the average participant"


def _format_points(points: Interval | None) -> str:
    if points is None or points.value is None:
        return MISSING
    if points.low is None or points.high is None or points.low == points.high:
        return f"{points.value:.0f}"
    return f"{points.value:.0f} [{points.low:.0f}, {points.high:.0f}]"


def _format_ranks(rating: Rating | None) -> str:
    if rating is None or rating.best_rank is None:
        return MISSING
    return f"{rating.best_rank}" if rating.best_rank == rating.worst_rank else f"{rating.best_rank}–{rating.worst_rank}"


def _show_ratings(tournament: Tournament) -> Iterator[Block]:
    ratings = tournament.ratings
    if ratings is None:
        yield Callout("No duel has a result yet, so there is nobody to rate.", Tone.WARNING)
        return
    if left := [name for name, rating in tournament.ordered.items() if rating is None]:
        text = f"Not rated, since no duel of theirs with the others, nor through a third, has a result: {', '.join(left)}."
        yield Callout(text, Tone.WARNING)
    unit = tournament.benchmark.cluster_unit
    if not ratings.has_limits:
        text = (
            f"Intervals and ranks need duels in {FEWEST_CLUSTERS} {unit}s, and these are in {ratings.scenes}: "
            "the order below may be chance."
        )
        yield Callout(text, Tone.WARNING)
    marks = [Mark(rating.model, rating.points.value, rating.points.low, rating.points.high) for rating in ratings.models]
    caption = f"Ratings with 95% intervals, from {ratings.bouts:,} duels in {ratings.scenes} {unit}s"
    yield IntervalPlot(caption, "points", marks, reference=AVERAGE_POINTS, reference_label=_name_standard(ratings))
    if ratings.has_limits:
        yield _make_distinctions_table(ratings)
    yield Table(
        "The seats, and ties",
        [Column("Quantity"), Column("Value", True), Column("Meaning")],
        [
            Row(
                ["advantage of the first seat", _format_points(ratings.seat), "in points; below 0 the second seat is better off"]
            ),
            Row(
                [
                    "ties between equals",
                    format_interval(ratings.tie, 2),
                    "the share of duels of equal participants that nobody wins",
                ]
            ),
        ],
        "Every duel is played twice with the seats exchanged, so the seats' advantage favours nobody in the ratings.",
    )


def _make_distinctions_table(ratings: Ratings) -> Table:
    sure = {(each.better, each.worse) for each in ratings.differences if each.is_sure}
    names = [rating.model for rating in ratings.models]
    rows = []
    for name in names:
        below = [other for other in names if (name, other) in sure]
        alike = [other for other in names if other != name and not {(name, other), (other, name)} & sure]
        rows.append(Row([name, *(", ".join(group) or MISSING for group in (alike, below))]))
    note = "Differences whose sign holds at 95% for all pairs at once. Not told apart does not mean equal."
    columns = [Column(title) for title in ("Participant", "Not told apart from", "Surely better than")]
    return Table("Who can be told apart", columns, rows, note)


def _make_crosstable(tournament: Tournament) -> Table:
    names = list(tournament.ordered)
    rows = []
    for number, name in enumerate(names, start=1):
        means = [_average(tournament.list_results(name, other)) if other != name else None for other in names]
        rows.append(Row([f"{number}. {name}", *(format_figure(mean, 2) for mean in means)], shades=[None, *means]))
    columns = [Column("Participant"), *(Column(f"{number}.", True) for number in range(1, len(names) + 1))]
    note = "The mean result of the participant in whose row it stands: 1 where it won, 0.5 where neither did, 0 where it lost."
    return Table("Each against each", columns, rows, note)


def _show_pairs(tournament: Tournament) -> Iterator[Table]:
    """How the next duel of every pair would go by the ratings, beside what came of those that were played."""
    ratings = tournament.ratings
    if ratings is None:
        return
    places = [rating.model for rating in ratings.models]
    rows = []
    for each in sorted(ratings.differences, key=lambda each: (places.index(each.better), places.index(each.worse))):
        chances = (each.win, each.tie, 1 - each.win - each.tie)
        shown = (*chances, each.win + each.tie / 2, _average(tournament.list_results(each.better, each.worse)))
        figures = [_format_points(each.points), *(format_figure(value, 2) for value in shown)]
        rows.append(Row([f"{each.better} – {each.worse}", *figures, "yes" if each.is_sure else "no"]))
    numbers = ("Points ahead", "Wins", "Ties", "Loses", "Expected", "Mean result")
    note = (
        "Chances of the one named first in the next duel, the seats drawn by lot, and the mean result expected by them. Where "
        "what was played is far from it, who meets whom matters more than one scale can say."
    )
    yield Table(
        "Pairs by their ratings", [Column("Pair"), *(Column(title, True) for title in numbers), Column("Sure")], rows, note
    )


def _average(results: Sequence[float]) -> float | None:
    return fmean(results) if results else None


def _show_conduct(tournament: Tournament) -> Iterator[Block]:
    if not tournament.metrics:
        yield Paragraph("Nothing was measured beside who won.")
        return
    study: AnyStudy = tournament.runs[0].study
    assert isinstance(study, Contested)
    text = (
        "Winning is what each gets for itself. Who wins by false statements or broken promises is not more sociable for it: "
        "look at both, and at how much was gained together."
    )
    yield Callout(f"{text} {study.tournament_remark}".strip())
    rows = []
    for name in tournament.ordered:
        cells = [format_interval(each, 2) for each in tournament.estimates[name]]
        rows.append(Row([name, format_figure(_average(tournament.list_results(name)), 2), *cells]))
    columns = [Column("Participant"), Column("Mean result", True), *make_metric_columns(tournament.metrics)]
    note = f"Over all duels of a participant, in both seats. 95% intervals by {tournament.benchmark.cluster_unit}."
    yield Table("Victory, and what else came of it", columns, rows, note)


def _make_missing_table(tournament: Tournament) -> Table | None:
    rows = [
        Row([f"{pair.subject} – {pair.opponent}", str(len(pair.bouts)), pair.missing])
        for pair in tournament.pairs
        if pair.missing
    ]
    columns = [Column("Pair"), Column("Duels with a result", True), Column("Missing")]
    note = "Ratings are of what was played. sociable resume DIR plays what is missing; what could not be scored stays so."
    return Table("Pairs in which something is missing", columns, rows, note) if rows else None


def _make_cost_block(tournament: Tournament) -> Block:
    """Calls, tokens and price of every participant, and of those who were there in all pairs."""
    used: dict[str, Usage] = defaultdict(Usage)
    cost: dict[str, float] = defaultdict(float)
    unknown: set[str] = set()
    for pair in tournament.pairs:
        manifest = pair.run.manifest if pair.run else {}
        for role, usage in manifest.get("usage", {}).items():
            who = {Role.SUBJECT: pair.subject, Role.OPPONENT: pair.opponent}.get(role, role)
            used[who] += Usage.model_validate(usage)
            cost[who] += manifest["cost"].get(role, 0.0)
            unknown |= set() if role in manifest["cost"] else {who}
    if not used:
        return Paragraph("No calls: reference agents and rules use no model.")
    rows = []
    for who in [*(name for name in tournament.participants if name in used), *sorted(used.keys() - set(tournament.participants))]:
        tokens = (f"{count:,}" for count in (used[who].calls, used[who].input_tokens, used[who].output_tokens))
        rows.append(Row([who, *tokens, "unknown" if who in unknown else f"{cost[who]:.4f}"]))
    columns = [Column("Who"), *(Column(title, True) for title in ("Calls", "Tokens in", "Tokens out", "US dollars"))]
    return Table("Calls, tokens and price, of all pairs together", columns, rows, "Times stand in the pairs' own reports.")


def _list_details(run: RunResult) -> Iterator[tuple[str, str]]:
    manifest = run.manifest
    yield "judges", ", ".join(manifest["models"]["judges"]) or "none"
    yield "partner", manifest["models"]["partner"] or "none"
    yield "seed", str(manifest["settings"]["seed"])
    yield "digests", ", ".join(f"{name} {digest[:12]}" for name, digest in manifest["digests"].items())
    yield "packages", ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())
    yield "reports", "every pair's own is report.html in its folder; the figures here are in tournament.json too"


def make_tournament_record(tournament: Tournament) -> Mapping[str, Any]:
    """The same as data, for ``tournament.json``. Points, shares and chances as numbers; None where there is no value."""
    ratings = tournament.ratings
    participants = []
    for name, rating in tournament.ordered.items():
        results = tournament.list_results(name)
        participants.append(
            {
                "model": name,
                "points": asdict(rating.points) if rating else None,
                "ranks": [rating.best_rank, rating.worst_rank] if rating and rating.best_rank else None,
                **{word: results.count(value) for word, value in (("won", 1.0), ("tied", 0.5), ("lost", 0.0))},
                "metrics": {
                    each.metric: each.model_dump(include={"value", "low", "high", "scored"})
                    for each in tournament.estimates[name]
                },
            }
        )
    return {
        "benchmark": tournament.benchmark.name,
        "version": tournament.benchmark.version,
        "anchor": ratings.anchor if ratings else "",
        "scenes": ratings.scenes if ratings else 0,
        "bouts": ratings.bouts if ratings else 0,
        "seat": asdict(ratings.seat) if ratings else None,
        "tie": asdict(ratings.tie) if ratings else None,
        "participants": participants,
        "pairs": [
            {**asdict(each), "result": _average(tournament.list_results(each.better, each.worse))}
            for each in (ratings.differences if ratings else ())
        ],
        "missing": [
            {"subject": pair.subject, "opponent": pair.opponent, "played": len(pair.bouts), "why": pair.missing}
            for pair in tournament.pairs
            if pair.missing
        ],
    }
