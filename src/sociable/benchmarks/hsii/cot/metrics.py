"""Chain of thought's metrics: episodes to scores, scores to estimates. Pure.

k is the number of cycles until the chosen target is the golden one; a pair that is never solved counts as the cap
(Definition 2's N_inf). COT complexity is the mean of k over all pairs (Equation 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum

import numpy as np

from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, End, Pair
from sociable.core.records import Estimate, Score
from sociable.core.seeding import derive_seed
from sociable.statistics.estimates import count_episodes
from sociable.statistics.intervals import Floats, Interval, average_repeats, bootstrap_jointly, estimate_mean
from sociable.statistics.metrics import Aggregate, CombinedMeans, Metric, Metrics, Value, mean

EASIEST = 0.7
"""The share of pairs the paper's "partial" figures are about."""
WITHOUT = ("success_without_cot", "format_without_cot")
WITH = ("success_with_cot", "format_with_cot", "solved_at_once", "solved", "satisfied_wrong", "cot_complexity", "calls")


@dataclass(frozen=True, slots=True)
class PlayedPair:
    """A case under a design, and how it went."""

    pair: Pair
    episode: CoTEpisode


def make_metrics(cycle_cap: int) -> Metrics[PlayedPair]:
    """All metrics; an unsolved pair counts as ``cycle_cap`` cycles.

    ``complexity_easiest_70`` is the mean k over the 70% of pairs with the smallest k; ``cycle_for_70`` the cycle at which
    70% of all pairs are solved, None if that was not seen within the cap. Both are ours: the paper's column of that name
    cannot be reproduced.
    """
    in_cycles = partial(Metric[PlayedPair], unit="cycles", low=1.0, high=float(cycle_cap), decimals=1)
    of_a_pair = partial(Metric[PlayedPair], group="cost", applies=_has_design, aggregate=mean, high=None)
    complexity = partial(_count_cycles, float(cycle_cap))
    easiest = _estimate_from_counts(cycle_cap, lambda counts: _average_easiest(counts, cycle_cap))
    for_70 = _estimate_from_counts(cycle_cap, _find_cycle_for_share, beyond=cycle_cap + 1)
    return Metrics(
        *_SHARES,
        in_cycles("cot_complexity", "complexity", _COMPLEXITY, "main", complexity, _has_design, aggregate=mean, best=1.0),
        of_a_pair("calls", "calls", "answers and reflections asked for, a pair", value=_count_calls, unit="calls", decimals=1),
        *(
            of_a_pair(name, title, "a pair", value=partial(_sum_tokens, name), unit="tokens", decimals=0)
            for name, title in (("input_tokens", "tokens in"), ("output_tokens", "tokens out"))
        ),
        Metric("cot_gain", "gain", "one pass less without", "main", aggregate=_ESTIMATE_GAIN, low=-1.0),
        in_cycles("complexity_easiest_70", "complexity, easiest 70%", _EASIEST, "others", aggregate=easiest),
        in_cycles("cycle_for_70", "cycle for 70%", _FOR_70, "main", aggregate=for_70),
        first=(*WITHOUT, *WITH[:5], "cot_gain", "cot_complexity", "complexity_easiest_70", "cycle_for_70"),
    )


def _is_plain(each: PlayedPair) -> bool:
    return each.pair.design == NO_DESIGN


def _has_design(each: PlayedPair) -> bool:
    return each.pair.design != NO_DESIGN


def _score_format(each: PlayedPair) -> Value:
    first = each.episode.cycles[0]
    return Value(float(not first.format_failure), first.format_failure)


def _score_success(each: PlayedPair) -> Value:
    first = each.episode.cycles[0]
    if first.format_failure:
        return Value.not_reached("format failed")
    right = first.target == each.pair.case.golden.role_to
    return Value(float(right), "" if right else f"{first.target or first.role_to[:80]}")


def _score_first_cycle(each: PlayedPair) -> Value:
    return Value(float(each.episode.solved and len(each.episode.cycles) == 1))


def _score_solved(each: PlayedPair) -> Value:
    return Value(float(each.episode.solved), each.episode.end)


def _score_satisfied(each: PlayedPair) -> Value:
    return Value(float(each.episode.end is End.SATISFIED))


def _count_cycles(cap: float, each: PlayedPair) -> Value:
    return Value(float(len(each.episode.cycles)) if each.episode.solved else cap, each.episode.end)


def _count_calls(each: PlayedPair) -> Value:
    return Value(float(each.episode.calls))


def _sum_tokens(name: str, each: PlayedPair) -> Value:
    used = [float(getattr(usage, name)) for usage in each.episode.usage.values()]
    return Value(fsum(used)) if used else Value.not_reached("no model was asked")


