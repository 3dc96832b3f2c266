"""People who cannot be reached in some rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from sociable.benchmarks.hsii.live.briefing import brief_assistant, load_live_prompts
from sociable.benchmarks.hsii.live.dataset import Level
from sociable.benchmarks.hsii.live.records import ASSISTANT
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solver

from .conftest import TEA, person, worth
from .test_protocol import move, play, refer


def leave(person: str, *rounds: int, **fields: Any) -> dict[str, Any]:
    return {"person": person, "rounds": list(rounds), "why": "at sea", **fields}


def test_who_is_away_reads_and_answers_in_the_first_round_after(make_scenario: Callable[..., Scenario]) -> None:
    four = {"easy": {**TEA["budgets"]["easy"], "rounds": 4}}
    scenario = make_scenario(absences=[leave("Cy", 2)], budgets=four)
    told = [move(), move(("Cy", "It will rain at noon. And the evenings?")), move(), move()]
    episode, _ = play(scenario, told)
    answers = [(each.round, each.content) for each in episode.turns if each.speaker == "Cy"]
    assert answers == [(4, "The lamps in the yard!")]
    present, _ = play(make_scenario(budgets=four), told)
    assert [(each.round, each.content) for each in present.turns if each.speaker == "Cy"] == [(3, "The lamps in the yard!")]


def test_what_waits_is_answered_before_what_came_later(make_scenario: Callable[..., Scenario]) -> None:
    """The question was written before Cy was told of the rain, and is answered so; then the news opens Cy."""
    four = {"easy": {**TEA["budgets"]["easy"], "rounds": 4}}
    scenario = make_scenario(absences=[leave("Cy", 2)], budgets=four)
    told = [move(), move(("Cy", "And the evenings?")), move(("Cy", "It will rain at noon.")), move()]
    episode, _ = play(scenario, told)
    assert [each.content for each in episode.turns if each.speaker == "Cy"] == ["Noon is fine.", "The lamps in the yard!"]


@pytest.mark.parametrize(("rounds", "decided"), [((3,), "hat"), ((2,), "umbrella"), ((2, 3), "hat")])
def test_what_is_never_read_decides_nothing(
    make_scenario: Callable[..., Scenario], rounds: tuple[int, ...], decided: str
) -> None:
    scenario = make_scenario(absences=[leave("Bo", *rounds)], messages=TEA["messages"][:2])
    sent = [move() if number != rounds[0] else move(("Bo", "It will rain at noon.")) for number in (1, 2, 3)]
    episode, _ = play(scenario, sent)
    assert episode.decided == {"umbrella": decided}


def test_who_is_away_passes_on_what_it_has_read(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(absences=[leave("Ada", 2)], passings=[{"person": "Ada", "to": ["Bo"]}])
    episode, _ = play(scenario, [move(), move(("Ada", "It will rain at noon.")), move()])
    assert [(each.round, each.addressees) for each in episode.turns if each.is_aside] == [(3, ("Bo",))]


def test_the_assistant_is_told_who_is_away_when(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(absences=[leave("Cy", 2, 3), leave("Ada", 2, levels=["hard"])])
    told = str(brief_assistant(scenario, load_live_prompts())["content"])
    assert "Cy is at sea in round 2 and 3." in told
    assert "Ada is at sea" not in told
    assert "is away" not in str(brief_assistant(make_scenario(), load_live_prompts())["content"])


@pytest.mark.parametrize(("rounds", "loses"), [((2,), False), ((1,), False), ((3,), False), ((2, 3), False), ((1, 2), True)])
def test_the_best_policy_writes_when_it_is_read(
    make_scenario: Callable[..., Scenario], rounds: tuple[int, ...], loses: bool
) -> None:
    """Three rounds: Cy must have read of the rain, and the question, by the second one to be heard in the third."""
    messages = [{**each, "sender": "", "to": ()} for each in TEA["messages"][:2]]
    people = [*TEA["people"][:2], person("Cy", worth(1, when="noon"), worth(9, "lamps=lit", when="dusk", where="yard"))]
    free = frozenset({"work=free", "lamps=lit"})
    scenario = make_scenario(draw=free, people=people, absences=[leave("Cy", *rounds)], messages=messages)
    solver = Solver(scenario)
    solution = solver.solve()
    assert (solution.welfare < solver.bound - 1e-9) is loses
    assert solution.is_exact
    episode = refer("oracle", scenario)
    answered = [each.round for each in episode.turns if each.speaker == "Cy"]
    assert bool(answered) is not loses
    if rounds == (2,):
        asked = [each.round for each in episode.turns if each.speaker == ASSISTANT and "Cy" in each.addressees]
        assert asked[0] == 1


def test_nobody_is_away_when_it_writes(make_scenario: Callable[..., Scenario]) -> None:
    with pytest.raises(ValidationError, match="'Bo' writes in round 2 and cannot be away then"):
        make_scenario(absences=[leave("Bo", 2)])
    assert make_scenario(Level.HARD, absences=[leave("Bo", 3)]).absences == ()
