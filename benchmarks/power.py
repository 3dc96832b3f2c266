"""How often a difference is found that `sociable power` promises to find, and how often intervals hold where a run ends by rule.

    python benchmarks/power.py [--quick] [--pairs 1000] [--runs 2000]

Pairs of models are drawn whose true difference is known; a first pair is the pilot from which a difference is promised, other
pairs have that difference. Runs that end by rule are drawn until their interval is narrow: see README.md here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit  # type: ignore[import-untyped]

from sociable.core.records import Outcome, Score
from sociable.statistics.components import measure_components
from sociable.statistics.intervals import Interval
from sociable.statistics.metrics import CombinedMeans, Metric, mean
from sociable.statistics.paired import compare_combined, compare_paired
from sociable.statistics.power import find_smallest_difference
from sociable.statistics.sequential import estimate_at_look, find_level, plan_looks

Floats = NDArray[np.float64]

SHARE: Metric[None] = Metric("share", "Share", "", value=lambda _: None)  # type: ignore[arg-type,return-value]
MEAN: Metric[None] = Metric("mean", "Mean", "", value=lambda _: None, aggregate=mean, low=None, high=None)  # type: ignore[arg-type,return-value]
FRACTION: Metric[None] = Metric("fraction", "Fraction", "", value=lambda _: None, aggregate=mean)  # type: ignore[arg-type,return-value]
CONDITIONAL: Metric[None] = Metric("conditional", "Conditional", "", value=lambda _: None)  # type: ignore[arg-type,return-value]
PRODUCT: Metric[None] = Metric(
    "product", "Product", "", aggregate=CombinedMeans(("one", "two"), lambda means: means.prod(axis=-1))
)

PILOTS = 50
"""Pilots of each design: what is promised depends on the pilot."""

REACHED = 0.6
"""The share of cases that a model reaches, of those of which a conditional share is."""

LARGE = 10_000
"""Clusters of the one large pilot, so that chance has hardly a part in what it promises."""


@dataclass(frozen=True)
class Design:
    """Cases of each cluster, and how much clusters, cases and models vary (standard deviations on the scale of logits)."""

    name: str
    metric: Metric[None]
    sizes: tuple[int, ...]
    level: float
    """The first model's ability, in logits; of a mean, in its own unit."""
    clusters: float
    """How much clusters differ in difficulty, for both models alike."""
    tastes: float
    """How much a model is better or worse in a cluster than it is elsewhere."""
    runs: int = 2
    """Runs of a pilot."""

    @property
    def parts(self) -> int:
        return 2 if self.metric in (PRODUCT, CONDITIONAL) else 1