_PLAIN_FORMAT = "replies with addressee and words, without chain of thought"
_PLAIN = "right target without chain of thought, of the replies with a format (r2)"
_FORMAT = "replies with addressee and words in the first cycle"
_FIRST = "right target in the first cycle, of the replies with a format"
_AT_ONCE = "right target in the first cycle, of all pairs"
_SATISFIED = "pairs that ended because the model found nothing wrong with a wrong target"
_COMPLEXITY = "mean number of cycles until the target is right; unsolved counts as the cap"
_EASIEST = "mean number of cycles over the easiest 70% of the pairs"
_FOR_70 = "the cycle by which 70% of the pairs are solved"
_ESTIMATE_GAIN = CombinedMeans(("success_without_cot", "success_with_cot"), lambda means: means[..., 1] - means[..., 0])
_SHARES: Sequence[Metric[PlayedPair]] = (
    Metric("format_without_cot", "format without", _PLAIN_FORMAT, "others", _score_format, _is_plain),
    Metric("success_without_cot", "without", _PLAIN, "main", _score_success, _is_plain, best=1.0),
    Metric("format_with_cot", "format with", _FORMAT, "others", _score_format, _has_design),
    Metric("success_with_cot", "one pass", _FIRST, "main", _score_success, _has_design, best=1.0),
    Metric("solved_at_once", "first cycle", _AT_ONCE, "others", _score_first_cycle, _has_design),
    Metric("solved", "solved", "pairs of case and design solved within the cap", "others", _score_solved, _has_design),
    Metric("satisfied_wrong", "satisfied", _SATISFIED, "others", _score_satisfied, _has_design),
)


def _estimate_from_counts(cycle_cap: int, statistic: Callable[[Floats], Floats], beyond: float = np.inf) -> Aggregate:
    """A statistic of how many pairs were solved in which cycle.

    ``beyond`` and above stands for what was not seen: then there is no value, or no limits.
    """

    def aggregate(name: str, scores: Sequence[Score], seed: int) -> Estimate:
        bootstrap_seed = derive_seed(seed, "bootstrap", name)
        found = bootstrap_jointly(_count_solved(scores, cycle_cap), statistic, seed=bootstrap_seed)
        value, low, high = found.value, found.low, found.high
        if value is not None and value >= beyond:
            value = None
        if value is None or low is None or high is None or not low < high < beyond:
            low = high = None
        own = [score for score in scores if score.metric == "cot_complexity"]
        return Estimate(metric=name, value=value, low=low, high=high, **count_episodes(own))

    return aggregate


def estimate_solved_by_cycle(scores: Sequence[Score], cycle_cap: int) -> list[Interval]:
    """The share of pairs solved within 1, 2, … cycles, each with its interval by cluster; repeats are no new pairs."""
    solved_at = _list_solving_cycles(scores)
    last = min(cycle_cap, max((int(k) for _, _, k in solved_at if np.isfinite(k)), default=1) + 1)
    shares = []
    for cycle in range(1, last + 1):
        pairs = average_repeats([(cluster, scenario, float(k <= cycle)) for cluster, scenario, k in solved_at])
        shares.append(estimate_mean(pairs.values, pairs.clusters, pairs.weights))
    return shares


def _list_solving_cycles(scores: Sequence[Score]) -> list[tuple[str, str, float]]:
    """(cluster, scenario, k) of every episode; k is infinite where it was never solved."""
    solved = {(score.scenario, score.repeat) for score in scores if score.metric == "solved" and score.value}
    return [
        (score.cluster, score.scenario, score.value if (score.scenario, score.repeat) in solved else np.inf)
        for score in scores
        if score.metric == "cot_complexity" and score.value is not None
    ]


def _count_solved(scores: Sequence[Score], cycle_cap: int) -> Floats:
    """[clusters, cycle_cap + 1]: how many pairs were solved in cycle 1, 2, …, and, last, how many never were."""
    rows: dict[str, Floats] = defaultdict(lambda: np.zeros(cycle_cap + 1))
    for cluster, _, k in _list_solving_cycles(scores):
        rows[cluster][int(k) - 1 if np.isfinite(k) else cycle_cap] += 1
    return np.array(list(rows.values())).reshape(len(rows), cycle_cap + 1)


def _average_easiest(counts: Floats, cycle_cap: int) -> Floats:
    """Mean k over the easiest 70% of what ``counts`` [..., cycle_cap + 1] counts."""
    taken = EASIEST * counts.sum(axis=-1, keepdims=True)
    up_to = np.minimum(np.cumsum(counts, axis=-1), taken)
    share = np.diff(up_to, axis=-1, prepend=0.0)
    cycles = np.append(np.arange(1.0, cycle_cap + 1), cycle_cap)
    return np.asarray((share @ cycles) / taken[..., 0])


def _find_cycle_for_share(counts: Floats) -> Floats:
    """The first cycle by which 70% are solved; one above the cap where it was not seen."""
    solved = np.cumsum(counts[..., :-1], axis=-1)
    enough = solved >= np.ceil(EASIEST * counts.sum(axis=-1, keepdims=True) - 1e-9)
    return np.where(enough.any(axis=-1), enough.argmax(axis=-1) + 1.0, float(counts.shape[-1]))
