"""What follows from clues, and which cases are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any

import pytest
from pydantic import ValidationError
from scipy.stats import chisquare

from sociable.benchmarks.anteval.hidden.dataset import Clue, Level, load_cases
from sociable.benchmarks.anteval.hidden.scenario import Scenario, draw_scenario
from sociable.benchmarks.anteval.hidden.solver import choose, find_favourite, find_holding, find_needed, list_left, list_problems

from .conftest import BOAT, clue

MakeScenario = Callable[..., Scenario]


def pick(scenario: Scenario, *names: str) -> list[Clue]:
    return [each for each in scenario.clues if each.id in names]


def test_a_chain_rules_out_only_when_all_of_it_is_known(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    everything = ["swan", "otter", "barge"]
    for known in (("mast", "flood"), ("mast", "gauge"), ("flood", "gauge")):
        assert list_left(scenario, pick(scenario, *known)) == everything
    assert list_left(scenario, pick(scenario, "mast", "flood", "gauge")) == ["otter", "barge"]


def test_what_is_voided_does_not_count(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    assert "barge" not in list_left(scenario, pick(scenario, "rumour"))
    assert "barge" in list_left(scenario, pick(scenario, "rumour", "string"))


def hold(clues: Iterable[dict[str, Any]]) -> set[str]:
    return {each.id for each in find_holding(map(Clue.model_validate, clues))}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_holds_does_not_hang_on_the_order_of_clues(order: tuple[int, ...]) -> None:
    """b voids a, which c needs: c holds nowhere."""
    clues = [clue("a", "A.", gives=["x"]), clue("b", "B.", voids=["a"]), clue("c", "C.", needs=["x"])]
    assert hold(clues[place] for place in order) == {"b"}


def test_two_that_need_each_other_hold_neither() -> None:
    assert hold([clue("a", "A.", gives=["x"], needs=["y"]), clue("b", "B.", gives=["y"], needs=["x"])]) == set()


def test_of_what_is_left_the_one_with_most_points_is_chosen(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    assert choose(scenario, pick(scenario, "brass", "cheap")) == "swan"
    assert choose(scenario, pick(scenario, "brass", "cheap", "mast", "flood", "gauge")) == "otter"
    assert choose(scenario, scenario.clues) == "barge"


def test_needed_are_those_without_which_it_does_not_follow(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    assert {each.id for each in find_needed(scenario)} == {"mast", "flood", "gauge", "permit", "guests", "string"}


@pytest.mark.parametrize("best", ["swan", "otter", "barge"])
def test_the_small_case_is_sound_whatever_is_right(make_scenario: MakeScenario, best: str) -> None:
    for level in Level:
        scenario = make_scenario(level, best)
        assert list_problems(scenario) == []
        assert choose(scenario, scenario.clues) == best
        assert find_favourite(scenario) == "swan", "what all know is the same in every draw"


def test_which_option_is_right_is_drawn_evenly(make_scenario: MakeScenario) -> None:
    case = make_scenario().case
    drawn = Counter(draw_scenario(case, Level.EASY, seed).best for seed in range(600))
    assert chisquare([drawn[option.id] for option in case.options]).pvalue > 0.001
    assert draw_scenario(case, Level.HARD, 3, 2) == draw_scenario(case, Level.HARD, 3, 2)


def test_who_wants_another_outcome_never_wants_the_right_one(make_scenario: MakeScenario) -> None:
    assert [make_scenario(Level.HARD, best).wanted for best in ("swan", "otter", "barge")] == ["otter", "swan", "swan"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": "guests", "gives": ["eighty"]}, "all clues leave otter, barge and not 'barge' alone"),
        ({"id": "guests", "to": ["Ada"]}, "without what Ada alone knows, who need not tell it, it does not follow"),
        ({"id": "cheap", "rules_out": ["swan", "otter"]}, "Dee knows the right answer alone"),
    ],
)
def test_a_case_that_is_not_sound_is_told_what_is_wrong(
    make_scenario: MakeScenario, change: dict[str, Any], problem: str
) -> None:
    clues = [{**each, **change} if each["id"] == change["id"] else each for each in BOAT["clues"]]
    if change.get("gives"):
        clues.append(clue("spare", "Spare.", "Bo", gives=["sixty"], levels=["easy"]))
    assert problem in list_problems(make_scenario(Level.HARD, clues=clues))


def test_nobody_may_hang_on_the_one_who_need_not_pass_anything_on(make_scenario: MakeScenario) -> None:
    apart = "Cy, Dee would hear of the others by Ada only, who need pass nothing on"
    circles = [["Bo", "Ada"], ["Ada", "Cy"], ["Cy", "Dee"]]
    assert list_problems(make_scenario(Level.HARD, circles=circles)) == [apart]
    assert list_problems(make_scenario(Level.EASY, circles=circles)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"will": {"person": "Ada", "wants": {"raft": "You.", "swan": "You."}}}, "there is no option 'raft'"),
        ({"will": {"person": "Ada", "wants": {"swan": "You."}}}, "at least 2"),
        (
            {"clues": [*BOAT["clues"], clue("odd", "Odd.", if_right="swan")]},
            "everybody knows it, so it must be there in every draw",
        ),
        ({"will": {**BOAT["will"], "person": "Eve"}}, "there is nobody called 'Eve'"),
        ({"circles": [["Ada", "Bo"], ["Cy", "Dee"]]}, "circles that hang together"),
        ({"circles": [["Ada", "Bo"], ["Bo", "Cy"]]}, "leave nobody out"),
        ({"clues": [*BOAT["clues"], clue("brass", "Twice.")]}, "clues, easy, swan right: 'brass' is there twice"),
        (
            {"clues": [*BOAT["clues"], clue("gauge", "Other.", "Bo", if_wrong="otter", levels=["hard"])]},
            "clues, hard, swan right: 'gauge' is there twice",
        ),
        ({"clues": [*BOAT["clues"], clue("odd", "Odd.", needs=["snow"])]}, "no clue gives 'snow'"),
        ({"clues": [*BOAT["clues"], clue("odd", "Odd.", voids=["snow"])]}, "there is no clue 'snow'"),
    ],
)
def test_a_record_that_is_not_whole_is_refused(make_scenario: MakeScenario, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        make_scenario(**changes)


def test_the_bundled_cases_are_sound() -> None:
    for case in load_cases(None, skip_invalid=False).items:
        for level in Level:
            for option in case.options:
                assert list_problems(Scenario(case, level, option.id)) == [], (case.id, level, option.id)
