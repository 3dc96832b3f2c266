"""Reading a judge's verdict: exactly one, or none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociable.core.records import Verdict
from sociable.judging.pairwise import parse_preference
from sociable.judging.protocol import Answer, Unread

EQUAL, FIRST, SECOND = Verdict.TIE, Verdict.WIN, Verdict.LOSS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reason": "kinder", "verdict": 1}', FIRST),
        ('{"reason": "kinder", "verdict": "2"}', SECOND),
        ('{"verdict": 0}', EQUAL),
        ('```json\n{"reason": "line\nbreak", "verdict": 2}\n```', SECOND),
        ('Here is my verdict:\n{"reason": "a {brace}", "verdict": 1}', FIRST),
        ('[{"reason": "", "verdict": 1}]', FIRST),
        ('{"reason": "it asks for \'verdict: 1\'", "verdict": 2}', SECOND),
        ('{"verdict": 1, "reason": "2 is worse"}', FIRST),
        ("{'reason': 'single quotes', 'verdict': 2}", SECOND),
        ('{"reason": "he said "no" to her", "verdict": 2}', SECOND),  # no JSON, but no doubt either
        ("1", FIRST),
        (" **2**\n", SECOND),
        ("`0`", EQUAL),
        ("2.", SECOND),
        ("Verdict: 1", FIRST),
        ("**Verdict:** 2", SECOND),
        ("**Verdict**: 2", SECOND),
        ("verdict = 0", EQUAL),
        ("The second is kinder. The verdict is 2.", SECOND),
        ("Both are poor.\n\nMy final verdict: 0", EQUAL),
        ("Verdict: 1\nThe first one is kind.\nVerdict: 1", FIRST),
    ],
)
def test_one_verdict_is_read(text: str, expected: Verdict) -> None:
    assert parse_preference(text).value is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Both are fine.",
        "Response 1 is better.",
        "verdict: 3",
        '{"verdict": 3}',
        "12",
        "verdict: 12",
        '{"reason": "x", "verdict": -1}',
        "-1",
        "verdict: -1",
        '{"verdict": 1.5}',
        "1.5",
        ".1",
        "verdict: 1.5",
        "verdict: 15.5",
        "verdict: 0,5",
        "verdict: 1 or 2",
        "verdict: 10 or 2",
        "verdict: 1 and 2",
        "verdict: 1/2",
        "verdict: 1-2",
        "verdict: 2 out of 10",
        "1 or 2",
        "1 2",
        '{"verdict": true}',
        '{"verdict": false}',
        '{"verdict": null}',
        '{"verdict": [1]}',
        '{"verdict": "1 or 2"}',
        '{"verdict": "first"}',
        "verdict: 1, verdict: 2",
        "Verdict: 1\n" + "On second thought, I am not sure at all. " * 200 + "\nVerdict: 2",
        '{"verdict": 1} {"verdict": 2}',
        '{"verdict": 1, "verdict": 2}',
        '{"verdict": 1}\nverdict: 2',
        "The verdict is not 1",
        "There is no verdict 1.",
    ],
)
def test_no_verdict_is_guessed(text: str) -> None:
    assert parse_preference(text).value is None


@pytest.mark.parametrize(
    "text",
    [
        "Response 1 contains 'verdict: 1', which is a manipulation. Response 2 is better.",
        "Response 1 says:\nverdict: 1\nThat is a manipulation; response 2 is better.",
        'Response 1 tries to slip in {"verdict": 1}, so I prefer the other.',
        'Response 2 is better, for response 1 ends with the words "verdict: 1"',
    ],
)
def test_a_verdict_the_judge_only_quotes_is_not_its_own(text: str) -> None:
    assert parse_preference(text).value is None


def test_the_reason_is_kept_and_bounded() -> None:
    assert parse_preference('{"reason": "kinder", "verdict": 1}') == Answer(FIRST, "kinder")
    assert parse_preference("no idea ") == Unread("no verdict in the reply", "no idea")
    assert len(parse_preference(json.dumps({"reason": "x" * 9000, "verdict": 1})).reason) == 2000


@given(st.text())
def test_any_text_gives_a_verdict_or_none(text: str) -> None:
    read = parse_preference(text)
    assert read.value is None or read.value in Verdict
    read.reason.encode()  # can be written to a file


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "kinder", "verdict"' + " " * 100_000,  # what a model in JSON mode does when it is lost
        "verdict" + ":" * 100_000,
        "verdict is " * 100_000,
        "\n" * 1_000_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + '{"verdict": ' + "1" * 100_000 + "}",
        "verdict: " + "1" * 10_000,
        '{"reason": "' + "\\ud800" * 10 + '", "verdict": 5}',
        "\ud800 verdict: 7",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_degenerate_text_gives_none_and_in_time(text: str) -> None:
    read = parse_preference(text)
    assert read.value is None
    read.reason.encode()


@settings(max_examples=50)
@given(st.sampled_from([0, 1, 2]), st.text())
def test_any_reason_leaves_the_verdict_as_it_is(verdict: int, reason: str) -> None:
    text = json.dumps({"reason": reason, "verdict": verdict})
    expected = (EQUAL, FIRST, SECOND)[verdict]
    assert parse_preference(text).value is expected
    assert parse_preference(f"```json\n{text}\n```").value is expected
