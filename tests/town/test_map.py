"""Ways, zones and addresses, against small maps one can see through and against a slow search."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from sociable.town.map import Address, Rect, Tile, TownMap, find_street


def drawn(*rows: str, name: str = "Test") -> TownMap:
    """# blocks; a letter is an arena of a sector of that letter, in capitals where a thing stands that blocks."""
    places: dict[Address, list[Tile]] = {}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign.isalpha():
                letter = sign.lower()
                for address in (
                    Address(letter),
                    Address(letter, "room"),
                    *([Address(letter, "room", "thing")] if sign.isupper() else []),
                ):
                    places.setdefault(address, []).append(Tile(x, y))
    blocked = np.array([[sign == "#" or sign.isupper() for sign in row] for row in rows])
    return TownMap(name, blocked, places, {})


def ways_by_search(town: TownMap, goal: Tile) -> dict[Tile, str]:
    """By tile the way to the goal: breadth first from there, above before left, right and below."""
    found, ahead = {goal: ""}, deque([goal])
    while ahead:
        tile = ahead.popleft()
        for step, back in zip("NWES", "SEWN", strict=True):
            near = tile.follow(step)
            if town.is_free(near) and near not in found:
                found[near] = back + found[tile]
                ahead.append(near)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_ways_are_shortest_and_of_single_steps_over_free_tiles(seed: int) -> None:
    generator = np.random.default_rng(seed)
    town = TownMap("Random", generator.random((9, 13)) < 0.3, {}, {})
    free = [tile for tile in Rect(0, 0, 13, 9).list_tiles() if town.is_free(tile)]
    for goal in free[::7]:
        ways = ways_by_search(town, goal)
        for start in free:
            way = town.find_way(start, goal)
            assert way == ways.get(start)
            assert town.measure_distance(start, goal) == (None if way is None else len(way))
            if way is not None:
                assert all(town.is_free(start.follow(way[:made])) for made in range(len(way)))
                assert start.follow(way) == goal


def test_there_is_no_way_to_or_from_a_wall() -> None:
    town = drawn("..#")
    assert town.find_way(Tile(0, 0), Tile(2, 0)) is None
    assert town.find_way(Tile(2, 0), Tile(0, 0)) is None
    assert town.find_way(Tile(1, 0), Tile(1, 0)) == ""


@pytest.mark.parametrize(("width", "height", "way"), [(1, 4, "NNN"), (4, 1, "WWW"), (4, 4, "NNNWWW"), (1, 1, "")])
def test_steps_are_named_by_where_they_lead(width: int, height: int, way: str) -> None:
    town = TownMap("Open", np.zeros((height, width), bool), {}, {})
    found = town.find_way(Tile(width - 1, height - 1), Tile(0, 0))
    back = town.find_way(Tile(0, 0), Tile(width - 1, height - 1))
    assert found is not None and back is not None
    assert "".join(sorted(found)) == way
    assert "".join(sorted(back)) == way.translate(str.maketrans("NW", "SE"))[::-1]


def test_a_map_of_many_tiles_has_ways_too() -> None:
    # More tiles than a 16-bit index counts.
    town = TownMap("Wide", np.zeros((200, 200), bool), {}, {})
    assert town.measure_distance(Tile(0, 0), Tile(199, 199)) == 398


