"""Paired comparison against hand-worked numbers, scipy and simulation."""

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test, wilcoxon  # type: ignore[import-untyped]

from sociable.statistics.paired import PairedComparison, choose_sign_flips, compare_combined, compare_paired

Scores = dict[str, float]
Clusters = dict[str, str]


def one_case_clusters(differences: list[float]) -> tuple[Scores, Scores, Clusters]:
    """First scores all 0, second the differences, each case its own cluster."""
    second = {str(case): difference for case, difference in enumerate(differences)}
    return dict.fromkeys(second, 0.0), second, {case: case for case in second}


def test_worked_example() -> None:
    # Differences by cluster: a: 1, 0; b: 1; c: 1, 1. Mean 4/5. Cluster sums 1, 1, 2: all of one sign, so of
    # the 8 sign patterns 2 are as far from zero: p = 1/4.
    first = {"a1": 0.0, "a2": 1.0, "b1": 0.0, "c1": 0.0, "c2": 0.0}
    second = dict.fromkeys(first, 1.0)
    comparison = compare_paired(first, second, {case: case[0] for case in first})
    assert comparison.difference == pytest.approx(0.8)
    assert comparison.p_value == 0.25
    assert (comparison.cases, comparison.clusters) == (5, 3)
    # Cluster means 1/2, 1, 1. All a has probability 1/27 > .025, no a 8/27 > .025: limits 1/2 and 1.
    assert (comparison.low, comparison.high) == (0.5, 1.0)


def test_p_value_with_signs_both_ways() -> None:
    # Sums 3, 1, 1, -1, total 4. Of 16 patterns of 3, 1, 1, 1 the totals 6, 4, 2, 0 come 1, 3, 3, 1 times
    # with 3 positive, and mirrored with 3 negative: at least 4 away from zero in 8 of 16.
    assert compare_paired(*one_case_clusters([3, 1, 1, -1])).p_value == 0.5


def test_p_value_counts_ties_broken_by_rounding() -> None:
    # The total is 0, so every pattern is as far from it: p = 1. In floating point the total is not 0.
    assert compare_paired(*one_case_clusters([-1.0, -0.7, 0.1, 0.3, 0.6, 0.7])).p_value == 1.0


def test_p_value_does_not_depend_on_the_unit() -> None:
    # The second worked example in units so large that the totals are far below any absolute tolerance.
    assert compare_paired(*one_case_clusters([3e-12, 1e-12, 1e-12, -1e-12])).p_value == 0.5


def test_p_value_weighs_clusters_by_their_cases() -> None:
    # a: 1, 1; b: 1; c: -1. Sums 2, 1, -1, total 2; of the totals of 2, 1, 1 under the 8 patterns 4, 2, 2, 0
    # and their mirrors 6 reach 2. Cluster means 1, 1, -1 would be reached by all 8.
    first, second, _ = one_case_clusters([1.0, 1.0, 1.0, -1.0])
    comparison = compare_paired(first, second, {"0": "a", "1": "a", "2": "b", "3": "c"})
    assert comparison.p_value == 0.75


def test_order_of_clusters_does_not_move_random_flips() -> None:
    differences = np.random.default_rng(14).random(12) - 0.4
    first, second, cluster_of = one_case_clusters(differences.tolist())
    backwards = dict(reversed(first.items()))
    assert list(backwards) != list(first)
    one = compare_paired(first, second, cluster_of, sign_flips=500)
    assert one == compare_paired(backwards, second, cluster_of, sign_flips=500)


def test_p_value_is_exact_signed_rank_when_differences_are_ranks() -> None:
    # Sign flips of the ranks themselves are Wilcoxon's test.
    differences = [1.0, 2.0, -3.0, 4.0, 5.0, 6.0, -7.0, 8.0, 9.0, 10.0]
    expected = float(wilcoxon(differences, method="exact").pvalue)
    assert compare_paired(*one_case_clusters(differences)).p_value == pytest.approx(expected)


def test_random_flips_approach_the_exact_p_value() -> None:
    differences = [1.0, 2.0, -3.0, 4.0, 5.0, 6.0, -7.0, 8.0, 9.0, 10.0]
    exact = compare_paired(*one_case_clusters(differences), sign_flips=1024).p_value
    sampled = compare_paired(*one_case_clusters(differences), sign_flips=1023).p_value
    assert exact is not None
    assert sampled is not None
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=0.03)


