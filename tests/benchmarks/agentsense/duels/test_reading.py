"""What a turn does is read from its lines, and never guessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sociable.benchmarks.agentsense.duels.reading import read_turn
from sociable.benchmarks.agentsense.duels.records import Move
from sociable.benchmarks.agentsense.duels.scenario import Scenario

MakeScenario = Callable[..., Scenario]
TABLE = ("a", "b", "a")


@pytest.mark.parametrize(
    ("text", "said", "move", "offer"),
    [
        ("Take it.\nOFFER: 1a 2b 3a", "Take it.", Move.OFFER, TABLE),
        ("**OFFER: 1A, 2B, 3A**", "", Move.OFFER, TABLE),
        ("OFFER 1A, 2B and 3a.", "", Move.OFFER, TABLE),
        ("offer: 3a 1a 2b", "", Move.OFFER, TABLE),
        ("`Offer: 1. a; 2. b; 3. a`\nWell?", "Well?", Move.OFFER, TABLE),
        ("That is fair. OFFER: 1a 2b 3a", "That is fair.", Move.OFFER, TABLE),
        ("OFFER: 1a 2b 3a\nOFFER: 1a 2b 3a", "", Move.OFFER, TABLE),
        ("Good.\nACCEPT", "Good.", Move.ACCEPT, ()),
        ("**Accept.**", "", Move.ACCEPT, ()),
        ("I accept!", "", Move.ACCEPT, ()),
        ("We have a deal. ACCEPT", "We have a deal.", Move.ACCEPT, ()),
        ("ACCEPT 1a 2b 3a", "", Move.ACCEPT, ()),
        ("No.\nLEAVE", "No.", Move.LEAVE, ()),
        ("I offer you the shed, and I will not leave it at that.", "I offer you the shed, and I will not leave it at that.", None, ()),
        ("Offer me more, and I could accept.", "Offer me more, and I could accept.", None, ()),
        ("I leave that to you.", "I leave that to you.", None, ()),
        ("I accept. But only if the pond stays.", "I accept. But only if the pond stays.", None, ()),
    ],
)  # fmt: skip
def test_what_is_done_is_read(
    make_scenario: MakeScenario, text: str, said: str, move: Move | None, offer: tuple[str, ...]
) -> None:
    found = read_turn(text, make_scenario().bargain, 20, TABLE)
    assert (found.said, found.move, found.offer, found.problem) == (said, move, offer, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("OFFER: 1a 2b", "does not name one option for every issue"),
        ("OFFER: 1a 1b 2b 3a", "does not name one option for every issue"),
        ("OFFER: 1a 2c 3a", "does not name one option for every issue"),
        ("OFFER: 1a 2b 3a 4a", "does not name one option for every issue"),
        ("OFFER: the shed to me", "names no option by number and letter"),
        ("OFFER: 1a 2b 3a, if you go today", "names no option by number and letter"),
        ("ACCEPT, but 3b", "more than the word ACCEPT"),
        ("ACCEPT 1a 2b 3b", "more than the word ACCEPT"),
        ("OFFER: 1a 2b 3a\nACCEPT", "several things at once"),
        ("OFFER: 1a 2b 3a\nOFFER: 1c 2b 3a", "several things at once"),
    ],
)
def test_what_cannot_be_read_is_said_and_not_done(make_scenario: MakeScenario, text: str, problem: str) -> None:
    found = read_turn(text, make_scenario().bargain, 20, TABLE)
    assert problem in found.problem
    assert (found.move, found.offer) == (None, ())


def test_the_words_of_an_unreadable_offer_stand(make_scenario: MakeScenario) -> None:
    assert read_turn("Here.\nOFFER: all of it", make_scenario().bargain, 20, ()).said == "Here. OFFER: all of it"


def test_nothing_can_be_accepted_before_the_other_has_offered(make_scenario: MakeScenario) -> None:
    assert "no offer of the other's" in read_turn("ACCEPT", make_scenario().bargain, 20, ()).problem


def test_words_over_the_limit_are_cut_off_and_the_line_is_not(make_scenario: MakeScenario) -> None:
    found = read_turn("one two three four five\nOFFER: 1a 2b 3a", make_scenario().bargain, 3, ())
    assert (found.said, found.cut, found.offer) == ("one two three", 2, TABLE)


def test_words_about_an_offer_are_no_offer_and_an_accepted_one_may_be_named(make_scenario: MakeScenario) -> None:
    bargain = make_scenario().bargain
    letters = [issue.letters[0] for issue in bargain.issues]
    named = " ".join(f"{number}{letter}" for number, letter in enumerate(letters, start=1))
    on_table = tuple(letters)
    for text in (
        f"I cannot take your last offer, {named}.",
        f"If you offer {named}",
        "Now it is yours to sign: ACCEPT",
        "Your move: LEAVE!",
    ):
        assert read_turn(text, bargain, 90, on_table).move is None, text
    for text in (f"I accept your offer: {named}.", f"ACCEPT OFFER: {named}", "Well. ACCEPT"):
        assert read_turn(text, bargain, 90, on_table).move is Move.ACCEPT, text
    refused = read_turn(f"No deal on your offer: {named}\nOFFER: {named}", bargain, 90, on_table)
    assert (refused.move, refused.problem) == (Move.OFFER, "")
    assert read_turn("I think that\nI accept", bargain, 90, on_table, is_cut=True).move is None
