"""Intention expression's metrics: how a session was played, and what the experiment on all of them found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from sociable.anteval.ieg.records import IegEpisode
from sociable.anteval.ieg.results import BASE, GENERATED, KINDS, LAST, REAL, SHUFFLED, Bounds, Results, f_metric, gap_metric
from sociable.anteval.ieg.windows import names_skill
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score
from sociable.statistics.estimates import estimate_proportion

CONDUCT = ("passed", "named")
"""Of a session: the share of the players' turns that were let pass; of players with an intention those who name its skill."""
MASTERS = (BASE, GENERATED, REAL, SHUFFLED, LAST)


def score_session(npc: str, intentions: Mapping[str, str], episode: IegEpisode) -> list[Score]:
    """All scores of one episode, of what its players did; the ``npc`` may be another's."""
    return [
        Score(
            metric=metric,
            scenario=episode.scenario,
            cluster=episode.cluster,
            repeat=episode.repeat,
            outcome=outcome,
            value=value,
            reason=reason,
        )
        for metric, value, outcome, reason in _values(npc, intentions, episode)
    ]


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
    said = []
    for kind, called in (("character", "who acts"), ("tuple", "who acts, with which skill")):

        def f(master: str, kind: str = kind) -> float:
            return found.get(f_metric(master, kind)) or 0.0

        if found.get(f_metric(REAL, kind)) is None:
            continue
        better = [name for name in (BASE, LAST) if f(name) >= f(REAL)]
        if better:
            rest = " and ".join(f"{name} {f(name):.3f}" for name in better)
            why = "The DM tuned on real sessions learned nothing that G could measure."
            said.append(f"{called}: f_r is {f(REAL):.3f}, {rest}. {why}")
        if f(GENERATED) <= f(SHUFFLED):
            why = "The generated sessions taught it nothing but which skills are frequent, and G says nothing of them."
            said.append(f"{called}: f_g is {f(GENERATED):.3f}, and {f(SHUFFLED):.3f} with shuffled labels. {why}")
    return said
