"""Information Exchange Precision (section 4.1): what rules measure, verdicts to scores, scores to estimates. Pure.

p = s / k: of the k key points of a card those that a player's claims state, one to one. A session's IEP is the mean of p over
its players, a run's the mean over sessions: the paper prints a sum. The same before the session is the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np

from sociable.benchmarks.anteval.iep.cards import KINDS, KnowledgeCard
from sociable.benchmarks.anteval.iep.records import IepEpisode, When
from sociable.core.records import PANEL, Estimate, Record, Score, Verdict, Verdicts
from sociable.core.wording import has_claim
from sociable.statistics.metrics import CombinedMeans, Metric, Metrics, Value, mean, share

IEP, BEFORE, GAIN = "iep", "iep_before", "iep_gain"
MAIN = (IEP, BEFORE)
"""Metrics of a session, where somebody judged."""


class Measured(Record):
    """The findings of the wordings in one session."""

    id: str
    told: dict[int, int]
    """The index of the first of the NPC's turns that says a key point, by the point's place."""


def measure_session(card: KnowledgeCard, episode: IepEpisode) -> Measured:
    """The key points that the NPC gives away; those without a wording cannot be found."""
    own = [turn for turn in episode.turns if turn.speaker == card.npc.name]
    first = {
        place: next((turn.index for turn in own if has_claim(turn.content, point.wording or (), reach=0)), None)
        for place, point in enumerate(card.key_points)
    }
    return Measured(id=episode.id, told={place: index for place, index in first.items() if index is not None})


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session with all that its scores rest on."""

    card: KnowledgeCard
    counted: Mapping[str, Sequence[int]]
    """The places of the key points that count, by player."""
    episode: IepEpisode
    verdicts: Verdicts
    measured: Measured | None
    """The measurement; None for an errored session."""
    is_judged: bool
    """Whether there is a panel."""


def name_player_criterion(moment: str, player: str, place: int) -> str:
    """The criterion that judges decide: a player's claims state the key point at a ``place`` of its card, counted from 0.

    ``moment``: ``before``, a turn, or ``after``.
    """
    return f"{moment}|{player}|{place + 1}"


# Values of one session.


def _measure_precision(moment: str, each: JudgedSession) -> Value:
    """The mean of p = s / k over players. Key points that judges could not decide are no part of k."""
    claims = {recall.player: recall.claims for recall in each.episode.recalls if recall.moment == moment}
    shares, notes = [], []
    for player, places in each.counted.items():
        if not places:
            continue
        # Who claims nothing knows nothing: a result, for which no judge is asked.
        asked = [name_player_criterion(moment, player, place) for place in places if claims[player]]
        verdicts = [each.verdicts.get((criterion, PANEL)) for criterion in asked]
        found = [verdict for verdict in verdicts if verdict is not None]
        if len(found) < len(verdicts):
            return Value.errored("judging was not finished")
        decided = [verdict is Verdict.WIN for verdict, _ in found if verdict in (Verdict.WIN, Verdict.LOSS)]
        if found and not decided:
            return Value.unscored(next((why for _, why in found if why), "the judges are split"))
        shares.append(fmean(decided) if decided else 0.0)
        undecided = f" ({len(found) - len(decided)} of {len(found)} undecided)" if len(decided) < len(found) else ""
        notes.append(f"{player} {shares[-1]:.2f}{undecided}")
    if not shares:
        return Value.not_reached("the card has no key point that counts")
    return Value(fmean(shares), "; ".join(notes))


def _list_marks(each: JudgedSession) -> list[int]:
    return sorted({recall.turn for recall in each.episode.recalls if recall.when is When.DURING})


def _list_by_turn(each: JudgedSession) -> Mapping[str, Callable[[JudgedSession], Value]]:
    return {f"{IEP}@{turn}": partial(_measure_precision, str(turn)) for turn in _list_marks(each)}


