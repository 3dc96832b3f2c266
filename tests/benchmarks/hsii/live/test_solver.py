"""Outcomes and the best policy, worked out by hand on a small dossier."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sociable.benchmarks.hsii.live.dataset import Level, Scenario
from sociable.benchmarks.hsii.live.outcome import count_gains, find_majority, measure_welfare
from sociable.benchmarks.hsii.live.solver import Solver

BEST = {"when": "dusk", "where": "yard"}
OPEN = {"when": "noon", "where": "hall"}


def test_points_count_from_the_least_that_is_accepted(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()
    assert count_gains(scenario, OPEN) == {"Ada": 2, "Bo": 2, "Cy": 2}
    assert count_gains(scenario, BEST, right=["umbrella"]) == {"Ada": 6, "Bo": 6, "Cy": 4}
    assert count_gains(scenario, BEST, broken=["ada-dusk"])["Ada"] == 4


def test_one_no_leaves_everybody_with_nothing(make_scenario: Callable[..., Scenario]) -> None:
    # At dusk in the hall Cy has less than nothing.
    scenario = make_scenario()
    assert count_gains(scenario, {"when": "dusk", "where": "hall"}) == {"Ada": 1, "Bo": 1, "Cy": 1}
    assert count_gains(scenario, None, right=["umbrella"]) == {"Ada": 1, "Bo": 3, "Cy": 1}


def test_welfare_is_the_geometric_mean_and_nobody_falls_below_a_half() -> None:
    assert measure_welfare({"a": 8, "b": 1, "c": 1}) == pytest.approx(2)
    assert measure_welfare({"a": 2, "b": -3}) == pytest.approx(1)


def test_the_majority_goes_by_what_is_shown(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()
    assert find_majority(scenario, ["ada-noon"]) == OPEN
    assert find_majority(scenario, ["ada-dusk", "cy-lamps", "bo-yard"])["where"] == "yard"


def test_with_enough_messages_the_best_there_is_can_be_found(make_scenario: Callable[..., Scenario]) -> None:
    found = Solver(make_scenario()).solve()
    assert found.is_exact
    assert found.arrangement == BEST
    assert found.welfare == pytest.approx((6 * 6 * 4) ** (1 / 3)) == pytest.approx(found.bound)
    assert found.baseline == pytest.approx(2)
    assert (found.measure_share(2.0), found.measure_share(found.welfare)) == (0, 1)
    # Cy says something only when told of the rain, and Bo needs to know of it.
    told = {(name, fact) for steps in found.plan for step in steps for name in step.to for fact in step.tells}
    assert {("Cy", "rain"), ("Bo", "rain")} <= told
    assert ("Bo", "ada-dusk") not in told


def test_with_few_messages_less_can_be_found_and_the_bound_says_what_was_there(make_scenario: Callable[..., Scenario]) -> None:
    found = Solver(make_scenario(Level.HARD)).solve()
    assert sum(map(len, found.plan)) == 2
    assert found.baseline < found.welfare < found.bound


def test_nobody_asks_without_a_reason(make_scenario: Callable[..., Scenario]) -> None:
    topics = [dict(each, lead=["bo-yard"]) if each["id"] == "ada-work" else each for each in _topics(make_scenario)]
    found = Solver(make_scenario(topics=topics)).solve()
    asked = [step.topic for steps in found.plan for step in steps if step.topic]
    assert asked.index("bo-place") < asked.index("ada-work")


def _topics(make_scenario: Callable[..., Scenario]) -> list[dict[str, object]]:
    return [topic.model_dump(mode="json") for topic in make_scenario().dossier.topics]
