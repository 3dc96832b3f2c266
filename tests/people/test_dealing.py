"""Items are dealt to people so that neither load, place nor side favours anything."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from sociable.core.errors import InputError
from sociable.people.dealing import Dealt, deal_items


def make_items(count: int) -> list[str]:
    return [f"i{number}" for number in range(count)]


SHAPES = [(60, 12, None), (60, 12, 3), (7, 3, 2), (10, 4, 1), (5, 8, 3), (13, 5, 5), (1, 1, 1), (1, 6, None)]


@pytest.mark.parametrize(("items", "people", "per_item"), SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_load_is_even_and_everybody_gets_an_item_once(items: int, people: int, per_item: int | None, seed: int) -> None:
    dealt = deal_items(make_items(items), people, per_item, [], seed)
    counts = [len(own) for own in dealt]
    assert len(dealt) == people
    assert max(counts) - min(counts) <= 1
    assert all(len({each.item for each in own}) == len(own) for own in dealt)
    assert set(Counter(each.item for own in dealt for each in own).values()) == {people if per_item is None else per_item}


@pytest.mark.parametrize(("items", "people", "per_item"), SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_each_side_comes_first_as_often(items: int, people: int, per_item: int | None, seed: int) -> None:
    dealt = deal_items(make_items(items), people, per_item, [], seed)
    sides: dict[str, Counter[bool]] = {}
    for each in (each for own in dealt for each in own):
        sides.setdefault(each.item, Counter())[each.subject_first] += 1
    assert all(abs(counts[True] - counts[False]) <= 1 for counts in sides.values())
    # By person some are left over, from items with an odd number of people.
    for own in dealt:
        first = sum(each.subject_first for each in own)
        assert abs(2 * first - len(own)) <= 3


@pytest.mark.parametrize("count", [2, 6, 12, 60])
def test_orders_of_as_many_people_as_items_are_a_williams_square(count: int) -> None:
    dealt = deal_items(make_items(count), count, None, [], 0)
    for place in range(count):
        assert len({own[place].item for own in dealt}) == count  # each item once at each place
    follows = Counter((before.item, after.item) for own in dealt for before, after in pairwise(own))
    assert set(follows.values()) == {1}  # each item once right after each other one
    assert len(follows) == count * (count - 1)


def test_fewer_people_never_see_an_item_at_the_same_place_and_see_it_at_the_middle_on_average() -> None:
    dealt = deal_items(make_items(60), 12, None, [], 0)
    places: dict[str, list[int]] = {}
    for own in dealt:
        for place, each in enumerate(own):
            places.setdefault(each.item, []).append(place)
    assert all(len(set(own)) == 12 for own in places.values())
    assert all(abs(sum(own) / 12 - 29.5) <= 3 for own in places.values())


def test_people_share_items_with_many_others() -> None:
    dealt = deal_items(make_items(60), 12, 3, [], 0)
    own = [{each.item for each in mine} for mine in dealt]
    partners = [sum(bool(mine & other) for other in own if other is not mine) for mine in own]
    assert min(partners) >= 8  # fixed groups of three would have 2


def test_checks_come_to_everybody_at_places_of_their_own() -> None:
    checks = ["c1", "c2", "c3"]
    dealt = deal_items(make_items(30), 10, 2, checks, 1)
    places = [[place for place, each in enumerate(own) if each.item in checks] for own in dealt]
    assert all(len(own) == 3 for own in places)
    assert len({tuple(own) for own in places}) > 5
    assert deal_items(make_items(30), 10, 2, checks, 1) == dealt


@pytest.mark.parametrize("per_item", [0, 4])
def test_an_item_cannot_go_to_more_people_than_there_are(per_item: int) -> None:
    with pytest.raises(InputError, match="from 1 to 3"):
        deal_items(make_items(5), 3, per_item, [], 0)


def test_dealing_is_of_dealt_items() -> None:
    assert deal_items(["only"], 1, None, [], 0) in ([[Dealt("only", True)]], [[Dealt("only", False)]])
