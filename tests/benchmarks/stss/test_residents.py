"""Reference residents: whom they believe, what they answer, and that they go where they said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sociable.benchmarks.stss.phrases import PHRASES, Question, find_question, find_words, is_answer
from sociable.benchmarks.stss.reference import CONSENT
from sociable.benchmarks.stss.residents import KNOWN, OF_INTEREST, UNWILLING, ReferenceResident, World, answer_question
from sociable.benchmarks.stss.speech import is_refusal
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import Clock, parse_minute
from sociable.town.events import Agreed, Line, Noted, read_timelines
from sociable.town.map import Tile, TownMap
from sociable.town.minds import Sighting, Talk, Utterance, View
from sociable.town.persona import Habit, Persona

MONDAY_AT_TEN = 10 * 60
INVITATION = "Come to the soup swap on Tuesday at 17:00 at the Guildhall."
MEETING = "Shall we have soup on Tuesday at 17:30 at the Guildhall?"
ERRAND = "Would you buy a washer at Bolt & Brace and fit it in the tap at the Guildhall?"
MakeTask = Callable[..., Task]
MakePersona = Callable[..., Persona]


@pytest.fixture
def resident(make_persona: MakePersona, town: TownMap, clock: Clock) -> Callable[..., ReferenceResident]:
    """Ann among reference residents; ``busy``: when she works on Tuesday."""

    def make(
        task: Task,
        busy: tuple[str, str] | None = None,
        ties: Sequence[str] = (),
        leaning: float | None = 1.0,
        **changes: Any,
    ) -> ReferenceResident:
        habits: tuple[Habit, ...] = ()
        if busy is not None:
            start, end = (parse_minute(time) for time in busy)
            habits = (Habit(days=("Tue",), start=start, end=end, doing="sweeping", place="Salt & Rye: shop", work=True),)
        world = World(town, clock, 6, 0, "test")
        return ReferenceResident(make_persona("Ann", habits=habits, **changes), world, task, ties, leaning)

    return make


def hears(resident: ReferenceResident, *said: str, partner: str = "Pia", minute: int = MONDAY_AT_TEN) -> list[str]:
    """The answers to what ``partner``, who begins, says turn by turn; then the conversation is over."""
    lines: list[Line] = []
    answers = []
    for turn, text in enumerate(said):
        lines.append(Line(speaker=partner, says=text))
        answer = resident.speak(Talk(minute, partner, None, tuple(lines), False, turn, 8 - turn))
        lines.append(Line(speaker=resident.persona.name, says=answer.says))
        answers.append(answer.says)
    return answers


def say(kind: str, **slots: str) -> set[str]:
    """Everything that could be said of a kind."""
    return {phrase.format(**slots) for phrase in PHRASES[kind]}


def say_yes(when: str = "Tuesday at 17:00", where: str = ", at The Guildhall (hall)") -> set[str]:
    return say("accepts", what="soup swap", when=when, where=where)


OPENINGS = {*PHRASES["openings_morning"], *PHRASES["openings_day"], *PHRASES["openings_evening"]}


def agreed(resident: ReferenceResident) -> list[Agreed]:
    talk = Talk(MONDAY_AT_TEN, "Pia", None, (), False, 1, 7)
    return [note for note in resident.conclude(talk, MONDAY_AT_TEN + 1).notes if isinstance(note, Agreed)]


# Public and online: everything named, and free for 25 minutes of it.


def test_accepts_what_names_everything(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    (answer,) = hears(ann, INVITATION)
    assert answer in say_yes()
    (event,) = agreed(ann)
    assert (event.resident, event.partner, event.doing, event.place) == ("Ann", "Pia", "tasting soup", "The Guildhall: hall")
    assert (event.start, event.end) == (parse_minute("17:00", 2), parse_minute("19:00", 2))


@pytest.mark.parametrize(
    "text",
    [
        "Come to a little thing on Tuesday at 17:00 at the Guildhall.",
        "Come to the soup swap on Tuesday at 17:00.",
        "Come to the soup swap on Tuesday at the Guildhall.",
        "Come to the soup swap on Tuesday at 16:00 at the Guildhall.",
        "Come to the soup swap on Monday at 17:00 at the Guildhall.",
        "Come to the soup swap on Tuesday at 17:00 at the Boathouse.",
    ],
)
def test_does_not_ask_back_where_something_is_missing(
    text: str, make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    ann = resident(make_task())
    (answer,) = hears(ann, text)
    assert answer in PHRASES["replies"]  # as if nothing had been said
    assert ann.agreement is None
    assert agreed(ann) == []


def test_what_was_missing_may_be_said_in_another_turn(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    first, second = hears(ann, "Come to the soup swap on Tuesday!", "It begins at 17:00, at the Guildhall.")
    assert first in PHRASES["replies"]
    assert second in say_yes()


@pytest.mark.parametrize(
    ("busy", "comes"),
    [
        # The event: 17:00 to 19:00. 25 minutes must be left of it, at one end or the other.
        (("09:00", "16:00"), ("17:00", "19:00")),
        (("09:00", "18:00"), ("18:00", "19:00")),
        (("09:00", "18:35"), ("18:35", "19:00")),
        (("09:00", "18:36"), None),
        (("17:25", "22:00"), ("17:00", "17:25")),
        (("17:24", "22:00"), None),
        (("17:10", "18:50"), None),
    ],
)
def test_work_comes_first(
    busy: tuple[str, str], comes: tuple[str, str] | None, make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    ann = resident(make_task(), busy)
    (answer,) = hears(ann, INVITATION)
    if comes is None:
        assert answer in PHRASES["cannot_come"]
        assert ann.agreement is None
    else:
        assert ann.agreement is not None
        assert (ann.agreement.start, ann.agreement.end) == tuple(parse_minute(time, 2) for time in comes)


def test_so_does_sleep(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    # In bed from 17:20 on she would have 20 minutes, from 17:30 on 30.
    for sleeps, accepts in (("17:20", False), ("17:30", True)):
        ann = resident(make_task(), sleeps=parse_minute(sleeps))
        assert (hears(ann, INVITATION)[0] in say_yes()) is accepts
    # Whoever sleeps until the evening comes when up.
    late = resident(make_task(), wakes=parse_minute("18:10"))
    hears(late, INVITATION, minute=parse_minute("19:00"))
    assert late.agreement is not None
    assert late.agreement.start == parse_minute("18:10", 2)


def test_invited_during_the_event_she_comes_for_the_rest(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    hears(ann, INVITATION, minute=parse_minute("18:30", 2))
    assert ann.agreement is not None
    assert ann.agreement.start == parse_minute("18:30", 2)
    # With less than 25 minutes left she does not.
    assert hears(resident(make_task()), INVITATION, minute=parse_minute("18:40", 2))[0] in PHRASES["cannot_come"]


def test_an_online_activity_needs_no_place(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.ONLINE))
    hears(ann, "Soup swap by video on Tuesday at 17:00!")
    assert ann.agreement is not None
    assert ann.agreement.place == ""


def test_says_once_that_she_remembers(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    hears(ann, INVITATION)
    before = ann.agreement
    agreed(ann)
    first, second = hears(ann, INVITATION, INVITATION, minute=MONDAY_AT_TEN + 300)
    assert first in PHRASES["remembers"]
    assert second in PHRASES["closings"]
    assert ann.agreement is before


# Companions and appointments: she proposes a time of her own.


def test_accepts_a_time_at_which_she_is_free_for_fifty_minutes(
    make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    ann = resident(make_task(TaskType.COMPANIONS), ("18:20", "22:00"))
    assert hears(ann, MEETING)[0] in say_yes("Tuesday at 17:30")
    assert ann.agreement is not None
    assert (ann.agreement.start, ann.agreement.end) == (parse_minute("17:30", 2), parse_minute("18:20", 2))


def test_else_proposes_another_and_takes_an_assent_for_one(
    make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    # Free from 18:05 on; a quarter of an hour after that at the earliest, on a half hour: 18:30 would end at 19:20, too late.
    ann = resident(make_task(TaskType.COMPANIONS, end=parse_minute("20:00", 2)), ("09:00", "18:05"))
    offer, yes = hears(ann, MEETING, "That works for me!")
    assert offer in say("proposes", when="Tuesday at 18:30")
    assert yes in say_yes("Tuesday at 18:30")


@pytest.mark.parametrize(
    ("reply", "accepted"),
    [
        ("Yes!", True),
        ("Perfect, can't wait.", True),
        ("No problem, that works.", True),
        ("Sure, see you then.", True),
        ("That's no good, I am afraid.", False),
        ("I am not sure.", False),
        ("That won't work, it would be fine otherwise.", False),
        ("Hm.", False),
    ],
)
def test_what_is_an_assent(reply: str, accepted: bool, make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.COMPANIONS, end=parse_minute("20:00", 2)), ("09:00", "18:05"))
    hears(ann, MEETING, reply)
    assert (ann.agreement is not None) is accepted


def test_a_third_time_is_taken_for_itself(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.COMPANIONS, end=parse_minute("20:30", 2)), ("09:00", "18:05"))
    hears(ann, MEETING, "Good, but rather at 19:00.")
    assert ann.agreement is not None
    assert ann.agreement.start == parse_minute("19:00", 2)


def test_the_place_of_an_appointment_outlives_the_conversation(
    make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    ann = resident(make_task(TaskType.APPOINTMENT, end=parse_minute("20:00", 2)), ("09:00", "18:05"))
    hears(ann, "Shall we have soup on Tuesday at 17:30 at the Kettle & Tern?")
    agreed(ann)
    hears(ann, "About the soup: yes, let us do that.", minute=MONDAY_AT_TEN + 300)
    assert ann.agreement is not None
    assert (ann.agreement.start, ann.agreement.place) == (parse_minute("18:30", 2), "Kettle & Tern: tea room")


def test_without_a_free_hour_she_says_so(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.COMPANIONS), ("09:00", "22:00"))
    assert hears(ann, MEETING)[0] in PHRASES["cannot_come"]


def test_an_appointment_is_the_target_s_alone(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    other = resident(make_task(TaskType.APPOINTMENT, target="Ben"))
    assert hears(other, MEETING)[0] in PHRASES["replies"]
    assert other.agreement is None
    assert hears(resident(make_task(TaskType.APPOINTMENT)), MEETING)[0] in say_yes("Tuesday at 17:30")


# Help: every step, in order, with the ways between.


def test_promises_help_and_plans_the_steps_one_after_the_other(
    make_task: MakeTask, resident: Callable[..., ReferenceResident], town: TownMap
) -> None:
    # From 17:10 on (she leaves herself ten minutes), fifteen minutes for a step of five, and then the way.
    ann = resident(make_task(TaskType.HELP))
    assert hears(ann, ERRAND)[0] in say("promises_help", day="on Tuesday", time="17:10")
    first, second = agreed(ann)
    assert (first.start, first.end, first.doing) == (parse_minute("17:10", 2), parse_minute("17:25", 2), "buying a washer")
    way = ann.world.count_travel_minutes(ann.world.find_tile(first.place), second.place)
    assert second.start == parse_minute("17:10", 2) + 5 + 12 + way
    assert second.place == "The Guildhall: kitchen"


@pytest.mark.parametrize(
    "text", ["Would you buy a washer at Bolt & Brace?", "Would you fit a washer in the tap at the Guildhall?"]
)
def test_half_an_errand_is_none(text: str, make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.HELP))
    assert hears(ann, text)[0] in PHRASES["replies"]
    assert agreed(ann) == []


def test_help_needs_the_time_for_all_of_it(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    # Two steps of 5 and 27 minutes each, and 10 more: 74 minutes.
    for busy, promises in ((("18:14", "22:00"), True), (("18:13", "22:00"), False)):
        ann = resident(make_task(TaskType.HELP), busy)
        assert (hears(ann, ERRAND)[0] not in PHRASES["cannot_help"]) is promises is bool(agreed(ann))


# News.


def sees(resident: ReferenceResident, *names: str, minute: int) -> str:
    sightings = [Sighting(name, "standing about") for name in names]
    return resident.choose_addressee(View(minute, resident.tile, None, None, False, sightings, sightings))


def begins(resident: ReferenceResident, partner: str, minute: int) -> Utterance:
    return resident.speak(Talk(minute, partner, None, (), True, 0, 8))


@pytest.mark.parametrize("asked", [True, False])
def test_passes_on_only_what_she_was_asked_to(
    asked: bool, make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    task = make_task()
    ann = resident(task)
    hears(ann, f"{INVITATION} Pass it on!" if asked else INVITATION)
    agreed(ann)
    said = begins(ann, "Cy", MONDAY_AT_TEN + 60).says
    if not asked:
        assert said in OPENINGS
        return
    assert said in say("passes_on", what="soup swap", when="Tuesday at 17:00", where=", at The Guildhall (hall)", who="Pia")
    # Of the resident who hears it that is an invitation like another, which is not to be passed on.
    ben = resident(task)
    assert hears(ben, said, partner="Ann")[0] in say_yes()
    agreed(ben)
    assert begins(ben, "Dee", MONDAY_AT_TEN + 120).says in OPENINGS
    # Once to everybody, and not to those from whom she has it.
    assert begins(ann, "Cy", MONDAY_AT_TEN + 90).says in OPENINGS
    assert begins(ann, "Pia", MONDAY_AT_TEN + 90).says in OPENINGS
    # Nor to the performer what others have told her.
    told_by_cy = resident(task)
    hears(told_by_cy, f"{INVITATION} Pass it on!", partner="Cy")
    agreed(told_by_cy)
    assert begins(told_by_cy, "Pia", MONDAY_AT_TEN + 90).says in OPENINGS


def test_news_make_her_talk_to_people_while_they_can_still_come(
    make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    ann = resident(make_task())
    hears(ann, f"{INVITATION} Pass it on!")
    agreed(ann)
    ann._talked["Cy"] = parse_minute("17:00", 2)
    # She has talked to Cy just now, and to tell him is worth another word; until 25 minutes are left of the event.
    assert sees(ann, "Cy", minute=parse_minute("17:05", 2)) == "Cy"
    assert sees(ann, "Cy", minute=parse_minute("18:35", 2)) == "Cy"
    assert sees(ann, "Cy", minute=parse_minute("18:36", 2)) == ""
    assert begins(ann, "Cy", parse_minute("18:36", 2)).says in OPENINGS


def test_she_does_not_talk_to_the_same_person_all_day(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(), ties=("Ben",))
    hours = range(7 * 60, 23 * 60, 60)
    # Of a friend every second hour or so, of a stranger every seventh; of both never within four hours of the last time.
    friend = sum(bool(sees(ann, "Ben", minute=minute)) for minute in hours)
    stranger = sum(bool(sees(ann, "Cy", minute=minute)) for minute in hours)
    assert stranger < friend < len(hours)
    ann._talked["Ben"] = 7 * 60
    assert not any(sees(ann, "Ben", minute=minute) for minute in range(7 * 60, 11 * 60))


# What it takes.


def test_most_want_to_know_something_first(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    task, answer = (
        make_task(),
        "You would bring nothing, two friends are coming and it takes an hour, because I like company there.",
    )
    for leaning, asked in ((0.7, 0), (0.5, 1), (0.2, 2)):
        ann = resident(task, leaning=leaning)
        answers = hears(
            ann, INVITATION, answer, "You see, we are only three people, the half hour is free and I will bring my own cup."
        )
        assert [find_question(each) is not None for each in answers[:asked]] == [True] * asked
        assert answers[asked] in say_yes()
    unwilling = resident(task, leaning=0.1)
    refusal, goodbye = hears(unwilling, INVITATION, answer)
    assert refusal in PHRASES["does_not_want"] and goodbye in PHRASES["closings"]
    assert agreed(unwilling) == []


def test_saying_it_again_is_no_answer(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(), leaning=0.5)
    question, enough = hears(ann, INVITATION, INVITATION)
    assert find_question(question) is not None and enough in PHRASES["had_enough"]
    talk = Talk(MONDAY_AT_TEN, "Pia", None, (Line(speaker="Pia", says=INVITATION),), False, 1, 7)
    assert ann.conclude(talk, MONDAY_AT_TEN + 1).notes == []
    # Neither is it later; an answer still is one.
    assert hears(ann, INVITATION, minute=MONDAY_AT_TEN + 60)[0] in PHRASES["had_enough"]
    question, yes = hears(
        ann,
        f"{INVITATION} There will be bread and butter, too.",
        "You need bring nothing, two friends are coming, it takes an hour, because I like a full table and we sit there together.",
        minute=MONDAY_AT_TEN + 120,
    )
    assert find_question(question) is not None and yes in say_yes()


def test_a_favour_wants_a_reason(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task(TaskType.HELP), leaning=0.5)
    question, yes = hears(ann, ERRAND, "I have broken my ankle and must keep the leg up until the doctor comes.")
    assert find_question(question) is Question.FAVOUR
    assert yes in say("promises_help", day="on Tuesday", time="17:10")
    assert hears(resident(make_task(TaskType.HELP), leaning=0.25), ERRAND)[0] in PHRASES["cannot_help"]


def test_a_promise_is_forgotten_unless_somebody_reminds_of_it(
    make_task: MakeTask, resident: Callable[..., ReferenceResident]
) -> None:
    def live_on(ann: ReferenceResident) -> list[str]:
        """What she does from Tuesday's noon on, and what she notes."""
        done = []
        for minute in range(parse_minute("12:00", 2), parse_minute("19:00", 2)):
            decision = ann.decide(View(minute, ann.tile, None, None, False, (), ()))
            done += [note.about for note in decision.notes if isinstance(note, Noted)]
            done += [decision.activity.doing] if decision.activity else []
        return done

    ann = resident(make_task())
    hears(ann, INVITATION)
    agreed(ann)
    ann._forgets = True
    done = live_on(ann)
    assert "tasting soup" not in done and "forgot a promise" in done
    reminded = resident(make_task())
    hears(reminded, INVITATION)
    agreed(reminded)
    reminded._forgets = True
    assert hears(reminded, INVITATION, minute=MONDAY_AT_TEN + 300)[0] in PHRASES["remembers"]
    assert "tasting soup" in live_on(reminded)


