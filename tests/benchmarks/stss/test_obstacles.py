"""What moves people at levels 2 and 3: wordings on texts that were written without looking at them, and how hints are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

import pytest

from sociable.benchmarks.stss.dataset import load_level, load_reasons
from sociable.benchmarks.stss.obstacles import Obstacles, Skill, Will, asks_about, is_kind_question
from sociable.benchmarks.stss.reference import CONSENT
from sociable.benchmarks.stss.speech import is_refusal
from sociable.town.map import TownMap
from sociable.town.persona import Persona

PERSUASIONS = json.loads((Path(__file__).parent / "persuasions.json").read_text(encoding="utf-8"))
"""What 118 people want to hear, put in two or five other ways each by somebody who had only the reasons before them."""


def make_will(**changes: object) -> Will:
    fields: dict[str, object] = {
        "who": "Ann Low",
        "kind": "her knees",
        "vague": ("Not this time.", "Better not."),
        "reason": "My knees will not carry me for an hour on frozen grass.",
        "known_by": {"Ben Oak": "Ann's knees are bad. A chair would do it."},
        "moved_by": "somebody says that there is a chair",
        "wording": (("chair",), ("sit", "down")),
        "say": "There is a chair for you.",
        "moved": "Then I come.",
    }
    return Will.model_validate(fields | changes)


@pytest.fixture(scope="session")
def wills(town: TownMap, people: Mapping[str, Persona]) -> Sequence[tuple[str, Will]]:
    found: list[tuple[str, Will]] = [("reasons", each) for each in load_reasons(town, people).items]
    for level in (2, 3):
        found += [(each.id, will) for each in load_level(level, None, town, people).items for will in each.wills]
    return found


def test_what_moves_people_is_recognised_in_words_of_others(wills: Sequence[tuple[str, Will]]) -> None:
    """Of the last 236 texts, before they were looked at, 0.78 were taken."""
    by_key = {(where, will.who, will.kind): will for where, will in wills}
    taken, mistaken = [], []
    for each in PERSUASIONS:
        will = by_key[each["where"], each["who"], each["kind"]]
        taken += [will.is_moved_by([text]) for text in each["texts"]]
        others = [text for other in PERSUASIONS if other["kind"] != each["kind"] for text in other["texts"]]
        mistaken += [will.is_moved_by([text]) for text in others]
    assert len(taken) == 386
    assert mean(taken) > 0.9
    assert mean(mistaken) < 0.03


def test_every_reason_is_moved_by_its_own_words_and_its_lines_are_read_as_what_they_are(
    wills: Sequence[tuple[str, Will]],
) -> None:
    for where, will in wills:
        assert will.is_moved_by([will.say]), (where, will.who)
        assert not any(map(will.is_moved_by, [[text] for text in (*will.vague, will.reason)])), (where, will.who)
        assert not any(CONSENT.search(text) and not is_refusal(text) for text in (*will.vague, will.reason)), (where, will.who)
        assert not is_refusal(will.moved), (where, will.who)


@pytest.mark.parametrize(
    ("says", "moves"),
    [
        ("There is a chair for you.", True),
        ("You can sit. Right down by the fire.", True),
        ("You can sit. It is warm there. Put it down.", False),  # too far apart
        ("There is not a chair in the place.", False),
        ("My knees will not carry me, you say, for an hour on frozen grass? Take a chair.", True),
    ],
)
def test_words_that_move(says: str, moves: bool) -> None:
    assert make_will().is_moved_by([says]) is moves


def test_an_echo_of_the_reason_does_not_move() -> None:
    will = make_will(reason="I need a chair, or my knees will not carry me.")
    assert not will.is_moved_by(["So you need a chair, or your knees will not carry you."])
    assert will.is_moved_by(["I will bring you a chair."])


@pytest.mark.parametrize(
    ("says", "spared"),
    [
        ("Nobody will say a word about the lease.", True),
        ("We keep the lease off the table.", True),
        ("Is it about the lease? Nobody told me.", False),
        ("The lease is what we talk about.", False),
    ],
)
def test_a_topic_that_will_not_come_up(says: str, spared: bool) -> None:
    assert make_will(wording=(("stout",),), spares=(("lease",),)).is_moved_by([says]) is spared


@pytest.mark.parametrize(
    ("says", "claims"),
    [
        ("Ben is coming, he has promised.", True),
        ("Ben Oak said yes this morning.", True),
        ("Ben is not coming.", False),
        ("Would you come if Ben was coming?", False),
        ("I shall speak to Ben first, and come back to you.", False),
        ("Cy is coming. Ben sends his love.", False),
    ],
)
def test_whether_a_third_is_said_to_come(says: str, claims: bool) -> None:
    assert make_will(wording=None, third="Ben Oak").is_moved_by([says]) is claims


@pytest.mark.parametrize(
    ("says", "asks"),
    [
        ("Do you know why Ann would not come?", True),
        ("Tell me about Ann, she said no.", True),
        ("I wonder what Ann has against it.", True),
        ("Ann is coming too. Will you come?", False),
        ("Do you know why Cy would not come?", False),
        ("Will you come along with Ann?", False),
    ],
)
def test_who_is_asked_about(says: str, asks: bool) -> None:
    assert asks_about(says, "Ann Low") is asks
    obstacles = Obstacles(level=2, wills=(make_will(),))
    assert list(obstacles.list_hints("Ben Oak", says)) == (["Ann's knees are bad. A chair would do it."] if asks else [])
    assert list(obstacles.list_hints("Cy Elm", says)) == (["I could not tell you. Ask Ben, and kindly."] if asks else [])


def test_a_skill_is_told_of_when_somebody_asks_who_could() -> None:
    skill = Skill(step=1, held_by=("Ann Low",), lacks=("I cannot draw.",), known_by={"Ben Oak": "Ann draws."})
    obstacles = Obstacles(level=3, wills=(), skill=skill)
    assert list(obstacles.list_hints("Ben Oak", "Do you know anybody who could draw a cat?")) == ["Ann draws."]
    assert list(obstacles.list_hints("Ben Oak", "Could you draw a cat?")) == []


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        ("May I ask what keeps you?", True),
        ("Is something the matter? I am listening.", True),
        ("What would make it easier for you?", True),
        ("Why, of all people, are you such a coward?", False),
        ("That is a pity.", False),
    ],
)
def test_a_kind_question(says: str, kind: bool) -> None:
    assert is_kind_question(says) is kind


def test_whoever_promises_everything_at_once_is_not_believed() -> None:
    kinds = ("knees", "money", "fear", "pride", "grief")
    wills = tuple(make_will(who=f"P{n} X", kind=kind, wording=((kind,),)) for n, kind in enumerate(kinds))
    obstacles = Obstacles(level=2, wills=wills)
    assert obstacles.promises_everything(f"I see to {', '.join(kinds)} and all.") is True
    assert obstacles.promises_everything("I see to your knees and your money.") is False
