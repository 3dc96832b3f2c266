"""Outcomes and the best policy, worked out by hand on a small dossier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.live.dataset import Level
from sociable.benchmarks.hsii.live.drawing import draw_scenario
from sociable.benchmarks.hsii.live.outcome import count_gains, find_majority, measure_welfare
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solver
from sociable.core.errors import InputError

from .conftest import change_least

BEST = {"when": "dusk", "where": "yard"}
OPEN = {"when": "noon", "where": "hall"}


def test_points_count_from_the_least_that_is_accepted(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario()
    assert count_gains(scenario, OPEN) == {"Ada": 3, "Bo": 4, "Cy": 4}
    assert count_gains(scenario, BEST, right=["umbrella"]) == {"Ada": 8, "Bo": 7, "Cy": 7}
    assert count_gains(scenario, BEST, broken=["ada-work"])["Ada"] == 6


def test_what_was_drawn_decides_what_it_is_worth(make_scenario: Callable[..., Scenario]) -> None:
    other = make_scenario(draw=frozenset({"work=free", "lamps=dark"}))
    assert count_gains(other, BEST) == {"Ada": 3, "Bo": 5, "Cy": 1}
    assert count_gains(other, OPEN) == {"Ada": 6, "Bo": 4, "Cy": 4}


def test_one_no_leaves_everybody_with_nothing(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(draw=frozenset({"work=five", "lamps=dark"}), budgets=change_least(-1))
    assert count_gains(scenario, BEST) == {"Ada": 1, "Bo": 1, "Cy": 1}
    assert count_gains(scenario, None, right=["umbrella"]) == {"Ada": 1, "Bo": 3, "Cy": 1}


def test_welfare_is_the_geometric_mean_and_nobody_falls_below_a_half() -> None:
    assert measure_welfare({"a": 8, "b": 1, "c": 1}) == pytest.approx(2)
    assert measure_welfare({"a": 2, "b": -3}) == pytest.approx(1)


def test_the_majority_goes_by_what_is_shown(make_scenario: Callable[..., Scenario]) -> None:
    assert find_majority(make_scenario(), ["ada-noon"]) == OPEN


def test_with_enough_messages_the_best_there_is_can_be_found(make_scenario: Callable[..., Scenario]) -> None:
    found = Solver(make_scenario()).solve()
    assert found.is_exact
    assert found.arrangement == BEST
    assert found.welfare == pytest.approx((8 * 7 * 7) ** (1 / 3)) == pytest.approx(found.bound)
    # Without asking: noon in the yard is best over the four draws, and here worth (3 · 5 · 4) ** (1/3).
    assert found.baseline == pytest.approx(60 ** (1 / 3))
    assert (found.measure_share(found.baseline), found.measure_share(found.welfare)) == (0, 1)
    # Bo needs to know of the rain, and may not know of Ada's work.
    told = {(name, fact) for steps in found.plan for step in steps for name in step.to for fact in step.tells}
    assert ("Bo", "rain") in told
    assert ("Bo", "ada-work") not in told


def test_what_was_drawn_is_known_from_answers_alone(make_scenario: Callable[..., Scenario]) -> None:
    solver = Solver(make_scenario())
    assert solver.find_best([]) == {"when": "noon", "where": "yard"}
    assert solver.find_best(["rain", "bo-yard"]) == {"when": "noon", "where": "yard"}
    assert solver.find_best(["ada-work"]) == BEST
    free = Solver(make_scenario(draw=frozenset({"work=free", "lamps=lit"})))
    assert free.find_best(["ada-work"]) == {"when": "noon", "where": "yard"}


def test_with_few_messages_less_can_be_found_and_the_bound_says_what_was_there(make_scenario: Callable[..., Scenario]) -> None:
    topics = [{**each, "lead": ["bo-yard"]} if each["id"] != "bo-place" else each for each in _lead_to_ada("", make_scenario)]
    found = Solver(make_scenario(Level.HARD, topics=topics)).solve()
    assert sum(map(len, found.plan)) == 2
    assert found.welfare < found.bound


def test_nobody_asks_without_a_reason(make_scenario: Callable[..., Scenario]) -> None:
    found = Solver(make_scenario(topics=_lead_to_ada("cy-lamps", make_scenario))).solve()
    asked = [step.topic for steps in found.plan for step in steps if step.topic]
    assert "ada-work" not in asked or asked.index("cy-evening") < asked.index("ada-work")


def test_dossiers_are_drawn_so_that_asking_can_gain_something(make_scenario: Callable[..., Scenario]) -> None:
    dossier = make_scenario().dossier
    drawn = [draw_scenario(dossier, Level.EASY, seed) for seed in range(30)]
    assert {each.draw for each in drawn} == {frozenset({"work=five", "lamps=lit"})}
    assert drawn[0].draw == draw_scenario(dossier, Level.EASY, 0).draw
    with pytest.raises(InputError, match="tea: in 1000 draws asking never gained"):
        draw_scenario(make_scenario(budgets=change_least(-50.0)).dossier, Level.EASY, 0)


def _lead_to_ada(fact: str, make_scenario: Callable[..., Scenario]) -> list[dict[str, Any]]:
    topics = [topic.model_dump(mode="json") for topic in make_scenario().dossier.topics]
    return [{**each, "lead": [fact]} if each["id"] == "ada-work" else each for each in topics]
