"""The reference agents: what each says and knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sociable.api import runs
from sociable.benchmarks.agentsense.protocol import run_scene
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, AgentSenseOptions, ProbeKind
from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.engine.seats import Role, Seat, Seats

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"


@pytest.fixture
def play(scenario: Scenario, prompts: Prompts, seat: Callable[..., Seat]) -> Callable[..., AgentSenseEpisode]:
    def run(agent: str, seed: int = 0) -> AgentSenseEpisode:
        seats = Seats(seat(Role.SUBJECT, f"reference/{agent}"))
        return asyncio.run(run_scene(scenario, 0, seats, prompts, AgentSenseOptions(), seed=seed))

    return run


def said_by(episode: AgentSenseEpisode, name: str) -> str:
    return " ".join(turn.content for turn in episode.turns if turn.speaker == name and turn.index > 0)


def test_the_oracle_says_both_sides_of_what_reaches_a_goal(scenario: Scenario, play: Any) -> None:
    episode = play("oracle")
    assert "May I?" in said_by(episode, ANN)
    assert "Take the boat." in said_by(episode, BEN)
    assert is_reached(scenario, ANN, 0, ((turn.speaker, turn.content) for turn in episode.turns))
    # Of a goal without an example it says plainly what it is.
    assert "What I want is this: to be thanked by Cara." in said_by(episode, BEN)


def test_the_oracle_that_errs_plays_how_the_goal_is_missed_in_all_seats(play: Any) -> None:
    episode = play("oracle@1")
    assert "Not today." in said_by(episode, BEN)
    assert "Take the boat." not in said_by(episode, BEN)
    own = [probe for probe in episode.probes if probe.about == ANN and probe.item == 0 and probe.kind is not ProbeKind.QUIZ]
    assert {probe.answer for probe in own if "GOAL" in probe.kind.name} == {False}
    assert not any(probe.answer for probe in episode.probes if probe.kind is ProbeKind.QUIZ)


def test_lines_that_would_take_each_other_back_are_not_said_in_one_turn(
    native: dict[str, Any], read: Any, prompts: Any, seat: Any
) -> None:
    # Ben's second line holds what cancels his first one's sign.
    native["characters"][1]["goals"][0] |= {
        "signs": [{"by": BEN, "says": [["wont"]]}],
        "reached": [{"by": BEN, "says": "I won't row."}],
        "missed": [{"by": BEN, "says": "I row."}],
    }
    scenario: Scenario = read(native)
    for seed in range(20):
        seats = Seats(seat(Role.SUBJECT, "reference/oracle"))
        episode = asyncio.run(run_scene(scenario, 0, seats, prompts, AgentSenseOptions(), seed=seed))
        assert not any("Take the boat" in turn.content and "won't" in turn.content for turn in episode.turns)


def test_the_heuristic_keeps_its_secret_and_blurt_does_not(play: Any) -> None:
    assert "sold the ferry" not in said_by(play("heuristic"), ANN)
    assert "sold the ferry" in said_by(play("blurt"), ANN)


def answers(episode: AgentSenseEpisode, kind: ProbeKind) -> Sequence[bool | None]:
    return [probe.answer for probe in episode.probes if probe.kind is kind and probe.asked == BEN]


def test_the_heuristic_knows_what_was_said_and_nothing_else(play: Any) -> None:
    # "Sold the ferry" shares "sold" and "ferry" with Ann's secret, and with nothing that everybody knows but the ferry.
    assert answers(play("blurt"), ProbeKind.QUIZ) == [True]
    assert answers(play("silent"), ProbeKind.QUIZ) == [None]
    assert answers(play("oracle"), ProbeKind.BLIND_QUIZ) == [True]


def test_random_answers_about_one_in_four_and_says_nothing_of_its_own(scenario: Scenario, play: Any) -> None:
    found = [answer for seed in range(200) for answer in answers(play("random", seed), ProbeKind.QUIZ)]
    assert 0.15 < sum(map(bool, found)) / len(found) < 0.35
    assert set(said_by(play("random"), ANN).replace(".", "")) <= set(scenario.background.replace(".", "") + " ")


def test_the_heuristic_gains_more_among_blurters_than_among_the_discreet(tmp_path: Path) -> None:
    gains = {}
    for partner in ("blurt", "heuristic"):
        asked = {"partner": f"reference/{partner}", "limit": 6}
        result = runs.run("agentsense", "reference/heuristic", out=tmp_path / partner, **asked)
        (gain,) = [e.value for e in result.estimates if e.metric == "information_gain"]
        (defence,) = [e.value for e in result.estimates if e.metric == "partner_defence"]
        assert gain is not None and defence is not None
        gains[partner] = (gain, defence)
    assert gains["blurt"][0] > gains["heuristic"][0] + 0.3
    assert gains["blurt"][1] < gains["heuristic"][1] - 0.3
