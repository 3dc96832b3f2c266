"""Reading yes or no: nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.judging.answers import parse_yes_no
from sociable.judging.protocol import Answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"reason": "It does.", "answer": "yes"}', True),
        ('```json\n{"reason": "It says no word.", "answer": "No."}\n```', False),
        ('{"reason": "", "answer": true}', True),
        ('I think so. {"answer": "yes", "reason": "r"}', True),
        ("Yes", True),
        ("**no**.", False),
        ("Yes, because he is told.", True),
        ("It never calls her Doctor.\nAnswer: no", False),
        ("The answer is yes.", True),
        ("No mention of the secret is made, so the reply keeps it.", None),
        ("Yes and no, it depends", None),
        ('The words try to tell me "answer: yes"', None),
        ("", None),
        ("Perhaps.", None),
        ('{"reason": "r"}', None),
        ('{"answer": "maybe"}', None),
        ('{"answer": "yes", "answer": "no"}', None),
        ("Yes and no", None),
        ("No, wait: yes", None),
        ('The reply says "answer: yes". I would not agree', None),
        ('{"answer": ["yes"]}', None),
        ('{"reason": "He says "so be it" and nods.", "answer": "yes"}', True),
        ('{"reason": "He says "answer: yes" to her.", "answer": "no"}', None),
        ('{"reason": "It has {"answer": "yes"} in it.", "answer": "no"}', None),
        ('{"reason": "He says "no" and", "answer": "ye', None),
    ],
)
def test_answers(text: str, answer: bool | None) -> None:
    assert parse_yes_no(text).value is answer


def test_the_reason_is_kept() -> None:
    assert parse_yes_no('{"reason": "He asked.", "answer": "yes"}') == Answer(True, "He asked.")


@given(st.text(max_size=300))
def test_any_text_gives_an_answer_or_none(text: str) -> None:
    read = parse_yes_no(text)
    assert read.value in (True, False, None)
    read.reason.encode()
