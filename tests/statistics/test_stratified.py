"""The stratified mean against its textbook formula, and against what it must be on whole populations."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from sociable.statistics.intervals import estimate_stratified_mean


def test_by_hand() -> None:
    found = estimate_stratified_mean({"a": [1.0, 0.0], "b": [1.0, 1.0, 0.0, 1.0]}, {"a": 10, "b": 30})
    assert found.value == pytest.approx(0.25 * 0.5 + 0.75 * 0.75)
    # W² (1 − f) s² / n of both strata
    error = sqrt(0.25**2 * 0.8 * 0.5 / 2 + 0.75**2 * (26 / 30) * 0.25 / 4)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 > 1.96 * error  # a t quantile with few degrees of freedom is wider
    assert (found.high + found.low) / 2 == pytest.approx(found.value)


def test_everything_sampled_leaves_nothing_open() -> None:
    found = estimate_stratified_mean({"a": [1.0, 0.0], "b": [1.0]}, {"a": 2, "b": 1})
    assert (found.low, found.value, found.high) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_a_stratum_nobody_looked_at_leaves_no_value() -> None:
    assert estimate_stratified_mean({"a": [1.0]}, {"a": 3, "b": 1}).value is None
    assert estimate_stratified_mean({"a": [1.0]}, {"a": 3, "b": 0}).value == 1.0
    assert estimate_stratified_mean({}, {}).value is None


def test_limits_are_none_where_nothing_varies() -> None:
    found = estimate_stratified_mean({"a": [1.0, 1.0]}, {"a": 10})
    assert (found.value, found.low, found.high) == (1.0, None, None)
    alone = estimate_stratified_mean({"a": [1.0]}, {"a": 10})
    assert (alone.value, alone.low) == (1.0, None)


def test_more_values_than_units() -> None:
    with pytest.raises(ValueError, match="more values"):
        estimate_stratified_mean({"a": [1.0, 1.0]}, {"a": 1})


def test_the_interval_covers_the_population_as_often_as_it_says() -> None:
    generator = random.Random(5)
    population = {
        "win": [float(generator.random() < 0.8) for _ in range(40)],
        "loss": [float(generator.random() < 0.2) for _ in range(160)],
    }
    truth = sum(map(sum, population.values())) / 200
    covered, values = 0, []
    for _ in range(1500):
        sampled = {name: generator.sample(values, 20) for name, values in population.items()}
        found = estimate_stratified_mean(sampled, {name: len(values) for name, values in population.items()})
        assert found.value is not None
        values.append(found.value)
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert sum(values) / len(values) == pytest.approx(truth, abs=0.01)  # an unweighted mean would be off by .15
    assert covered / 1500 > 0.92
