"""Means that people's verdicts on a sample correct: unbiased whatever the judge does, clustered as all intervals here.

Source: Angelopoulos et al. 2023, "Prediction-powered inference", Science 382; power tuning from Angelopoulos, Duchi and
Zrnic 2023, "PPI++" (arXiv 2311.01453); sampling with unequal probabilities from Zrnic and Candès 2024, "Active statistical
inference" (arXiv 2403.03208). What is added for strata is the textbook's: Särndal, Swensson and Wretman 1992, "Model
Assisted Survey Sampling", section 7.6 (regression estimator) and 9.4 (two phases).

The package ``ppi-python`` is not used: its intervals know neither clusters nor strata, and it brings numba and a downloader
of data sets; the tests hold its figures for the case that both know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sociable.statistics.intervals import CONFIDENCE, ROUNDING_STANDARD_ERROR, Floats, Interval, find_wilson_limits

UNRELATED = 2
"""Verdicts that have nothing to do with the judge's opinion, imagined in each stratum when the judge's weight is estimated.

They draw the weight to 0, the more the fewer verdicts there are. Where the judge's opinion is one and the same in a stratum,
its weight does not matter there, and nothing is imagined.
"""
IMAGINED = 1 / 3
"""Verdicts for, and as many against, that are imagined in each stratum when its spread is estimated.

Source: Kerman 2011, "Neutral noninformative and informative conjugate beta and gamma prior distributions", Electronic Journal
of Statistics 5.
"""
WITHIN_REACH = 1.1
"""The share of the narrowest possible half-width that is planned for where the precision asked for is out of reach."""


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """One thing that a judge gave an opinion on, and perhaps people too; opinions are worths in [0, 1]."""

    case: str
    cluster: str
    stratum: str
    """The group that it was drawn from. What a judge said may decide it, what people said may not."""
    predicted: float
    """The judge's opinion. It may be any number that was fixed without regard to people's."""
    given: float | None = None
    """People's, the mean of several; None where nobody was asked."""
    inclusion: float = 1.0
    """The probability, up to a factor that is the same for all of a stratum, with which people were asked."""


def correct_mean(units: Sequence[JudgedUnit], *, tuning: float | None = None) -> Interval:
    """The mean of people's opinions over all units, as it would be had they been asked about each, and of units like them.

    With f the judge's opinion, y people's, and w the inverse of the probability with which a unit of its stratum was asked
    about (calibrated: the w of a stratum add up to its size), each unit has the pseudo-value

        z = g + w (y − g) where people were asked, else g;   g = λ f + the stratum's weighted mean of y − λ f.

    The value is the mean of z, which has no bias in large samples whatever f is; exactly none where λ is given and
    probabilities are equal within strata. Its variance is that of the sums of z by cluster, as for scores that people gave
    all of. To that is added what few verdicts hide (see ``_imagine_more``). Limits are Wilson's on the effective size
    that this variance implies.

    Args:
        units: all units; those of a stratum are exchangeable but for ``inclusion``.
        tuning: λ in [0, 1]; None: the value with the least variance, estimated within strata (see ``UNRELATED``). The fewer
            verdicts, the more λ fits their chance: each one's residual is taken with the λ of all others.

    Returns:
        None for all where there are no units, or nobody was asked about any unit of a stratum. Limits are None with one
        cluster. In simulations they hold in 0.94 or more for 6 clusters and 30 verdicts or more
        (``benchmarks/corrected_scores.py``); with few verdicts on a judge that seldom errs they are wider than needed.

    Raises:
        ValueError: an opinion of people is not in [0, 1], or an inclusion is not above 0.
    """
    pseudo = _make_pseudo_values(units, tuning)
    if pseudo is None:
        return Interval(None)
    everything = np.ones(len(units), dtype=bool)
    value = min(1.0, max(0.0, pseudo.average(everything)))
    sums = pseudo.sum_deviations(everything)
    if len(sums) == 1:
        return Interval(value)
    between, hidden = _sum_squares(sums), pseudo.sum_hidden(everything)
    # Near 0 and 1 the proportion's own variance vanishes, and with it what n verdicts can be said to tell.
    spread = max(value * (1 - value), float(np.mean(pseudo.opinion_variance)))
    variance = between + hidden
    if between < ROUNDING_STANDARD_ERROR**2:
        variance = max(variance, spread / len(sums))  # All clusters are alike: each counts as one case, as for scores.
    return Interval(value, *_find_limits(value, spread, variance, min(len(sums) - 1, pseudo.freedom), len(units)))


