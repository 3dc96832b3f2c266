"""What makes a bargain, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from sociable.benchmarks.agentsense.duels.audit import make_audit
from sociable.benchmarks.agentsense.duels.dataset import Bargain, load_bargains
from sociable.benchmarks.agentsense.duels.scenario import Scenario

from .conftest import GARDEN, change

AFTERWARDS = GARDEN["sides"][0]["afterwards"]


def test_gains_are_points_above_the_fallbacks() -> None:
    bargain = Bargain.model_validate(GARDEN)
    assert len(bargain.gains) == 3 * 2 * 2
    # Ada: 60 + 0 + 30 - 20; Bo: 0 + 70 + 0 - 10.
    assert bargain.gains["a", "b", "a"] == (70, 60)
    assert bargain.best_joint == 130
    assert bargain.halfway == 100
    # 1a 2b 3a leaves Bo 60; for all three of Ada's best Bo would get nothing, which is below his fallback.
    assert (bargain.find_best(0), bargain.find_best(1)) == (70, 80)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"ada": {"worths": [{"a": 60, "b": 40, "c": 0}, {"a": 10, "b": 0}, {"a": 20, "b": 0}]}}, "come to 90 points; expected 100"),
        ({"ada": {"worths": [{"a": 60, "c": 0}, {"a": 10, "b": 0}, {"a": 30, "b": 0}]}}, "points to each option of each issue"),
        ({"ada": {"worths": [{"a": 45, "b": 30, "c": 0}, {"a": 10, "b": 0}, {"a": 45, "b": 0}]}}, "two issues matter most"),
        ({"bo": {"worths": [{"a": 0, "b": 10, "c": 60}, {"a": 0, "b": 30}, {"a": 0, "b": 10}]}}, "same issue matters most to both"),
        ({"ada": {"fallback": 95}, "bo": {"fallback": 75}}, "no agreement gives both more"),
        (
            {"ada": {"worths": [{"a": 60, "b": 40, "c": 0}, {"a": 0, "b": 10}, {"a": 30, "b": 0}]},
             "bo": {"worths": [{"a": 20, "b": 10, "c": 0}, {"a": 0, "b": 70}, {"a": 10, "b": 0}]}},
            "best for both",
        ),
        (
            {"bo": {"worths": [{"a": 0, "b": 5, "c": 45}, {"a": 0, "b": 8}, {"a": 0, "b": 47}]}},
            "expected 20 more, so that trading pays",
        ),
        ({"ada": {"secret": {"text": "You sleep here.", "wording": [["snore"]]}}}, "does not find the secret"),
        ({"situation": "Ada may sleep in the shed."}, "what everybody is told tells the secret"),
        ({"ada": {"name": "Bo"}}, "two are called 'Bo'"),
        ({"opening": {"by": "Eve", "says": "Hi."}}, "there is nobody called 'Eve'"),
        ({"ada": {"afterwards": None}}, "expected 'afterwards' for one side or both"),
        ({"ada": {"afterwards": {**AFTERWARDS, "breaks": {"text": "You let it dry.", "own": 9, "other": 0}}}}, "breaking must pay"),
    ],
)  # fmt: skip
def test_a_bargain_that_is_not_sound_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Bargain.model_validate(change(**changes))


def test_letters_must_be_in_order() -> None:
    issues = [{**GARDEN["issues"][0], "options": GARDEN["issues"][0]["options"][::-1]}, *GARDEN["issues"][1:]]
    with pytest.raises(ValidationError, match="expected the letters a, b, c"):
        Bargain.model_validate(change(issues=issues))


def test_who_did_not_open_begins_and_both_have_as_many_turns(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(turns=6)
    assert [scenario.find_speaker(number) for number in range(1, 7)] == [1, 0, 1, 0, 1, 0]
    third = make_scenario(turns=6, opening={"by": "Cy", "says": "Well."})
    assert third.find_speaker(1) == 0
    assert [scenario.count_own_turns(side) for side in (0, 1)] == [3, 3]


def test_the_audit_remarks_what_is_poor() -> None:
    loose = change(bo={"fallback": 0, "facts": ["You have sold some frogs at last."] * 3}, ada={"fallback": 0})
    loose["others"][0]["brief"] = "You know that he sold the frogs."
    page = str(make_audit([Bargain.model_validate(loose)], "here"))
    assert "raise the fallbacks" in page
    assert "Bo: what others are told, or say, tells the secret" in page
    assert "one side has no choice afterwards" in page


def test_nothing_is_to_be_remarked_of_the_bundled_bargains() -> None:
    bargains = load_bargains(None, skip_invalid=False).items
    assert "Nothing to remark." in str(make_audit(bargains, "bundled"))
    assert all("canary" in each.canary for each in bargains)
    assert len({each.canary for each in bargains}) == len(bargains)
