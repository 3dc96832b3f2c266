"""The memory test's metrics: replies and judgments to scores, scores to estimates. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryEpisode, MemoryTest
from sociable.core.records import Estimate, Score, Verdict
from sociable.statistics.metrics import CombinedMeans, Metric, Metrics, Value

DISTANCES = ("retention_near", "retention_far")


@dataclass(frozen=True, slots=True)
class Decision:
    """A reply, and what it is decided by."""

    case: MemoryCase
    episode: MemoryEpisode
    verdict: tuple[Verdict, str] | None
    """The panel's, for a case that a rule cannot decide.

    None where there is none: with a panel the run was cut off, without one nobody could tell.
    """
    is_judged: bool
    """Whether there is a panel."""


def score_reply(each: Decision) -> Value:
    """1 for a right reply, by rule or by the panel's verdict."""
    case, episode = each.case, each.episode
    if not episode.reply.strip():
        return Value(0.0, episode.turns[0].note or "empty")
    if not case.check.question:
        right, reason = case.check.apply(episode.reply)
        return Value(float(right), reason)
    if each.verdict is None:
        remedy = "no rule can decide; name a --judge"
        return Value.errored("judging was not finished") if each.is_judged else Value.not_reached(remedy)
    verdict, reason = each.verdict
    if verdict in (Verdict.UNSCORED, Verdict.TIE):
        # A panel that is split has no verdict on a question of yes or no.
        return Value.unscored(reason or "the judges are split")
    return Value(float(verdict is Verdict.WIN), reason)


def _is_control(each: Decision) -> bool:
    return each.case.control


def _is_directive(each: Decision, test: MemoryTest | None = None, far: bool | None = None) -> bool:
    """Whether a case is a directive of this test, this far back; None: any."""
    case = each.case
    return not case.control and test in (None, case.test) and far in (None, case.far)


def _estimate_effect(name: str, scores: Sequence[Score], seed: int) -> Estimate:
    """retention_far - retention_near, of the scenarios that have a value at both distances."""
    valued = [{score.cluster for score in scores if score.metric == metric and score.value is not None} for metric in DISTANCES]
    both = [score for score in scores if score.cluster in valued[0] & valued[1]]
    return CombinedMeans(DISTANCES, lambda means: means[..., 1] - means[..., 0])(name, both, seed)


_CARRY_OVER = "what one character asked for is heeded when talking with another"
_ROLE_PLAY = "what was agreed with a character holds again after talking with others"
_RESTRAINT = "controls: answered as asked, without the directive, where it does not hold"
_BALANCE = "heeded + restraint − 1 (Youden's J): 1 is perfect, 0 for whoever always obeys, or never"
_SHARES: Sequence[tuple[str, str, str, str, Callable[[Decision], bool]]] = (
    ("retention", "heeded", "both tests, without the controls", "distance", _is_directive),
    ("carry_over", "carry-over", _CARRY_OVER, "main", partial(_is_directive, test=MemoryTest.CARRY_OVER)),
    ("role_play", "role play", _ROLE_PLAY, "main", partial(_is_directive, test=MemoryTest.ROLE_PLAY)),
    ("restraint", "restraint", _RESTRAINT, "main", _is_control),
    ("retention_near", "near", "without the interlude", "distance", partial(_is_directive, far=False)),
    ("retention_far", "far", "with the interlude", "distance", partial(_is_directive, far=True)),
)
"""Shares of right replies: name, title, meaning, group, and the cases they are shares of."""
_ESTIMATE_BALANCE = CombinedMeans(("retention", "restraint"), lambda means: means[..., 0] + means[..., 1] - 1)
METRICS = Metrics[Decision](
    *(Metric(name, title, meaning, group, score_reply, applies, best=1.0) for name, title, meaning, group, applies in _SHARES),
    Metric("balance", "balance", _BALANCE, "main", aggregate=_ESTIMATE_BALANCE, low=-1.0, best=1.0),
    Metric("distance_effect", "far − near", "of the same scenarios", "distance", aggregate=_estimate_effect, low=-1.0),
    first=("retention", "carry_over", "role_play", "restraint", *DISTANCES, "balance"),
)
