"""Information Exchange Precision (section 4.1): verdicts to scores, scores to estimates. Pure.

p = s / k: of the k key points of a card those that a player's claims state, one to one. A session's IEP is the mean of p over
its players, a run's the mean over sessions: the paper prints a sum. The same before the session is the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from sociable.benchmarks.anteval.iep.cards import KINDS, KnowledgeCard
from sociable.benchmarks.anteval.iep.measure import Measured
from sociable.benchmarks.anteval.iep.records import IepEpisode, When
from sociable.core.records import PANEL, Estimate, NoValue, Outcome, Score, Verdict, Verdicts
from sociable.statistics.metrics import Metric, Metrics, Value, joint, mean, share

IEP, BEFORE, GAIN = "iep", "iep_before", "iep_gain"
MAIN = (IEP, BEFORE)
"""Metrics of a session, where somebody judged."""


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session with all that its scores rest on."""

    card: KnowledgeCard
    counted: Mapping[str, Sequence[int]]
    """By player the places of the key points that count."""
    episode: IepEpisode
    verdicts: Verdicts
    measured: Measured | None
    """None of an errored session."""
    is_judged: bool
    """Whether there is a panel."""


def player_criterion(when: When, player: str, place: int) -> str:
    """What judges decide: whether a player's claims state the key point at a place of its card, from 0."""
    return f"{when.value}|{player}|{place + 1}"


def kind_metric(kind: str) -> str:
    return f"{IEP}/{kind}"


# Values of one session.


def _precision(when: When, each: JudgedSession) -> Value:
    try:
        shares = _shares(each.counted, each.episode, each.verdicts, when)
    except NoValue as missing:
        return Value(None, missing.reason, missing.outcome)
    reason = "; ".join(f"{player} {found:.2f}{note}" for player, (found, note) in shares.items())
    return Value(fmean(found for found, _ in shares.values()), reason)


def _shares(
    counted: Mapping[str, Sequence[int]], episode: IepEpisode, verdicts: Verdicts, when: When
) -> dict[str, tuple[float, str]]:
    """By player p = s / k and a note. Key points that judges could not decide are no part of k."""
    claims = {recall.player: recall.claims for recall in episode.recalls if recall.when is when}
    shares = {}
    for player, places in counted.items():
        if not places:
            continue
        if not claims[player]:
            # A result: who claims nothing knows nothing.
            shares[player] = (0.0, "")
            continue
        found = [_verdict(verdicts, when, player, place) for place in places]
        decided = [verdict is Verdict.WIN for verdict, _ in found if verdict in (Verdict.WIN, Verdict.LOSS)]
        if not decided:
            raise NoValue(Outcome.UNSCORED, next((why for _, why in found if why), "the judges are split"))
        left = len(found) - len(decided)
        shares[player] = (fmean(decided), f" ({left} of {len(found)} undecided)" if left else "")
    if not shares:
        raise NoValue(Outcome.NOT_REACHED, "the card has no key point that counts")
    return shares


def _verdict(verdicts: Verdicts, when: When, player: str, place: int) -> tuple[Verdict, str]:
    found = verdicts.get((player_criterion(when, player, place), PANEL))
    if found is None:
        raise NoValue(Outcome.ERRORED, "judging was not finished")
    return found


def _told(each: JudgedSession) -> Value:
    worded = [point for point in each.card.key_points if point.wording is not None]
    if not worded or each.measured is None:
        return Value.not_reached("the card says nothing about how its key points are said")
    return Value(len(each.measured.told) / len(worded))


def _passed(each: JudgedSession) -> Value:
    return Value(fmean(turn.passed for turn in each.episode.turns if turn.speaker != each.card.npc.name))


def _unreadable(each: JudgedSession) -> Value:
    return Value(fmean(recall.unreadable for recall in each.episode.recalls))


# Which metrics there are.


def _is_judged(each: JudgedSession) -> bool:
    return each.is_judged


def _is_of_kind(kind: str, each: JudgedSession) -> bool:
    return each.is_judged and each.card.kind == kind


def _mean(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """Over sessions, with a bootstrap. Where all are alike it sees nothing, and the interval is that of as many yes or no."""
    found = mean(name, scores, seed)
    return found if found.low is not None else share(name, scores, seed)


_PRECISION = "share of the card's key points that players state afterwards, one claim a point"
_TOLD = "share of key points that the NPC says, in one of the wordings that its card lists"
_UNREADABLE = "share of answers to what players know in which no list of claims was found"
_after = partial(_precision, When.AFTER)
_before = partial(_precision, When.BEFORE)

METRICS = Metrics[JudgedSession](
    Metric(IEP, "IEP", _PRECISION, "main", _after, _is_judged, _mean),
    *(
        Metric(
            kind_metric(kind),
            kind.capitalize(),
            f"{_PRECISION}: cards of a {kind}",
            "kinds",
            _after,
            partial(_is_of_kind, kind),
            _mean,
            is_compared=False,
        )
        for kind in KINDS
    ),
    Metric(BEFORE, "before", "the same, asked before the session: what can be guessed", "main", _before, _is_judged, _mean),
    Metric("told", "told", _TOLD, "conduct", _told, aggregate=_mean),
    Metric("passed", "passed", "share of the players' turns that were let pass", "conduct", _passed, aggregate=_mean),
    Metric("unreadable", "unreadable", _UNREADABLE, "conduct", _unreadable, aggregate=_mean),
    Metric(
        GAIN,
        "gain",
        "IEP less what was known before",
        "main",
        aggregate=joint(MAIN, lambda means: means[..., 0] - means[..., 1]),
        low=-1.0,
    ),
)


def estimate_sessions(scores: Sequence[Score], seed: int) -> list[Estimate]:
    """The estimates of all metrics that the sessions have, in their order; the gain where there was a panel."""
    names = [*dict.fromkeys(score.metric for score in scores)]
    return [METRICS[name].aggregate(name, scores, seed) for name in (*names, *([GAIN] if {*MAIN} <= {*names} else []))]