DESIGNS = (
    Design("share", SHARE, (4,) * 60, 0.5, 1.0, 0.3),
    Design("share, unequal clusters", SHARE, (1, 2, 3, 4, 6, 8) * 8, 0.5, 1.0, 0.3),
    Design("share near 1", SHARE, (4,) * 60, 2.2, 0.5, 0.0),
    Design("share, one case a cluster", SHARE, (1,) * 100, 0.0, 0.5, 0.0),
    Design("share, 12 clusters", SHARE, (8,) * 12, 0.0, 1.0, 0.3),
    Design("mean", MEAN, (3,) * 24, 0.0, 1.0, 0.5),
    Design("mean, unequal clusters", MEAN, (1, 1, 1, 10) * 8, 0.0, 1.0, 0.5),
    Design("product of two shares", PRODUCT, (4,) * 60, 1.0, 1.0, 0.3),
    Design("share of cases reached, pilots of one run", CONDITIONAL, (4,) * 60, 0.5, 0.0, 0.3, runs=1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=1000, help="of each design")
    parser.add_argument("--runs", type=int, default=2000, help="of each design that end by rule")
    parser.add_argument("--quick", action="store_true", help="200 of each")
    asked = parser.parse_args()
    pairs, runs = (200, 200) if asked.quick else (asked.pairs, asked.runs)
    print(
        "| design | clusters | cases | difference | power found | ± | if worse | ± | by pilots as small | ± | false alarms | ± |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        print(measure_power(design, pairs), flush=True)
    print("\n| design | rule | clusters at the end | coverage of the repeated interval | of the usual one | ± |")
    print("|---|---|---|---|---|---|")
    for ending in ENDING:
        print(measure_coverage(ending, runs), flush=True)


def draw(design: Design, shift: float, generator: np.random.Generator) -> list[Floats]:
    """[part, case] values of two models; ``shift`` is what the second is better by, in logits or in the metric's unit."""
    sizes = np.array(design.sizes)
    difficulty = np.repeat(design.clusters * generator.standard_normal(len(sizes)), sizes)
    found = []
    # Of a share of cases reached, the second part is whether a case is reached, which the shift leaves as it is.
    for ability in (design.level, design.level + shift):
        own = np.repeat(design.tastes * generator.standard_normal(len(sizes)), sizes)
        where = np.broadcast_to(ability - difficulty + own, (design.parts, sizes.sum()))
        if design.metric is MEAN:
            found.append(where + generator.standard_normal(where.shape))
        else:
            values = (generator.random(where.shape) < expit(where)).astype(float)
            if design.metric is CONDITIONAL:
                values[1] = generator.random(sizes.sum()) < REACHED
            found.append(values)
    return found


def find_truth(design: Design, ability: float) -> float:
    """The true value of a model: over the normal distribution of what clusters and models add to its ability."""
    if design.metric is MEAN:
        return ability
    at, weights = np.polynomial.hermite_e.hermegauss(80)
    spread = sqrt(design.clusters**2 + design.tastes**2)
    share = float((weights * expit(ability + spread * at)).sum() / weights.sum())
    return share**2 if design.metric is PRODUCT else share


def find_shift(design: Design, difference: float, direction: int = 1) -> float | None:
    """What the second model is better by (``direction`` -1: worse), if the true difference is this; None: no room."""

    def measure(shift: float) -> float:
        return direction * (find_truth(design, design.level + direction * shift) - find_truth(design, design.level))

    if measure(12.0) < difference:
        return None
    low, high = 0.0, 12.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if measure(middle) < difference else (low, middle)
    return direction * low


def make_scores(design: Design, values: Floats) -> list[Score]:
    """The scores, case by case."""
    names = ("one", "two") if design.metric is PRODUCT else (design.metric.name,)
    cluster_of = np.repeat(np.arange(len(design.sizes)), design.sizes).tolist()
    if design.metric is CONDITIONAL:
        outcomes = (Outcome.NOT_REACHED, Outcome.SCORED)
        rows = zip(cluster_of, *values.tolist(), strict=True)
        return [
            Score(
                metric=names[0],
                scenario=str(case),
                cluster=str(cluster),
                value=value if is_reached else None,
                outcome=outcomes[int(is_reached)],
            )
            for case, (cluster, value, is_reached) in enumerate(rows)
        ]
    return [
        Score(metric=name, scenario=str(case), cluster=str(cluster), value=value)
        for case, (cluster, row) in enumerate(zip(cluster_of, values.T.tolist(), strict=True))
        for name, value in zip(names, row, strict=True)
    ]


def test(design: Design, pair: list[Floats]) -> float:
    """The p-value of a comparison, as `sociable compare` has it."""
    names = [str(case) for case in range(sum(design.sizes))]
    cluster_of = dict(zip(names, map(str, np.repeat(np.arange(len(design.sizes)), design.sizes)), strict=True))
    if design.metric is not PRODUCT:
        one, other = (
            {
                case: value
                for case, value, is_reached in zip(names, values[0].tolist(), values[-1].tolist(), strict=True)
                if is_reached or design.metric is not CONDITIONAL
            }
            for values in pair
        )
        found = compare_paired(one, other, cluster_of, replicates=1, sign_flips=999)
    else:
        starts, sizes = np.r_[0, np.cumsum(design.sizes)[:-1]], np.array(design.sizes, dtype=float)
        first, second = (
            np.stack([np.add.reduceat(values[0], starts), sizes, np.add.reduceat(values[1], starts), sizes], axis=1)
            for values in pair
        )
        combine: Callable[[Floats], Floats] = lambda each: each[..., 0] / each[..., 1] * each[..., 2] / each[..., 3]  # noqa: E731
        found = compare_combined(first, second, design.sizes, combine, replicates=1, sign_flips=999)
    assert found.p_value is not None
    return found.p_value


def measure_power(design: Design, count: int) -> str:
    """A row of the table: how often a difference is found that pilots of two equal models promise with a power of 0.8."""
    generator = np.random.default_rng(1)
    large, worse, found, alarms = [], [], [], []
    promised, shift = promise(design, LARGE // len(design.sizes), generator)
    down = find_shift(design, promised, -1)
    assert shift is not None and down is not None
    for _ in range(count):
        large.append(test(design, draw(design, shift, generator)) <= 0.05)
        worse.append(test(design, draw(design, down, generator)) <= 0.05)
        alarms.append(test(design, draw(design, 0.0, generator)) <= 0.05)
    for _ in range(PILOTS):
        _, shift = promise(design, 1, generator)
        if shift is not None:
            found += [test(design, draw(design, shift, generator)) <= 0.05 for _ in range(count // PILOTS)]
    cells = [design.name, str(len(design.sizes)), str(sum(design.sizes)), f"{promised:.3f}"]
    return f"| {' | '.join([*cells, *map(format_share, (large, worse, found, alarms))])} |"


def promise(design: Design, times: int, generator: np.random.Generator) -> tuple[float, float | None]:
    """(the difference that a pilot of so many times the clusters promises to be found, the shift that makes it)."""
    pilot = replace(design, sizes=design.sizes * times)
    components = measure_components(
        [{"": make_scores(pilot, each)} for each in draw(pilot, 0.0, generator)[: design.runs]], design.metric.find_means
    )
    assert components is not None
    spread = components.spread.place(components.value, design.metric.low, design.metric.high)
    difference = find_smallest_difference(spread.scale(spread.clusters / times))
    assert difference is not None
    return difference, find_shift(design, difference)


def format_share(of: list[bool]) -> str:
    """A share and its Monte-Carlo error."""
    share = float(np.mean(of))
    return f"{share:.3f} | {sqrt(share * (1 - share) / len(of)):.3f}"


@dataclass(frozen=True)
class Ending:
    """Runs of a design, that end as soon as half the interval's width is at most ``width``."""

    design: Design
    width: float


ENDING = (
    Ending(Design("share", SHARE, (4,) * 100, 0.5, 1.0, 0.3), 0.1),
    Ending(Design("share", SHARE, (4,) * 100, 0.5, 1.0, 0.3), 0.07),
    Ending(Design("share near 1", SHARE, (4,) * 100, 3.0, 0.5, 0.0), 0.05),
    Ending(Design("share, unequal clusters", SHARE, (1, 2, 3, 4, 6, 8) * 16, 0.5, 1.0, 0.3), 0.1),
    Ending(Design("mean", MEAN, (3,) * 100, 0.0, 1.0, 0.5), 0.4),
    Ending(Design("mean", MEAN, (3,) * 30, 0.0, 1.0, 0.5), 0.6),
    Ending(Design("product of two shares", PRODUCT, (4,) * 100, 1.0, 1.0, 0.3), 0.1),
    Ending(Design("mean of fractions near 1", FRACTION, (4,) * 64, 4.0, 0.5, 0.0), 0.05),
    Ending(Design("product of two shares near 1", PRODUCT, (4,) * 64, 4.0, 0.5, 0.0), 0.05),
)


def measure_coverage(ending: Ending, count: int) -> str:
    """A row of the table: how often the interval holds the truth where a run ended; and one that ignores the earlier looks."""
    generator = np.random.default_rng(2)
    design = ending.design
    truth, looks = find_truth(design, design.level), plan_looks(len(design.sizes))
    held, clusters = {"repeated": 0, "usual": 0}, []
    for _ in range(count):
        values = draw(design, 0.0, generator)[0]
        scores, parts = make_scores(design, values), len(values)
        for name, level in (("repeated", find_level(looks)), ("usual", 0.05)):
            for look in looks:
                interval = estimate_at_look(design.metric, scores[: parts * sum(design.sizes[:look])], level)
                if measure_half_width(interval) <= ending.width:
                    break
            held[name] += holds(interval, truth)
            if name == "repeated":
                clusters.append(look)
    shares = [each / count for each in held.values()]
    error = sqrt(max(share * (1 - share) for share in shares) / count)
    cells = [f"{design.name}, {len(design.sizes)} clusters", f"± {ending.width:g}", f"{np.mean(clusters):.0f}"]
    return f"| {' | '.join([*cells, *(f'{share:.3f}' for share in shares), f'{error:.3f}'])} |"


def measure_half_width(interval: Interval) -> float:
    assert interval.low is not None and interval.high is not None
    return (interval.high - interval.low) / 2


def holds(interval: Interval, truth: float) -> bool:
    assert interval.low is not None and interval.high is not None
    return interval.low <= truth <= interval.high


if __name__ == "__main__":
    main()
