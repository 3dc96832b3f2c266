"""The parts of the variance of a difference between two agents: clusters, cases in a cluster, repeats of a case, judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

import numpy as np

from sociable.core.records import Outcome, Score
from sociable.statistics.estimates import find_common_cases, sum_by_cluster
from sociable.statistics.influence import Influences, count_unusual, find_influences, sum_within
from sociable.statistics.intervals import Floats
from sociable.statistics.power import Spread, find_grain, make_spread


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the squared standard error that goes with the number of repeats, or of judges."""

    variance: float
    count: float
    """How many of them there were."""


@dataclass(frozen=True, slots=True)
class Components:
    """A difference's variance over some cases; standard deviations are of the difference in one case, in its unit."""

    spread: Spread
    value: float
    """The mean of the two agents' values."""
    cases: int
    between: float
    """The standard deviation between clusters, of the true mean difference of their cases."""
    within: float | None
    """The standard deviation between cases of a cluster, repeats averaged; None where no cluster has two."""
    repeats: Share | None
    """None where no case was repeated."""
    judges: Share | None
    """None where there was one judge."""
    once: float = 1.0
    """The share of the cases that would have a value if each were run once; repeats reach what one of them misses."""

    def scale(self, clusters: float, cases: float) -> Components:
        """The same over so many clusters and cases like these."""
        repeats, judges = (
            None if share is None else replace(share, variance=share.variance * self.cases / cases)
            for share in (self.repeats, self.judges)
        )
        return replace(self, spread=self.spread.scale(clusters), cases=round(cases), repeats=repeats, judges=judges)

    def thin(self, share: float) -> Components:
        """The same where only this share of the cases has a value, which may be none of a cluster."""
        clusters = self.spread.clusters
        thinned = self.scale(clusters * share, self.cases * share)
        left = max(2, round(clusters * (1 - (1 - share) ** (self.cases / clusters))))
        return replace(thinned, spread=replace(thinned.spread, clusters=left, differing=self.spread.differing), once=1.0)

    @property
    def between_repeats(self) -> float | None:
        """The standard deviation between repeats of a case, of the difference of two of them."""
        return sqrt(self.repeats.variance * self.repeats.count * self.cases) if self.repeats else None

    def change_repeats(self, count: int) -> Components | None:
        """The same if every case were run so many times; None where nobody knows."""
        share = self.repeats
        if share is None:
            return None
        factor = share.count / count
        inside = None if self.within is None else sqrt(max(0.0, self.within**2 + share.variance * self.cases * (factor - 1)))
        changed = replace(self, spread=self._change(share, factor), within=inside, repeats=Share(share.variance * factor, count))
        return changed.thin(self.once) if count == 1 and self.once < 1 else changed

    def add_judge(self) -> Components | None:
        """The same if one more judge like these were asked; None where nobody knows."""
        return (
            replace(self, spread=self._change(self.judges, self.judges.count / (self.judges.count + 1))) if self.judges else None
        )

    def _change(self, share: Share, factor: float) -> Spread:
        whole = self.spread.standard_error**2
        # A part that was estimated too large must not leave less than if it were all.
        changed = max(whole + share.variance * (factor - 1), whole * min(1.0, factor))
        times = sqrt(changed / whole) if whole else 1.0
        return replace(self.spread, standard_error=sqrt(changed), step=self.spread.step * times)


Side = Mapping[str, Sequence[Score]]
"""The scores of one run: by all judges under the empty name, and by each judge alone where there are several."""


FindMeans = Callable[[Sequence[Score]], tuple[Sequence[str], Callable[[Floats], Floats]] | None]
"""Scores → the metrics whose means a quantity is made of, and how (``Metric.find_means``)."""


def measure_components(sides: Sequence[Side], find_means: FindMeans) -> Components | None:
    """The parts of the variance of a difference between two runs, on the cases on which a comparison of the two rests.

    Of one run alone: of the difference of two agents like it that succeed and fail independently of one another, which is twice
    the variance of its own value, on the cases that both would reach. Agents that find the same cases hard differ less from
    case to case.

    Source of the parts: one-way analysis of variance with clusters of unequal size (Searle, Casella and McCulloch 1992,
    "Variance Components", section 3.6), of the cases' influences times their number, which for a mean are the differences
    themselves. None where the quantity is not defined, or there are fewer than two clusters.
    """
    means = [find_means(side[""]) for side in sides]
    if not means[0] or not means[-1] or means[0][0] != means[-1][0]:
        return None
    parts, combine = means[0]
    common = find_common_cases([side[""] for side in sides], parts)
    judges = [judge for judge in sides[0] if judge in sides[-1]]
    found = {judge: _find_influences([side[judge] for side in sides], common, parts, combine) for judge in judges}
    whole = found[""]
    sizes = Counter(common.values())
    if not whole or len(sizes) < 2:
        return None
    values = {judge: _subtract(own, common) for judge, own in found.items() if own}
    by_cluster = sum_within(np.array(list(values[""].values())), list(common.values()))
    if len(sides) == 2:
        one, other = (sum_by_cluster(_take(side[""], common, parts), parts) for side in sides)
        difference = whole[1].estimate - whole[0].estimate
        added, counts = np.array(list(by_cluster.values())), np.array([sizes[each] for each in by_cluster], dtype=np.float64)
        spread = make_spread(difference, added, counts, int((one != other).any(axis=1).sum()))
    else:
        spread = _double(by_cluster, count_unusual(values[""], common))
    doubled = 3 - len(sides)
    between, within = _split(values[""], common, sizes)
    components = Components(
        spread=spread,
        value=(whole[0].estimate + whole[-1].estimate) / 2,
        cases=len(common),
        between=sqrt(between * doubled),
        within=None if within is None else sqrt(within * doubled),
        repeats=_measure_repeats(whole, doubled),
        judges=_measure_judges([own for judge, own in values.items() if judge], doubled),
    )
    return components if len(parts) > 1 else _reach_again(components, [side[""] for side in sides], parts[0])


