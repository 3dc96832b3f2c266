"""Intervals that hold over all looks: published constants, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm  # type: ignore[import-untyped]

from sociable.core.records import Outcome, Score
from sociable.statistics.estimates import estimate_proportion
from sociable.statistics.intervals import estimate_mean
from sociable.statistics.metrics import CombinedMeans, Metric, mean
from sociable.statistics.sequential import estimate_at_look, find_level, find_narrowest, plan_looks

SHARE = Metric("m", "M", "", value=lambda _: None)  # type: ignore[arg-type,return-value]


def score(metric: str, cluster: int, case: int, value: float | None) -> Score:
    outcome = Outcome.SCORED if value is not None else Outcome.UNSCORED
    return Score(metric=metric, scenario=f"{cluster}-{case}", cluster=str(cluster), value=value, outcome=outcome)


@pytest.mark.parametrize(("looks", "constant"), [(1, 1.960), (2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)])
def test_the_bounds_are_pococks(looks: int, constant: float) -> None:
    # Pocock 1977, table 1, for two-sided tests at 5%.
    level = find_level(tuple(range(20, 20 * looks + 1, 20)))
    assert norm.isf(level / 2) == pytest.approx(constant, abs=0.0006)


def test_looks_that_are_not_equally_far_apart_are_integrated_as_scipy_does() -> None:
    looks = (10, 15, 40)
    bound = norm.isf(find_level(looks) / 2)
    correlations = [[np.sqrt(min(one, other) / max(one, other)) for other in looks] for one in looks]
    within = multivariate_normal(cov=correlations).cdf([bound] * 3, lower_limit=[-bound] * 3)
    assert within == pytest.approx(0.95, abs=2e-4)


def test_looks_are_few_and_end_with_everything() -> None:
    assert plan_looks(1) == (1,)
    assert plan_looks(10) == (10,)
    assert plan_looks(24) == (10, 15, 20, 24)
    assert plan_looks(300) == tuple(range(30, 301, 30))
    assert all(len(plan_looks(clusters)) <= 10 for clusters in range(1, 400))


def test_no_share_has_a_narrower_interval() -> None:
    found = estimate_mean([1.0] * 40, [str(case) for case in range(20) for _ in range(2)])
    assert found.low is not None and found.high is not None
    assert (found.high - found.low) / 2 >= find_narrowest(40, 0.05)
    # Wilson's interval for 1 of 1 over n is z² / (n + z²) wide.
    assert find_narrowest(40, 0.05) == pytest.approx(1.96**2 / (40 + 1.96**2) / 2, rel=1e-4)


def test_at_one_look_a_share_has_the_interval_of_all_shares() -> None:
    scores = [score("m", cluster, case, float((cluster * case) % 3 == 0)) for cluster in range(12) for case in range(4)]
    found, usual = estimate_at_look(SHARE, scores, 0.05), estimate_proportion("m", scores)
    assert (found.value, found.low, found.high) == pytest.approx((usual.value, usual.low, usual.high))


def test_means_without_a_range_have_the_interval_of_the_t_distribution() -> None:
    # Nine clusters of one case, 1 to 9: influences (v - 5) / 9, variance 9/8 · 60/81 = 5/6; t with eight degrees of freedom: 2.306.
    metric = Metric("m", "M", "", value=lambda _: None, aggregate=mean, low=None, high=None)  # type: ignore[arg-type,return-value]
    found = estimate_at_look(metric, [score("m", cluster, 0, float(cluster)) for cluster in range(1, 10)], 0.05)
    half = 2.306 * (5 / 6) ** 0.5
    assert (found.value, found.low, found.high) == pytest.approx((5.0, 5 - half, 5 + half), abs=1e-3)
    # Where hardly a cluster is unlike the others, what varies has not been seen.
    alike = estimate_at_look(metric, [score("m", cluster, 0, float(cluster > 16)) for cluster in range(1, 20)], 0.05)
    assert alike.value is not None and (alike.low, alike.high) == (None, None)


def test_a_mean_of_zeros_and_ones_has_the_interval_of_the_share() -> None:
    metric = Metric("m", "M", "", value=lambda _: None, aggregate=mean)  # type: ignore[arg-type,return-value]
    abilities = np.random.default_rng(3).random(30) > 0.4
    for values in (abilities, abilities | True):  # the second: all alike
        scores = [score("m", cluster, case, float(values[cluster])) for cluster in range(30) for case in range(2)]
        one, other = (estimate_at_look(each, scores, 0.02) for each in (metric, SHARE))
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-6)


def test_near_its_ceiling_a_product_holds_the_truth_where_a_rule_ends() -> None:
    generator, looks = np.random.default_rng(6), plan_looks(40)
    product = Metric("t", "T", "", aggregate=CombinedMeans(("a", "b"), lambda means: means[..., 0] * means[..., 1]))
    held = 0
    for _ in range(100):
        values = (generator.random((40, 2)) < 0.97).astype(float).tolist()
        for look in looks:
            scores = [
                score(name, cluster, 0, value)
                for cluster in range(look)
                for name, value in zip("ab", values[cluster], strict=True)
            ]
            found = estimate_at_look(product, scores, find_level(looks))
            assert found.low is not None and found.high is not None
            if (found.high - found.low) / 2 <= 0.1:
                break
        held += found.low <= 0.97**2 <= found.high
    assert held >= 89  # 95, and three standard errors


def test_no_limit_is_beyond_the_range() -> None:
    total = Metric("t", "T", "", aggregate=CombinedMeans(("a", "b"), lambda means: means[..., 0] * means[..., 1]))
    scores = [score(name, cluster, 0, float(cluster != 0)) for cluster in range(4) for name in "ab"]
    found = estimate_at_look(total, scores, 0.05)
    assert (found.value, found.high) == pytest.approx((9 / 16, 1.0), abs=0.05) and found.high <= 1.0 and found.low >= 0.0


def test_what_is_made_of_means_varies_with_all_of_them() -> None:
    # a + b over the same cases varies as the mean of the sums does.
    generator = np.random.default_rng(2)
    values = generator.normal(size=(15, 3, 2))
    scores = [
        score("ab"[part], cluster, case, float(values[cluster, case, part]))
        for cluster in range(15)
        for case in range(3)
        for part in range(2)
    ]
    total = Metric("t", "T", "", aggregate=CombinedMeans(("a", "b"), lambda means: means.sum(axis=-1)), low=None, high=None)
    summed = [score("s", cluster, case, float(values[cluster, case].sum())) for cluster in range(15) for case in range(3)]
    alone = Metric("s", "S", "", value=lambda _: None, aggregate=mean, low=None, high=None)  # type: ignore[arg-type,return-value]
    one, other = estimate_at_look(total, scores, 0.02), estimate_at_look(alone, summed, 0.02)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_without_a_value_or_with_one_cluster_there_are_no_limits() -> None:
    metric = Metric("m", "M", "", value=lambda _: None, aggregate=mean, low=None, high=None)  # type: ignore[arg-type,return-value]
    assert estimate_at_look(metric, [score("m", 1, 0, None)], 0.05).value is None
    one = estimate_at_look(metric, [score("m", 1, 0, 2.0), score("m", 1, 1, 4.0)], 0.05)
    assert (one.value, one.low, one.high) == (3.0, None, None)


def test_the_interval_holds_when_one_stops_at_the_worst_moment() -> None:
    """Whoever stops as soon as the interval misses the truth succeeds in 5% of runs; with 95% limits at each look in more than 15%."""
    generator = np.random.default_rng(4)
    looks = plan_looks(100)
    missed = {"repeated": 0, "usual": 0}
    for _ in range(400):
        ability = generator.beta(6, 4, 100)
        values = [list(map(float, generator.random(3) < each)) for each in ability]
        for name, level in (("repeated", find_level(looks)), ("usual", 0.05)):
            for look in looks:
                flat = [value for own in values[:look] for value in own]
                clusters = [str(cluster) for cluster in range(look) for _ in range(3)]
                found = estimate_mean(flat, clusters, confidence=1 - level)
                if found.low is None or found.high is None or not found.low <= 0.6 <= found.high:
                    missed[name] += 1
                    break
    assert missed["repeated"] / 400 <= 0.05 + 0.033  # three standard errors
    assert missed["usual"] / 400 >= 0.12
