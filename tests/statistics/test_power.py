"""Power of comparisons against worked cases, statsmodels and simulation."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]
from statsmodels.stats.power import TTestPower  # type: ignore[import-untyped]

from sociable.statistics.paired import PairedComparison, compare_paired
from sociable.statistics.power import (
    Spread,
    count_clusters_needed,
    count_fewest_clusters,
    find_power,
    find_smallest_difference,
    find_smallest_p,
)


def compare_differences(differences: list[float], clusters: list[str]) -> PairedComparison:
    second = {str(place): value for place, value in enumerate(differences)}
    return compare_paired(dict.fromkeys(second, 0.0), second, {str(place): each for place, each in enumerate(clusters)})


def spread_of_one_case_each(clusters: int, deviation: float = 1.0) -> Spread:
    """Clusters of one case with normal differences, whose mean absolute value is sqrt(2 / pi) of the deviation."""
    return Spread(deviation / sqrt(clusters), clusters, deviation * sqrt(np.pi / 2) / clusters, clusters)


def test_the_spread_of_a_worked_example() -> None:
    # Cluster a: 1, 0; b: 1; c: 1, 1. Mean 4/5; what clusters add above it, over 5 cases: a (1 - 8/5)/5 = -.12, b (1 - 4/5)/5 = .04,
    # c (2 - 8/5)/5 = .08. Variance 3/2 (.0144 + .0016 + .0064) = .0336. They add 1/5, 1/5
    # and 2/5: squares .04 + .04 + .16 over .8 = .3.
    spread = compare_differences([1, 0, 1, 1, 1], list("aabcc")).spread
    assert spread is not None
    assert spread.standard_error == pytest.approx(sqrt(0.0336))
    assert (spread.clusters, spread.differing) == (3, 3)
    assert spread.step == pytest.approx(0.3)


@pytest.mark.parametrize("clusters", [8, 20, 64, 400])
def test_with_one_case_a_cluster_power_is_that_of_the_paired_t_test(clusters: int) -> None:
    spread, theirs = spread_of_one_case_each(clusters), TTestPower()
    for difference in (0.1, 0.2, 0.4):
        assert find_power(difference, spread) == pytest.approx(
            theirs.power(difference, clusters, 0.025, alternative="larger"), abs=1e-6
        )
    smallest = find_smallest_difference(spread)
    assert smallest == pytest.approx(theirs.solve_power(None, clusters, 0.05, 0.8), rel=0.002)


@pytest.mark.parametrize("difference", [0.05, 0.2, 0.6])
def test_the_number_of_clusters_is_that_of_the_paired_t_test(difference: float) -> None:
    expected = TTestPower().solve_power(difference, None, 0.05 / 7, 0.9)
    needed = count_clusters_needed(difference, spread_of_one_case_each(30), 0.05 / 7, 0.9)
    assert needed == pytest.approx(expected, abs=1)


def test_below_six_clusters_nothing_is_found_at_five_percent() -> None:
    assert [count_fewest_clusters(level) for level in (0.05, 2 / 2**6, 0.05 / 10)] == [6, 6, 9]
    assert find_smallest_p(5) > 0.05 > find_smallest_p(6) == 1 / 32
    assert find_power(100.0, spread_of_one_case_each(5)) == 0.0
    assert find_smallest_difference(spread_of_one_case_each(5)) is None


def test_what_a_million_clusters_do_not_tell_is_not_planned() -> None:
    assert count_clusters_needed(1e-6, spread_of_one_case_each(30)) is None


def test_more_clusters_never_tell_less() -> None:
    spread = compare_differences([1, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0, 1], list("aabbccddeeff")).spread
    assert spread is not None
    found = [find_smallest_difference(spread.scale(clusters)) for clusters in (6, 12, 50, 200)]
    assert all(each is not None for each in found)
    assert found == sorted(found, key=lambda each: -(each or 0))


def test_where_hardly_a_case_differs_the_variance_that_was_seen_is_not_believed() -> None:
    # 2 of 100 cases differ. By what was seen 4 cases of 100 would be enough, but four signs give no p-value below 1/8. The exact
    # power, where all that differ differ to one side, is the probability that six or more of 100 do.
    spread = compare_differences([1.0, -1.0, *[0.0] * 98], [str(place) for place in range(100)]).spread
    assert spread is not None
    smallest = find_smallest_difference(spread)
    assert smallest is not None and smallest > 0.06
    assert binom.sf(5, 100, smallest) == pytest.approx(0.8, abs=0.06)


def test_whole_numbers_have_a_grain_and_others_next_to_none() -> None:
    # Twelve cases, differences 1, -1 and 0: a twelfth each, and sums that tie count against what is seen.
    whole = compare_differences([1, 1, 1, -1, 1, 0, 1, 1, -1, 0, 1, 1], [str(place) for place in range(12)]).spread
    assert whole is not None and whole.grain == pytest.approx(1 / 12)
    assert find_power(0.5, whole) < find_power(0.5, replace(whole, grain=0.0))
    other = compare_differences(list(np.random.default_rng(1).normal(size=200)), [str(place) for place in range(200)]).spread
    assert other is not None and other.grain < 0.01 * other.standard_error


def test_power_promised_is_power_found() -> None:
    """A small simulation; benchmarks/power.py has the large one."""
    generator = np.random.default_rng(5)
    sizes = [1, 2, 3, 4, 5, 6] * 4
    names = [str(cluster) for cluster, size in enumerate(sizes) for _ in range(size)]

    def draw(difference: float) -> list[float]:
        between = np.repeat(0.3 * generator.standard_normal(len(sizes)), sizes)
        return list(difference + between + 0.5 * generator.standard_normal(len(names)))

    # The variance that the design has: sum of n² σ_b² + n σ_w², over the squared number of cases.
    variance = (0.09 * sum(size**2 for size in sizes) + 0.25 * sum(sizes)) / sum(sizes) ** 2
    spread = Spread(sqrt(variance), len(sizes), 0.0, len(sizes))
    difference = find_smallest_difference(spread)
    assert difference is not None
    rejected = []
    for _ in range(400):
        p_value = compare_differences_quickly(draw(difference), names)
        rejected.append(p_value <= 0.05)
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.06)  # three standard errors


def compare_differences_quickly(differences: list[float], clusters: list[str]) -> float:
    second = {str(place): value for place, value in enumerate(differences)}
    cluster_of = {str(place): each for place, each in enumerate(clusters)}
    found = compare_paired(dict.fromkeys(second, 0.0), second, cluster_of, replicates=2, sign_flips=4999)
    assert found.p_value is not None
    return found.p_value


@pytest.mark.long
def test_near_the_end_of_a_range_power_is_that_of_the_worse_direction() -> None:
    # Of 200 single cases each, shares .98 and .98 - d: the variance of the second is larger. Normal approximation, two-sided:
    # d = 1.96 sqrt(2 p(1-p) / n) at least, and 0.8416 more of its own standard error.
    near = Spread(sqrt(2 * 0.98 * 0.02 / 200), 200, 0.005, 8)
    placed = near.place(0.98, 0.0, 1.0)
    found = find_smallest_difference(placed)
    assert found is not None and found > (find_smallest_difference(near) or 0.0)
    rates = np.random.default_rng(8).random((2, 300, 200)) < np.array([0.98, 0.98 - found])[:, None, None]
    rejected = [
        compare_differences_quickly(list(other.astype(float) - one), [str(place) for place in range(200)]) <= 0.05
        for one, other in zip(*rates, strict=True)
    ]
    assert np.mean(rejected) >= 0.8 - 0.07  # three standard errors
    assert near.place(0.5, 0.0, None) == near
    assert placed.find_error(0.0) == near.standard_error
