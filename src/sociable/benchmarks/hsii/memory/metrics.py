"""The memory test's metrics: replies and judgments to scores, scores to estimates. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sociable.benchmarks.hsii.memory.dataset import MemoryCase, Test
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score, Verdict
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import estimate_jointly, estimate_proportion
from sociable.statistics.intervals import Floats

SHARES = ("retention", "carry_over", "role_play", "restraint", "retention_near", "retention_far")
DISTANCES = ("retention_near", "retention_far")
OF_TEST = {Test.CARRY_OVER: "carry_over", Test.ROLE_PLAY: "role_play"}


def metrics_of(case: MemoryCase) -> list[str]:
    """The metrics a case counts for: what it is a test of, and for directives how far back they lie."""
    if case.control:
        return ["restraint"]
    return ["retention", OF_TEST[case.test], "retention_far" if case.far else "retention_near"]


def score_episode(case: MemoryCase, episode: MemoryEpisode, verdict: tuple[Verdict, str] | None, *, judged: bool) -> list[Score]:
    """All scores of one episode.

    ``verdict`` is the panel's, for a case that a rule cannot decide; None where there is none, which with a panel
    (``judged``) means that the run was cut off, and without one that nobody could tell.
    """
    outcome, value, reason = _decided(case, episode, verdict, judged)
    return [episode.score(metric, value, outcome, reason) for metric in metrics_of(case)]


def _decided(
    case: MemoryCase, episode: MemoryEpisode, verdict: tuple[Verdict, str] | None, judged: bool
) -> tuple[Outcome, float | None, str]:
    if episode.status is EpisodeStatus.ERRORED:
        return Outcome.ERRORED, None, episode.error
    if not episode.reply.strip():
        return Outcome.SCORED, 0.0, episode.turns[0].note or "empty"
    if not case.check.question:
        right, reason = case.check.holds(episode.reply)
        return Outcome.SCORED, float(right), reason
    if verdict is None:
        if judged:
            return Outcome.ERRORED, None, "judging was not finished"
        return Outcome.NOT_REACHED, None, "no rule can decide; name a --judge"
    if verdict[0] in (Verdict.UNSCORED, Verdict.TIE):
        # A panel that is split has no verdict on a question of yes or no.
        return Outcome.UNSCORED, None, verdict[1] or "the judges are split"
    return Outcome.SCORED, float(verdict[0] is Verdict.WIN), verdict[1]


def estimate_all(scores: Sequence[Score], *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """Every estimate of ``scores.json``.

    ``balance`` = retention + restraint - 1 (Youden's J): 1 is perfect, and whoever always obeys, or never, has 0.
    ``distance_effect`` = retention_far - retention_near, of the same scenarios.
    """

    def joint(metric: str, parts: Sequence[str], combine: Callable[[Floats], Floats], own: Sequence[Score] = scores) -> Estimate:
        return estimate_jointly(metric, own, parts, combine, seed=derive_seed(seed, "bootstrap", metric), confidence=confidence)

    return [
        *(estimate_proportion(name, scores, confidence) for name in SHARES),
        joint("balance", ("retention", "restraint"), lambda means: means[..., 0] + means[..., 1] - 1),
        joint("distance_effect", DISTANCES, lambda means: means[..., 1] - means[..., 0], _at_both(scores)),
    ]


def _at_both(scores: Sequence[Score]) -> list[Score]:
    """Those of scenarios that have a value at both distances."""
    valued = [{score.cluster for score in scores if score.metric == metric and score.value is not None} for metric in DISTANCES]
    return [score for score in scores if score.cluster in valued[0] & valued[1]]
