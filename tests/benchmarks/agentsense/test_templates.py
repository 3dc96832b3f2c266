"""Templates and casts: slots are filled, constraints are kept, every complaint names its place."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sociable.benchmarks.agentsense.dataset import read_scenario
from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import CharacterRole, GoalType
from sociable.benchmarks.agentsense.templates import make_cast_records
from sociable.core.errors import DataError


def only(template: dict[str, Any]) -> dict[str, Any]:
    (record,) = make_cast_records(template, "file.json")
    return record


def test_slots_hold_names_pronouns_verbs_and_words(template: dict[str, Any]) -> None:
    record = only(template)
    assert record["background"] == "Ann waits; she has time. her aunt is near."
    assert record["description"] == "Ben Cole mends his net and asks himself why."
    template["casts"][0]["pilot"] |= {"pronouns": "they", "words": {"kin": "an aunt"}}
    assert only(template)["background"] == "Ann waits; they have time. an aunt is near."


def test_a_cast_is_a_scenario_in_the_native_layout(template: dict[str, Any]) -> None:
    scenario = read_scenario(only(template), "file.json", "x", Counter())
    pilot, fisher = scenario.characters
    assert (scenario.id, scenario.template, scenario.domain) == ("quay:1", "quay", "small society")
    assert pilot.goals[0].goal == "To get Ben to lend her his boat."
    assert pilot.goals[0].type is GoalType.COOPERATION
    asked = (pilot.name, "Could I row?")
    assert is_reached(scenario, pilot.name, 0, [asked, ("Ben Cole", "Fine: take my boat.")])
    assert is_reached(scenario, pilot.name, 0, [asked, ("Ben Cole", "Ann, it is yours.")])
    assert not is_reached(scenario, pilot.name, 0, [asked, ("Ann Lee", "I take your boat.")])
    assert (pilot.role, fisher.role) == (CharacterRole.SENDER, CharacterRole.RECEIVER)
    # Asked of everybody but whose secret it is.
    assert pilot.info_reason_questions == ()
    (question,) = fisher.info_reason_questions
    assert (question.answer, question.about, question.key) == ("Sold the ferry", "Ann Lee", "quay/pilot/1")


def test_the_answer_stands_where_nobody_chose_and_in_the_same_place_for_every_cast(template: dict[str, Any]) -> None:
    places = set()
    for number in range(40):
        template["id"] = f"quay-{number}"
        places.add(only(template)["characters"][1]["info_reason_questions"][0]["answer_label"])
    assert places == {0, 1, 2, 3}
    template["casts"] *= 2
    first, second = make_cast_records(template, "file.json")
    options = [record["characters"][1]["info_reason_questions"][0]["options"] for record in (first, second)]
    assert options[0] == options[1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"background": "{nobody} waits."}, r"cast 1: field 'background': \{nobody\}: 'nobody' is no slot"),
        ({"background": "{pilot.shoe} waits."}, r"\{pilot.shoe\}: Ann Lee has no 'shoe'; there are full, .*kin"),
        ({"background": "A { waits."}, "a brace that belongs to no slot"),
        ({"background": "{pilot.__class__} waits."}, "has no '__class__'"),
        ({"domain": "the moon"}, "domain"),
        ({"age_gaps": [{"older": "fisher", "younger": "pilot", "years": 11}]}, "Ben Cole must be 11 or more years older"),
        ({"slots": {"pilot": {"age": [40, 60]}, "fisher": {"age": [30, 80]}}}, "Ann Lee is 30; the part needs 40 to 60"),
        ({"slots": {"pilot": {"age": [20, 60], "gender": "man"}, "fisher": {"age": [30, 80]}}}, "the part needs 'man'"),
        ({"slots": {"pilot": {"age": [20, 60]}, "other": {"age": [1, 9]}}}, "every slot needs one character"),
        ({"relations": [{"of": ["pilot", "moon"], "kind": "family"}]}, "'moon' is no slot"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_complaints_name_place_and_remedy(template: dict[str, Any], change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DataError, match=complaint) as raised:
        for record in make_cast_records(template | change, "file.json"):
            read_scenario(record, "file.json", "x", Counter())
    assert "file.json" in str(raised.value)


def test_a_cast_must_fill_every_slot(template: dict[str, Any]) -> None:
    del template["casts"][0]["fisher"]
    with pytest.raises(DataError, match=r"casts\.0.*must fill fisher, pilot, and fills pilot"):
        only(template)
