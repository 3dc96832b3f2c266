"""Chain of thought's metrics: episodes to scores, scores to estimates. Pure.

k is the number of cycles until the chosen target is the golden one; a pair that is never solved counts as the cap
(Definition 2's N_inf). COT complexity is the mean of k over all pairs (Equation 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import fsum

import numpy as np

from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, End, Pair
from sociable.core.records import EpisodeStatus, Estimate, Outcome, Score
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_episodes, estimate_jointly, estimate_proportion
from sociable.statistics.intervals import Floats, Interval, average_repeats, bootstrap_jointly, estimate_mean

EASIEST = 0.7
"""The share of pairs the paper's "partial" figures are about."""
WITHOUT = ("success_without_cot", "format_without_cot")
WITH = ("success_with_cot", "format_with_cot", "solved_at_once", "solved", "satisfied_wrong", "cot_complexity", "calls")
TOKENS = ("input_tokens", "output_tokens")


def score_episode(pair: Pair, episode: CoTEpisode, cycle_cap: int) -> list[Score]:
    """All scores of one episode."""

    def score(metric: str, value: float | None, reason: str = "", outcome: Outcome = Outcome.SCORED) -> Score:
        return Score(
            metric=metric,
            scenario=pair.id,
            cluster=pair.case.dialogue,
            repeat=episode.repeat,
            outcome=outcome,
            value=value,
            reason=reason,
        )

    plain = pair.design == NO_DESIGN
    if episode.status is EpisodeStatus.ERRORED:
        return [score(metric, None, episode.error, Outcome.ERRORED) for metric in (WITHOUT if plain else WITH + TOKENS)]

    first = episode.cycles[0]
    how = "without" if plain else "with"
    scores = [score(f"format_{how}_cot", float(not first.format_failure), first.format_failure)]
    if first.format_failure:
        scores.append(score(f"success_{how}_cot", None, "format failed", Outcome.NOT_REACHED))
    else:
        right = first.target == pair.case.golden.role_to
        scores.append(score(f"success_{how}_cot", float(right), "" if right else f"{first.target or first.role_to[:80]}"))
    if plain:
        return scores
    solved_at = len(episode.cycles) if episode.solved else None
    scores += [
        score("solved_at_once", float(solved_at == 1)),
        score("solved", float(episode.solved), episode.end),
        score("satisfied_wrong", float(episode.end is End.SATISFIED)),
        score("cot_complexity", float(solved_at or cycle_cap), episode.end),
        score("calls", float(episode.calls)),
    ]
    for name in TOKENS:
        used = [float(getattr(usage, name)) for usage in episode.usage.values()]
        outcome = Outcome.SCORED if used else Outcome.NOT_REACHED
        scores.append(score(name, fsum(used) if used else None, "" if used else "no model was asked", outcome))
    return scores


def estimate_all(scores: Sequence[Score], cycle_cap: int, *, seed: int, confidence: float = 0.95) -> list[Estimate]:
    """Every estimate of ``scores.json``.

    ``complexity_easiest_70`` is the mean k over the 70% of pairs with the smallest k; ``cycle_for_70`` the cycle at which
    70% of all pairs are solved, None if that was not seen within the cap. Both are ours: the paper's column of that name
    cannot be reproduced.
    """

    def joint(metric: str, parts: Sequence[str], combine: Callable[[Floats], Floats]) -> Estimate:
        return estimate_jointly(
            metric, scores, parts, combine, seed=derive_seed(seed, "bootstrap", metric), confidence=confidence
        )

    def of_cycles(metric: str, statistic: Callable[[Floats], Floats], beyond: float = np.inf) -> Estimate:
        """``beyond`` and above stands for what was not seen: then there is no value, or no limits."""
        own = [score for score in scores if score.metric == "cot_complexity"]
        found = bootstrap_jointly(
            _histograms(scores, cycle_cap), statistic, confidence, seed=derive_seed(seed, "bootstrap", metric)
        )
        if found.value is not None and found.value >= beyond:
            found = Interval(None, None, None, confidence)
        elif found.high is not None and found.high >= beyond:
            found = Interval(found.value, None, None, confidence)
        return _estimate(metric, found, own)

    shares = [estimate_proportion(name, scores, confidence) for name in (*WITHOUT, *WITH[:5])]
    return [
        *shares,
        joint("cot_gain", ("success_without_cot", "success_with_cot"), lambda means: means[..., 1] - means[..., 0]),
        joint("cot_complexity", ("cot_complexity",), lambda means: means[..., 0]),
        of_cycles("complexity_easiest_70", lambda counts: _mean_of_easiest(counts, cycle_cap)),
        of_cycles("cycle_for_70", _cycle_for_share, beyond=cycle_cap + 1),
        *(joint(name, (name,), lambda means: means[..., 0]) for name in ("calls", *TOKENS)),
    ]


