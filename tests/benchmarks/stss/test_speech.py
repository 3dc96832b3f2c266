"""What is read from people's words: times, days, moments, and what they tell of a task."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sociable.benchmarks.stss.speech import find_days, find_moments, find_times, has_place, parse_speech
from sociable.benchmarks.stss.task import Part, Signs, Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day, parse_minute

MONDAY_AT_TEN = 10 * 60
MakeTask = Callable[..., Task]


def said(text: str, clock: Clock, minute: int = MONDAY_AT_TEN) -> list[str]:
    """``2 19:00`` for day 2 at 19:00."""
    return [f"{moment // MINUTES_PER_DAY + 1} {format_time_of_day(moment)}" for moment in find_moments(text, minute, clock)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        # The half of the day was said.
        ("7pm", "19:00"),
        ("7 PM", "19:00"),
        ("8 p.m. sharp", "20:00"),
        ("seven p.m.", "19:00"),
        ("7:30pm", "19:30"),
        ("6.30 pm", "18:30"),
        ("10 a.m. will do", "10:00"),
        ("12 pm", "12:00"),
        ("12:15 am", "00:15"),
        ("9:00 AM", "09:00"),
        ("at seven in the evening", "19:00"),
        ("9 in the morning", "09:00"),
        ("3:15 in the afternoon", "15:15"),
        ("at nine at night", "21:00"),
        ("half past six in the evening", "18:30"),
        ("quarter to eight in the morning", "07:45"),
        ("five-thirty pm", "17:30"),
        ("six o'clock in the evening", "18:00"),
        ("tomorrow evening at 8", "20:00"),
        ("tonight at 8", "20:00"),
        ("Tuesday morning at 9", "09:00"),
        ("Tuesday afternoon, about 3:15", "15:15"),
        ("noon", "12:00"),
        ("around midday", "12:00"),
        # By the clock of 24 hours.
        ("19:00", "19:00"),
        ("19.30", "19:30"),
        ("19h30", "19:30"),
        ("07:00", "07:00"),
        # Spans: what is said of the end holds of the beginning, unless that would be later.
        ("from 17:30 to 19:00", "17:30 19:00"),
        ("17:30–19:00", "17:30 19:00"),
        ("between 17:30 and 19:00", "17:30 19:00"),
        ("from 5 to 6:30 pm", "17:00 18:30"),
        ("5-7 pm", "17:00 19:00"),
        ("7:00 to 8:30 PM", "19:00 20:30"),
        ("between 5 and 7 pm", "17:00 19:00"),
        ("from six to eight in the evening", "18:00 20:00"),
        ("11 to 1 pm", "11:00 13:00"),
        ("9:00 AM - 5:00 PM", "09:00 17:00"),
        ("11:30am until 1pm", "11:30 13:00"),
    ],
)
def test_times_of_which_the_half_of_the_day_was_said(text: str, times: str) -> None:
    assert [(time.minute, time.sure) for time in find_times(text)] == [(parse_minute(time), True) for time in times.split()]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at seven", "07:00"),
        ("at 7", "07:00"),
        ("around six, say", "06:00"),
        ("at 6 tomorrow, or at 7?", "06:00 07:00"),
        ("half past six", "06:30"),
        ("quarter past 5", "05:15"),
        ("quarter to eight", "07:45"),
        ("at six thirty", "06:30"),
        ("six o'clock", "06:00"),
        ("six o’clock works", "06:00"),
        ("at 7:30", "07:30"),
        ("at 12", "12:00"),
        ("at twelve", "12:00"),
        ("Good morning! I come at 7.", "07:00"),  # a greeting says nothing of the half
        ("This morning or this evening, at 8?", "08:00"),  # both are named
    ],
)
def test_times_of_which_it_was_not(text: str, times: str) -> None:
    assert [(time.minute, time.sure) for time in find_times(text)] == [(parse_minute(time), False) for time in times.split()]


@pytest.mark.parametrize(
    "text",
    [
        "two of us came",
        "at one point",
        "at one of the tables",
        "at 12 Chandler's Row",
        "all four of us",
        "room 12",
        "at 25:00",
        "at 18:60",
        "14.02.2023",
        "2023-02-14",
        "May I come?",
        "it happened in 1931",
        "",
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert find_times(text) == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        # Said on Monday, day 0.
        ("today", [0]),
        ("tonight", [0]),
        ("this evening", [0]),
        ("Tomorrow!", [1]),
        ("the day after tomorrow", [2]),
        ("on Tuesday", [1]),
        ("TUESDAYS are fine", [1]),
        ("Tues. or Wed", [1, 2]),
        ("Monday", [0]),  # the day it is said on, not a week later
        ("Sunday", [6]),
        ("14 February", [1]),
        ("14th of February 2023", [1]),
        ("February 14th", [1]),
        ("Feb 14", [1]),
        ("the 14th", [1]),
        ("2023-02-14", [1]),
        ("14.02.2023", [1]),
        ("02/14/2023", [1]),
        ("Valentine's Day", [1]),
        ("Tuesday 14 February 2023", [1]),
        ("2024-02-14", []),  # another year
        ("14 March", []),
        ("we sat in the sun", []),
        ("the 14th floor", []),
        ("one of these days", []),
    ],
)
def test_days(text: str, days: list[int], clock: Clock) -> None:
    assert sorted({day for _, day in find_days(text, 0, clock)}) == days


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("tomorrow at noon", ["2 12:00"]),
        ("Tuesday 14 February, from 17:30 to 19:00", ["2 17:30", "2 19:00"]),
        ("2023-02-14 19:00", ["2 19:00"]),
        ("2023-02-14T19:00", ["2 19:00"]),
        ("February 14th at 7pm", ["2 19:00"]),
        # Without a day: when it comes next. It is Monday, 10:00.
        ("at 19:00", ["1 19:00"]),
        ("at 09:00", ["2 09:00"]),
        # Without a half of the day: the one from 07:00 to 18:59.
        ("tomorrow at 6", ["2 18:00"]),
        ("tomorrow at seven", ["2 07:00"]),
        ("tomorrow at 6:59", ["2 18:59"]),
        ("tomorrow at 12:30", ["2 12:30"]),
        # A time belongs to the day named last before it in its sentence …
        ("Today I bought leeks; tomorrow at 17:00 there is soup.", ["2 17:00"]),
        ("How are you today? I am putting on a soup swap tomorrow at 17:00.", ["2 17:00"]),
        # … or to the first after it there …
        ("Today is grey. Could you come at 17:00 tomorrow?", ["2 17:00"]),
        ("At 5 p.m. on Tuesday, then; today I am tired.", ["2 17:00"]),
        # … or to what was named in another sentence.
        ("What about tomorrow? I am free at 17:00.", ["2 17:00"]),
        ("Are you free at 17:00? I mean tomorrow.", ["2 17:00"]),
        ("Today at 18:00 or tomorrow at 17:00?", ["1 18:00", "2 17:00"]),
        ("one of these days", []),
    ],
)
def test_moments(text: str, moments: list[str], clock: Clock) -> None:
    assert said(text, clock) == moments


# What is told of a task. By hand on Tuesday, 17:00 to 19:00, at the Guildhall (conftest).

ACTIVITY, PLACE, TIME = Part.ACTIVITY, Part.PLACE, Part.TIME


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Come to the soup swap tomorrow at 17:00 at the Guildhall!", {ACTIVITY, PLACE, TIME}),
        ("Come to the soup swap tomorrow from 5 to 7pm at the Guildhall!", {ACTIVITY, PLACE, TIME}),
        ("We taste broth at the guildhall, Tuesday 14 February, 17:00.", {ACTIVITY, PLACE, TIME}),  # by a keyword
        ("Come to the soup swap tomorrow at 17:00!", {ACTIVITY, TIME}),
        ("Come to the soup swap at the Guildhall!", {ACTIVITY, PLACE}),
        ("Come to the soup swap tomorrow at the Guildhall!", {ACTIVITY, PLACE}),  # a day is no time
        ("Come to the soup swap tomorrow at 18:00 at the Guildhall!", {ACTIVITY, PLACE}),  # not when it begins
        ("Come to the soup swap today at 17:00 at the Guildhall!", {ACTIVITY, PLACE}),  # the wrong day
        ("Come to the soup swap tomorrow at 17:00 at the boathouse!", {ACTIVITY, TIME}),  # the wrong place
        ("Come to a little thing tomorrow at 17:00 at the Guildhall!", set()),  # of nothing
        ("What a wind.", set()),
    ],
)
def test_told_of_a_public_activity(text: str, parts: set[str], make_task: MakeTask, clock: Clock) -> None:
    task = make_task()
    told = parse_speech(task, [text], MONDAY_AT_TEN, clock)
    assert told.parts == parts
    assert set(told.list_missing(task)) == {ACTIVITY, PLACE, TIME} - parts
    assert told.moment == (task.start if TIME in parts else None)


def test_told_over_several_turns(make_task: MakeTask, clock: Clock) -> None:
    # The day stands in one line, the time in the next.
    lines = ["There is a soup swap tomorrow.", "At the Guildhall.", "From 17:00 on."]
    assert parse_speech(make_task(), lines, MONDAY_AT_TEN, clock).list_missing(make_task()) == ()
    assert parse_speech(make_task(), lines[:2], MONDAY_AT_TEN, clock).list_missing(make_task()) == (TIME,)


def test_where_the_half_of_the_day_was_not_said_it_is_the_one_at_which_the_thing_can_be(
    make_task: MakeTask, clock: Clock
) -> None:
    # "At 8" is 08:00 by itself; the thing begins at 20:00, and at 08:00 nothing does.
    evening = make_task(start=parse_minute("20:00", 2), end=parse_minute("21:30", 2))
    assert parse_speech(evening, ["soup swap tomorrow at 8, Guildhall"], MONDAY_AT_TEN, clock).moment == parse_minute("20:00", 2)
    assert TIME not in parse_speech(evening, ["soup swap tomorrow at 8 a.m., Guildhall"], MONDAY_AT_TEN, clock).parts


def test_an_online_activity_needs_no_place(make_task: MakeTask, clock: Clock) -> None:
    task = make_task(TaskType.ONLINE)
    assert task.needed_parts == (ACTIVITY, TIME)
    assert parse_speech(task, ["soup by video, tomorrow at 5 pm"], MONDAY_AT_TEN, clock).list_missing(task) == ()
    assert parse_speech(task, ["soup by video, tomorrow"], MONDAY_AT_TEN, clock).list_missing(task) == (TIME,)


@pytest.mark.parametrize(
    ("lines", "moment", "place"),
    [
        (["soup tomorrow at 17:30 in the tea room of the Kettle & Tern"], "17:30", "Kettle & Tern: tea room"),
        (["soup tomorrow at 17:30 at the Guildhall"], "17:30", "The Guildhall: hall"),
        # The last that was said holds.
        (
            ["soup tomorrow at 17:30 at the Guildhall?", "Then at 18:00, at the Kettle and Tern."],
            "18:00",
            "Kettle & Tern: tea room",
        ),
        # What falls outside the window is no proposal: it runs from 17:00 to 19:00.
        (["soup tomorrow at 16:59 at the Guildhall"], None, "The Guildhall: hall"),
        (["soup tomorrow at 19:00 at the Guildhall"], None, "The Guildhall: hall"),
        (["soup tomorrow at 17:30 under the bridge"], "17:30", ""),
    ],
)
def test_time_and_place_of_an_appointment(
    lines: list[str], moment: str | None, place: str, make_task: MakeTask, clock: Clock
) -> None:
    task = make_task(TaskType.APPOINTMENT)
    told = parse_speech(task, lines, MONDAY_AT_TEN, clock)
    assert (told.moment, told.place) == (parse_minute(moment, 2) if moment else None, place)


def test_of_companions_any_time_in_the_window_is_one(make_task: MakeTask, clock: Clock) -> None:
    task = make_task(TaskType.COMPANIONS)
    told = parse_speech(task, ["soup tomorrow at 18:15 at the Guildhall"], MONDAY_AT_TEN, clock)
    assert told.list_missing(task) == ()
    assert told.moment == parse_minute("18:15", 2)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Could you buy a washer at Bolt & Brace and then fit it in the tap at the Guildhall?", {"step 1", "step 2"}),
        ("Could you buy a washer at Bolt & Brace?", {"step 1"}),
        ("Could you fit a washer at the Guildhall?", {"step 2"}),
        ("Could you buy a washer?", set()),  # no place
        ("I was at Bolt & Brace and at the Guildhall.", set()),  # nothing to do there
    ],
)
def test_of_help_every_step_with_its_place(text: str, steps: set[str], make_task: MakeTask, clock: Clock) -> None:
    task = make_task(TaskType.HELP)
    assert task.needed_parts == ("step 1", "step 2")
    assert parse_speech(task, [text], MONDAY_AT_TEN, clock).parts == steps


def test_a_place_is_named_by_its_sector() -> None:
    assert has_place("see you at the guildhall", "The Guildhall: hall")
    assert has_place("the Post Office, then", "Post Office: counter hall")
    assert not has_place("the post is late", "Post Office: counter hall")
    assert not has_place("anywhere", "")


def test_what_is_about_a_task_is_said_by_its_name_or_its_signs(make_task: MakeTask, clock: Clock) -> None:
    task = make_task(activity="grand tasting", signs=Signs(keywords=(("soup",), ("taste",))))
    for text, about in (("a grand tasting", True), ("tasting three soups", True), ("soup for lunch", False)):
        assert (ACTIVITY in parse_speech(task, [text], MONDAY_AT_TEN, clock).parts) is about
