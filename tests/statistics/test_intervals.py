"""Intervals against hand-worked numbers, statsmodels, scipy and simulation."""

from collections.abc import Sequence
from math import isclose, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import bootstrap, norm, spearmanr, t  # type: ignore[import-untyped]
from statsmodels.api import OLS, WLS  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from sociable.statistics import intervals as intervals_module
from sociable.statistics.intervals import (
    AveragedCases,
    Interval,
    average_repeats,
    bootstrap_jointly,
    bootstrap_rank_correlation,
    estimate_mean,
)

Floats = NDArray[np.float64]

SCORES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
CLUSTERED_SCORES = st.lists(st.tuples(SCORES, st.sampled_from("abcdefg")), min_size=1, max_size=40)


def limits(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def wilson(proportion: float, size: float) -> tuple[float, float]:
    low, high = proportion_confint(proportion * size, size, alpha=0.05, method="wilson")
    return float(low), float(high)


def adjustment(clusters: int) -> float:
    """(z / t)^2, from the tables' one-sided quantiles."""
    return float((norm.isf(0.025) / t.isf(0.025, clusters - 1)) ** 2)


def correlated_scores(seed: int, clusters: int, per_cluster: int, mean: float, correlation: float) -> Floats:
    """[clusters, per_cluster] 0/1 from a beta-binomial with the given intra-cluster correlation."""
    generator = np.random.default_rng(seed)
    concentration = 1 / correlation - 1
    rates = generator.beta(mean * concentration, (1 - mean) * concentration, size=(clusters, 1))
    return (generator.random((clusters, per_cluster)) < rates).astype(np.float64)


def with_clusters(scores: Floats) -> tuple[list[float], list[str]]:
    clusters = np.repeat(np.arange(scores.shape[0]), scores.shape[1])
    return scores.ravel().tolist(), [str(cluster) for cluster in clusters]


class TestMean:
    def test_worked_example(self) -> None:
        # Clusters (1,1), (0,1), (0,0): p = 1/2; residuals x_c - p m_c = 1, 0, -1;
        # v = 3/2 * (1+0+1) / 36 = 1/12, so n_eff = 1/4 / (1/12) * (z/t)^2 = 3 (z/t)^2.
        # At p = 1/2 the Wilson half width is 1/2 sqrt(w / (1+w)) with w = z^2 / n_eff = t^2 / 3.
        # t_{2, .975} = 4.302653, w = 6.170940, half width = 0.463829.
        interval = estimate_mean([1, 1, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"])
        assert interval.value == 0.5
        assert limits(interval) == pytest.approx((0.036171, 0.963829), abs=1e-6)

    def test_clusters_of_unequal_size_weigh_by_their_cases(self) -> None:
        # a: 1 of 1, b: 1 of 3. p = 2/4, not the mean 2/3 of the cluster means.
        # Residuals 1 - 1/2 and 1 - 3/2: v = 2 * (1/4 + 1/4) / 16 = 1/16, n_eff = 4 (z/t)^2.
        # t_{1, .975} = 12.706205, w = t^2 / 4 = 40.361908, half width = 1/2 sqrt(w / (1+w)) = 0.493919.
        interval = estimate_mean([1, 1, 0, 0], ["a", "b", "b", "b"])
        assert interval.value == 0.5
        assert limits(interval) == pytest.approx((0.006081, 0.993919), abs=1e-6)

    def test_clusters_of_one_case_have_nearly_the_binomial_sample_size(self) -> None:
        # v = n/(n-1) * n p(1-p) / n^2 = p(1-p) / (n-1).
        values = [1.0] * 12 + [0.0] * 28
        interval = estimate_mean(values, [str(case) for case in range(40)])
        assert limits(interval) == pytest.approx(wilson(0.3, 39 * adjustment(40)), abs=1e-12)

    def test_cases_weigh_by_the_share_they_count_for(self) -> None:
        # a: 1 of weight 1/4, b: 0 of weight 1. p = 1/4 / (5/4) = 1/5; residuals 1/4 - 1/20 = 1/5 and -1/5;
        # v = 2 * (2/25) / (25/16) = 64/625, n_eff = 4/25 / (64/625) * (z/t)^2 = 25/16 (z/t)^2.
        # w = z^2 / n_eff = t_1^2 * 16/25 = 103.326489; centre (p + w/2) / (1+w) = 0.497124,
        # half width sqrt(w p(1-p) + w^2/4) / (1+w) = 0.496739.
        interval = estimate_mean([1, 0], ["a", "b"], weights=[0.25, 1])
        assert interval.value == 0.2
        assert limits(interval) == pytest.approx((0.000386, 0.993863), abs=1e-6)

    def test_weights_of_one_are_no_weights(self) -> None:
        values, clusters = with_clusters(correlated_scores(4, 9, 5, mean=0.3, correlation=0.2))
        assert estimate_mean(values, clusters, weights=[1.0] * 45) == estimate_mean(values, clusters)

    def test_weighted_variance_is_the_cluster_robust_variance_of_a_weighted_intercept(self) -> None:
        generator = np.random.default_rng(10)
        clusters = generator.integers(0, 12, size=150)
        rates = generator.beta(1, 2, size=12)
        scores = (generator.random(150) < rates[clusters]).astype(np.float64)
        weights = generator.integers(1, 5, size=150) / 4
        fit = WLS(scores, np.ones(150), weights=weights).fit(cov_type="cluster", cov_kwds={"groups": clusters})
        proportion, variance = float(fit.params[0]), float(fit.bse[0] ** 2)
        size = proportion * (1 - proportion) / variance * adjustment(12)
        assert size < 60  # far from the cap, so the variance decides
        names = [str(cluster) for cluster in clusters]
        interval = estimate_mean(scores.tolist(), names, weights.tolist())
        assert interval.value == pytest.approx(proportion)
        assert limits(interval) == pytest.approx(wilson(proportion, size), abs=1e-12)

    def test_variance_is_the_cluster_robust_variance_of_an_intercept(self) -> None:
        generator = np.random.default_rng(3)
        clusters = generator.integers(0, 12, size=150)
        rates = generator.beta(1, 2, size=12)
        scores = (generator.random(150) < rates[clusters]).astype(np.float64)
        fit = OLS(scores, np.ones(150)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
        proportion, variance = float(fit.params[0]), float(fit.bse[0] ** 2)
        size = proportion * (1 - proportion) / variance * adjustment(12)
        assert size < 100  # far from the cap, so the variance decides
        interval = estimate_mean(scores.tolist(), [str(cluster) for cluster in clusters])
        assert interval.value == pytest.approx(proportion)
        assert limits(interval) == pytest.approx(wilson(proportion, size), abs=1e-12)

    def test_clusters_alike_by_luck_do_not_count_for_more_than_their_cases(self) -> None:
        # Forty clusters of 1 of 2, but for one of 2 of 2 and one of 0 of 2: v is near 0.
        values = [1.0, 0.0] * 38 + [1.0, 1.0, 0.0, 0.0]
        clusters = [str(case // 2) for case in range(80)]
        assert limits(estimate_mean(values, clusters)) == pytest.approx(wilson(0.5, 80))

    def test_ties_as_half_do_not_count_for_more_than_their_cases(self) -> None:
        # Values .4 and .6, one per cluster: p(1-p)/v = 25 (n-1), more than n.
        values = [0.4, 0.6] * 10
        interval = estimate_mean(values, [str(case) for case in range(20)])
        assert limits(interval) == pytest.approx(wilson(0.5, 20))

    def test_cases_do_not_count_for_more_than_their_weights(self) -> None:
        values = [0.4, 0.6] * 10
        interval = estimate_mean(values, [str(case) for case in range(20)], weights=[0.5] * 20)
        assert limits(interval) == pytest.approx(wilson(0.5, 10))
        assert limits(estimate_mean([1, 0], ["a", "a"], weights=[0.25, 0.25])) == pytest.approx(wilson(0.5, 0.5))

    @pytest.mark.parametrize(("value", "sizes"), [(0.0, [3] * 10), (1.0, [3] * 10), (0.5, [2, 2]), (0.1, [3, 7, 1, 1])])
    def test_without_variation_each_cluster_is_one_case(self, value: float, sizes: list[int]) -> None:
        # The last makes residuals of rounding size: they must not pass for a tiny variance.
        clusters = [str(cluster) for cluster, size in enumerate(sizes) for _ in range(size)]
        interval = estimate_mean([value] * len(clusters), clusters)
        expected = wilson(value, len(sizes) * adjustment(len(sizes)))
        assert interval.value == pytest.approx(value)
        assert limits(interval) == pytest.approx(expected, abs=1e-9)

    def test_limits_at_the_ends_are_the_ends(self) -> None:
        # Wilson's lower limit at 0 is 0; with two clusters the formula gives 6e-17 in floating point.
        assert estimate_mean([0, 0], ["a", "b"]).low == 0.0
        assert estimate_mean([1, 1], ["a", "b"]).high == 1.0

    def test_none_of_ten_clusters_worked_by_hand(self) -> None:
        # Wilson's upper limit at p = 0 is w / (1+w), w = z^2 / n_eff = t_9^2 / 10 = 0.511735.
        interval = estimate_mean([0] * 30, [str(case // 3) for case in range(30)])
        assert (interval.value, interval.low) == (0.0, 0.0)
        assert interval.high == pytest.approx(0.338509, abs=1e-6)

    def test_one_cluster_is_one_case(self) -> None:
        # n_eff = 1, p = 1/2: half width 1/2 sqrt(z^2 / (1 + z^2)) = 1/2 sqrt(3.841459 / 4.841459).
        interval = estimate_mean([0, 1, 0, 1], ["a"] * 4)
        assert limits(interval) == pytest.approx((0.054621, 0.945379), abs=1e-6)

    def test_no_values(self) -> None:
        assert estimate_mean([], []) == Interval(None)

    @pytest.mark.parametrize(
        ("values", "message"),
        [([0.5, 1.0], "2 values but 1 clusters"), ([1.01], "not in"), ([-0.01], "not in"), ([float("nan")], "not in")],
    )
    def test_refusals(self, values: Sequence[float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            estimate_mean(values, ["a"])

    @pytest.mark.parametrize(
        ("weights", "message"),
        [([1.0], "2 values but 1 weights"), ([1.0, 0.0], "weight 0.0"), ([1.0, 1.5], "1.5"), ([1.0, float("nan")], "nan")],
    )
    def test_weights_refused(self, weights: Sequence[float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            estimate_mean([0, 1], ["a", "b"], weights=weights)

    def test_coverage_on_correlated_scores(self) -> None:
        # 30 clusters of 8, intra-cluster correlation .2: 2000 draws put the rate within about .01.
        covered = covered_as_if_independent = 0
        for seed in range(2000):
            values, clusters = with_clusters(correlated_scores(seed, 30, 8, mean=0.3, correlation=0.2))
            low, high = limits(estimate_mean(values, clusters))
            covered += low <= 0.3 <= high
            low, high = wilson(float(np.mean(values)), len(values))
            covered_as_if_independent += low <= 0.3 <= high
        assert 0.92 < covered / 2000 < 0.98
        assert covered_as_if_independent / 2000 < 0.90  # the setting is one where clustering matters

    @given(CLUSTERED_SCORES)
    def test_interval_holds_its_value_within_bounds(self, scored: list[tuple[float, str]]) -> None:
        interval = estimate_mean([value for value, _ in scored], [cluster for _, cluster in scored])
        low, high = limits(interval)
        assert interval.value is not None
        assert 0 <= low <= interval.value <= high <= 1
        assert low < high

    @given(st.lists(st.tuples(SCORES, st.sampled_from("abcdefg"), st.floats(0.001, 1)), min_size=1, max_size=40))
    def test_weighted_interval_holds_its_value_within_bounds(self, scored: list[tuple[float, str, float]]) -> None:
        values, clusters, weights = zip(*scored, strict=True)
        interval = estimate_mean(values, clusters, weights=weights)
        low, high = limits(interval)
        assert interval.value is not None
        assert 0 <= low <= interval.value <= high <= 1
        assert low < high

    @given(CLUSTERED_SCORES, st.randoms(use_true_random=False))
    def test_order_and_names_of_clusters_do_not_matter(self, scored: list[tuple[float, str]], random: Random) -> None:
        names = list("abcdefg")
        random.shuffle(names)
        renamed = [(value, names["abcdefg".index(cluster)]) for value, cluster in scored]
        random.shuffle(renamed)
        one, other = (
            estimate_mean([value for value, _ in pairs], [cluster for _, cluster in pairs]) for pairs in (scored, renamed)
        )
        assert one == other


class TestAveragedRepeats:
    def test_worked_example(self) -> None:
        observations = [("s", "q1", 1.0), ("s", "q2", 0.0), ("s", "q1", 0.0), ("s", "q1", 0.5)]
        assert average_repeats(observations) == AveragedCases((0.5, 0.0), ("s", "s"), (1.0, 1.0))

    def test_a_case_weighs_the_share_of_its_repeats_that_have_a_value(self) -> None:
        # q1: values 1 and 0 in 4 repeats; q2: none; q3: 1 in 1.
        values: dict[str, list[float | None]] = {"q1": [None, 1.0, None, 0.0], "q2": [None, None], "q3": [1.0]}
        observations = [("s", case, value) for case, own in values.items() for value in own]
        assert average_repeats(observations) == AveragedCases((0.5, 1.0), ("s", "s"), (0.5, 1.0))

    @given(st.lists(st.lists(st.one_of(st.none(), SCORES), min_size=3, max_size=3), min_size=1, max_size=10))
    def test_the_weighted_mean_is_the_mean_over_all_values(self, rows: list[list[float | None]]) -> None:
        cases = average_repeats([("s", str(case), value) for case, row in enumerate(rows) for value in row])
        values = [value for row in rows for value in row if value is not None]
        found = estimate_mean(cases.values, cases.clusters, weights=cases.weights).value
        assert found == (pytest.approx(float(np.mean(values))) if values else None)

    def test_one_name_in_two_clusters_is_two_cases(self) -> None:
        averaged = average_repeats([("s", "q1", 1.0), ("r", "q1", 0.0)])
        assert averaged == AveragedCases((1.0, 0.0), ("s", "r"), (1.0, 1.0))

    def test_nothing(self) -> None:
        assert average_repeats([]) == AveragedCases((), (), ())

    @given(CLUSTERED_SCORES, st.integers(2, 4))
    def test_repeating_every_case_changes_nothing(self, scored: list[tuple[float, str]], times: int) -> None:
        once = [(cluster, str(case), value) for case, (value, cluster) in enumerate(scored)]
        single, repeated = average_repeats(once), average_repeats(once * times)
        assert single.clusters == repeated.clusters
        assert single.weights == repeated.weights == (1.0,) * len(scored)
        one = estimate_mean(single.values, single.clusters)
        other = estimate_mean(repeated.values, repeated.clusters)
        assert one.value == pytest.approx(other.value)
        # At the brink of "no variation" rounding may take either side; the limits there are tested above.
        spread = max(single.values) - min(single.values)
        if spread == 0 or spread > 1e-6:
            assert limits(one) == pytest.approx(limits(other), abs=1e-6)


def ratio(totals: Floats) -> Floats:
    quotient: Floats = totals[..., 0] / totals[..., 1]
    return quotient


class TestJointBootstrap:
    def test_two_clusters_worked_by_hand(self) -> None:
        # Totals (1,1) and (0,1): a resample's mean is 0, 1/2, 1 with probability 1/4, 1/2, 1/4.
        totals = np.array([[1.0, 1.0], [0.0, 1.0]])
        assert bootstrap_jointly(totals, ratio, seed=1) == Interval(0.5, 0.0, 1.0)

    def test_agrees_with_scipy(self) -> None:
        generator = np.random.default_rng(5)
        counts = generator.integers(1, 9, size=40).astype(np.float64)
        totals = np.column_stack([generator.binomial(counts.astype(int), 0.6), counts]).astype(np.float64)

        def mean_of_rows(rows: NDArray[np.int64], axis: int) -> Floats:
            return ratio(totals[rows].sum(axis=axis if axis >= 0 else axis - 1))

        by_rows = bootstrap(
            (np.arange(40),),
            lambda rows, axis: mean_of_rows(rows.astype(int), axis),
            method="percentile",
            n_resamples=20000,
            rng=np.random.default_rng(6),
        )
        interval = bootstrap_jointly(totals, ratio, replicates=20000, seed=7)
        assert interval.value == pytest.approx(totals[:, 0].sum() / totals[:, 1].sum())
        # The Monte Carlo error of a limit is about .02 standard errors of the estimate at 20000.
        error = 0.1 * float(by_rows.standard_error)
        assert limits(interval) == pytest.approx(tuple(by_rows.confidence_interval), abs=error)

    def test_totals_of_a_cluster_are_drawn_together(self) -> None:
        # Second column twice the first: the ratio is 1/2 in every resample; apart it would vary.
        generator = np.random.default_rng(8)
        first = generator.random(25) + 0.1
        low, high = limits(bootstrap_jointly(np.column_stack([first, 2 * first]), ratio, seed=2))
        assert (low, high) == pytest.approx((0.5, 0.5))

    def test_undefined_replicates_are_dropped(self) -> None:
        # A quarter of the resamples of (1,1), (0,0) draw only the second: no ratio. Elsewhere it is 1.
        totals = np.array([[1.0, 1.0], [0.0, 0.0]])
        assert bootstrap_jointly(totals, ratio, seed=3) == Interval(1.0, 1.0, 1.0)

    def test_infinite_replicates_are_dropped(self) -> None:
        # (1,1) and (1,0): the resample of the second alone has ratio 2/0; others 2/1 and 2/2.
        totals = np.array([[1.0, 1.0], [1.0, 0.0]])
        assert bootstrap_jointly(totals, ratio, seed=3) == Interval(2.0, 1.0, 2.0)

    def test_undefined_statistic(self) -> None:
        totals = np.zeros((4, 2))
        assert bootstrap_jointly(totals, ratio, seed=3) == Interval(None)

    def test_no_defined_replicate(self) -> None:
        def only_once(totals: Floats) -> Floats:
            return np.asarray(1.0) if totals.ndim == 1 else np.full(len(totals), np.nan)

        assert bootstrap_jointly(np.ones((4, 2)), only_once, seed=3) == Interval(1.0)

    def test_one_cluster_has_no_limits(self) -> None:
        assert bootstrap_jointly(np.array([[1.0, 4.0]]), ratio, seed=3) == Interval(0.25)

    def test_no_cluster(self) -> None:
        assert bootstrap_jointly(np.empty((0, 2)), ratio, seed=3) == Interval(None)

    def test_memory_bound_does_not_change_the_interval(self, monkeypatch: pytest.MonkeyPatch) -> None:
        totals = np.random.default_rng(9).random((20, 2))
        whole = bootstrap_jointly(totals, ratio, replicates=501, seed=4)
        sizes: list[int] = []

        def recorded(totals: Floats) -> Floats:
            sizes.append(totals.size // 2)
            return ratio(totals)

        monkeypatch.setattr(intervals_module, "WEIGHTS_IN_MEMORY", 20 * 100)
        chunked = bootstrap_jointly(totals, recorded, replicates=501, seed=4)
        assert sizes == [1, 100, 100, 100, 100, 100, 1]
        assert limits(chunked) == pytest.approx(limits(whole), rel=1e-12)

    def test_seed_fixes_the_interval(self) -> None:
        totals = np.random.default_rng(10).random((20, 2))
        one, same, other = (bootstrap_jointly(totals, ratio, seed=seed) for seed in (1, 1, 2))
        assert one == same
        assert one != other

    def test_order_of_clusters_does_not_matter(self) -> None:
        totals = np.random.default_rng(11).random((20, 2))
        assert bootstrap_jointly(totals, ratio, seed=1) == bootstrap_jointly(totals[::-1], ratio, seed=1)

    def test_width_is_that_of_the_normal_interval_with_many_clusters(self) -> None:
        # The mean of 400 clusters of one: standard error sd / 20, limits 1.96 of them away.
        scores = np.random.default_rng(12).random(400)
        low, high = limits(bootstrap_jointly(np.column_stack([scores, np.ones(400)]), ratio, seed=1))
        assert isclose(high - low, 2 * 1.959964 * float(scores.std()) / sqrt(400), rel_tol=0.05)

    @pytest.mark.parametrize(
        ("totals", "replicates", "message"),
        [
            (np.ones(3), 10, "shape"),
            (np.ones((3, 0)), 10, "shape"),
            (np.array([[1.0, np.nan]]), 10, "finite"),
            (np.ones((3, 2)), 0, "replicates"),
        ],
    )
    def test_refusals(self, totals: Floats, replicates: int, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            bootstrap_jointly(totals, ratio, replicates, seed=1)

    def test_refuses_a_statistic_of_the_wrong_shape(self) -> None:
        with pytest.raises(ValueError, match="statistic maps"):
            bootstrap_jointly(np.ones((3, 2)), lambda totals: totals, seed=1)

    @settings(max_examples=50)
    @given(
        st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=2, max_size=12),
        st.integers(0, 2**32),
    )
    def test_limits_of_a_mean_stay_within_the_cluster_means(self, clusters: list[tuple[float, int]], seed: int) -> None:
        totals = np.array([(mean * count, count) for mean, count in clusters])
        low, high = limits(bootstrap_jointly(totals, ratio, replicates=200, seed=seed))
        means = [mean for mean, _ in clusters]
        assert min(means) - 1e-9 <= low <= high <= max(means) + 1e-9


def test_rank_limits_are_of_a_bootstrap_over_clusters() -> None:
    generator = np.random.default_rng(1)
    first = generator.normal(size=60)
    second = first + generator.normal(size=60)
    clusters = [f"c{number // 3}" for number in range(60)]
    low, high = bootstrap_rank_correlation(list(first), list(second), clusters, seed=0)
    rho = float(spearmanr(first, second).statistic)
    assert low is not None
    assert high is not None
    assert 0 < low < rho < high < 1
    assert (low, high) == bootstrap_rank_correlation(list(first), list(second), clusters, seed=0)


def test_a_few_odd_items_give_no_rank_limits() -> None:
    """A bootstrap would show how often they are drawn, and exclude 0 where nothing is known."""
    rare = [1.0, *[0.0] * 49]
    assert bootstrap_rank_correlation(rare, list(np.arange(50.0)), [str(n) for n in range(50)], seed=0) == (None, None)
    assert bootstrap_rank_correlation([1.0, 2.0], [1.0, 2.0], ["a", "b"], seed=0) == (None, None)