def _measure_area(each: JudgedSession) -> Value:
    """The mean of the curve over the session's turns, by straight lines between the moments at which players were asked."""
    moments = {0: When.BEFORE.value, **{turn: str(turn) for turn in _list_marks(each)}}
    moments[max(len(each.episode.turns), *moments)] = When.AFTER.value
    found = {turn: _measure_precision(moment, each) for turn, moment in moments.items()}
    if missing := next((value for value in found.values() if value.value is None), None):
        return missing
    turns = sorted(found)
    heights = [found[turn].value or 0.0 for turn in turns]
    return Value(float(np.trapezoid(heights, turns)) / turns[-1] if turns[-1] else heights[-1])


def _measure_told(each: JudgedSession) -> Value:
    worded = [point for point in each.card.key_points if point.wording is not None]
    if not worded or each.measured is None:
        return Value.not_reached("the card says nothing about how its key points are said")
    return Value(len(each.measured.told) / len(worded))


def _measure_passed(each: JudgedSession) -> Value:
    return Value(fmean(turn.passed for turn in each.episode.turns if turn.speaker != each.card.npc.name))


def _measure_unreadable(each: JudgedSession) -> Value:
    return Value(fmean(recall.unreadable for recall in each.episode.recalls))


# Which metrics there are.


def _is_judged(each: JudgedSession, kind: str = "") -> bool:
    """Whether there is a panel, and the card is of this kind where one is given."""
    return each.is_judged and kind in ("", each.card.kind)


def _estimate_session_mean(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """The mean over sessions, with a bootstrap; where all sessions are alike, with the interval of as many yes or no."""
    found = mean(name, scores, seed)
    return found if found.low is not None else share(name, scores, seed)


_PRECISION = "share of the card's key points that players state afterwards, one claim a point"
_TOLD = "share of key points that the NPC says, in one of the wordings that its card lists"
_UNREADABLE = "share of answers to what players know in which no list of claims was found"
_after = partial(_measure_precision, When.AFTER.value)
_before = partial(_measure_precision, When.BEFORE.value)
_gain = CombinedMeans(MAIN, lambda means: means[..., 0] - means[..., 1])


class SessionMetrics(Metrics[JudgedSession]):
    def estimate(self, scores: Sequence[Score], seed: int) -> list[Estimate]:
        """The estimates of all metrics that the sessions have, in their order; the gain where there was a panel."""
        names = [*dict.fromkeys(score.metric for score in scores)]
        return [self.find(name).aggregate(name, scores, seed) for name in (*names, *([GAIN] if {*MAIN} <= {*names} else []))]


METRICS = SessionMetrics(
    Metric(IEP, "IEP", _PRECISION, "main", _after, _is_judged, _estimate_session_mean, best=1.0),
    *(
        Metric(
            f"{IEP}/{kind}",
            kind.capitalize(),
            f"{_PRECISION}: cards of a {kind}",
            "kinds",
            _after,
            partial(_is_judged, kind=kind),
            _estimate_session_mean,
            is_compared=False,
        )
        for kind in KINDS
    ),
    Metric(
        BEFORE,
        "before",
        "the same, asked before the session: what can be guessed",
        "main",
        _before,
        _is_judged,
        _estimate_session_mean,
    ),
    Metric(
        f"{IEP}@…",
        "IEP",
        f"{_PRECISION}: asked after a turn that `marks` names",
        "turns",
        applies=_is_judged,
        aggregate=_estimate_session_mean,
        members=_list_by_turn,
        is_compared=False,
    ),
    Metric(
        "iep_area",
        "area",
        "mean of the curve of IEP over the turns, where `marks` names some: how early it was learnt",
        "turns",
        _measure_area,
        lambda each: each.is_judged and bool(_list_marks(each)),
        _estimate_session_mean,
        is_compared=False,
    ),
    Metric("told", "told", _TOLD, "conduct", _measure_told, aggregate=_estimate_session_mean),
    Metric(
        "passed",
        "passed",
        "share of the players' turns that were let pass",
        "conduct",
        _measure_passed,
        aggregate=_estimate_session_mean,
    ),
    Metric("unreadable", "unreadable", _UNREADABLE, "conduct", _measure_unreadable, aggregate=_estimate_session_mean),
    Metric(GAIN, "gain", "IEP less what was known before", "main", aggregate=_gain, low=-1.0),
)
