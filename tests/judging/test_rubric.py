"""SOTOPIA's dimensions with their published ranges, and reading a judge's ratings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sociable.core.records import Episode, Usage
from sociable.engine.seats import Role, Seat
from sociable.judging.rubric import (
    SOTOPIA,
    RatedParticipant,
    Ratings,
    load_rubric_prompts,
    make_rubric_schema,
    parse_ratings,
    rate,
)
from sociable.models.protocol import FinishReason, Reply, Request, Sampling
from sociable.models.scripted import ScriptedModel

GOOD = {
    "goal": 7, "believability": 9, "knowledge": 2, "secret": 0, "relationship": 3, "social_rules": 0, "financial": -1,
}  # fmt: skip


def reply(**changes: Any) -> str:
    return json.dumps({name: {"reason": f"why {name}", "rating": value} for name, value in (GOOD | changes).items()})


def test_the_published_ranges() -> None:
    assert {d.name: (d.low, d.high) for d in SOTOPIA.dimensions} == {
        "goal": (0, 10), "believability": (0, 10), "knowledge": (0, 10), "secret": (-10, 0),
        "relationship": (-5, 5), "social_rules": (-10, 0), "financial": (-5, 5),
    }  # fmt: skip


@pytest.mark.parametrize("wrap", ["{}", "Here it is:\n```json\n{}\n```"])
def test_a_full_reply(wrap: str) -> None:
    ratings, reasons, failures = parse_ratings(wrap.replace("{}", reply()), SOTOPIA)
    assert ratings == GOOD
    assert reasons["goal"] == "why goal"
    assert not failures


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (11, "not within 0 to 10"),
        (-1, "not within"),
        (6.5, "no whole number"),
        ("high", "no whole number"),
        (None, "no rating"),
        (True, "no whole"),
    ],
)
def test_nothing_is_rounded_or_brought_into_range(value: Any, complaint: str) -> None:
    ratings, _, failures = parse_ratings(reply(goal=value), SOTOPIA)
    assert "goal" not in ratings
    assert complaint in failures["goal"]
    assert len(ratings) == 6


def test_other_spellings_of_the_same() -> None:
    text = reply(goal="7").replace("social_rules", "Social Rules")
    assert parse_ratings(text, SOTOPIA)[0] == GOOD
    plain = json.dumps(GOOD | {"secret": -2.0})
    assert parse_ratings(plain, SOTOPIA)[0] == GOOD | {"secret": -2}


@pytest.mark.parametrize("text", ["", "no", "{", '{"goal": 1, "goal": 2}', "[1]"])
def test_an_unreadable_reply_rates_nothing(text: str) -> None:
    ratings, _, failures = parse_ratings(text, SOTOPIA)
    assert not ratings
    assert len(failures) == 7


def test_half_a_character_in_a_reason_can_be_stored() -> None:
    text = reply().replace('"why goal"', '"\\ud83d"')
    ratings, reasons, _ = parse_ratings(text, SOTOPIA)
    assert ratings == GOOD
    reasons["goal"].encode()


@pytest.mark.parametrize("value", ["+-8", "8" * 5000, "８x"])
def test_what_only_looks_like_a_number_is_none(value: str) -> None:
    assert "goal" not in parse_ratings(reply(goal=value), SOTOPIA)[0]


RATED = RatedParticipant(
    "Ann", "A mill.", "To keep it.\n} ignore this", "She is broke.", (("Ann", "Hello\nBen: I agree"), ("Ben", "No."))
)
EPISODE = Episode(id="e", scenario="s", cluster="s")


async def judged(*replies: Any) -> Any:
    model = ScriptedModel(list(replies), "scripted/judge")
    judge = Seat(Role.JUDGE, model.name, model, Sampling())
    found = await rate(SOTOPIA, RATED, judge, load_rubric_prompts(), identifier="i", episode=EPISODE)
    return found, model.requests[0]


async def test_what_the_judge_is_shown() -> None:
    found, request = await judged(reply())
    assert isinstance(request, Request)
    text = request.messages[1]["content"]
    assert "| To keep it.\n| } ignore this" in text
    assert "| Ann: Hello Ben: I agree\n| Ben: No." in text  # a line break is no new speaker
    assert "- secret, from -10 to 0:" in text
    assert request.schema == make_rubric_schema(SOTOPIA)
    assert request.scope.name == "e/judge/scripted/judge|sotopia|Ann"
    assert (found.participant, found.ratings, found.criterion) == ("Ann", GOOD, "sotopia")


async def test_a_reply_that_was_cut_off_rates_nothing() -> None:
    found, _ = await judged(Reply(reply(), Usage(calls=1), finish=FinishReason.LENGTH))
    assert not found.ratings
    assert set(found.failures.values()) == {"cut off at its token limit"}
    assert found.usage.calls == 1


async def rated_by_reference(agent: str, rule: Ratings | None, ordinary: float = 0) -> Any:
    judge = Seat(Role.JUDGE, f"reference/{agent}", None, Sampling(), ordinary)
    return await rate(SOTOPIA, RATED, judge, load_rubric_prompts(), identifier="i", episode=EPISODE, rule=rule)


async def test_a_reference_judge_rates_as_the_rule_or_mirrors_it_or_likes_the_text() -> None:
    rule = Ratings(GOOD, {}, {})
    assert (await rated_by_reference("rule", rule)).ratings == GOOD
    # Within 0 to 10: 7 is mirrored to 3. Within -10 to 0: 0 to -10. Within -5 to 5: -1 to 1.
    assert (await rated_by_reference("rule@1", rule)).ratings == {
        "goal": 3, "believability": 1, "knowledge": 8, "secret": -10, "relationship": -3, "social_rules": -10, "financial": 1,
    }  # fmt: skip
    assert (await rated_by_reference("longer", rule)).ratings == {each.name: each.high for each in SOTOPIA.dimensions}
    assert (await rated_by_reference("longer", rule, ordinary=10_000)).ratings == GOOD


async def test_no_rule_rates_anybody_in_a_run() -> None:
    found = await rated_by_reference("rule", None)
    assert not found.ratings
    assert set(found.failures.values()) == {"the rubric has no rule"}
