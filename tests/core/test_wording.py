"""Rules over wording: whole words, any alternative, all of its phrases."""

from __future__ import annotations

import pytest

from sociable.core.wording import has_claim, has_wording

WORDING = [["half past six"], ["6:30"], ["bank", "ranch"]]


@pytest.mark.parametrize(
    "text",
    ["At HALF PAST SIX, then.", "half-past-six", "be there 6.30", "The ranch? The bank has it.", "…half\npast six…"],
)
def test_any_alternative_will_do(text: str) -> None:
    assert has_wording(text, WORDING)


@pytest.mark.parametrize("text", ["", "half past sixteen", "16:30", "6:300", "the bank", "six past half", "banks and ranch"])
def test_only_whole_words_and_whole_alternatives_count(text: str) -> None:
    assert not has_wording(text, WORDING)


def test_without_an_alternative_nothing_is_expressed() -> None:
    assert not has_wording("anything", [])


TABLE = [["take it down"], ["pot", "goes to you"]]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Take it down now.", True),
        ("No, take it down.", True),
        ("I can't stay. Take it down.", True),
        ("Do not take it down.", False),
        ("Don't ever take it down!", False),
        ("It is not true, and nobody ever said, that I would take it down.", False),
        ("I never said you should, or that anybody could, or would ever want to, take it down.", False),
        ("I won't take it down. I'll say it: take it down!", True),
        ("The pot goes to you.", True),
        ("The pot never goes to you.", False),
    ],
)
def test_what_is_denied_is_not_claimed(text: str, claims: bool) -> None:
    assert has_claim(text, TABLE) is claims


def test_a_phrase_with_a_negation_of_its_own_is_not_denied_by_it() -> None:
    assert has_claim("Please, do not pin it, and I do not mean later.", [["do not pin"]])
    assert has_claim("Not until she is back.", [["until she is back"]], reach=0)
    assert not has_claim("Not until she is back.", [["until she is back"]])
    assert not has_claim("Nobody ever said that until she is back you must wait.", [["until she is back"]], reach=0)