def _find_limits(value: float, spread: float, variance: float, freedom: float, most: int) -> tuple[float, float]:
    """Wilson's limits on the size, ``most`` at most, of a sample of such ``spread`` whose mean has this ``variance``."""
    small = (_find_quantile(inf) / _find_quantile(freedom)) ** 2
    return find_wilson_limits(value, min(most, spread / variance * small))


def correct_difference(first: Sequence[JudgedUnit], second: Sequence[JudgedUnit]) -> Interval:
    """The mean of ``second`` less that of ``first`` on the cases that both have, each corrected as ``correct_mean`` does.

    Pseudo-values rest on all units of a side, means on the common cases. Clusters are paired; limits by Student's t.
    None as there, or where no case is common; limits are None, too, where nothing was seen to vary.
    """
    sides = [_make_pseudo_values(units, None) for units in (first, second)]
    common = {unit.case for unit in first} & {unit.case for unit in second}
    one, other = sides
    if one is None or other is None or not common:
        return Interval(None)
    differences: dict[str, float] = {}
    hidden = 0.0
    chosen = [np.array([unit.case in common for unit in units]) for units in (first, second)]
    for side, mask, sign in ((one, chosen[0], -1), (other, chosen[1], 1)):
        for cluster, part in side.sum_deviations(mask).items():
            differences[cluster] = differences.get(cluster, 0.0) + sign * part
        hidden += side.sum_hidden(mask)
    value = other.average(chosen[1]) - one.average(chosen[0])
    variance = _sum_squares(differences) + hidden if len(differences) > 1 else 0.0
    if variance < ROUNDING_STANDARD_ERROR**2:
        return Interval(value)
    half = _find_quantile(min(len(differences) - 1, one.freedom, other.freedom)) * sqrt(variance)
    return Interval(value, max(-1.0, value - half), min(1.0, value + half))


@dataclass(frozen=True, slots=True)
class VerdictPlan:
    """The number of units to ask people about in each stratum, and what comes of it."""

    verdicts: Mapping[str, int]
    """By stratum, those that have a verdict already included."""
    half_width: float
    """Half the expected width of the corrected interval; 0.5 at most, which is to know nothing."""
    least_half_width: float
    """The same had people been asked about every unit: what other cases might show remains."""


