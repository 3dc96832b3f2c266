"""The keyword filter: what counts as doing a thing, and how well it does on texts that were labelled by readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from sociable.benchmarks.stss.dataset import BUNDLED, TaskTemplate
from sociable.benchmarks.stss.keywords import find_stems, has_phrase, is_about, is_doing, phrase_preparation
from sociable.benchmarks.stss.task import Signs, TaskType
from sociable.town.clock import Clock
from sociable.town.map import Address, TownMap
from sociable.town.persona import Persona, make_ordinary_day

EXERCISE = Signs(keywords=(("exercise",),))
PARTY = Signs(keywords=(("party",),), not_keywords=phrase_preparation("party"))
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
    # 261 texts: 135 of 159 taken are right (0.849), 135 of 143 that are it are taken (0.944). Half are near misses on purpose.
    precision, recall, count = _precision_and_recall(templates, seen=False)
    assert count == 261
    assert precision >= 0.83
    assert recall >= 0.92


def test_on_texts_looked_at_while_it_was_tuned(templates: Mapping[str, TaskTemplate]) -> None:
    # 268 texts: 136 of 149 (0.913) and 136 of 148 (0.919).
    precision, recall, count = _precision_and_recall(templates, seen=True)
    assert count == 268
    assert precision >= 0.90
    assert recall >= 0.90


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
