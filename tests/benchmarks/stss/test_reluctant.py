"""Residents without a model at levels 2 and 3: how they say no, what moves them, and what becomes of a promise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sociable.benchmarks.stss.obstacles import Obstacles, Rumour, Secret, Skill, Will
from sociable.benchmarks.stss.reluctant import DENIES, ReluctantResident
from sociable.benchmarks.stss.residents import World
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import Clock, parse_minute
from sociable.town.events import Line, Noted
from sociable.town.map import TownMap
from sociable.town.minds import Sighting, Talk, View
from sociable.town.persona import Persona

TEN = 10 * 60
INVITES = "Come to the soup swap on Tuesday at 17:00 at the Guildhall."
WHY = "May I ask what keeps you?"
KNEES = Will(
    who="Ann",
    kind="her knees",
    vague=("Not this time.", "Better not."),
    reason="My knees will not carry me.",
    moved_by="somebody says that there is a chair",
    wording=(("chair",),),
    say="There is a chair for you.",
    moved="A chair, you say.",
)

Make = Callable[..., ReluctantResident]


@pytest.fixture
def resident(make_task: Callable[..., Task], make_persona: Callable[..., Persona], town: TownMap, clock: Clock) -> Make:
    """Ann, or another of the cast, among obstacles."""

    def make(name: str = "Ann", kind: TaskType = TaskType.PUBLIC, **obstacles: object) -> ReluctantResident:
        fields: dict[str, object] = {"level": 2, "wills": (KNEES,)}
        task = make_task(kind, obstacles=Obstacles.model_validate(fields | obstacles))
        return ReluctantResident(make_persona(name), World(town, clock, 6, 0, "test"), task, ())

    return make


def converse(ann: ReluctantResident, says: Sequence[str], partner: str = "Pia", minute: int = TEN) -> list[str]:
    """Answers to lines said one after the other in one conversation."""
    lines: list[Line] = []
    answers = []
    for turn, each in enumerate(says):
        lines.append(Line(speaker=partner, says=each))
        answer = ann.speak(Talk(minute, partner, None, tuple(lines), False, turn, 8 - turn)).says
        lines.append(Line(speaker=ann.persona.name, says=answer))
        answers.append(answer)
    ann.conclude(Talk(minute, partner, None, tuple(lines), False, len(says), 0), minute + 2)
    return answers


def test_no_is_vague_at_first_the_reason_is_told_when_asked_and_what_is_wanted_moves(resident: Make) -> None:
    ann = resident()
    first, reason, moved = converse(ann, [INVITES, WHY, "There is a chair for you."])
    assert (first, reason) == ("Not this time.", "My knees will not carry me.")
    assert moved.startswith("A chair, you say.")
    assert ann.agreement is not None
    assert ann.agreement.start == parse_minute("17:00", 2)


def test_at_level_3_the_reason_is_told_another_time_only(resident: Make) -> None:
    ann = resident(level=3)
    first = converse(ann, [INVITES, WHY, WHY])
    assert first[:2] == ["Not this time.", "Better not."]
    assert KNEES.reason not in first
    assert converse(ann, [INVITES, WHY], minute=TEN + 60)[-1] == "My knees will not carry me."


def test_plain_talk_as_models_talk_succeeds(resident: Make) -> None:
    ann = resident()
    answers = converse(
        ann,
        [
            "Good morning, Ann! Isn't it cold today?",
            "I'm putting on a soup swap at the Guildhall tomorrow at 5 pm - would you like to join us?",
            "Oh, I see. Is there something that makes it difficult for you? I'd really like to understand.",
            "Thank you for telling me. What if I save you a comfortable chair right by the stove?",
        ],
    )
    assert answers[1:3] == ["Not this time.", "My knees will not carry me."]
    assert ann.agreement is not None


def test_nothing_is_said_twice_to_the_same_person(resident: Make) -> None:
    said = converse(resident(), [INVITES, "Oh, do come.", WHY, "I insist.", "But why?"])
    own = [each for each in said if each in (*KNEES.vague, KNEES.reason)]
    assert own == ["Not this time.", "Better not.", "My knees will not carry me."]


@pytest.mark.parametrize("says", ["Do not be such a coward, why not?", "That is a pity.", "I promise you anything you like."])
def test_pressing_and_promises_get_no_reason_and_no_yes(says: str, resident: Make) -> None:
    ann = resident()
    assert converse(ann, [INVITES, says])[1] == "Better not."
    assert ann.agreement is None


def test_a_reason_that_is_never_told_is_known_by_somebody_else(resident: Make) -> None:
    will = KNEES.model_copy(update={"tells": False, "known_by": {"Ben": "Ann's knees are bad. A chair would do it."}})
    assert KNEES.reason not in converse(resident(wills=(will,)), [INVITES, WHY, WHY])
    assert converse(resident("Ben", wills=(will,)), ["Do you know why Ann would not come?"]) == [will.known_by["Ben"]]


def test_a_clash_fills_the_time_until_it_is_moved(resident: Make) -> None:
    will = KNEES.model_copy(update={"clash": "playing cards", "place": "Kettle & Tern: tea room"})
    ann = resident(wills=(will,))
    assert [each.doing for each in ann.engagements] == ["playing cards"]
    converse(ann, [INVITES, "There is a chair for you."])
    assert [each.doing for each in ann.engagements] == ["tasting soup"]


def see(ann: ReluctantResident, minute: int, *names: str) -> list[str]:
    """What it notes down at a minute with some people in sight."""
    sightings = [Sighting(name, "tasting soup", free=False) for name in names]
    found = ann.decide(View(minute, ann.tile, None, None, False, sightings, ()))
    return [each.about for each in found.notes if isinstance(each, Noted)]


def test_whoever_came_for_somebody_leaves_when_that_one_is_not_there(resident: Make) -> None:
    will = KNEES.model_copy(update={"wording": None, "third": "Ben"})
    start = parse_minute("17:00", 2)
    for names, leaves in ((("Cy",), True), (("Ben", "Cy"), False)):
        ann = resident(wills=(will,))
        converse(ann, [INVITES, "Ben is coming, he has promised."])
        assert ann.agreement is not None
        noted = see(ann, start + 1, *names) + see(ann, start + 8, "Cy")
        assert ("takes its promise back" in noted) is leaves
        assert (ann.agreement is None) is leaves


def test_a_lie_comes_out_when_the_two_meet(resident: Make) -> None:
    will = KNEES.model_copy(update={"wording": None, "third": "Ben"})
    ann, ben = resident(wills=(will,)), resident("Ben", wills=(will,))
    converse(ann, [INVITES, "Ben is coming, he has promised."])
    asks = ann.speak(Talk(TEN + 90, "Ben", None, (), True, 0, 8)).says
    answer = converse(ben, [asks], partner="Ann", minute=TEN + 90)[0]
    assert answer == DENIES
    lines = (Line(speaker="Ann", says=asks), Line(speaker="Ben", says=answer))
    ann.speak(Talk(TEN + 90, "Ben", None, lines, True, 1, 7))
    assert ann.agreement is None
    converse(ben, [INVITES])
    assert ben.agreement is not None
    assert converse(ben, [asks], partner="Cy", minute=TEN + 200) != [DENIES]


RUMOUR = Rumour(teller="Cy", believed_by=("Ann",), time="21:00", says=("Yes, on Tuesday at 21:00, Cy said so.",))


def test_a_rumour_is_believed_until_it_is_set_right(resident: Make) -> None:
    ann = resident(wills=(), rumour=RUMOUR)
    (objects,) = converse(ann, [INVITES])
    assert objects == "Yes, on Tuesday at 21:00, Cy said so."
    assert ann.agreement is not None
    assert ann.agreement.start == parse_minute("21:00", 2)
    # The right hour alone, as anybody pastes it, does not do it.
    converse(ann, [INVITES], minute=TEN + 30)
    assert ann.agreement.start == parse_minute("21:00", 2)
    converse(ann, ["The soup swap is not at nine, that is a mistake: it begins at 17:00."], minute=TEN + 60)
    assert ann.agreement.start == parse_minute("17:00", 2)


def test_a_rumour_goes_on_from_mouth_to_mouth(resident: Make) -> None:
    ann, ben = resident(wills=(), rumour=RUMOUR), resident("Ben", wills=(), rumour=RUMOUR)
    passed = ann.speak(Talk(TEN, "Ben", None, (), True, 0, 8)).says
    assert "21:00" in passed
    converse(ben, [passed], partner="Ann")
    assert converse(ben, [INVITES], minute=TEN + 60) == ["Yes, on Tuesday at 21:00, Cy said so."]


def test_who_is_told_of_a_secret_keeps_it_and_who_is_not_speaks_of_it(resident: Make) -> None:
    for asks, keeps in ((INVITES, False), (f"{INVITES} It is a surprise, not a word to Dee.", True)):
        ann = resident(wills=(), secret=Secret(keeps_from="Dee"))
        converse(ann, [asks])
        told = ann.speak(Talk(TEN + 60, "Dee", None, (), True, 0, 8)).says
        assert ("soup swap" in told) is not keeps


def test_a_late_invitation_and_a_missing_skill(resident: Make) -> None:
    late = resident(wills=(), notice=TEN)
    converse(late, [INVITES], minute=TEN + 1)
    assert late.agreement is None
    skill = Skill(step=1, held_by=("Ben",), lacks=("I cannot do that.",), known_by={"Ann": "Ben can."})
    ann = resident(kind=TaskType.HELP, wills=(), skill=skill)
    asks = "Would you fetch a washer at Bolt & Brace and then fit the washer in the tap at the Guildhall on Tuesday?"
    assert converse(ann, [asks, "Do you know anybody who could?"]) == ["I cannot do that.", "Ben can."]


def test_a_hint_about_somebody_else_is_no_refusal(resident: Make) -> None:
    will = KNEES.model_copy(update={"who": "Ben", "known_by": {"Ann": "Ben has bad knees."}})
    ann = resident(level=3, wills=(KNEES, will))
    assert converse(ann, ["Do you know what keeps Ben?"]) == ["Ben has bad knees."]
    assert KNEES.reason not in converse(ann, [INVITES, WHY], minute=TEN + 60)


def test_who_is_set_right_in_the_invitation_itself_promises_the_right_hour(resident: Make) -> None:
    ann = resident(wills=(), rumour=RUMOUR)
    converse(ann, [f"{INVITES} If you heard of 21:00, that is a mistake."])
    assert ann.agreement is not None
    assert ann.agreement.start == parse_minute("17:00", 2)