def solved_by_cycle(scores: Sequence[Score], cycle_cap: int, confidence: float = 0.95) -> list[Interval]:
    """The share of pairs solved within 1, 2, … cycles, each with its interval by cluster; repeats are no new pairs."""
    solved_at = _solved_at(scores)
    last = min(cycle_cap, max((int(k) for _, _, k in solved_at if np.isfinite(k)), default=1) + 1)
    shares = []
    for cycle in range(1, last + 1):
        pairs = average_repeats([(cluster, scenario, float(k <= cycle)) for cluster, scenario, k in solved_at])
        shares.append(estimate_mean(pairs.values, pairs.clusters, confidence, pairs.weights))
    return shares


def _solved_at(scores: Sequence[Score]) -> list[tuple[str, str, float]]:
    """(cluster, scenario, k) of every episode; k is infinite where it was never solved."""
    solved = {(score.scenario, score.repeat): score.value for score in scores if score.metric == "solved"}
    own = [score for score in scores if score.metric == "cot_complexity" and score.value is not None]
    return [
        (score.cluster, score.scenario, score.value if solved[score.scenario, score.repeat] and score.value else np.inf)
        for score in own
    ]


def _histograms(scores: Sequence[Score], cycle_cap: int) -> Floats:
    """[clusters, cycle_cap + 1]: how many pairs were solved in cycle 1, 2, …, and, last, how many never were."""
    rows: dict[str, Floats] = defaultdict(lambda: np.zeros(cycle_cap + 1))
    for cluster, _, k in _solved_at(scores):
        rows[cluster][int(k) - 1 if np.isfinite(k) else cycle_cap] += 1
    return np.array(list(rows.values())).reshape(len(rows), cycle_cap + 1)


def _mean_of_easiest(counts: Floats, cycle_cap: int) -> Floats:
    """Mean k over the easiest 70% of what ``counts`` [..., cycle_cap + 1] counts."""
    taken = EASIEST * counts.sum(axis=-1, keepdims=True)
    up_to = np.minimum(np.cumsum(counts, axis=-1), taken)
    share = np.diff(up_to, axis=-1, prepend=0.0)
    cycles = np.append(np.arange(1.0, cycle_cap + 1), cycle_cap)
    mean: Floats = (share @ cycles) / taken[..., 0]
    return mean


def _cycle_for_share(counts: Floats) -> Floats:
    """The first cycle by which 70% are solved; one above the cap where it was not seen."""
    solved = np.cumsum(counts[..., :-1], axis=-1)
    enough = solved >= np.ceil(EASIEST * counts.sum(axis=-1, keepdims=True) - 1e-9)
    cycle: Floats = np.where(enough.any(axis=-1), enough.argmax(axis=-1) + 1.0, counts.shape[-1])
    return cycle


def _estimate(metric: str, found: Interval, scores: Sequence[Score]) -> Estimate:
    varied = found.low is not None and found.high is not None and found.low < found.high
    return Estimate(
        metric=metric,
        value=found.value,
        low=found.low if varied else None,
        high=found.high if varied else None,
        confidence=found.confidence,
        **count_episodes(scores),
    )