def _take(scores: Sequence[Score], common: Mapping[str, str], parts: Sequence[str]) -> list[Score]:
    """The scores that count: of a mean every case weighs the same, however many of its repeats have a value."""
    scored = len(parts) == 1
    return [each for each in scores if each.scenario in common and not (scored and each.value is None)]


def _find_influences(
    sides: Sequence[Sequence[Score]], common: Mapping[str, str], parts: Sequence[str], combine: Callable[[Floats], Floats]
) -> list[Influences]:
    """The influences on each side's own value; empty where one has none."""
    found = [find_influences(_take(side, common, parts), parts, combine) for side in sides]
    return [each for each in found if each] if all(found) else []


def _subtract(sides: Sequence[Influences], common: Mapping[str, str]) -> dict[str, float]:
    """The influence of each case on the difference; of one side, on its own value."""
    sums = [sum_within(each.values, each.cases) for each in sides]
    return {case: sums[-1].get(case, 0.0) - (sums[0].get(case, 0.0) if len(sums) > 1 else 0.0) for case in common}


def _double(by_cluster: Mapping[str, float], differing: int) -> Spread:
    """The spread of a difference of independent agents: any cluster of one with any of the other."""
    values = np.array(list(by_cluster.values()))
    apart = np.abs(values[:, None] - values[None, :])
    alone = make_spread(0.0, values, np.ones(len(values)), len(values))
    step = float((apart**2).sum() / apart.sum()) if apart.sum() > 1e-9 else 0.0
    error = alone.standard_error * sqrt(2)
    return replace(alone, standard_error=error, step=step, differing=differing if step else 0, grain=find_grain(apart))


def _reach_again(components: Components, sides: Sequence[Sequence[Score]], metric: str) -> Components:
    """The same on the cases that both agents reach; of one run, the other is as able as its agent and independent of it.

    The cases that two agents reach who run them once are counted over pairs of repeats: of one run, of different ones.
    """
    counts: list[dict[str, list[bool]]] = [defaultdict(list) for _ in sides]
    for side, count in zip(sides, counts, strict=True):
        for score in side:
            if score.metric == metric and score.outcome in (Outcome.SCORED, Outcome.NOT_REACHED):
                count[score.scenario].append(score.value is not None)
    if all(all(reached) for count in counts for reached in count.values()):
        return components
    if len(sides) == 1:
        (alone,) = counts
        share = components.cases / len(alone)
        pairs = [(sum(own) * (sum(own) - 1), len(own) * (len(own) - 1)) for own in alone.values() if len(own) > 1]
        once = sum(both for both, _ in pairs) / sum(of for _, of in pairs) / share**2 if pairs else 1.0
        components = components.thin(share)
    else:
        shares = [{case: sum(own) / len(own) for case, own in count.items()} for count in counts]
        once = fsum(shares[0][case] * shares[1][case] for case in shares[0].keys() & shares[1].keys()) / components.cases
    return replace(components, once=min(1.0, once))


def _split(values: Mapping[str, float], clusters: Mapping[str, str], sizes: Mapping[str, int]) -> tuple[float, float | None]:
    """(between clusters, between cases of a cluster): σ_w² = SSW / (N - C), σ_b² = (SSB / (C - 1) - σ_w²) / n₀, at least 0.

    n₀ = (N - Σ n² / N) / (C - 1). Where every case is a cluster all variance is between them.
    """
    count, groups = len(values), len(sizes)
    scaled: dict[str, list[float]] = defaultdict(list)
    for case, value in values.items():
        scaled[clusters[case]].append(value * count)
    mean = fsum(value for own in scaled.values() for value in own) / count
    means = {cluster: fsum(own) / len(own) for cluster, own in scaled.items()}
    across = fsum(len(own) * (means[cluster] - mean) ** 2 for cluster, own in scaled.items()) / (groups - 1)
    if count == groups:
        return across, None
    inside = fsum((value - means[cluster]) ** 2 for cluster, own in scaled.items() for value in own) / (count - groups)
    size = (count - sum(each**2 for each in sizes.values()) / count) / (groups - 1)
    return max(0.0, (across - inside) / size), inside


def _measure_repeats(sides: Sequence[Influences], doubled: int) -> Share | None:
    """The variance from which repeats of one case differ: R s² for each case, added up.

    Of two runs it is that of the differences between repeats of the same number: agents of chance may draw the same lots there.
    """
    values = [
        {(case, repeat): value for case, repeat, value in zip(each.cases, each.repeats, each.values.tolist(), strict=True)}
        for each in sides
    ]
    repeats: dict[str, list[float]] = defaultdict(list)
    for (case, repeat), value in values[0].items():
        if all((case, repeat) in other for other in values):
            repeats[case].append(values[-1][case, repeat] - value if len(values) > 1 else value)
    several = [own for own in repeats.values() if len(own) > 1]
    if not several:
        return None
    variance = fsum(len(own) * float(np.var(own, ddof=1)) for own in several)
    return Share(variance * doubled, sum(map(len, several)) / len(several))


def _measure_judges(judges: Sequence[Mapping[str, float]], doubled: int) -> Share | None:
    """The variance from which judges of one case differ: s² / J for each case, added up; but for what a judge adds to all."""
    if len(judges) < 2:
        return None
    rows = np.array([[own.get(case, 0.0) for own in judges] for case in dict.fromkeys(case for own in judges for case in own)])
    return Share(float(rows.var(axis=1, ddof=1).sum()) / len(judges) * doubled, len(judges))
