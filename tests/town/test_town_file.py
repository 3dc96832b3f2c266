"""A town of ours: what its file means, and every complaint with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from sociable.core.errors import DataError, InputError
from sociable.town.map import Address, Rect, Tile, TownMap
from sociable.town.town_file import load_map, read_town

BUNDLED = Path(str(resources.files("sociable.benchmarks.stss").joinpath("data", "town.json")))


@pytest.fixture
def town() -> dict[str, Any]:
    """A house of two rooms, a green, a pond.

    #########..
    #bT.#s..#gg
    #...+...+gg
    #########..
    ~~.........
    """
    bedroom = {"name": "bedroom", "rect": [0, 0, 4, 4], "objects": [
        {"name": "bed", "at": [[1, 1]], "seat": True},
        {"name": "table", "at": [[2, 1]]},
    ]}  # fmt: skip
    parlour = {"name": "parlour", "rect": [4, 0, 5, 4], "objects": [{"name": "stove", "at": [[5, 1]], "seat": False}]}
    house = {
        "name": "Gull House", "kind": "house", "open": False, "rect": [0, 0, 9, 4], "doors": [[8, 2]],
        "walls": [[4, 1, 1, 1]], "arenas": [bedroom, parlour],
    }  # fmt: skip
    green = {
        "name": "Green",
        "kind": "park",
        "open": True,
        "rect": [9, 1, 2, 2],
        "arenas": [{"name": "lawn", "rect": [9, 1, 2, 2]}],
    }
    return {"name": "Gulls", "width": 11, "height": 5, "sectors": [house, green], "water": [[0, 4, 2, 1]]}


def as_text(town: TownMap) -> list[str]:
    return ["".join("#" if town.blocked[y, x] else "." for x in range(town.width)) for y in range(town.height)]


def test_what_can_be_walked_on(town: dict[str, Any]) -> None:
    read = read_town(town, "test")
    assert as_text(read) == [
        "#########..",
        "#.#.##..#..",
        "#..........",
        "#########..",
        "##.........",
    ]
    assert (read.name, dict(read.kinds)) == ("Gulls", {"Gull House": "house", "Green": "park"})
    assert (read.doors, read.water) == (frozenset({Tile(8, 2)}), frozenset({Tile(0, 4), Tile(1, 4)}))
    assert read.find_address(Tile(1, 1)) == Address("Gull House", "bedroom", "bed")
    assert read.find_address(Tile(8, 2)) == Address("Gull House", "parlour")
    assert read.find_free_tiles(Address("Gull House", "bedroom", "table")) == (Tile(1, 1), Tile(3, 1), Tile(2, 2))


def test_ground_cut_off_from_the_street_is_not_free(town: dict[str, Any]) -> None:
    town["water"] += [[9, 4, 1, 1], [10, 3, 1, 1]]
    assert as_text(read_town(town, "test"))[3:] == ["#########.#", "###########"]


def house(town: dict[str, Any]) -> Any:
    return town["sectors"][0]


def arena(town: dict[str, Any], number: int = 0) -> Any:
    return house(town)["arenas"][number]


def thing(town: dict[str, Any], number: int = 0) -> Any:
    return arena(town)["objects"][number]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda t: t.pop("name"), "field 'name': Field required"),
        (lambda t: t.update(width=5000), r"'width'.*less than or equal to 1000, found '5000'"),
        (lambda t: t.update(sectors=[]), r"'sectors': needs at least 1 entries"),
        (lambda t: t.update(river=[]), r"'river'"),
        (lambda t: house(t).update(rect=[0, 0, 9]), r"'sectors\.0\.rect': expected 4 whole numbers, x y width height, found \[0, 0, 9\]"),
        (lambda t: house(t).update(rect=[0, 0, 9, 0]), r"'sectors\.0\.rect': expected a width and a height of at least 1"),
        (lambda t: house(t).update(doors=[[8.5, 2]]), r"'sectors\.0\.doors\.0': expected 2 whole numbers, x y"),
        (lambda t: house(t).update(name="Gull: House"), r"'sectors\.0\.name': 'Gull: House' has a colon"),
        (lambda t: house(t).update(name="green"), r"'sectors\.1\.name': there are two places 'Green'"),
        (lambda t: arena(t, 1).update(name="Bedroom"), r"'sectors\.0\.arenas\.1\.name': there are two places 'Gull House: Bedroom'"),
        (lambda t: thing(t, 1).update(name="bed"), r"'sectors\.0\.arenas\.0\.objects\.1\.name': there are two places"),
        (lambda t: t.update(height=3), r"'sectors\.0\.rect': 'Gull House' at \[0, 0, 9, 4\] is not inside the map, which is 11 by 3"),
        (lambda t: t["sectors"][1].update(rect=[8, 1, 2, 2]), r"'sectors\.1': 'Green' and 'Gull House: parlour' overlap at \[8, 1\]"),
        (lambda t: arena(t, 1).update(rect=[3, 0, 6, 4]), r"'Gull House: parlour' and 'Gull House: bedroom' overlap at \[3, 0\]"),
        (lambda t: arena(t, 1).update(rect=[4, 0, 6, 4]), r"'Gull House: parlour' is not inside 'Gull House': see \[9, 0\]"),
        (lambda t: thing(t).update(at=[[5, 2]]), r"objects\.0': 'Gull House: bedroom: bed' is not inside 'Gull House: bedroom': see \[5, 2\]"),
        (lambda t: thing(t).update(at=[[2, 1]]), r"objects\.1': 'Gull House: bedroom: table' and 'Gull House: bedroom: bed' overlap"),
        (lambda t: thing(t).update(at=[[0, 1]]), r"'Gull House: bedroom: bed' stands in a wall at \[0, 1\]"),
        (lambda t: house(t).update(doors=[[8, 2], [1, 0]]) or thing(t).update(at=[[1, 0]]), r"bed' stands in a door at \[1, 0\]"),
        (lambda t: house(t).update(doors=[[7, 2]]), r"'sectors\.0\.doors': the door at \[7, 2\] is not in the wall of 'Gull House'"),
        (lambda t: house(t).update(doors=[[8, 3]]), r"the door at \[8, 3\] is not in the wall of 'Gull House', or in a corner"),
        (lambda t: t["sectors"][1].update(doors=[[9, 1]]), r"'sectors\.1\.doors': 'Green' is open"),
        (lambda t: house(t).update(doors=[]), r"arenas\.0': 'Gull House: bedroom' cannot be reached from the street: it has no door"),
        (lambda t: house(t).update(walls=[[4, 1, 1, 2]]), r"'Gull House: bedroom' cannot be reached from the street: a door, or a gap"),
        (lambda t: house(t)["walls"].append([8, 2, 1, 1]), r"walls\.1': the wall at \[8, 2, 1, 1\] stands in a door"),
        (lambda t: house(t)["walls"].append([8, 2, 2, 1]), r"walls\.1': the wall at \[8, 2, 2, 1\] is not inside 'Gull House'"),
        (lambda t: arena(t, 1).update(rect=[4, 0, 4, 4]), r"'sectors\.0\.arenas': 'Gull House' can be walked on at \[8, 2\]"),
        (lambda t: t.update(water=[[8, 3, 2, 2]]), r"'water\.0': the water at \[8, 3, 2, 2\] covers 'Gull House' at \[8, 3\]"),
        (lambda t: t.update(water=[[10, 4, 2, 1]]), r"'water\.0': the water at \[10, 4, 2, 1\] is not inside the map"),
        (
            lambda t: arena(t)["objects"].extend({"name": f"box {x}", "at": [[x, 2]]} for x in (1, 2)),
            r"arenas\.0\.objects\.0': nobody can come to 'Gull House: bedroom: bed'",
        ),
    ],
)  # fmt: skip
def test_complaints_name_the_field_and_the_place(
    town: dict[str, Any], change: Callable[[dict[str, Any]], Any], complaint: str
) -> None:
    change(town)
    with pytest.raises(DataError, match=complaint):
        read_town(town, "test")


def test_not_json_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "town.json"
    file.write_text('{"name": "Gulls",\n"width": 11\n"height": 5}')
    with pytest.raises(InputError, match=r"town\.json, line 3: not JSON"):
        load_map(file)


def test_a_map_is_known_by_what_is_in_it(town: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "town.json"
    file.write_text(json.dumps(town))
    assert load_map(file).name == "Gulls"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("other.json", '{"tiles": []}', r"not a map; expected a town of ours.*Tiled.*Smallville"),
        ("list.json", "[1, 2]", "not a map"),
        ("old.tmx", "<map/>", r"File > Export As, JSON"),
        ("", None, "no map in this folder; expected"),
        ("absent.json", None, "no such file; expected"),
    ],
)
def test_what_is_no_map_says_what_is_read(tmp_path: Path, name: str, text: str | None, complaint: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=complaint):
        load_map(tmp_path / name)


def test_the_bundled_town() -> None:
    town = load_map(BUNDLED)
    assert (town.name, town.width, town.height) == ("Tern Harbour", 120, 80)
    arenas = [address for address in town.places if address.arena and not address.thing]
    assert (len(town.kinds), len(arenas)) == (26, 112)
    # Anybody can go from anywhere to anywhere, and come to every thing.
    free = [tile for tile in Rect(0, 0, town.width, town.height).list_tiles() if town.is_free(tile)]
    assert all(town.measure_distance(tile, free[0]) is not None for tile in free)
    assert all(town.find_free_tiles(address) for address in town.places)
    beds = [
        tile for address, tiles in town.places.items() if address.thing.endswith("bed") for tile in tiles if town.is_free(tile)
    ]
    assert len(beds) >= 25
    # From end to end in less than half an hour at six tiles a minute.
    doors = sorted(town.doors)
    assert max(town.measure_distance(a, b) or 0 for a in doors for b in doors) < 180
