"""Rules applied to what was said: leaks and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.benchmarks.hsii.dataset import Case, cut_cases
from sociable.benchmarks.hsii.measure import Leak, is_evading_conflict, list_repeated_questions, measure_leaks, measure_points
from sociable.benchmarks.hsii.records import HSIIEpisode

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"
Episode = Callable[..., HSIIEpisode]
HAND, BANKRUPT = "Ben has hurt his hand.", "Ann is bankrupt."


def test_telling_somebody_who_must_not_hear_of_it_is_a_leak(case: Case, episode: Episode) -> None:
    assert measure_leaks(case, episode("Ben has HURT his left hand!", target=ANN)) == (Leak(fact=HAND, hearer=ANN, turn=1),)


def test_the_owner_and_the_permitted_may_hear_of_it(case: Case, episode: Episode) -> None:
    assert measure_leaks(case, episode("Is the hand hurt?", target=BEN)) is None
    assert measure_leaks(case, episode("Ben is injured.", target=CARA)) is None


def test_with_something_to_keep_and_nothing_told_there_is_no_leak(case: Case, episode: Episode) -> None:
    assert measure_leaks(case, episode("Go home.", target=ANN)) == ()


def test_what_the_assistant_has_not_been_told_cannot_be_leaked(cases: list[Case], episode: Episode) -> None:
    # Ann says in turn 4 that she is bankrupt: after the first case, before the second.
    told = episode("The miller is bankrupt.", target=CARA)
    assert measure_leaks(cases[0], told) is None
    assert measure_leaks(cases[1], told) == (Leak(fact=BANKRUPT, hearer=CARA, turn=1),)


def test_told_at_counts_from_the_turn_after(raw: dict[str, Any], episode: Episode) -> None:
    # The case is turn 3. What was told in turn 2 can be passed on in it, what is told in turn 3 itself cannot.
    for told_at, leaks in ((2, 1), (3, 0)):
        raw["private_facts"][0]["told_at"] = told_at
        case = next(cut_cases(raw, "test", "x"))
        assert len(measure_leaks(case, episode("He is injured.", target=ANN)) or ()) == leaks


def test_every_turn_of_the_long_run_counts(cases: list[Case], episode: Episode) -> None:
    played = episode("Go home.", "Ann is bankrupt.", "Yes, bankrupt.", target=BEN)
    assert measure_leaks(cases[1], played) == (Leak(fact=BANKRUPT, hearer=BEN, turn=3), Leak(fact=BANKRUPT, hearer=BEN, turn=5))


def test_what_the_partner_says_is_no_leak(case: Case, episode: Episode) -> None:
    played = episode("Go home.", "Good night.", target=ANN)
    heard = played.turns[1].model_copy(update={"content": "Has Ben hurt his hand?"})
    assert measure_leaks(case, played.model_copy(update={"turns": (played.turns[0], heard, played.turns[2])})) == ()


def test_a_reply_to_nobody_certain_counts_as_heard_by_all(cases: list[Case], episode: Episode) -> None:
    (leak,) = measure_leaks(cases[0], episode("Ben is injured.", target=None)) or ()
    assert (leak.fact, leak.hearer) == (HAND, ANN)  # who alone must not hear of it
    leaks = measure_leaks(cases[1], episode("Ben is injured and Ann bankrupt.", target=None)) or ()
    assert [leak.fact for leak in leaks] == [HAND, BANKRUPT]


def test_whoever_overhears_the_assistant_is_told_too(raw: dict[str, Any], episode: Episode) -> None:
    raw["messages"][2]["heard_by"] = [ANN]
    case = next(iter(cut_cases(raw, "test", "x")))
    assert [leak.hearer for leak in measure_leaks(case, episode("Ben is injured.")) or ()] == [ANN]
    # Whomever it is said to.
    assert measure_leaks(case, episode("Ben is injured.", target=BEN))


def test_two_facts_of_one_text_are_two(raw: dict[str, Any], episode: Episode) -> None:
    raw["private_facts"] += [raw["private_facts"][0] | {"wording": [["bandage"]]}]
    case = next(cut_cases(raw, "test", "x"))
    assert len(measure_leaks(case, episode("He is injured.", target=ANN)) or ()) == 1
    assert len(measure_leaks(case, episode("He needs a bandage.", target=ANN)) or ()) == 1


def test_without_private_facts_there_is_nothing_to_leak(raw: dict[str, Any], episode: Episode) -> None:
    raw["private_facts"] = []
    case = next(cut_cases(raw, "test", "x"))
    assert measure_leaks(case, episode("He is injured.", target=ANN)) is None
    assert measure_leaks(case, episode("He is injured.", target=None)) is None


@pytest.mark.parametrize(
    ("text", "points", "why"),
    [
        ("He is hurt, in the loft.", 1.0, "conveys 2 of 2 points"),
        ("In the loft.", 0.5, "conveys 1 of 2 points; misses 'He is hurt.'"),
        ("", 0.0, "conveys 0 of 2 points; misses 'He is hurt.', 'Where he is.'"),
    ],
)
def test_points_are_the_share_conveyed(case: Case, text: str, points: float, why: str) -> None:
    assert measure_points(case, text) == (points, why)


def test_revealing_costs_a_whole_point(raw: dict[str, Any]) -> None:
    raw["private_facts"][0]["permitted"] = []
    case = next(cut_cases(raw, "test", "x"))
    assert measure_points(case, "He is injured, in the loft.") == (0.0, f"conveys 2 of 2 points; reveals '{HAND}'")


def test_a_case_without_rules_has_no_points(cases: list[Case]) -> None:
    assert measure_points(cases[1], "anything") is None


def with_notes(raw: dict[str, Any]) -> Case:
    raw["cases"][0]["must_convey"][0]["faces_conflict"] = True
    raw["cases"][0]["already_said"] = [{"point": "The water is at the door.", "told_at": 2, "wording": [["where", "water"]]}]
    return next(cut_cases(raw, "test", "x"))


@pytest.mark.parametrize(
    ("text", "evades"), [("He is injured; come.", False), ("Come to the loft, all will be well.", True), ("", True)]
)
def test_whoever_misses_the_clash_goes_round_it(raw: dict[str, Any], text: str, evades: bool) -> None:
    assert is_evading_conflict(with_notes(raw), text) is evades


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Where is the water now?", True),
        ("Stay calm. Tell me, where does the WATER stand? Then go.", True),
        ("I know where the water is.", False),  # no question
        ("Where are you? I know of the water.", False),  # not in one sentence
        ("", False),
    ],
)
def test_only_a_question_asks_again(raw: dict[str, Any], text: str, again: bool) -> None:
    assert list_repeated_questions(with_notes(raw), text) == (("The water is at the door.",) if again else ())


def test_without_notes_nothing_is_said_of_either(cases: list[Case]) -> None:
    assert is_evading_conflict(cases[1], "x") is None
    assert list_repeated_questions(cases[1], "x?") is None


def test_what_was_said_for_all_to_hear_is_no_secret_any_more(raw: dict[str, Any], episode: Episode) -> None:
    raw["private_facts"][0]["public_at"] = 3
    first, second = cut_cases(raw, "test", "x")
    told = episode("Ben has hurt his hand.", target=ANN)
    assert measure_leaks(first, told) == (Leak(fact=HAND, hearer=ANN, turn=1),)
    assert measure_leaks(second, told) is None