def test_random_flips_never_give_zero() -> None:
    # 40 clusters of one sign: the exact p-value is 2 / 2^40; 999 flips support no less than 2 / 1000.
    assert compare_paired(*one_case_clusters([1.0] * 40), sign_flips=999).p_value == pytest.approx(0.002)


def test_cases_of_a_cluster_flip_together() -> None:
    # Six cases of one sign: apart p = 2/64, as two clusters p = 2/4.
    first, second, apart = one_case_clusters([1.0] * 6)
    together = {case: str(int(case) // 3) for case in first}
    assert compare_paired(first, second, apart).p_value == pytest.approx(2 / 64)
    assert compare_paired(first, second, together).p_value == 0.5


def test_only_common_cases_count() -> None:
    first = {"x": 0.0, "y": 0.5, "only-first": 1.0}
    second = {"x": 1.0, "y": 1.0, "only-second": 0.0}
    comparison = compare_paired(first, second, {"x": "s", "y": "r"})
    assert (comparison.difference, comparison.cases, comparison.clusters) == (0.75, 2, 2)


def test_no_common_case() -> None:
    expected = PairedComparison(None, None, None, None, 0, 0)
    assert compare_paired({"x": 1.0}, {"y": 1.0}, {}) == expected


def test_one_cluster() -> None:
    comparison = compare_paired({"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 0.5}, {"x": "s", "y": "s"})
    assert comparison == PairedComparison(0.75, None, None, 1.0, 2, 1)


def test_no_difference_anywhere() -> None:
    comparison = compare_paired(*one_case_clusters([0.0] * 5))
    assert comparison == PairedComparison(0.0, 0.0, 0.0, 1.0, 5, 5)


@pytest.mark.parametrize("arguments", [{"replicates": 0}, {"sign_flips": 0}])
def test_refusals(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        compare_paired(*one_case_clusters([1.0, 0.0]), **arguments)  # type: ignore[arg-type]


def test_refuses_scores_that_are_not_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        compare_paired(*one_case_clusters([1.0, float("nan")]))


def test_refuses_a_case_without_a_cluster() -> None:
    with pytest.raises(KeyError, match="x"):
        compare_paired({"x": 1.0}, {"x": 1.0}, {})


def test_level_and_coverage_on_correlated_differences() -> None:
    # 30 clusters of 6 with a shared shift: 400 draws put a rate of .05 within about .03.
    generator = np.random.default_rng(13)
    cluster_of = {f"{cluster}-{case}": str(cluster) for cluster in range(30) for case in range(6)}
    first = dict.fromkeys(cluster_of, 0.0)
    rejected = covered = 0
    for seed in range(400):
        differences = generator.normal(size=(30, 1)) + generator.normal(size=(30, 6))
        second = dict(zip(cluster_of, differences.ravel().tolist(), strict=True))
        comparison = compare_paired(first, second, cluster_of, seed=seed, replicates=1000, sign_flips=499)
        assert comparison.p_value is not None
        assert comparison.low is not None
        assert comparison.high is not None
        rejected += comparison.p_value <= 0.05
        covered += comparison.low <= 0 <= comparison.high
    assert 0.02 < rejected / 400 < 0.08
    assert 0.90 < covered / 400 < 0.98


PAIRS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcdefg")), min_size=1, max_size=20)


@settings(max_examples=50)
@given(PAIRS, st.randoms(use_true_random=False))
def test_order_and_names_of_clusters_do_not_matter(pairs: list[tuple[float, float, str]], random: Random) -> None:
    names = list("abcdefg")
    random.shuffle(names)
    first = {str(case): one for case, (one, _, _) in enumerate(pairs)}
    second = {str(case): other for case, (_, other, _) in enumerate(pairs)}
    cluster_of = {str(case): cluster for case, (_, _, cluster) in enumerate(pairs)}
    cases = list(first)
    random.shuffle(cases)
    renamed = {case: names["abcdefg".index(cluster)] for case, cluster in cluster_of.items()}
    assert compare_paired(first, second, cluster_of, replicates=200, sign_flips=60) == compare_paired(
        {case: first[case] for case in cases}, second, renamed, replicates=200, sign_flips=60
    )


@settings(max_examples=50)
@given(PAIRS)
def test_exchanging_the_sides_negates_the_difference(pairs: list[tuple[float, float, str]]) -> None:
    first = {str(case): one for case, (one, _, _) in enumerate(pairs)}
    second = {str(case): other for case, (_, other, _) in enumerate(pairs)}
    cluster_of = {str(case): cluster for case, (_, _, cluster) in enumerate(pairs)}
    forward = compare_paired(first, second, cluster_of, replicates=10)
    backward = compare_paired(second, first, cluster_of, replicates=10)
    assert forward.difference is not None
    assert backward.difference is not None
    assert forward.difference == pytest.approx(-backward.difference, abs=1e-12)
    assert forward.p_value == backward.p_value


def test_a_quantity_of_several_sums_is_compared_like_a_mean_where_it_is_one() -> None:
    generator = np.random.default_rng(3)
    one, other = generator.normal(0, 1, (9, 4)), generator.normal(0.4, 1, (9, 4))
    names = {f"{cluster}-{place}": str(cluster) for cluster in range(9) for place in range(4)}
    cases = [{f"{c}-{p}": float(side[c, p]) for c in range(9) for p in range(4)} for side in (one, other)]
    expected = compare_paired(cases[0], cases[1], names)
    totals = [np.stack([side.sum(axis=1), np.full(9, 4.0)], axis=1) for side in (one, other)]
    sizes = totals[0][:, 1].astype(int).tolist()
    found = compare_combined(*totals, sizes, lambda sums: sums[..., 0] / sums[..., 1])
    assert found.difference == pytest.approx(expected.difference)
    assert found.p_value == pytest.approx(expected.p_value)
    assert found.low == pytest.approx(expected.low, abs=0.1) and found.high == pytest.approx(expected.high, abs=0.1)
    assert found.spread and expected.spread
    assert found.spread.standard_error == pytest.approx(expected.spread.standard_error)


def test_a_product_of_rates_is_swapped_cluster_by_cluster() -> None:
    # Three clusters of two cases: (sum, weight) of two rates. All 8 swaps by hand.
    first = np.array([[1, 2, 1, 1], [2, 2, 0, 2], [0, 2, 0, 0]], dtype=float)
    second = np.array([[2, 2, 2, 2], [2, 2, 1, 2], [1, 2, 1, 1]], dtype=float)

    def combine(sums: Any) -> Any:
        return sums[..., 0] / sums[..., 1] * sums[..., 2] / sums[..., 3]

    compared = compare_combined(first, second, [2, 2, 2], combine)
    value, p_value = compared.difference, compared.p_value
    assert value == pytest.approx(5 / 6 * 4 / 5 - 3 / 6 * 1 / 3)
    found = []
    for swaps in product((0, 1), repeat=3):
        sides = [np.where(np.array(swaps)[:, None], *pair).sum(axis=0) for pair in ((second, first), (first, second))]
        found.append(abs(combine(sides[1]) - combine(sides[0])))
    assert p_value == pytest.approx(np.mean(np.array(found) >= value - 1e-9))


def test_over_nothing_there_is_no_quantity() -> None:
    none = np.zeros((2, 2))
    assert compare_combined(none, none, [], lambda sums: sums[..., 0] / sums[..., 1]).difference is None


@pytest.mark.parametrize("clusters", [14, 40])
def test_many_flips_find_what_scipy_finds(clusters: int) -> None:
    generator = np.random.default_rng(clusters)
    first = {str(case): 0.0 for case in range(clusters)}
    second = {str(case): float(generator.normal(0.4)) for case in range(clusters)}
    cluster_of = {case: case for case in first}
    many = compare_paired(first, second, cluster_of, replicates=1, sign_flips=60_000).p_value
    exact = permutation_test(
        (list(second.values()),),
        lambda flipped, axis: flipped.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=60_000,
        rng=np.random.default_rng(1),
    ).pvalue
    assert many == pytest.approx(exact, rel=0.1)


def test_flips_are_as_many_as_a_correction_asks_for() -> None:
    assert choose_sign_flips(1) == choose_sign_flips(20) == 9999
    # The smallest p-value, 2 / (flips + 1), times 500 tests is far below 0.05, so that who differs everywhere is told apart.
    first, second = ({str(case): value for case in range(40)} for value in (0.0, 1.0))
    smallest = compare_paired(
        first, second, {case: case for case in first}, replicates=1, sign_flips=choose_sign_flips(500)
    ).p_value
    assert smallest is not None and 500 * smallest == pytest.approx(0.005, rel=0.01)
    sides = (np.array([[value, 1.0]] * 40) for value in (0.0, 1.0))
    found = compare_combined(*sides, [1] * 40, lambda sums: sums[..., 0] / sums[..., 1], sign_flips=choose_sign_flips(500))
    assert found.p_value is not None and 500 * found.p_value < 0.01
