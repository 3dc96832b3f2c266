"""Intention expression's metrics: how a session was played, and what the experiment on all of them found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score
from sociable.statistics.estimates import estimate_proportion

CONDUCT = ("passed", "named")
"""Of a session: the share of the players' turns that were let pass; of players with an intention those who name its skill."""
MASTERS = (BASE, GENERATED, REAL, SHUFFLED, LAST)


def score_session(npc: str, intentions: Mapping[str, str], episode: IegEpisode) -> list[Score]:
    """All scores of one episode, of what its players did; the ``npc`` may be another's."""
    return [episode.score(*each) for each in _values(npc, intentions, episode)]


def _values(npc: str, intentions: Mapping[str, str], episode: IegEpisode) -> Iterator[tuple[str, float | None, Outcome, str]]:
    if episode.status is EpisodeStatus.ERRORED or episode.npc_failure:
        errored = episode.status is EpisodeStatus.ERRORED
        outcome, reason = (Outcome.ERRORED, episode.error) if errored else (Outcome.UNSCORED, episode.npc_failure)
        yield from ((metric, None, outcome, reason) for metric in CONDUCT)
        return
    own = [turn for turn in episode.turns if turn.speaker != npc]
    yield "passed", fmean(turn.passed for turn in own), Outcome.SCORED, ""
    if not intentions:
        yield "named", None, Outcome.NOT_REACHED, "nobody had an intention"
        return
    named = [
        player
        for player, skill in intentions.items()
        if any(turn.speaker == player and names_skill(turn.content, skill) for turn in own)
    ]
    yield "named", len(named) / len(intentions), Outcome.SCORED, ", ".join(named)


def estimate_conduct(scores: Sequence[Score]) -> list[Estimate]:
    return [estimate_proportion(metric, scores) for metric in CONDUCT if any(score.metric == metric for score in scores)]


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
