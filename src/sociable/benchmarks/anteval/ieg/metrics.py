"""Intention expression's metrics: how a session was played, and what the experiment on all of them found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.ieg.results import (
    CONTROLS,
    KINDS,
    Bounds,
    Figures,
    Predictor,
    Results,
    name_gap_metric,
    name_margin_metric,
)
from sociable.benchmarks.anteval.ieg.windows import has_skill_name
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.records import Estimate, Score
from sociable.core.view import format_interval
from sociable.statistics.metrics import Metric, Metrics, Value


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A session, and who meant to do what in it."""

    npc: str
    """The NPC's name; another participant may have played it."""
    intentions: Mapping[str, str]
    """The skill that each player means to use; some players have none."""
    episode: IegEpisode

    @property
    def own_turns(self) -> list[TableTurn]:
        """The players' turns."""
        return [turn for turn in self.episode.turns if turn.speaker != self.npc]


def _measure_passed(session: PlayedSession) -> Value:
    return Value(fmean(turn.passed for turn in session.own_turns))


def _measure_named(session: PlayedSession) -> Value:
    if not session.intentions:
        return Value.not_reached("nobody had an intention")
    named = [
        player
        for player, skill in session.intentions.items()
        if any(turn.speaker == player and has_skill_name(turn.content, skill) for turn in session.own_turns)
    ]
    return Value(len(named) / len(session.intentions), ", ".join(named))


_WHO = {"character": "who acts", "tuple": "who acts and with which skill"}
_SHORT = {"character": "char.", "tuple": "overall"}
_PREDICTORS = {
    Predictor.BASE: "the virtual DM without any tuning",
    Predictor.GENERATED: "the virtual DM tuned on this model's sessions",
    Predictor.REAL: "the virtual DM tuned on real sessions",
    Predictor.SHUFFLED: "the virtual DM tuned on this model's sessions with shuffled labels",
    Predictor.LAST: "always the last speaker, with the most frequent skill",
}


def _make_experiment_metrics() -> Iterator[Metric[PlayedSession]]:
    """The metrics of the experiment on all sessions."""
    make = partial(Metric[PlayedSession], group="experiment", aggregate=_leave_to_experiment)
    for kind, who in _WHO.items():
        short = _SHORT[kind]
        for master, called in _PREDICTORS.items():
            for suffix, how in (("", ""), (" macro", ", mean over windows"), (" masked", ", skills' names taken out")):
                name = f"{master.name_f_metric(kind)}{suffix}"
                yield make(name, f"{master} {short}{suffix}", f"F-score of {called}, for {who}{how}")
        yield make(name_gap_metric(kind), f"G {short}", f"gap of f_g to f_r, |f_r - f_g| / (f_r + f_g), for {who}")
        signed = f"the same with its sign: above 0 where f_r is better, for {who}"
        yield make(f"signed_{name_gap_metric(kind)}", f"signed G {short}", signed, low=-1.0)
        halves = f"the same of real sessions as if generated, one half of them against the other, for {who}"
        yield make(f"floor_{name_gap_metric(kind)}", f"floor of G {short}", halves)
        way = f"how far G has come from its floor (0) to that of shuffled labels (1), for {who}"
        yield make(f"share_{name_gap_metric(kind)}", f"G {short}, share", way)
        for master, controls in CONTROLS.items():
            for control in controls:
                meaning = f"F-score of {_PREDICTORS[master]}, less that of {_PREDICTORS[control]}, for {who}"
                yield make(name_margin_metric(master, control, kind), f"{master} − {control} {short}", meaning, low=-1.0)


def _leave_to_experiment(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    return Estimate(metric=name, value=None)


class SessionMetrics(Metrics[PlayedSession]):
    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """The estimates of the metrics of single sessions; those of the experiment come from its results."""
        known = {score.metric for score in scores}
        return [estimate for estimate in super().estimate(scores, seed) if estimate.metric in known]


METRICS = SessionMetrics(
    Metric("passed", "passed", "share of the players' turns that were let pass", "conduct", _measure_passed),
    Metric("named", "named", "share of players with an intention who say the name of its skill", "conduct", _measure_named),
    *_make_experiment_metrics(),
)


def estimate_experiment(results: Results | None) -> list[Estimate]:
    """F-scores of every predictor, the gaps, and the same with skills' names masked; None each where there was no experiment."""
    scored = results.tested_on if results else 0
    return [Estimate(metric=metric, **found.model_dump(), scored=scored) for metric, found in _find_bounds(results)]


def _find_bounds(results: Results | None) -> Iterator[tuple[str, Bounds]]:
    figures = {"": results.figures if results else {}, " masked": results.masked if results else {}}
    gaps = results.gaps if results else {}
    for kind in KINDS:
        for master in Predictor:
            for suffix, known in figures.items():
                own = known.get(master, Figures())
                yield f"{master.name_f_metric(kind)}{suffix}", getattr(own, kind)
                yield f"{master.name_f_metric(kind)} macro{suffix}", getattr(own, f"{kind}_macro")
        for suffix in figures:
            yield f"{name_gap_metric(kind)}{suffix}", gaps.get(f"{kind}{suffix}", Bounds())
            yield f"signed_{name_gap_metric(kind)}{suffix}", gaps.get(f"signed {kind}{suffix}", Bounds())
        yield f"floor_{name_gap_metric(kind)}", (results.floor if results else {}).get(kind, Bounds())
        yield f"share_{name_gap_metric(kind)}", (results.shares if results else {}).get(kind, Bounds())
    margins = results.margins if results else {}
    names = (name_margin_metric(one, other, kind) for kind in KINDS for one, controls in CONTROLS.items() for other in controls)
    yield from ((name, margins.get(name, Bounds())) for name in names)


def find_doubts(estimates: Sequence[Estimate]) -> list[str]:
    """The reasons why G means little: two masters that learned nothing are near to each other.

    A master has learned something where its F-score is above that of each of its controls, by the whole interval of the
    difference.
    """
    found = {each.metric: each for each in estimates}
    no_better = []
    for kind, called in (("character", "for characters"), ("tuple", "overall")):
        for master, controls in CONTROLS.items():
            own = found.get(master.name_f_metric(kind))
            margins = {control: found.get(name_margin_metric(master, control, kind)) for control in controls}
            beaten_by = [
                f"than {control} by {format_interval(each)}"
                for control, each in margins.items()
                if each is not None and each.value is not None and (each.value if each.low is None else each.low) <= 0
            ]
            if own is not None and own.value is not None and beaten_by:
                no_better.append(f"{master} {called} is {own.value:.3f}, better {', '.join(beaten_by)}")
    if not no_better:
        return []
    why = "A DM that does no better than what was not tuned, or was tuned on nothing, has learned nothing that G could measure."
    return [f"G means little here: {'; '.join(no_better)}. {why}"]
