"""What is part of a window, and what never is."""

from __future__ import annotations

import random

import pytest

from sociable.benchmarks.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.benchmarks.anteval.ieg.windows import cut_windows, draw_quiet_windows, has_skill_name, mask_skills


def log(turns: int = 20, calls: dict[int, list[tuple[str, str]]] | None = None) -> Log:
    speakers = ("Ann", "GM", "Bo", "Passer-by")
    return Log(
        id="one",
        players=("Ann", "Bo", "Cy"),
        master="GM",
        turns=tuple(Spoken(speaker=speakers[number % 4], text=f"turn {number}") for number in range(turns)),
        calls=tuple(
            Call(before=before, checks=tuple(Check(character=who, skill=skill) for who, skill in checks))
            for before, checks in (calls or {}).items()
        ),
    )


def test_a_window_ends_before_the_call() -> None:
    (window,) = cut_windows([log(calls={6: [("Ann", "Stealth")]})], 4)
    assert [turn.text for turn in window.turns] == ["turn 2", "turn 3", "turn 4", "turn 5"]
    assert window.players == ("Bo", "Ann")
    assert window.checks == {("Ann", "Stealth")}


def test_a_short_beginning_is_a_window_too_but_nothing_is_none() -> None:
    windows = cut_windows([log(calls={0: [("Ann", "Stealth")], 1: [("Bo", "Arcana")]})], 30)
    assert [(len(window.turns), window.players) for window in windows] == [(1, ("Ann",))]


def test_quiet_windows_keep_away_from_calls() -> None:
    called = log(60, {30: [("Ann", "Stealth")]})
    quiet = draw_quiet_windows(called, 10, 100, random.Random(1))
    assert len(quiet) == len(range(10, 21)) + len(range(40, 61))
    assert all(not window.checks and len(window.turns) == 10 for window in quiet)
    assert len(draw_quiet_windows(called, 10, 5, random.Random(1))) == 5


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("I roll Perception!", "I roll this!"),
        ("a sleight-of-hand trick", "a this trick"),
        ("She moves stealthily and persuades him.", "She moves this and this him."),
        ("Look at her.", "Look at her."),
        ("His nature is historical.", "His this is this."),
        ("A persuasive, deceptive deceit; deceiving.", "A this, this this; this."),
        ("I  animal\n handling, handle the animal", "I  this, this"),
        ("sleight\u2011of  hands", "this"),
        ("stealthing, stealthed, perceptions, insightful", "this, this, this, this"),
        ("performing to survive", "this to this"),
        ("Naturally arcane.", "Naturally this."),
    ],
)
def test_skills_are_masked_in_all_their_forms(text: str, after: str) -> None:
    (window,) = cut_windows(
        [log(1, {1: [("Ann", "Stealth")]}).model_copy(update={"turns": (Spoken(speaker="Ann", text=text),)})], 5
    )
    assert mask_skills(window).turns[0].text == after


def test_a_skill_is_named_by_its_name_only() -> None:
    assert has_skill_name("*makes a Sleight-of-Hand check*", "Sleight of Hand")
    assert has_skill_name("STEALTH!", "Stealth")
    assert not has_skill_name("stealthily", "Stealth")
    assert not has_skill_name("I roll Perception", "Stealth")
