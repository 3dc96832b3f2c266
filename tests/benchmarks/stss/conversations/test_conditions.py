"""When a condition is met, by rule: worked by hand. Said on Monday at noon; the task is on Tuesday, 17:00 to 19:00."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS, Condition, ConditionRule
from sociable.benchmarks.stss.conversations.protocol import summarise
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import Clock, parse_minute
from sociable.town.events import Line

NOON = 720
PLACES = ("Kettle & Tern", "The Guildhall", "The Lantern", "Bolt & Brace")


def conversation(*said: str) -> list[Line]:
    """Pia and Ann, in turn."""
    return [Line(speaker=("Pia", "Ann")[place % 2], says=says) for place, says in enumerate(said)]


def test_the_number_of_conditions_by_type() -> None:
    assert [len(CONDITIONS[kind]) for kind in TaskType] == [3, 3, 3, 2, 4]


@pytest.mark.parametrize(
    ("said", "invited", "place", "time"),
    [
        ("Come to my soup swap tomorrow at 5 pm at the Guildhall!", True, True, True),
        ("Come to my soup swap tomorrow!", True, False, False),
        # Each condition stands for itself: where and when can be told though not what.
        ("Come to the Guildhall on Tuesday at 17:00, it will be fun.", False, True, True),
        # The wrong hour, and the wrong house.
        ("Come to my soup swap tomorrow at 6 pm at the Lantern!", True, False, False),
        ("Lovely weather.", False, False, False),
    ],
)
def test_what_is_told(said: str, invited: bool, place: bool, time: bool, make_task: Callable[..., Task], clock: Clock) -> None:
    task = make_task()
    found = [
        ConditionRule(task, NOON, clock, PLACES).is_met_in_conversation(condition, conversation(said, "Yes."))
        for condition in (Condition.INVITED, Condition.PLACE, Condition.TIME)
    ]
    assert found == [invited, place, time]
    assert [ConditionRule(task, NOON, clock, PLACES).is_met_in_summary(c, said) for c in CONDITIONS[TaskType.PUBLIC]] == found


def test_what_the_other_says_tells_the_other_nothing(make_task: Callable[..., Task], clock: Clock) -> None:
    lines = conversation("Hello.", "Is there not a soup swap tomorrow at 17:00 at the Guildhall?")
    assert not any(
        ConditionRule(make_task(), NOON, clock, PLACES).is_met_in_conversation(c, lines) for c in CONDITIONS[TaskType.PUBLIC]
    )


@pytest.mark.parametrize(
    ("said", "agreed"),
    [
        (["Soup, tomorrow at 18:00?", "Yes, gladly."], "18:00"),
        (["Soup, tomorrow at 18:00?", "18:00 it is."], "18:00"),
        (["Soup, tomorrow at 18:00?", "Maybe."], None),
        (["Soup, tomorrow at 18:00?", "Sorry, I cannot."], None),
        # Another time is proposed, and taken by the first.
        (["Soup, tomorrow at 18:00?", "I cannot then. Could we say tomorrow at 17:30?", "Good."], "17:30"),
        (["Soup, tomorrow at 18:00?", "Could we say tomorrow at 17:30?", "No, let us forget it."], None),
        # What was settled holds through the goodbyes; another time undoes it until it is settled as well.
        (["Soup, tomorrow at 18:00?", "Yes!", "Until then.", "Bye."], "18:00"),
        (["Soup, tomorrow at 18:00?", "Yes!", "Or rather tomorrow at 17:15?", "Hm."], None),
        # Beyond the task's time there is nothing to agree on; to oneself neither.
        (["Soup, tomorrow at 21:00?", "Yes!"], None),
        (["Soup, tomorrow at 18:00?"], None),
    ],
)
def test_a_time_is_agreed_on_by_both(
    said: Sequence[str], agreed: str | None, make_task: Callable[..., Task], clock: Clock
) -> None:
    task = make_task(TaskType.APPOINTMENT)
    found = ConditionRule(task, NOON, clock, PLACES).find_agreed_moment(conversation(*said))
    assert found == (parse_minute(agreed, 2) if agreed else None)
    met = ConditionRule(task, NOON, clock, PLACES).is_met_in_conversation(Condition.TIME_AGREED, conversation(*said))
    assert met is (agreed is not None)


def test_a_place_is_agreed_on_by_both(make_task: Callable[..., Task], clock: Clock) -> None:
    rule = ConditionRule(make_task(TaskType.APPOINTMENT), NOON, clock, PLACES)
    assert rule.find_agreed_place(conversation("At the Lantern?", "Fine.")) == "The Lantern"
    assert rule.find_agreed_place(conversation("At the Lantern?", "Rather at Kettle & Tern.", "Okay.")) == "Kettle & Tern"
    assert rule.find_agreed_place(conversation("At the Lantern?", "Rather at Kettle & Tern.")) is None
    assert rule.find_agreed_place(conversation("Somewhere?", "Fine.")) is None


def test_help_is_asked_for_step_by_step_and_in_order(make_task: Callable[..., Task], clock: Clock) -> None:
    task = make_task(TaskType.HELP)
    conditions = CONDITIONS[TaskType.HELP]

    def met(*said: str) -> list[bool]:
        return [ConditionRule(task, NOON, clock, PLACES).is_met_in_conversation(c, conversation(*said)) for c in conditions]

    first, second = "buy a washer at Bolt & Brace", "fit it to the tap in the Guildhall's kitchen"
    assert met(f"Could you {first} and then {second}?") == [True, True, True, True]
    assert met(f"Could you {first}? And {second}.") == [True, True, True, False]
    assert met(f"Could you first {first}?") == [True, True, False, False]
    assert met("Could you buy a washer?") == [True, False, False, False]
    assert met("My tap drips.") == [False] * 4


@pytest.mark.parametrize("kind", list(TaskType))
def test_what_a_reference_listener_takes_away_is_what_the_rule_finds_met(
    kind: TaskType, make_task: Callable[..., Task], clock: Clock
) -> None:
    task = make_task(kind)
    whole = (
        "Could you first buy a washer at Bolt & Brace and then fit it to the tap in the Guildhall's kitchen?"
        if kind is TaskType.HELP
        else "Soup swap on Tuesday at 17:00, at the Guildhall?"
    )
    for said in ([whole, "Yes, gladly."], [whole, "Sorry, I cannot."], ["Soup swap?", "Yes."], ["Hello.", "Hello."]):
        lines = conversation(*said)
        summary = summarise(ConditionRule(task, NOON, clock, PLACES), lines)
        for condition in CONDITIONS[kind]:
            met = ConditionRule(task, NOON, clock, PLACES).is_met_in_conversation(condition, lines)
            assert ConditionRule(task, NOON, clock, PLACES).is_met_in_summary(condition, summary) is met, (condition, summary)


def test_a_summary_that_tells_of_a_refusal_agrees_on_nothing(make_task: Callable[..., Task], clock: Clock) -> None:
    task = make_task(TaskType.APPOINTMENT)
    agreed = "We will meet on Tuesday at 17:30 at The Lantern."
    refused = "Pia asked for Tuesday at 17:30 at The Lantern; I could not."
    for condition in (Condition.TIME_AGREED, Condition.PLACE_AGREED):
        assert ConditionRule(task, NOON, clock, PLACES).is_met_in_summary(condition, agreed)
        assert not ConditionRule(task, NOON, clock, PLACES).is_met_in_summary(condition, refused)
