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
from sociable.statistics.metrics import Aggregate, Metric, Metrics, Value, joint, mean

EASIEST = 0.7
"""The share of pairs the paper's "partial" figures are about."""
WITHOUT = ("success_without_cot", "format_without_cot")
WITH = ("success_with_cot", "format_with_cot", "solved_at_once", "solved", "satisfied_wrong", "cot_complexity", "calls")


@dataclass(frozen=True, slots=True)
class PlayedPair:
    """A case under a design, and how it went."""

    pair: Pair
    episode: CoTEpisode


def cot_metrics(cycle_cap: int) -> Metrics[PlayedPair]:
    """All metrics; an unsolved pair counts as ``cycle_cap`` cycles.

    ``complexity_easiest_70`` is the mean k over the 70% of pairs with the smallest k; ``cycle_for_70`` the cycle at which
    70% of all pairs are solved, None if that was not seen within the cap. Both are ours: the paper's column of that name
    cannot be reproduced.
    """
    found: list[Metric[PlayedPair]] = []
    for how, applies, format_meaning, success_meaning, title in (
        ("without", _is_plain, "replies with addressee and words, without chain of thought", _PLAIN, "without"),
        ("with", _has_design, "replies with addressee and words in the first cycle", _FIRST, "one pass"),
    ):
        found += [
            Metric(f"format_{how}_cot", f"format {how}", format_meaning, "others", _format, applies),
            Metric(f"success_{how}_cot", title, success_meaning, "main", _success, applies),
        ]
    for name, title, meaning, holds in (
        ("solved_at_once", "first cycle", "right target in the first cycle, of all pairs", _is_solved_at_once),
        ("solved", "solved", "pairs of case and design solved within the cap", _is_solved),
        ("satisfied_wrong", "satisfied", _CONTENT, _is_satisfied),
    ):
        found.append(Metric(name, title, meaning, "others", holds, _has_design))
    in_cycles = partial(Metric[PlayedPair], unit="cycles", low=1.0, high=float(cycle_cap), decimals=1)
    of_a_pair = partial(Metric[PlayedPair], group="cost", applies=_has_design, aggregate=mean, high=None)
    counts = partial(_of_cycles, cycle_cap)
    complexity = partial(_complexity, float(cycle_cap))
    easiest = counts(lambda histogram: _mean_of_easiest(histogram, cycle_cap))
    return Metrics(
        *found,
        in_cycles("cot_complexity", "complexity", _COMPLEXITY, "main", complexity, _has_design, aggregate=mean),
        of_a_pair("calls", "calls", "answers and reflections asked for, a pair", value=_calls, unit="calls", decimals=1),
        *(
            of_a_pair(name, title, "a pair", value=partial(_tokens, name), unit="tokens", decimals=0)
            for name, title in (("input_tokens", "tokens in"), ("output_tokens", "tokens out"))
        ),
        Metric("cot_gain", "gain", "one pass less without", "main", aggregate=_GAIN, low=-1.0),
        in_cycles("complexity_easiest_70", "complexity, easiest 70%", _EASIEST, "others", aggregate=easiest),
        in_cycles("cycle_for_70", "cycle for 70%", _FOR_70, "main", aggregate=counts(_cycle_for_share, beyond=cycle_cap + 1)),
        first=(*WITHOUT, *WITH[:5], "cot_gain", "cot_complexity", "complexity_easiest_70", "cycle_for_70"),
    )


_PLAIN = "right target without chain of thought, of the replies with a format (r2)"
_FIRST = "right target in the first cycle, of the replies with a format"
_CONTENT = "pairs that ended because the model found nothing wrong with a wrong target"
_COMPLEXITY = "mean number of cycles until the target is right; unsolved counts as the cap"
_EASIEST = "mean number of cycles over the easiest 70% of the pairs"
_FOR_70 = "the cycle by which 70% of the pairs are solved"
_GAIN = joint(("success_without_cot", "success_with_cot"), lambda means: means[..., 1] - means[..., 0])


def _is_plain(each: PlayedPair) -> bool:
    return each.pair.design == NO_DESIGN


def _has_design(each: PlayedPair) -> bool:
    return each.pair.design != NO_DESIGN


def _format(each: PlayedPair) -> Value:
    first = each.episode.cycles[0]
    return Value(float(not first.format_failure), first.format_failure)


def _success(each: PlayedPair) -> Value:
    first = each.episode.cycles[0]
    if first.format_failure:
        return Value.not_reached("format failed")
    right = first.target == each.pair.case.golden.role_to
    return Value(float(right), "" if right else f"{first.target or first.role_to[:80]}")


def _is_solved_at_once(each: PlayedPair) -> Value:
    return Value(float(each.episode.solved and len(each.episode.cycles) == 1))


def _is_solved(each: PlayedPair) -> Value:
    return Value(float(each.episode.solved), each.episode.end)


def _is_satisfied(each: PlayedPair) -> Value:
    return Value(float(each.episode.end is End.SATISFIED))


def _complexity(cap: float, each: PlayedPair) -> Value:
    return Value(float(len(each.episode.cycles)) if each.episode.solved else cap, each.episode.end)


def _calls(each: PlayedPair) -> Value:
    return Value(float(each.episode.calls))


def _tokens(name: str, each: PlayedPair) -> Value:
    used = [float(getattr(usage, name)) for usage in each.episode.usage.values()]
    return Value(fsum(used)) if used else Value.not_reached("no model was asked")


def _of_cycles(cycle_cap: int, statistic: Callable[[Floats], Floats], beyond: float = np.inf) -> Aggregate:
    """A statistic of how many pairs were solved in which cycle.

    ``beyond`` and above stands for what was not seen: then there is no value, or no limits.
    """

    def aggregate(name: str, scores: Sequence[Score], seed: int) -> Estimate:
        own = [score for score in scores if score.metric == "cot_complexity"]
        found = bootstrap_jointly(_histograms(scores, cycle_cap), statistic, seed=derive_seed(seed, "bootstrap", name))
        if found.value is not None and found.value >= beyond:
            found = Interval(None)
        elif found.high is not None and found.high >= beyond:
            found = Interval(found.value)
        varied = found.low is not None and found.high is not None and found.low < found.high
        low, high = (found.low, found.high) if varied else (None, None)
        return Estimate(metric=name, value=found.value, low=low, high=high, **count_episodes(own))

    return aggregate


def solved_by_cycle(scores: Sequence[Score], cycle_cap: int) -> list[Interval]:
    """The share of pairs solved within 1, 2, … cycles, each with its interval by cluster; repeats are no new pairs."""
    solved_at = _solved_at(scores)
    last = min(cycle_cap, max((int(k) for _, _, k in solved_at if np.isfinite(k)), default=1) + 1)
    shares = []
    for cycle in range(1, last + 1):
        pairs = average_repeats([(cluster, scenario, float(k <= cycle)) for cluster, scenario, k in solved_at])
        shares.append(estimate_mean(pairs.values, pairs.clusters, pairs.weights))
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
