"""The parts of a difference's variance: by hand, and in simulations whose parts are known."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest

from sociable.core.records import Outcome, Score
from sociable.statistics.components import Components, measure_components
from sociable.statistics.influence import find_influences
from sociable.statistics.metrics import Metric, mean
from sociable.statistics.paired import compare_paired

METRIC = Metric("m", "M", "", value=lambda _: None, aggregate=mean, low=None, high=None)  # type: ignore[arg-type,return-value]


def score(cluster: object, case: object, value: float, repeat: int = 0, metric: str = "m") -> Score:
    return Score(metric=metric, scenario=f"{cluster}-{case}", cluster=str(cluster), repeat=repeat, value=value)


def measure(*sides: list[Score], judges: list[dict[str, list[Score]]] | None = None) -> Components:
    found = measure_components(
        [{"": side, **(judges[place] if judges else {})} for place, side in enumerate(sides)], METRIC.find_means
    )
    assert found is not None
    return found


def test_influences_on_a_mean_are_the_distances_from_it() -> None:
    # Mean 3 of 2, 3, 4: (2 - 3) / 3, 0, (4 - 3) / 3.
    found = find_influences([score("a", 1, 2.0), score("a", 2, 3.0), score("b", 1, 4.0)], ["m"], lambda means: means[..., 0])
    assert found is not None
    assert found.estimate == 3.0
    assert found.values == pytest.approx([-1 / 3, 0, 1 / 3], abs=1e-9)


def test_influences_on_a_product_follow_the_product_rule() -> None:
    # Means 1/2 and 3/4: of a case (1, 1) the influence is 3/4 (1 - 1/2) / 4 + 1/2 (1 - 3/4) / 4 = 1/8, of (0, 0) it is -3/4 / 8 - 3/32.
    pairs = [(1, 1), (1, 1), (0, 1), (0, 0)]
    scores = [
        score(place, 0, float(value), metric=name)
        for place, pair in enumerate(pairs)
        for name, value in zip("ab", pair, strict=True)
    ]
    found = find_influences(scores, ["a", "b"], lambda means: means[..., 0] * means[..., 1])
    assert found is not None
    assert found.values == pytest.approx([1 / 8, 1 / 8, -3 / 32 + 1 / 32, -3 / 32 - 3 / 32], abs=1e-8)
    assert find_influences(scores, ["c"], lambda means: means[..., 0]) is None


def test_parts_of_a_worked_example() -> None:
    # Differences a: 1, 0; b: 1, 1; mean 3/4. Within: (1/4 + 1/4) / 2 = 1/4. Across: 2 (1/16 + 1/16) / 1 = 1/4; between (1/4 - 1/4) / 2 = 0.
    first = [score(cluster, case, 0.0) for cluster, case in product("ab", (1, 2))]
    second = [score("a", 1, 1.0), score("a", 2, 0.0), score("b", 1, 1.0), score("b", 2, 1.0)]
    found = measure(first, second)
    assert (found.between, found.within) == pytest.approx((0.0, 0.5))
    assert (found.cases, found.repeats, found.judges) == (4, None, None)
    # The spread is that of a comparison of the same cases.
    cases = [{each.scenario: each.value or 0.0 for each in side} for side in (first, second)]
    compared = compare_paired(*cases, {each.scenario: each.cluster for each in first}).spread
    assert compared is not None
    assert found.spread.standard_error == pytest.approx(compared.standard_error)
    assert (found.spread.step, found.spread.clusters) == pytest.approx((compared.step, compared.clusters))


def test_of_one_run_the_variance_is_that_of_two_independent_ones() -> None:
    generator = np.random.default_rng(1)
    ability = generator.normal(size=40)
    side = [score(cluster, case, ability[cluster] + generator.normal()) for cluster in range(40) for case in range(3)]
    alone, error = measure(side), find_influences(side, ["m"], lambda means: means[..., 0])
    assert error is not None
    own = np.add.reduceat(error.values, np.arange(0, 120, 3))
    assert alone.spread.standard_error**2 == pytest.approx(2 * 40 / 39 * (own**2).sum())
    # 0.8 of 1 is the usual distance of two normal values, over that of one, times sqrt(2).
    assert alone.spread.step == pytest.approx(sqrt(np.pi) * sqrt(own.var()), rel=0.2)


def test_the_parts_of_a_simulation_are_found() -> None:
    generator = np.random.default_rng(3)
    clusters, cases, repeats = 300, 4, 3
    b, w, r = 0.5, 0.7, 0.9
    sides: list[list[Score]] = [[], []]
    for cluster in range(clusters):
        of_cluster = b * generator.normal()
        for case in range(cases):
            of_case = w * generator.normal()
            for repeat, side in product(range(repeats), (0, 1)):
                difference = (of_cluster + of_case) * side
                sides[side].append(score(cluster, case, difference + r / sqrt(2) * generator.normal(), repeat))
    found = measure(*sides)
    assert found.between == pytest.approx(b, rel=0.15)
    assert found.within == pytest.approx(sqrt(w**2 + r**2 / repeats), rel=0.1)
    assert found.between_repeats == pytest.approx(r, rel=0.1)
    assert found.spread.standard_error**2 == pytest.approx(
        b**2 / clusters + (w**2 + r**2 / repeats) / (clusters * cases), rel=0.2
    )
    once = found.change_repeats(1)
    assert once is not None and once.within is not None
    assert once.within == pytest.approx(sqrt(w**2 + r**2), rel=0.1)
    assert once.spread.standard_error**2 == pytest.approx(b**2 / clusters + (w**2 + r**2) / (clusters * cases), rel=0.2)
    again = once.change_repeats(3)
    assert again is not None
    assert again.spread.standard_error == pytest.approx(found.spread.standard_error)
    # Twice the clusters: half of each variance.
    twice = found.scale(2 * clusters, 2 * clusters * cases)
    assert twice.spread.standard_error == pytest.approx(found.spread.standard_error / sqrt(2))
    assert (twice.cases, twice.between_repeats) == (2 * clusters * cases, pytest.approx(found.between_repeats))


def test_a_second_judge_takes_half_of_what_judges_differ_by() -> None:
    generator = np.random.default_rng(4)
    clusters, w, j = 500, 0.5, 0.8
    judges: list[dict[str, list[Score]]] = [{"one": [], "two": []}, {"one": [], "two": []}]
    sides: list[list[Score]] = [[], []]
    for cluster in range(clusters):
        of_case = w * generator.normal()
        for side in (0, 1):
            given = of_case * side + j / sqrt(2) * generator.normal(size=2) + (0.0, 0.3)
            sides[side].append(score(cluster, 0, float(given.mean())))
            for name, value in zip(("one", "two"), given.tolist(), strict=True):
                judges[side][name].append(score(cluster, 0, value))
    found = measure(*sides, judges=judges)
    assert found.judges is not None and found.judges.count == 2
    assert found.spread.standard_error**2 * clusters == pytest.approx(w**2 + j**2 / 2, rel=0.12)
    more = found.add_judge()
    assert more is not None
    assert more.spread.standard_error**2 * clusters == pytest.approx(w**2 + j**2 / 3, rel=0.12)


def test_cases_that_only_one_run_has_do_not_count() -> None:
    first = [score(cluster, 0, float(cluster)) for cluster in range(6)]
    second = [score(cluster, 0, float(cluster**2)) for cluster in range(9)]
    assert measure(first, second).cases == 6


def test_without_two_clusters_or_a_common_case_there_are_no_parts() -> None:
    assert measure_components([{"": [score("a", 1, 1.0), score("a", 2, 0.0)]}], METRIC.find_means) is None
    assert measure_components([{"": [score("a", 1, 1.0)]}, {"": [score("b", 1, 1.0)]}], METRIC.find_means) is None
    assert measure_components([{"": []}], METRIC.find_means) is None


def test_of_one_run_the_cases_are_those_that_another_like_it_reaches_too() -> None:
    # 30 clusters of 4 cases, of which 2 are reached: of these another reaches half. 1 - 1/4 of the clusters have such a case.
    values = np.random.default_rng(2).random(60)
    side = [score(cluster, case, float(values[2 * cluster + case])) for cluster in range(30) for case in (0, 1)]
    missed = [
        Score(metric="m", scenario=f"{c}-{case}", cluster=str(c), outcome=Outcome.NOT_REACHED)
        for c in range(30)
        for case in (2, 3)
    ]
    found, all_reached = measure(side + missed), measure(side)
    assert (found.cases, found.spread.clusters, all_reached.cases) == (30, 22, 60)
    assert found.spread.standard_error == pytest.approx(all_reached.spread.standard_error * sqrt(2))


def test_of_fewer_repeats_fewer_cases_are_reached() -> None:
    # Each repeat reaches a case with probability 0.6, by lot: two agents that run it once both reach 0.36 of the cases.
    generator = np.random.default_rng(9)
    sides: list[list[Score]] = [[], []]
    for side, cluster, case, repeat in product((0, 1), range(200), range(4), (0, 1)):
        reached = generator.random() < 0.6
        found = score(cluster, case, float(generator.random()), repeat)
        missed = found.model_copy(update={"value": None, "outcome": Outcome.NOT_REACHED})
        sides[side].append(found if reached else missed)
    for runs in (sides, sides[:1]):
        twice = measure(*runs)
        assert twice.cases == pytest.approx(800 * (1 - 0.4**2) ** 2, rel=0.05)
        once = twice.change_repeats(1)
        assert once is not None and once.cases == pytest.approx(800 * 0.36, rel=0.1)
        # The variance of one value is 1/12.
        assert once.spread.standard_error == pytest.approx(sqrt(2 / 12 / (800 * 0.36)), rel=0.12)