def plan_verdicts(
    units: Sequence[JudgedUnit], half_width: float, guesses: Mapping[str, float], there: Mapping[str, int]
) -> VerdictPlan:
    """The fewest verdicts with which the interval of ``correct_mean`` is expected to be value ± ``half_width``.

    Source: Neyman 1934, "On the two different aspects of the representative method", Journal of the Royal Statistical Society
    97: strata in proportion to size times standard deviation; at least two of each, or all. The variance that no verdict
    takes away is that of the pseudo-values by cluster, less what their sampling adds to it; where nobody was asked yet, that of
    the judge's opinions and of the residuals, as if those were independent.

    Args:
        guesses: by stratum, the variance of people's opinions around the judge's where none is known.
        there: by stratum, the units that people have been asked about, whether they have answered yet or not.

    Returns:
        Where ``half_width`` is below ``WITHIN_REACH`` times what all verdicts would give, a plan for that. A wider
        ``half_width`` never takes more verdicts.

    Raises:
        ValueError: there are fewer than two clusters.
    """
    sizes, known = Counter(unit.stratum for unit in units), Counter(unit.stratum for unit in units if unit.given is not None)
    clusters = {unit.cluster for unit in units}
    if len(clusters) < 2:
        raise ValueError("fewer than two clusters")
    values = np.array([unit.predicted for unit in units])
    spreads, shown = dict(guesses), np.array([known[unit.stratum] > 0 for unit in units])
    unseen = sum(spreads[name] * size for name, size in sizes.items() if not known[name])
    varied, sampled = unseen / len(units), np.zeros(len(units))
    if pseudo := _make_pseudo_values([unit for unit, is_shown in zip(units, shown.tolist(), strict=True) if is_shown], None):
        answered = [unit.stratum for unit in units if known[unit.stratum]]
        spreads |= dict(zip(answered, pseudo.residual_variance.tolist(), strict=True))
        values[shown], sampled[shown] = pseudo.values, pseudo.sampled
        varied += float(pseudo.opinion_variance.sum()) / len(units)
    is_varied = len({(unit.stratum, unit.predicted) for unit in units}) > len(sizes)
    value = min(1.0, max(0.0, float(values.mean())))
    spread = max(value * (1 - value), varied)
    if unseen and spread > value * (1 - value):
        value = 0.5 - sqrt(max(0.0, 0.25 - spread))  # The judge's value is not people's: one that varies so much is expected.
    between = _sum_squares(_sum_by_cluster([unit.cluster for unit in units], (values - values.mean()) / len(units)))
    # Verdicts on all units cannot tell more than as many cases that have nothing in common.
    remaining = max(between + (unseen - float(sampled.sum())) / len(units) ** 2, spread / len(units))

    def allot(factor: float) -> dict[str, int]:
        return {
            name: min(size, max(2, there.get(name, 0), ceil(factor * size * sqrt(spreads[name])))) for name, size in sizes.items()
        }

    def expect(verdicts: Mapping[str, int]) -> float:
        open_ = sum(size * (size / verdicts[name] - 1) * spreads[name] for name, size in sizes.items()) / len(units) ** 2
        freedom = _count_freedom(np.array(list(sizes.values())), np.array([verdicts[name] for name in sizes]), is_varied)
        low, high = _find_limits(value, spread, remaining + open_, min(len(clusters) - 1, freedom), len(units))
        return (high - low) / 2

    least = expect(sizes)
    wanted = max(half_width, least * WITHIN_REACH)
    few, many = 0.0, 1 / sqrt(min(spreads[name] for name in sizes))
    for _ in range(40):
        middle = (few + many) / 2
        few, many = (few, middle) if expect(allot(middle)) <= wanted else (middle, many)
    return VerdictPlan(allot(many), expect(allot(many)), least)


@dataclass(frozen=True, slots=True)
class _PseudoValues:
    """The pseudo-values of all units of a side; arrays run in parallel with the units."""

    values: Floats
    clusters: Sequence[str]
    sampled: Floats
    """The variance that comes of having asked about a sample only, as verdicts show it, by unit."""
    hidden: Floats
    """What few verdicts hide of that, by unit."""
    residual_variance: Floats
    """The variance of people's opinions around the judge's, in the unit's stratum."""
    opinion_variance: Floats
    """The variance of people's opinions around their mean, in the unit's stratum."""
    freedom: float
    """Degrees of freedom of the residuals."""

    def average(self, chosen: NDArray[np.bool_]) -> float:
        return float(self.values[chosen].mean())

    def sum_deviations(self, chosen: NDArray[np.bool_]) -> dict[str, float]:
        """By cluster, its part of the mean's deviation."""
        clusters = [cluster for cluster, is_chosen in zip(self.clusters, chosen.tolist(), strict=True) if is_chosen]
        return _sum_by_cluster(clusters, (self.values[chosen] - self.average(chosen)) / chosen.sum())

    def sum_hidden(self, chosen: NDArray[np.bool_]) -> float:
        return float(self.hidden[chosen].sum()) / int(chosen.sum()) ** 2


