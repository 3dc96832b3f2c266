"""Maps of Tiled's: our own town there and back, every way it writes tiles and places, every complaint."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from sociable.core.errors import DataError, StorageFailure
from sociable.town.interop.smallville import load_smallville
from sociable.town.interop.tiled import cover_with_rectangles, read_tiled, write_tiled
from sociable.town.map import Address, Rect, Tile, TownMap
from sociable.town.town_file import load_map

BUNDLED = Path(str(resources.files("sociable.benchmarks.stss").joinpath("data", "town.json")))
SMALLVILLE = Path(__file__).parents[4] / "shared" / "data" / "smallville"


def shape(name: str, x: float, y: float, width: float = 0, height: float = 0, **more: Any) -> dict[str, Any]:
    """In tiles of 16 by 16 pixels."""
    return {"id": 7, "name": name, "x": 16 * x, "y": 16 * y, "width": 16 * width, "height": 16 * height, **more}


def having(**values: Any) -> list[dict[str, Any]]:
    return [{"name": name, "type": "string", "value": value} for name, value in values.items()]


WALLS = [
    1, 1, 1, 1, 0, 0,
    1, 0, 0, 1, 0, 0,
    1, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 0, 0,
]  # fmt: skip


@pytest.fixture
def drawn() -> dict[str, Any]:
    """A house of one room with a door to the east, four by four, on a map of six by four."""
    objects = {
        "sectors": [shape("House", 0, 0, 4, 4, properties=having(kind="café"))],
        "arenas": [shape("House: room", 0, 0, 4, 4)],
        "objects": [shape("stove", 1, 1, 1, 1), shape("chair", 2.5, 1.5, point=True, properties=having(seat=True))],
        "doors": [shape("", 3, 2, 1, 1)],
    }
    layers = [{"name": "collision", "type": "tilelayer", "width": 6, "height": 4, "data": WALLS}]
    layers += [{"name": name, "type": "objectgroup", "objects": shapes} for name, shapes in objects.items()]
    return {
        "type": "map", "version": "1.10", "tiledversion": "1.11.0", "orientation": "orthogonal", "infinite": False,
        "width": 6, "height": 4, "tilewidth": 16, "tileheight": 16, "layers": layers, "tilesets": [],
    }  # fmt: skip


def layer(drawn: dict[str, Any], name: str) -> Any:
    return next(each for each in drawn["layers"] if each["name"] == name)


def as_text(town: TownMap) -> Sequence[str]:
    return ["".join("#" if town.blocked[y, x] else "." for x in range(town.width)) for y in range(town.height)]


HOUSE = ["####..", "##.#..", "#.....", "####.."]


def test_a_map_means_what_it_says(drawn: dict[str, Any]) -> None:
    town = read_tiled(drawn, "test", "harbour")
    assert as_text(town) == HOUSE
    assert (town.name, dict(town.kinds), set(town.doors)) == ("harbour", {"House": "café"}, {Tile(3, 2)})
    assert town.places[Address("House", "room", "chair")] == [Tile(2, 1)]
    assert town.find_address(Tile(1, 2)) == Address("House", "room")
    drawn["properties"] = having(name="Gulls")
    assert read_tiled(drawn, "test", "harbour").name == "Gulls"


def assert_same(one: TownMap, other: TownMap) -> None:
    assert (one.blocked == other.blocked).all()
    assert (one.name, dict(one.kinds), one.doors, one.water) == (other.name, dict(other.kinds), other.doors, other.water)
    assert {place: set(tiles) for place, tiles in one.places.items()} == {
        place: set(tiles) for place, tiles in other.places.items()
    }


def test_our_own_town_there_and_back(tmp_path: Path) -> None:
    town = load_map(BUNDLED)
    write_tiled(town, tmp_path / "town.json")
    assert_same(load_map(tmp_path / "town.json"), town)
    (tileset,) = json.loads((tmp_path / "town.json").read_text())["tilesets"]
    picture = (tmp_path / tileset["image"]).read_bytes()
    # A PNG says its width and height in the first of its chunks.
    assert struct.unpack(">II", picture[16:24]) == (tileset["imagewidth"], tileset["imageheight"])


@pytest.mark.skipif(not SMALLVILLE.is_dir(), reason="needs ../shared/data/smallville")
def test_smallville_there_and_back(tmp_path: Path) -> None:
    # Its rooms are no rectangles, and one can stand on its things.
    town = load_smallville(SMALLVILLE)
    write_tiled(town, tmp_path / "ville.json")
    assert_same(load_map(tmp_path / "ville.json"), town)


def test_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    town = load_map(BUNDLED)
    with pytest.raises(StorageFailure):
        write_tiled(town, tmp_path / "absent" / "town.json")
    (tmp_path / "town.png").mkdir()
    with pytest.raises(StorageFailure):
        write_tiled(town, tmp_path / "town.json")


def packed(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def as_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Turned tiles have some of the four highest bits set, which make no tile where there is none.
TURNED = [number | 0xA000_0000 for number in WALLS]


@pytest.mark.parametrize(
    "tiles",
    [
        {"data": TURNED},
        {"data": WALLS, "encoding": "csv"},
        {"data": as_base64(packed(TURNED)), "encoding": "base64"},
        {"data": as_base64(packed(WALLS)), "encoding": "base64", "compression": ""},
        {"data": "\n   " + as_base64(zlib.compress(packed(WALLS))) + "\n", "encoding": "base64", "compression": "zlib"},
        {"data": as_base64(gzip.compress(packed(WALLS))), "encoding": "base64", "compression": "gzip"},
    ],
)
def test_every_encoding_of_tiles(drawn: dict[str, Any], tiles: dict[str, Any]) -> None:
    layer(drawn, "collision").update(tiles)
    assert as_text(read_tiled(drawn, "test", "")) == HOUSE


def test_infinite_maps_are_as_large_as_what_is_drawn(drawn: dict[str, Any]) -> None:
    # The same house with its corner at (-2, -1), its walls in two chunks.
    for name in ("sectors", "arenas", "objects", "doors"):
        for each in layer(drawn, name)["objects"]:
            each.update(x=each["x"] - 32, y=each["y"] - 16)
    rows = [WALLS[start : start + 6] for start in range(0, 24, 6)]
    chunks = [
        {"x": -2, "y": -1, "width": 2, "height": 4, "data": as_base64(packed([each for row in rows for each in row[:2]]))},
        {"x": 0, "y": -1, "width": 4, "height": 4, "data": as_base64(packed([each for row in rows for each in row[2:]]))},
    ]
    collision = layer(drawn, "collision")
    del collision["data"]
    collision.update(chunks=chunks, encoding="base64", startx=-2, starty=-1)
    drawn.update(infinite=True, width=1, height=1)
    town = read_tiled(drawn, "test", "")
    assert as_text(town) == HOUSE
    assert town.places[Address("House", "room", "stove")] == [Tile(1, 1)]


def test_layers_in_groups_with_offsets(drawn: dict[str, Any]) -> None:
    collision, *others = drawn["layers"]
    for each in others:
        for drawn_shape in each["objects"]:
            drawn_shape.update(x=drawn_shape["x"] - 48, y=drawn_shape["y"] + 16)
    inner = {"name": "inner", "type": "group", "offsetx": 16, "offsety": 16, "layers": others}
    drawn["layers"] = [{"name": "outer", "type": "group", "offsetx": 32, "offsety": -32, "layers": [inner]}, collision]
    town = read_tiled(drawn, "test", "")
    assert as_text(town) == HOUSE
    assert town.places[Address("House", "room", "stove")] == [Tile(1, 1)]


def test_water_is_a_layer_of_tiles(drawn: dict[str, Any]) -> None:
    data = [0] * 24
    data[5] = 9
    water: dict[str, Any] = {"name": "water", "type": "tilelayer", "width": 6, "height": 4, "data": data}
    drawn["layers"].append(water)
    town = read_tiled(drawn, "test", "")
    assert town.water == frozenset({Tile(5, 0)})
    assert as_text(town)[0] == "####.#"
    water.update(offsety=48)
    assert read_tiled(drawn, "test", "").water == frozenset({Tile(5, 3)})
    # What lies beside the map is not there.
    water.update(offsetx=16)
    assert read_tiled(drawn, "test", "").water == frozenset()


@pytest.mark.parametrize(
    ("name", "more"),
    [("House : room", {}), ("room", {"properties": having(sector="House")}), ("room", {})],
)
def test_the_ways_to_say_whose_arena_it_is(drawn: dict[str, Any], name: str, more: dict[str, Any]) -> None:
    layer(drawn, "arenas")["objects"] = [shape(name, 0, 0, 4, 4, **more)]
    assert Address("House", "room") in read_tiled(drawn, "test", "").places


@pytest.mark.parametrize("field", ["type", "class"])
def test_a_class_is_a_kind_too(drawn: dict[str, Any], field: str) -> None:
    (house,) = layer(drawn, "sectors")["objects"]
    del house["properties"]
    house[field] = "pub"
    assert read_tiled(drawn, "test", "").kinds == {"House": "pub"}


def test_several_rectangles_of_a_name_are_one_place(drawn: dict[str, Any]) -> None:
    layer(drawn, "arenas")["objects"] = [shape("room", 0, 0, 4, 2), shape("room", 0, 1, 4, 3)]
    assert len(read_tiled(drawn, "test", "").places[Address("House", "room")]) == 16


def test_edges_are_rounded_and_nothing_is_too_small_to_be_somewhere(drawn: dict[str, Any]) -> None:
    layer(drawn, "sectors")["objects"] = [shape("House", 0.3, -0.4, 3.4, 4.4)]
    layer(drawn, "objects")["objects"] = [shape("cup", 1.6, 1.2, 0.2, 0.2)]
    assert read_tiled(drawn, "test", "").places[Address("House", "room", "cup")] == [Tile(1, 1)]


@pytest.mark.parametrize(
    ("alignment", "x", "y"),
    [("unspecified", 1, 2), ("topleft", 1, 1), ("center", 1.5, 1.5), ("bottomright", 2, 2)],
)
def test_pictures_stand_where_their_tileset_says(drawn: dict[str, Any], alignment: str, x: float, y: float) -> None:
    drawn["tilesets"] = [{"firstgid": 1, "source": "walls.tsx"}, {"firstgid": 5, "objectalignment": alignment}]
    layer(drawn, "objects")["objects"] = [shape("stove", x, y, 1, 1, gid=0x8000_0006)]
    assert read_tiled(drawn, "test", "").places[Address("House", "room", "stove")] == [Tile(1, 1)]


def objects(drawn: dict[str, Any], name: str, *shapes: dict[str, Any]) -> Sequence[Any]:
    layer(drawn, name)["objects"] = shapes
    return shapes


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d.update(orientation="isometric"), "field 'orientation': Input should be 'orthogonal', found 'isometric'"),
        (lambda d: d.pop("tilewidth"), "'tilewidth': Field required"),
        (lambda d: d.update(width=0), "0 by 4 tiles large"),
        (lambda d: d["layers"].pop(0), "there is no tile layer 'collision'"),
        (lambda d: layer(d, "sectors").update(name="houses"), "there is no object layer 'sectors'"),
        (lambda d: layer(d, "collision").update(data=WALLS[1:]), "layer 'collision'.*holds 23 tiles; expected 6 times 4"),
        (lambda d: layer(d, "collision").update(data=as_base64(packed(WALLS)), encoding="base64", compression="zstd"),
         r"written as zstd.*Map > Map Properties"),
        (lambda d: layer(d, "collision").update(data="x", encoding="base64"), "layer 'collision'.*cannot be decoded"),
        (lambda d: layer(d, "collision").update(data="AAAA", encoding="base64", compression="zlib"), "cannot be decoded"),
        # A thousandfold of what was wanted is not unpacked.
        (lambda d: layer(d, "collision").update(data=as_base64(zlib.compress(bytes(10**6))), encoding="base64", compression="zlib"),
         "cannot be decoded: buffer size"),
        (lambda d: layer(d, "collision").update(data=[-1] * 24), r"'layers\.0\.data"),
        (lambda d: objects(d, "sectors", shape("House", 0, 0, 7, 4)), r"layer 'sectors', object 7 'House'.*not inside the map of 6 by 4"),
        (lambda d: objects(d, "sectors", shape("", 0, 0, 4, 4)), "layer 'sectors', object 7: expected a name without a colon, found ''"),
        (lambda d: objects(d, "sectors", shape("House", 0, 0, 4, 4), shape("Inn", 3, 0, 2, 2)), "'Inn' and 'House' overlap at .3, 0."),
        (lambda d: objects(d, "sectors", shape("House", 0, 0, 4, 4, rotation=90)), "is turned by 90 degrees"),
        (lambda d: objects(d, "sectors", shape("House", 0, 0, 4, 4, ellipse=True)), "is of the form ellipse"),
        (lambda d: objects(d, "sectors", shape("House", 0, 0, 4, 4, template="house.tj")), "template house.tj.*detach"),
        (lambda d: objects(d, "sectors", shape("House", float("nan"), 0, 4, 4)), r"'layers\.1\.objects\.0\.x'"),
        (lambda d: objects(d, "arenas", shape("Inn: room", 0, 0, 4, 4)), "there is no sector 'Inn'; there are House"),
        (lambda d: objects(d, "arenas", shape("room", 4, 0, 2, 2)), "lies in no sector and names none"),
        (lambda d: objects(d, "arenas", shape("room", 0, 0, 5, 4)), "'House: room' is not inside 'House': see .4, 0."),
        (lambda d: objects(d, "arenas", shape("room", 0, 0, 4, 4), shape("cellar", 0, 0, 1, 1)), "'House: cellar' and 'House: room' overlap"),
        (lambda d: objects(d, "objects", shape("stove", 5, 0, 1, 1)), "layer 'objects', object 7 'stove'.*lies in no arena"),
        (lambda d: objects(d, "objects", shape("stove", 1, 1, properties=having(seat="no"))), "'seat' must be true or false, found 'no'"),
        (lambda d: objects(d, "objects", shape("stove", 1, 2, 1, 1, gid=3)), "a picture from no tileset"),
        (lambda d: [d.update(tilesets=[{"firstgid": 1, "source": "art.tsx"}]), *objects(d, "objects", shape("stove", 1, 2, 1, 1, gid=3))],
         "a picture from the tileset art.tsx"),
        (lambda d: objects(d, "doors", shape("", 0, 2, 1, 1)), "layer 'doors', object 7: cannot be walked through at .0, 2."),
        (lambda d: layer(d, "collision").update(data=[*WALLS[:15], 1, *WALLS[16:]]), "'House: room' cannot be reached from the street"),
    ],
)  # fmt: skip
def test_complaints_name_layer_and_object(drawn: dict[str, Any], change: Callable[[dict[str, Any]], Any], complaint: str) -> None:
    change(drawn)
    with pytest.raises(DataError, match=complaint):
        read_tiled(drawn, "test", "")


def test_tilesets_of_other_files_do_not_matter_for_walls(drawn: dict[str, Any]) -> None:
    drawn["tilesets"] = [{"firstgid": 1, "source": "../art/walls.tsx"}]
    assert as_text(read_tiled(drawn, "test", "")) == HOUSE


def test_rectangles_cover_what_they_are_made_of() -> None:
    tiles = [*Rect(0, 0, 3, 2).list_tiles(), *Rect(0, 2, 1, 2).list_tiles(), Tile(9, 9)]
    assert cover_with_rectangles(tiles) == [Rect(0, 0, 3, 2), Rect(0, 2, 1, 2), Rect(9, 9, 1, 1)]
    assert cover_with_rectangles([]) == []
