"""Intention expression's metrics: how a session was played, and what the experiment on all of them found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.ieg.results import (
    BASE,
    GENERATED,
    KINDS,
    LAST,
    REAL,
    SHUFFLED,
    Bounds,
    Results,
    f_metric,
    gap_metric,
)
from sociable.benchmarks.anteval.ieg.windows import names_skill
from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.records import Estimate, Score
from sociable.statistics.metrics import Metric, Metrics, Value

MASTERS = (BASE, GENERATED, REAL, SHUFFLED, LAST)


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A session, and who meant to do what in it."""

    npc: str
    """Who the NPC is, whom another may have played."""
    intentions: Mapping[str, str]
    """By player the skill it means to use; some have none."""
    episode: IegEpisode

    @property
    def own_turns(self) -> list[TableTurn]:
        """The players' turns."""
        return [turn for turn in self.episode.turns if turn.speaker != self.npc]


def _passed(session: PlayedSession) -> Value:
    return Value(fmean(turn.passed for turn in session.own_turns))


def _named(session: PlayedSession) -> Value:
    if not session.intentions:
        return Value.not_reached("nobody had an intention")
    named = [
        player
        for player, skill in session.intentions.items()
        if any(turn.speaker == player and names_skill(turn.content, skill) for turn in session.own_turns)
    ]
    return Value(len(named) / len(session.intentions), ", ".join(named))


_WHO = {"character": "who acts", "tuple": "who acts and with which skill"}
_OF_MASTER = {
    BASE: "the virtual DM without any tuning",
    GENERATED: "the virtual DM tuned on this model's sessions",
    REAL: "the virtual DM tuned on real sessions",
    SHUFFLED: "the virtual DM tuned on this model's sessions with shuffled labels",
    LAST: "always the last speaker, with the most frequent skill",
}
_SHORT = {"character": "char.", "tuple": "overall"}


def _of_experiment() -> Iterator[Metric[PlayedSession]]:
    """What the experiment on all sessions finds; its estimates come from there."""
    for kind, who in _WHO.items():
        for master, called in _OF_MASTER.items():
            for suffix, how in (("", ""), (" macro", ", mean over windows"), (" masked", ", skills' names taken out")):
                name = f_metric(master, kind) + suffix
                meaning = f"F-score of {called}, for {who}{how}"
                yield Metric(name, f"{master} {_SHORT[kind]}{suffix}", meaning, "experiment", aggregate=_found_by_experiment)
        gap = f"gap of f_g to f_r, |f_r - f_g| / (f_r + f_g), for {who}"
        yield Metric(gap_metric(kind), f"G {_SHORT[kind]}", gap, "experiment", aggregate=_found_by_experiment)
        signed = f"the same with its sign: above 0 where f_r is better, for {who}"
        name = f"signed_{gap_metric(kind)}"
        yield Metric(name, f"signed G {_SHORT[kind]}", signed, "experiment", aggregate=_found_by_experiment, low=-1.0)


def _found_by_experiment(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    return Estimate(metric=name, value=None)


METRICS = Metrics[PlayedSession](
    Metric("passed", "passed", "share of the players' turns that were let pass", "conduct", _passed),
    Metric("named", "named", "share of players with an intention who say the name of its skill", "conduct", _named),
    *_of_experiment(),
)
CONDUCT = [metric.name for metric in METRICS.in_group("conduct")]


def estimate_experiment(results: Results | None) -> list[Estimate]:
    """F-scores of every master, the gaps, and the same with skills' names masked. None of them where there was no experiment."""
    return [
        Estimate(metric=metric, value=found.value, low=found.low, high=found.high, scored=results.tested_on if results else 0)
        for metric, found in _found(results)
    ]


def _found(results: Results | None) -> Iterator[tuple[str, Bounds]]:
    nothing = Bounds(value=None)
    for kind in KINDS:
        for master in MASTERS:
            for suffix, figures in (("", results.figures if results else {}), (" masked", results.masked if results else {})):
                known = figures.get(master)
                yield f_metric(master, kind) + suffix, getattr(known, kind) if known else nothing
                yield f"{f_metric(master, kind)} macro{suffix}", getattr(known, f"{kind}_macro") if known else nothing
        for suffix in ("", " masked"):
            yield gap_metric(kind) + suffix, results.gaps[kind + suffix] if results else nothing
            yield f"signed_{gap_metric(kind)}{suffix}", results.gaps[f"signed {kind}{suffix}"] if results else nothing


def doubts(estimates: Sequence[Estimate]) -> list[str]:
    """Where F-scores say that G means little: a master that learned nothing is as near to another that learned nothing."""
    found = {each.metric: each.value for each in estimates}
    no_better = []
    for kind, called in (("character", "for characters"), ("tuple", "overall")):
        for master, controls in ((REAL, (BASE, LAST)), (GENERATED, (BASE, SHUFFLED))):
            own = found.get(f_metric(master, kind))
            known = {control: found.get(f_metric(control, kind)) or 0.0 for control in controls}
            beaten_by = [f"{control} {value:.3f}" for control, value in known.items() if own is not None and value >= own]
            if beaten_by:
                no_better.append(f"{master} {called} is {own:.3f} ({', '.join(beaten_by)})")
    if not no_better:
        return []
    why = "A DM that does no better than what was not tuned, or was tuned on nothing, has learned nothing that G could measure."
    return [f"G means little here: {'; '.join(no_better)}. {why}"]