def _make_pseudo_values(units: Sequence[JudgedUnit], tuning: float | None) -> _PseudoValues | None:
    strata, place = np.unique([unit.stratum for unit in units], return_inverse=True)
    asked = np.array([unit.given is not None for unit in units], dtype=bool)
    sizes, drawn = np.bincount(place, minlength=len(strata)), np.bincount(place[asked], minlength=len(strata))
    if len(units) == 0 or not drawn.all():
        return None
    predicted = np.array([unit.predicted for unit in units])
    given = np.array([0.0 if unit.given is None else unit.given for unit in units])
    inclusion = np.array([unit.inclusion for unit in units])
    if not (inclusion > 0).all() or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("people's opinions must be in [0, 1], inclusions above 0")
    weights = np.where(asked, 1 / inclusion, 0.0)
    weights *= (sizes / np.bincount(place, weights))[place]

    def centre(values: Floats) -> tuple[Floats, Floats]:
        """(the values less their stratum's weighted mean; that mean), by unit."""
        means = (np.bincount(place, weights * values) / sizes)[place]
        return values - means, means

    open_ = (sizes / drawn - 1)[place]
    deviations, (own, averages) = centre(predicted)[0], centre(given)
    everywhere = predicted - (np.bincount(place, predicted) / sizes)[place]
    opinions = np.bincount(place, everywhere**2) / sizes
    others: float | Floats = tuning if tuning is not None else 1.0
    if tuning is None:
        unrelated = UNRELATED * float(np.sum(opinions * (sizes / drawn) * (sizes / drawn - 1)))
        tuning, others = _tune(deviations, own, weights * open_, unrelated)
    means = centre(given - tuning * predicted)[1]
    predictions = tuning * predicted + means
    average = np.bincount(place, weights * averages) / sizes
    fitted, seen, varied = (
        np.bincount(place, weights * each**2) / sizes for each in (own - tuning * deviations, own - others * deviations, own)
    )
    spread = np.maximum(seen * drawn / np.maximum(drawn - 1, 1), _imagine_more(seen, drawn, average, tuning**2 * opinions))
    return _PseudoValues(
        values=predictions + weights * (given - predictions),
        clusters=[unit.cluster for unit in units],
        sampled=open_ * fitted[place],
        hidden=open_ * (spread - fitted)[place],
        residual_variance=spread[place],
        opinion_variance=_imagine_more(varied, drawn, average)[place],
        freedom=_count_freedom(sizes, drawn, bool((opinions > ROUNDING_STANDARD_ERROR).any())),
    )


def _tune(predicted: Floats, given: Floats, weights: Floats, unrelated: float) -> tuple[float, Floats]:
    """The λ in [0, 1] with the least variance, and for each unit that of all others, from deviations within strata.

    1 where the judge does not vary there; ``unrelated`` is the part in the judge's variance of verdicts unrelated to it.
    """
    together, alone = weights * predicted * given, weights * predicted**2

    def solve(shared: Floats, spread: Floats) -> Floats:
        return np.clip(np.where(spread > 1e-12, shared / np.maximum(spread, 1e-12), 1.0), 0.0, 1.0)

    total, whole = together.sum(), alone.sum() + unrelated
    return float(solve(total, whole)), solve(total - together, whole - alone)


def _imagine_more(seen: Floats, drawn: NDArray[Any], average: Floats, apart: Floats | float = 0.0) -> Floats:
    """The variance in each stratum with ``IMAGINED`` verdicts for and against beside those ``drawn``, of which it was ``seen``.

    Without them a stratum in which nobody contradicted the judge would be known for certain. The imagined ones lie ``apart``
    from the judge's opinion, too: by the variance that it brings in.
    """
    count = drawn + 2 * IMAGINED
    squares: Floats = (drawn * (seen + average**2) + IMAGINED * (1 + 2 * apart)) / count
    return squares - ((drawn * average + IMAGINED) / count) ** 2


def _count_freedom(sizes: NDArray[Any], drawn: NDArray[Any], is_varied: bool) -> float:
    """The degrees of freedom of residuals in strata, 1 or more.

    Where the judge's opinion is varied within strata, the few verdicts of a large one weigh as they do in the variance.
    Source: Satterthwaite 1946, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, with
    one variance for all strata. Where it is not, verdicts that are imagined do more than that.
    """
    freedom = float(drawn.sum()) - len(sizes)
    parts = sizes * (sizes / drawn - 1)
    if is_varied and parts.any():
        freedom = float(parts.sum()) ** 2 / float((parts**2 / np.maximum(drawn - 1, 1)).sum())
    return max(1.0, freedom)


def _sum_by_cluster(clusters: Sequence[str], parts: Floats) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for cluster, part in zip(clusters, parts.tolist(), strict=True):
        found[cluster] += part
    return found


def _sum_squares(sums: Mapping[str, float]) -> float:
    return len(sums) / (len(sums) - 1) * sum(part**2 for part in sums.values())


def _find_quantile(freedom: float) -> float:
    from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

    upper = (1 + CONFIDENCE) / 2
    return float(ndtri(upper) if freedom == inf else stdtrit(freedom, upper))
