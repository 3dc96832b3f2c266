"""Personas in a town: who is known for what, where to find them, and what they do when somebody is not there."""

from __future__ import annotations

from typing import Any

from sociable.benchmarks.stss.dataset import BUNDLED, load_residents, load_town
from sociable.town.persona import Block, Habit, Persona, adapt_to_company, find_acquaintances, merge_blocks


def persona(name: str, **more: Any) -> Persona:
    same = {"innate": "calm", "learned": f"{name} bakes.", "currently": "", "lifestyle": "", "home": "Row 1: bedroom"}
    return Persona(name=name, short=name.split()[0], age=40, wakes=420, sleeps=1320, **same, **more)


def habit(doing: str, start: int, end: int, place: str, **more: Any) -> Habit:
    return Habit(days=("Mon", "Tue"), start=start, end=end, doing=doing, place=place, **more)


def test_friends_know_where_to_find_each_other() -> None:
    habits = (
        habit("sleeping in", 420, 480, "Row 1: bedroom"),
        habit("walking", 500, 520, "Green: lawn"),
        habit("baking", 540, 900, "Bakery: shop"),
        habit("reading", 910, 990, "Library: hall"),
    )
    ann, ben = persona("Ann Lee", ties={"Ben Cole": "Ben is her brother."}), persona("Ben Cole", habits=habits)
    (known,) = find_acquaintances(ann, {"Ben Cole": ben}).values()
    assert known == "Ben Cole bakes. Ben is her brother. Lives at Row 1; often at Bakery: shop and Library: hall."
    (known,) = find_acquaintances(ann, {"Ben Cole": persona("Ben Cole")}).values()
    assert known.endswith("Lives at Row 1.")


def test_nobody_plays_with_somebody_who_is_not_in_town() -> None:
    together = habit("playing chess with Ben", 600, 660, "Green: lawn", company=("Ben Cole",), alone="solving a chess problem")
    ann = persona("Ann Lee", habits=(together, habit("baking", 700, 800, "Bakery: shop")))
    assert adapt_to_company(ann, ["Ann Lee", "Ben Cole"]) == ann
    assert [each.doing for each in adapt_to_company(ann, ["Ann Lee"]).habits] == ["solving a chess problem", "baking"]


def test_every_bundled_habit_with_somebody_can_be_had_alone() -> None:
    people, _ = load_residents(None, load_town(None))
    assert (BUNDLED / "residents.json").exists()
    shorts = {each.short for each in people.values()}
    shared = [each for who in people.values() for each in who.habits if each.company]
    assert len(shared) > 50
    assert [each.doing for each in shared if not each.alone] == []
    assert [each.alone for each in shared if shorts & set(each.alone.replace("'s", "").split())] == []


def test_of_two_blocks_that_meet_the_first_named_goes_before() -> None:
    work, lunch = Block(540, 720, "baking", "Bakery: shop", True), Block(720, 780, "eating", "Green: lawn", False)
    party = Block(600, 740, "dancing", "Hall: floor", True)
    assert merge_blocks([work, lunch]) == [work, lunch]
    found = [(each.start, each.end, each.doing) for each in merge_blocks([party, work, lunch])]
    assert found == [(540, 600, "baking"), (600, 740, "dancing"), (740, 780, "eating")]
    assert [each.end for each in merge_blocks([work, work])] == [720]
    assert merge_blocks([]) == []
