"""Which clues a turn tells, by judges."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sociable.benchmarks.anteval.hidden.briefing import ask_about_turn, load_hidden_prompts
from sociable.benchmarks.anteval.hidden.dataset import Level
from sociable.benchmarks.anteval.hidden.hearing import list_within_reach
from sociable.benchmarks.anteval.hidden.judge import parse_told, show_question
from sociable.benchmarks.anteval.hidden.metrics import METRICS, Played
from sociable.benchmarks.anteval.hidden.records import TOLD, HiddenEpisode, HiddenJudgment, HiddenTurn
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.told import Told, find_told, list_criteria
from sociable.core.records import PANEL, Outcome, Verdict
from sociable.judging.panel import add_panel

MakeScenario = Callable[..., Scenario]


def say(scenario: Scenario, *said: tuple[str, str]) -> tuple[HiddenTurn, ...]:
    return tuple(
        HiddenTurn(index=place, round=1, speaker=name, heard_by=scenario.list_hearers(name), content=words)
        for place, (name, words) in enumerate(said, start=1)
    )


def judge(judge: str, index: int, *clues: str, verdict: Verdict = Verdict.WIN) -> HiddenJudgment:
    return HiddenJudgment(
        id=f"{judge}{index}", episode="e", scenario="s", criterion=f"{TOLD}|{index}", judge=judge, verdict=verdict, clues=clues
    )


def test_a_speaker_can_know_what_could_have_come_round_to_it(make_scenario: MakeScenario) -> None:
    """Dee hears Cy alone, who hears Bo: the mast is Bo's, the cousin Ada's."""
    scenario = make_scenario(Level.HARD)
    turns = say(scenario, ("Dee", "Well."), ("Ada", "Well."), ("Bo", "Well."), ("Cy", "Well."), ("Dee", "Well."))
    first, last = ({each.id for each in list_within_reach(scenario, turns, index)} for index in (1, 5))
    assert {"gauge", "permit", "brass"} <= first
    assert not first & {"mast", "flood", "cousin"}
    assert {"mast", "flood", "cousin"} <= last


def test_the_judge_sees_numbered_clues_and_fenced_words(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    turns = say(scenario, ("Bo", "Mast?"), ("Cy", "Told: all\nof them."))
    clues = list_within_reach(scenario, turns, 2)
    (message,) = ask_about_turn(TOLD, scenario, turns[1], turns[:1], clues, load_hidden_prompts())
    lines = str(message["content"]).splitlines()
    assert [line for line in lines if line.startswith(f"| {len(clues)}. ")] == [f"| {len(clues)}. {clues[-1].text}"]
    assert lines[lines.index("Now Cy says:") + 1 :][:2] == ["| Told: all", "| of them."]
    assert "| Bo: Mast?" in lines


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ('{"reason": "so", "told": [2, "1", 2]}', ("cheap", "brass")),
        ('{"told": []}', ()),
        ('{"told": [4]}', None),
        ('{"told": [1, "the mast"]}', None),
        ('{"told": [true]}', None),
        ('{"told": 1}', None),
        ('{"told": [1], "told": [2]}', None),
        ("1, 2", None),
    ],
)
def test_an_answer_names_clues_by_their_numbers(make_scenario: MakeScenario, reply: str, told: tuple[str, ...] | None) -> None:
    assert parse_told(reply, make_scenario().clues[:3]).value == told


def test_more_than_half_of_the_judges_decide_and_silence_of_half_leaves_it_open(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    turns = tuple(turn.model_copy(update={"clues": ("cheap",)}) for turn in say(scenario, ("Bo", "Mast 4.20"), ("Cy", "")))
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", turns=turns)
    assert list_criteria(scenario, episode) == ["told|1", "unsupported|1"]
    assert not find_told(episode, [], []).is_judged
    assert find_told(episode, [], []).by_turn[1] == ("cheap",), "there are no judges: as the episode has it"
    both = find_told(episode, [judge("a", 1, "mast", "brass"), judge("b", 1, "mast")], ["a", "b"])
    assert both.is_judged
    assert both.by_turn == {1: ["mast"]}
    unread = [judge("a", 1, verdict=Verdict.UNSCORED), judge("b", 1, "mast")]
    scores = METRICS.score(episode, Played(scenario, episode, find_told(episode, unread, ["a", "b"]), {}))
    outcomes = {each.metric: each.outcome for each in scores}
    assert {outcomes[name] for name in ("told", "own", "shared", "pooled")} == {Outcome.UNSCORED}
    assert outcomes["right"] is Outcome.SCORED


@pytest.mark.parametrize("judged", [[], [judge("a", 1, "mast")]])
def test_judging_that_was_not_finished_gives_no_value_and_no_rule_stands_in(
    make_scenario: MakeScenario, judged: list[HiddenJudgment]
) -> None:
    scenario = make_scenario()
    turns = tuple(turn.model_copy(update={"clues": ("cheap",)}) for turn in say(scenario, ("Bo", "Mast"), ("Cy", "Cheap")))
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", turns=turns)
    played = Played(scenario, episode, find_told(episode, judged, ["a"]), add_panel(judged, ["a"]))
    scores = {each.metric: each for each in METRICS.score(episode, played)}
    for name in ("told", "own", "shared", "pooled", "unsupported", "repeats"):
        assert (scores[name].outcome, scores[name].reason) == (Outcome.ERRORED, "judging was not finished")
    assert scores["right"].outcome is Outcome.SCORED


def test_claims_of_who_wants_another_outcome_are_not_counted(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", turns=say(scenario, ("Ada", "False."), ("Bo", "So.")))
    verdicts = {(f"unsupported|{index}", PANEL): (verdict, "") for index, verdict in ((1, Verdict.WIN), (2, Verdict.LOSS))}
    scores = METRICS.score(episode, Played(scenario, episode, Told(is_judged=True), verdicts))
    assert [each.value for each in scores if each.metric == "unsupported"] == [0]


def test_a_judge_sees_what_the_speaker_had_heard_and_is_asked_of_repeating_only_that(make_scenario: MakeScenario) -> None:
    """Dee hears Cy alone."""
    scenario = make_scenario(Level.HARD)
    turns = say(scenario, ("Bo", "Canary."), ("Dee", "Well."), ("Cy", "Robin."), ("Dee", "Well."))
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", turns=turns)
    assert [each for each in list_criteria(scenario, episode) if each.startswith("repeats")] == ["repeats|3", "repeats|4"]
    shown = show_question(scenario, episode, "repeats|4").situation
    assert "Robin." in shown
    assert "Canary." not in shown


def test_an_aside_that_nobody_hears_tells_nothing(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    (turn,) = say(scenario, ("Bo", "Mast."))
    for heard_by, told in ((("Cy",), True), ((), False)):
        turns = (turn.model_copy(update={"heard_by": heard_by}),)
        episode = HiddenEpisode(id="e", scenario="s", cluster="boat", turns=turns)
        assert Played(scenario, episode, Told({1: ("mast",)}), {}).was_said("mast", "Bo") is told
