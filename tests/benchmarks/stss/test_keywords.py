"""The keyword filter: what counts as doing a thing, and how well it does on texts that were labelled by readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from sociable.benchmarks.stss.dataset import BUNDLED
from sociable.benchmarks.stss.keywords import find_stems, has_phrase, is_about, is_doing
from sociable.benchmarks.stss.task import Signs, TaskType
from sociable.benchmarks.stss.templates import TaskTemplate
from sociable.town.clock import Clock
from sociable.town.map import Address, TownMap
from sociable.town.persona import Persona, make_ordinary_day

EXERCISE = Signs(keywords=(("exercise",),))
PARTY = Signs(keywords=(("party",),), activity="party")
TEXTS = BUNDLED / "activity_texts.json"


@pytest.mark.parametrize(
    ("text", "signs", "is_it"),
    [
        # The authors' two failures (docs/project/paper_decisions.md, STSS 7): "exercise" is no substring of "exercising", "party" is one of the next.
        ("exercising in the park", EXERCISE, True),
        ("exercised with the others", EXERCISE, True),
        ("preparing decorations for the party", PARTY, False),
        ("dancing at the party", PARTY, True),
        ("enjoying the parties on the quay", PARTY, True),
        # Whole words: a substring is not enough.
        ("counterparty negotiations", PARTY, False),
        # Talking of it, having it in mind, before and after.
        ("talking about the party with Ben", PARTY, False),
        ("chatting with a neighbour about the party", PARTY, False),
        ("inviting everybody to the party", PARTY, False),
        ("looking forward to the party", PARTY, False),
        ("planning a party", PARTY, False),
        ("walking to the party", PARTY, False),
        ("buying bread for the party", PARTY, False),
        ("cleaning up after the party", PARTY, False),
        ("resting until the party", PARTY, False),
        # Conversing is no part of the text, but singing and dancing are; "telling" stands for talk only where it begins.
        ("at the party, telling jokes", PARTY, True),
        ("telling a friend over the fence how the party went", PARTY, False),
    ],
)
def test_what_counts_as_doing_it(text: str, signs: Signs, is_it: bool) -> None:
    assert is_doing(text, signs) is is_it


TAKING_PART = (
    "joining {friend} for the {activity}",
    "attending the {activity} organised by {friend}",
    "taking part in the {activity} and talking about it with the others",
    "at the {activity} {friend} invited me to",
    "at the {activity}, then heading home",
    "enjoying the {activity} until it is over",
    "attending the {activity} and thanking {friend} for organising it",
)
ELSEWHERE = (
    "sorry, I am busy working",
    "stamping parcels at the post office",
    "eating stew for supper",
    "telling {friend} that I cannot come to the {activity}",
    "getting ready for the {activity}",
    "on the way to the {activity}",
    "too tired for the {activity}, staying in",
    "skipping the {activity} to rest at home",
)


@pytest.mark.parametrize("wording", [*TAKING_PART, *ELSEWHERE])
def test_whoever_takes_part_is_seen_by_any_activity_s_name(wording: str, templates: Mapping[str, TaskTemplate]) -> None:
    wrong = [
        template.id
        for template in templates.values()
        if not template.subtasks
        and is_doing(wording.format(friend="Rosalba Quispe", activity=template.activity), template.signs)
        is not (wording in TAKING_PART)
    ]
    assert wrong == []


def test_of_every_group_one_word_and_a_listed_alternative_is_as_good() -> None:
    signs = Signs(keywords=(("duck", "mallard"), ("feed", "scatter")))
    assert is_doing("feeding the mallards", signs)
    assert is_doing("scattering oats for two ducks", signs)
    assert not is_doing("watching the ducks", signs)
    assert not is_doing("feeding the cat", signs)


def test_a_task_s_own_exclusions_and_errands() -> None:
    assert not is_doing("photographing the ducks", Signs(keywords=(("duck",),), not_keywords=("photograph",)))
    # To buy something is the errand itself, of an activity only what comes before it.
    assert is_doing("buying a washer", Signs(keywords=(("washer",),), errand=True))
    assert not is_doing("buying a washer", Signs(keywords=(("washer",),)))
    # Talking about it is neither.
    assert not is_doing("talking about buying a washer", Signs(keywords=(("washer",),), errand=True))


def test_stems_and_phrases() -> None:
    assert find_stems("Bluffing, bluffed, BLUFFS") == ("bluf",) * 3
    assert find_stems("cook-along") == find_stems("cook along")
    assert has_phrase("we counted the lame ones", "lame one")
    assert not has_phrase("one lame duck", "lame one")  # word by word, in order
    assert is_about("", Signs(keywords=(("soup",),))) is False


def _verdict(text: Mapping[str, Any], template: TaskTemplate) -> bool:
    """Of help: the right step; of what is none, any step."""
    if template.type is not TaskType.HELP:
        return is_doing(text["text"], template.signs)
    taken = {number for number, step in enumerate(template.subtasks, start=1) if is_doing(text["text"], step.signs)}
    return text["subtask"] in taken if text["is_it"] else bool(taken)


def _precision_and_recall(templates: Mapping[str, TaskTemplate], *, seen: bool) -> tuple[float, float, int]:
    texts = [each for each in json.loads(TEXTS.read_text(encoding="utf-8")) if each["seen"] is seen]
    sorted_so = [(_verdict(each, templates[each["template"]]), each["is_it"]) for each in texts]
    right = sorted_so.count((True, True))
    return right / sum(taken for taken, _ in sorted_so), right / sum(truth for _, truth in sorted_so), len(texts)


def test_on_texts_written_for_the_filter_s_measurement(templates: Mapping[str, TaskTemplate]) -> None:
    # 735 texts: 336 of 374 taken are right (0.898), 336 of 380 that are it are taken (0.884). Half are near misses on purpose.
    precision, recall, count = _precision_and_recall(templates, seen=False)
    assert count == 1201
    assert precision >= 0.88
    assert recall >= 0.87


def test_on_texts_looked_at_while_it_was_tuned(templates: Mapping[str, TaskTemplate]) -> None:
    # 1,215 texts: 599 of 618 (0.969) and 599 of 622 (0.963).
    precision, recall, count = _precision_and_recall(templates, seen=True)
    assert count == 1215
    assert precision >= 0.96
    assert recall >= 0.94


def test_the_labelled_texts_are_whole(templates: Mapping[str, TaskTemplate]) -> None:
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    assert {each["template"] for each in texts} == set(templates)
    assert len({(each["template"], each["text"]) for each in texts}) == len(texts)
    for each in texts:
        steps = templates[each["template"]].subtasks
        assert set(each) == {"template", "text", "is_it", "seen"} | ({"subtask"} if steps else set())
        if steps:
            assert each["is_it"] is (each["subtask"] > 0)
            assert 0 <= each["subtask"] <= len(steps)


def test_a_template_s_own_wordings_are_the_activity(templates: Mapping[str, TaskTemplate]) -> None:
    for template in templates.values():
        for step in template.subtasks:
            assert [each for each in step.wordings if not is_doing(each, step.signs)] == []
            assert is_about(step.doing, step.signs)
        if not template.subtasks:
            assert [each for each in template.wordings if not is_doing(each, template.signs)] == []


def test_nobody_s_habits_are_the_event(
    town: TownMap, clock: Clock, people: Mapping[str, Persona], templates: Mapping[str, TaskTemplate]
) -> None:
    """On the event's day nobody does the thing by habit where it would be counted."""
    found = set()
    for template in templates.values():
        steps = [(step.signs, [step.place]) for step in template.subtasks] or [(template.signs, list(template.places))]
        targets = {name for several in template.targets.values() for name in several}
        anywhere = template.type in (TaskType.APPOINTMENT, TaskType.ONLINE)
        for signs, where in steps:
            for name in targets or people:
                for block in make_ordinary_day(people[name], clock, 1):
                    there = anywhere or any(Address.parse(block.place).is_within(Address.parse(place)) for place in where)
                    if there and is_doing(block.doing, signs):
                        found.add((template.id, name))
    assert found == set()