def test_asking_too_often_costs_a_promise(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    answers = []
    for hours in (0, 5, 10, 12):
        answers += hears(ann, INVITATION, minute=MONDAY_AT_TEN + 60 * hours)
        notes = ann.conclude(Talk(MONDAY_AT_TEN + 60 * hours, "Pia", None, (), False, 1, 7), MONDAY_AT_TEN + 60 * hours + 1).notes
    kinds = [say_yes(), PHRASES["remembers"], PHRASES["had_enough"], PHRASES["had_enough"]]
    assert [answer in kind for answer, kind in zip(answers, kinds, strict=True)] == [True] * 4
    assert [note.about for note in notes if isinstance(note, Noted)] == ["takes its promise back"]
    assert (ann.agreement, ann.engagements) == (None, [])


def test_who_leans_to_what_differs(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    leanings = {
        (template, ties): resident(make_task(id=template), ties=ties, leaning=None)._leaning
        for template in map(str, range(40))
        for ties in ((), ("Pia",))
    }
    alone = [leaning for (_, ties), leaning in leanings.items() if not ties]
    assert min(alone) < UNWILLING and len(set(alone)) == len(alone)
    assert all(leanings[template, ("Pia",)] == pytest.approx(leanings[template, ()] + KNOWN) for template, _ in leanings)
    own = resident(make_task(), leaning=None, learned="Ann cooks soup for a living.")._leaning
    assert own == pytest.approx(resident(make_task(), leaning=None)._leaning + OF_INTEREST)


# What is said.


def test_phrases_are_read_as_what_they_are() -> None:
    yes = [*say_yes(), *say_yes(where=""), *say("promises_help", day="on Tuesday", time="17:10"), *PHRASES["remembers"]]
    assert [each for each in yes if is_refusal(each)] == []
    assert [each for each in yes[:-25] if not CONSENT.search(each)] == []
    no = [sentence for kind in ("cannot_come", "does_not_want", "cannot_help", "had_enough") for sentence in PHRASES[kind]]
    assert [each for each in no if not is_refusal(each)] == []
    questions = [sentence for question in Question for sentence in PHRASES[question]]
    assert [each for each in questions if is_refusal(each) or CONSENT.search(each) or find_question(each) is None] == []
    assert len({*yes, *no, *questions}) > 300


def test_what_performers_answer_is_an_answer(make_task: MakeTask, clock: Clock) -> None:
    for question in Question:
        for others in ((), ("Ann",), ("Ann", "Ben Cole")):
            said = find_words([INVITATION])
            assert is_answer(question, answer_question(question, make_task(), others, clock), said), (question, others)


# They really go.


@pytest.mark.parametrize(
    ("template", "agent"),
    [("soup-swap", "heuristic"), ("nonsense-quiz", "oracle"), ("human-pyramid", "oracle"), ("the-dripping-tap", "oracle")],
)
def test_whoever_agreed_is_there(template: str, agent: str, live: Callable[..., Any], town: TownMap) -> None:
    episode, _ = live(template, agent)
    task = episode.task
    found = read_timelines(episode.events, {name: Tile(*tile) for name, tile in episode.starts.items()}, episode.minutes)
    agreements = [event for event in episode.events if isinstance(event, Agreed) and event.resident != task.performer]
    assert len({event.resident for event in agreements}) >= (1 if task.type is TaskType.HELP else task.expected)
    for event in agreements:
        assert event.start is not None and event.end is not None
        timeline = found[event.resident]
        addresses = [town.find_address(tile) for tile in timeline.tiles]
        # A few minutes late at most (a walk that a conversation held up), and until the end.
        minutes = range(max(event.start, event.minute) + 10, event.end)
        there = [minute for minute in minutes if event.place in ("", place_of(addresses[minute]))]
        assert len(there) >= 0.9 * len(minutes), event
        doing = {began.doing for minute in minutes if (began := timeline.activities[minute]) is not None}
        assert event.doing in doing
        assert task.start <= event.start < event.end <= task.end


def place_of(address: Any) -> str:
    return str(replace(address, thing="")) if address is not None else ""


def test_interviewed_she_names_what_she_agreed_to(make_task: MakeTask, resident: Callable[..., ReferenceResident]) -> None:
    ann = resident(make_task())
    assert "agreed to nothing" in asyncio.run(ann.interview("How are you?", MONDAY_AT_TEN))
    hears(ann, INVITATION)
    assert "tasting soup, day 2 at 17:00" in asyncio.run(ann.interview("How are you?", MONDAY_AT_TEN))
