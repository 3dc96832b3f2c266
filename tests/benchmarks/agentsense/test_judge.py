"""Judges: what they are shown, and what becomes of what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.agentsense.judge import judge_goal
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import Scenario, list_goal_probes
from sociable.core.prompts import Prompts
from sociable.core.records import PANEL, Judgment, Turn, Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.panel import add_panel

ANN, BEN = "Ann Lee", "Ben Cole"


@pytest.fixture
def episode(scenario: Scenario) -> AgentSenseEpisode:
    said = ((ANN, "Hi there!"), (BEN, "Good day."), (ANN, "May I have it?\nPlease."), (BEN, "Take my boat."))
    turns = tuple(Turn(index=index, speaker=speaker, content=content) for index, (speaker, content) in enumerate(said))
    return AgentSenseEpisode(id=f"{scenario.id}#0", scenario=scenario.id, cluster=scenario.template, turns=turns)


def judged(
    scenario: Scenario, episode: AgentSenseEpisode, seat: Seat, prompts: Prompts, after: int = 3, first_lines: bool = False
) -> Judgment:
    asked = list_goal_probes(scenario, after, "judge")[0]
    return asyncio.run(judge_goal(scenario, episode, asked, seat, prompts, first_lines=first_lines))


def test_every_goal_is_asked_about_and_nobody_without_one(scenario: Scenario) -> None:
    asked = list_goal_probes(scenario, 15, "judge")
    assert [(each.owner.name, each.criterion) for each in asked] == [
        (ANN, "Ann Lee|goal 1.1|15"),
        (BEN, "Ben Cole|goal 1.1|15"),
        (BEN, "Ben Cole|goal 2.1|15"),
    ]


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason": "He said so.", "answer": "yes"}', Verdict.WIN),
        ("No, he never did.", Verdict.LOSS),
        ("Yes. Yet on reflection, no", Verdict.UNSCORED),
        ("Yesterday he might have.", Verdict.UNSCORED),
        ("", Verdict.UNSCORED),
    ],
)
def test_yes_no_and_neither(
    scenario: Scenario, episode: AgentSenseEpisode, prompts: Prompts, seat: Callable[..., Seat], reply: str, verdict: Verdict
) -> None:
    assert judged(scenario, episode, seat(Role.JUDGE, lambda _: reply), prompts).verdict is verdict


def test_what_a_judge_sees(scenario: Scenario, episode: AgentSenseEpisode, prompts: Prompts, seat: Callable[..., Seat]) -> None:
    asking: Any = seat(Role.JUDGE, lambda _: "yes")
    judged(scenario, episode, asking, prompts, after=2)
    sent = asking.model.asked[0].messages[-1]["content"]
    assert "May I have it? Please." in sent
    assert "Take my boat" not in sent  # said later than the judge is to look
    assert "Did Ben lend Ann the boat?" in sent
    assert "canary-background" in sent
    assert not [word for word in ("ann-secret", "ben-secret", "ann-profile", "ben-goal") if word in sent]
    judged(scenario, episode, asking, prompts, first_lines=True)
    assert "Please" not in asking.model.asked[1].messages[-1]["content"]


def test_the_rule_looks_for_signs_and_says_so_where_there_are_none(
    scenario: Scenario, episode: AgentSenseEpisode, prompts: Prompts, seat: Callable[..., Seat]
) -> None:
    rule = seat(Role.JUDGE, "reference/rule")
    assert judged(scenario, episode, rule, prompts).verdict is Verdict.WIN
    assert judged(scenario, episode, rule, prompts, after=2).verdict is Verdict.LOSS
    without = list_goal_probes(scenario, 3, "judge")[1]
    found = asyncio.run(judge_goal(scenario, episode, without, rule, prompts, first_lines=False))
    assert (found.verdict, found.reason) == (Verdict.UNSCORED, "reference/rule: nobody wrote down signs of this goal")


def test_majority_by_hand() -> None:
    def given(criterion: str, letters: str) -> list[Judgment]:
        meaning = {"y": Verdict.WIN, "n": Verdict.LOSS, "?": Verdict.UNSCORED}
        return [
            Judgment(id=f"{criterion}{j}", episode="e", scenario="s", criterion=criterion, judge=j, verdict=meaning[letter])
            for j, letter in zip("abc", letters, strict=False)
        ]

    found = add_panel(
        [j for letters in ("yyn", "ynn", "y?y", "?yn", "??y", "yn") for j in given(letters, letters)], ["a", "b", "c"]
    )
    panel = {criterion: verdict for (criterion, judge), (verdict, _) in found.items() if judge == PANEL}
    assert panel == {
        "yyn": Verdict.WIN,
        "ynn": Verdict.LOSS,
        "y?y": Verdict.WIN,  # two of three gave a verdict, both yes
        "?yn": Verdict.TIE,  # split: no verdict on a question of yes or no
        "??y": Verdict.UNSCORED,  # half or more are missing
        # "yn": the third has not judged yet
    }