@pytest.mark.parametrize(("height", "width"), [(24, 24), (9, 60), (60, 9)])
def test_ways_on_a_large_map_are_those_found_on_all_of_it(height: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked for around their ends first: here in areas so small that many ways leave them."""
    monkeypatch.setattr("sociable.town.map._BLOCK", 4)
    monkeypatch.setattr("sociable.town.map._MARGIN", 0)
    for seed in range(4):
        blocked = np.random.RandomState(seed).rand(height, width) < 0.3
        town = TownMap("Large", blocked, {}, {})
        free = [tile for tile in Rect(0, 0, width, height).list_tiles() if town.is_free(tile)]
        for goal in free[::17]:
            ways = ways_by_search(town, goal)
            for start in free[::3]:
                assert town.find_way(start, goal) == ways.get(start)


def test_memory_of_ways_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sociable.town.map.MEMORY_FOR_WAYS", 1000)
    town = TownMap("Small", np.zeros((10, 10), bool), {Address("a", "b"): [Tile(0, 0)]}, {})
    for tile in Rect(0, 0, 10, 10).list_tiles():
        assert town.measure_distance(Tile(0, 0), tile) == tile.x + tile.y
    # 200 bytes a goal.
    assert len(town._found) == 5
    assert town.count_steps_into(1, Tile(9, 9)) == town.count_steps_into(0, Tile(0, 0)) + 17 == 18


def test_the_most_precise_address_of_a_tile() -> None:
    town = drawn("aaA.", "bb..")
    assert town.find_address(Tile(0, 0)) == Address("a", "room")
    assert town.find_address(Tile(2, 0)) == Address("a", "room", "thing")
    assert town.find_address(Tile(3, 0)) is None


def test_zones_and_the_steps_into_them() -> None:
    town = drawn(
        "aa#bb",
        "aa#..",
        "...#c",
    )  # fmt: skip
    assert [town.find_zone(tile) for tile in (Tile(0, 0), Tile(3, 0), Tile(4, 2), Tile(0, 2))] == [1, 2, 3, 0]
    into_a = [[town.count_steps_into(1, Tile(x, y)) for x in range(5)] for y in range(3)]
    # Where there is no way it is as far as is ever looked.
    far = TownMap.REACH
    assert [[min(each, far) for each in row] for row in into_a] == [
        [0, 0, far, far, far],
        [0, 0, far, far, far],
        [1, 1, 2, far, far],
    ]
    assert town.count_steps_into(2, Tile(4, 2)) == 2
    assert town.count_steps_into(0, Tile(0, 0)) == 2
    assert [town.count_steps_into(1, Tile(2, 2), enough) for enough in (0, 1, 2, 3)] == [2, 2, 2, 2]


def test_a_zone_nobody_can_stand_in_has_no_way_into_it() -> None:
    assert {drawn("A..").count_steps_into(1, Tile(x, 0)) for x in (1, 2)} == {math.inf}


def test_steps_into_a_zone_are_the_same_however_near_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    # Far larger than the blocks that are looked at; walls at random, and rooms here and there.
    draw = random.Random(5)
    monkeypatch.setattr(TownMap, "REACH", 1000)
    blocked = np.array([[draw.random() < 0.25 for _ in range(400)] for _ in range(120)])
    corners = [(draw.randrange(390), draw.randrange(110)) for _ in range(6)]
    places = {Address(f"Room {at}", "room"): list(Rect(*corner, 6, 6).list_tiles()) for at, corner in enumerate(corners)}
    town = TownMap("Maze", blocked, places, {})
    tiles = [tile for tile in (Tile(draw.randrange(400), draw.randrange(120)) for _ in range(120)) if town.is_free(tile)]
    for zone, tile in product({town.find_zone(tile) for tile in tiles} | {1, 2, 3, 4, 5, 6}, tiles):
        exact = town.count_steps_into(zone, tile)
        for enough in (5, 60, 150, 300):
            told = town.count_steps_into(zone, tile, enough)
            assert told == exact if exact <= enough else enough < told <= exact


def test_where_one_stands_for_a_thing() -> None:
    town = drawn(
        "aab",
        "aAb",
        "...",
    )  # fmt: skip
    # Beside it in its own arena, not at its other side.
    assert town.find_free_tiles(Address("a", "room", "thing")) == (Tile(1, 0), Tile(0, 1))
    assert town.find_free_tiles(Address("a", "room")) == (Tile(0, 0), Tile(1, 0), Tile(0, 1))
    assert town.find_free_tiles(Address("nowhere")) == ()
    assert drawn("A.").find_free_tiles(Address("a", "room", "thing")) == (Tile(1, 0),)


def test_what_callers_get_cannot_be_changed() -> None:
    assert isinstance(drawn("aa.").find_free_tiles(Address("a")), tuple)


def reached(*rows: str) -> tuple[Sequence[str], Sequence[Address]]:
    town = drawn(*rows)
    street, lost = find_street(town.blocked, town.places)
    return ["".join(".#"[int(not tile)] for tile in row) for row in street], lost


def test_the_street_is_what_joins_most_arenas_not_the_largest_ground() -> None:
    kept, lost = reached(
        ".........",
        ".######..",
        ".#a.b##..",
        ".#..##c..",
        ".######..",
    )  # fmt: skip
    assert kept == ["#########", "#########", "##...####", "##..#####", "#########"]
    assert lost == [Address("c", "room")]


def test_a_house_without_a_door_is_not_the_street_however_many_rooms_it_has() -> None:
    _, lost = reached(
        "......",
        "#####.",
        "#abc#.",
        "#####d",
    )  # fmt: skip
    assert lost == [Address(letter, "room") for letter in "abc"]


def test_without_any_street_the_ground_that_joins_most_counts() -> None:
    kept, lost = reached("ab#c")
    assert kept == ["..##"]
    assert lost == [Address("c", "room")]


def test_addresses_in_words() -> None:
    address = Address("Kettle & Tern", "tea room", "counter")
    assert Address.parse(str(address)) == address
    assert Address.parse("Kettle & Tern:tea room") == Address("Kettle & Tern", "tea room")
    assert address.is_within(Address("Kettle & Tern"))
    assert address.is_within(Address("Kettle & Tern", "tea room"))
    assert not Address("Kettle & Tern").is_within(address)
    assert not address.is_within(Address("Kettle & Tern", "kitchen"))
