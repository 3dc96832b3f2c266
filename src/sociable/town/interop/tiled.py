"""Towns drawn in Tiled (mapeditor.org), in its JSON map format, and any town written so that it can be opened there.

``docs/guide/towns.md`` says which layers mean what.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from sociable.core.data_files import validate_record
from sociable.core.errors import DataError, StorageFailure
from sociable.core.run_folder import write_atomically
from sociable.town.map import LARGEST, Address, Rect, Tile, TownMap, claim_tiles, find_street, group_by_place

TILE_NUMBER = 0x0FFF_FFFF
"""The bits of a tile layer's entry that name the tile; the four above them say how it is turned."""


# The parts of a Tiled file that mean something here.


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


TileNumbers = list[Annotated[int, Field(ge=0, lt=2**32)]] | str
Pixels = Annotated[float, Field(ge=-1e9, le=1e9)]
Spot = Annotated[int, Field(ge=-(10**6), le=10**6)]
Side = Annotated[int, Field(ge=0, le=LARGEST)]


class _Property(_Part):
    name: str
    value: Any = None


class _Object(_Part, extra="allow"):
    """An object; it has an extra field for its form unless that is a rectangle or a point."""

    id: int = 0
    name: str = ""
    kind: str = Field("", validation_alias=AliasChoices("class", "type"))
    """Its class, which Tiled 1.9 calls otherwise than the versions before and after."""
    x: Pixels
    y: Pixels
    width: float = Field(0.0, ge=0.0, le=1e9)
    height: float = Field(0.0, ge=0.0, le=1e9)
    rotation: float = 0.0
    gid: int = 0
    template: str = ""
    properties: tuple[_Property, ...] = ()


class _Chunk(_Part):
    x: Spot
    y: Spot
    width: Side
    height: Side
    data: TileNumbers


class _Layer(_Part):
    name: str = ""
    type: Literal["tilelayer", "objectgroup", "imagelayer", "group"]
    offsetx: Pixels = 0.0
    offsety: Pixels = 0.0
    width: Side = 0
    height: Side = 0
    data: TileNumbers | None = None
    chunks: tuple[_Chunk, ...] = ()
    encoding: Literal["csv", "base64"] = "csv"
    compression: str = ""
    objects: tuple[_Object, ...] = ()
    layers: tuple[_Layer, ...] = ()


class _Tileset(_Part):
    firstgid: int
    source: str = ""
    objectalignment: str = "unspecified"


class _Map(_Part):
    orientation: Literal["orthogonal"] = "orthogonal"
    infinite: bool = False
    width: Side
    height: Side
    tilewidth: int = Field(ge=1)
    tileheight: int = Field(ge=1)
    layers: tuple[_Layer, ...]
    tilesets: tuple[_Tileset, ...] = ()
    properties: tuple[_Property, ...] = ()


def is_tiled(value: Any) -> bool:
    return isinstance(value, dict) and "sectors" not in value and ("tiledversion" in value or "layers" in value)


def read_tiled(value: Any, source: str, name: str) -> TownMap:
    """The town of a parsed file; ``name`` for a map that has none. Raises DataError with ``source``, layer and object."""
    return _Reader(validate_record(_Map, value, source), source).read(name)


class _Shape(NamedTuple):
    """An object of a layer, on the town's tiles."""

    name: str
    kind: str
    """Its property of that name, or else its class."""
    properties: Mapping[str, Any]
    tiles: Sequence[Tile]
    where: str


class _Reader:
    """Reads the layers that mean something; each adds to what the ones before have made."""

    def __init__(self, drawn: _Map, source: str) -> None:
        self.drawn = drawn
        self.source = source
        self.layers = list(_flatten(drawn.layers, 0.0, 0.0))
        self.extent = self._find_extent()
        if not (0 < self.extent.width <= LARGEST and 0 < self.extent.height <= LARGEST):
            size = f"{self.extent.width} by {self.extent.height} tiles"
            raise self._fail("field 'layers'", f"what is drawn is {size} large; expected between 1 and {LARGEST} each way")
        self.claims: dict[Tile, Address] = {}
        """The most precise place of every tile that has one."""

    def _fail(self, where: str, problem: str) -> DataError:
        return DataError(f"{self.source}, {where}", "", problem)

    def read(self, name: str) -> TownMap:
        if not self._find_layers("collision", "tilelayer"):
            raise self._fail("field 'layers'", "there is no tile layer 'collision', in which any tile is a wall")
        water = self._read_painted("water")
        blocked = self._read_painted("collision") | water
        kinds = self._read_sectors()
        self._read_arenas()
        for tile in self._read_things():
            blocked[tile.y, tile.x] = True
        places = group_by_place((self.claims[tile], tile) for tile in sorted(self.claims, key=lambda tile: (tile.y, tile.x)))
        reached, lost = find_street(blocked, places)
        if lost:
            raise self._fail("layer 'arenas'", f"'{lost[0]}' cannot be reached from the street; see the layer 'collision'")
        doors = self._read_doors(reached)
        flooded = frozenset(Tile(x, y) for y, x in np.argwhere(water).tolist())
        own_name = next((str(each.value) for each in self.drawn.properties if each.name == "name" and each.value), name)
        return TownMap(own_name, ~reached, places, kinds, doors, flooded)

    def _find_layers(self, name: str, kind: str) -> Sequence[_Layer]:
        return [layer for layer in self.layers if layer.name == name and layer.type == kind]

    def _find_extent(self) -> Rect:
        """The tiles that the map covers, in its own coordinates, which can be negative in an infinite map."""
        if not self.drawn.infinite:
            return Rect(0, 0, self.drawn.width, self.drawn.height)
        parts = [spot for layer in self.layers for spot, _ in self._find_chunks(layer)]
        parts += [self._read_rect(layer, each) for layer in self._find_layers("sectors", "objectgroup") for each in layer.objects]
        left, top = (min((part[axis] for part in parts), default=0) for axis in (0, 1))
        right, bottom = (max((part[axis] + part[axis + 2] for part in parts), default=0) for axis in (0, 1))
        return Rect(left, top, right - left, bottom - top)

    # Layers of tiles

    def _find_chunks(self, layer: _Layer) -> Iterator[tuple[Rect, TileNumbers]]:
        """The parts that a tile layer is written in, each with where it lies in the map's own coordinates."""
        chunks = [(chunk.x, chunk.y, chunk.width, chunk.height, chunk.data) for chunk in layer.chunks]
        if layer.type == "tilelayer" and layer.data is not None:
            chunks = [(0, 0, layer.width or self.drawn.width, layer.height or self.drawn.height, layer.data)]
        right, down = round(layer.offsetx / self.drawn.tilewidth), round(layer.offsety / self.drawn.tileheight)
        return ((Rect(x + right, y + down, width, height), data) for x, y, width, height, data in chunks)

    def _read_painted(self, name: str) -> NDArray[np.bool_]:
        """[height, width]: where the tile layers of a name have a tile."""
        x, y, width, height = self.extent
        painted = np.zeros((height, width), bool)
        for layer in self._find_layers(name, "tilelayer"):
            for spot, data in self._find_chunks(layer):
                tiles = self._decode_tiles(f"layer '{name}'", layer, spot, data)
                rows, columns = (axis + start for axis, start in zip(np.nonzero(tiles), (spot.y - y, spot.x - x), strict=True))
                inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
                painted[rows[inside], columns[inside]] = True
        return painted

    def _decode_tiles(self, where: str, layer: _Layer, spot: Rect, data: TileNumbers) -> NDArray[np.int64]:
        """[height, width] of a part of a tile layer."""
        wanted = spot.width * spot.height
        if isinstance(data, list):
            numbers = np.array(data, np.int64)
        elif layer.encoding == "base64" and layer.compression in ("", "zlib", "gzip"):
            try:
                raw = base64.b64decode(data.strip(), validate=True)
                if layer.compression:
                    # + 32: whichever of the two it is. No more is unpacked than is wanted, and a byte to see that there is more.
                    raw = zlib.decompressobj(zlib.MAX_WBITS + 32).decompress(raw, 4 * wanted + 1)
                numbers = np.frombuffer(raw, "<u4").astype(np.int64)
            except (ValueError, zlib.error) as error:
                raise self._fail(where, f"its tiles cannot be decoded: {error}") from None
        else:
            remedy = "in Tiled choose Map > Map Properties, Tile Layer Format: CSV or Base64 (zlib compressed)"
            how = layer.compression or layer.encoding
            raise self._fail(where, f"its tiles are written as {how}, which is not read; {remedy}")
        if numbers.size != wanted:
            raise self._fail(where, f"holds {numbers.size} tiles; expected {spot.width} times {spot.height}")
        return (numbers & TILE_NUMBER).reshape(spot.height, spot.width)

    # Layers of objects

    def _read_rect(self, layer: _Layer, drawn: _Object) -> Rect:
        """The tiles of an object, in the map's own coordinates."""
        where = _render_place(layer, drawn)
        if drawn.template:
            raise self._fail(where, f"is an instance of the template {drawn.template}, which is not read; detach it in Tiled")
        for form in ("ellipse", "capsule", "polygon", "polyline", "text"):
            if drawn.model_extra and drawn.model_extra.get(form):
                raise self._fail(where, f"is of the form {form}; expected a rectangle or a point")
        if drawn.rotation % 360:
            raise self._fail(where, f"is turned by {drawn.rotation:g} degrees; expected an upright rectangle")
        right, down = self._find_anchor(drawn, where) if drawn.gid else (0.0, 0.0)
        x, width = _round_edges(drawn.x + layer.offsetx - right * drawn.width, drawn.width, self.drawn.tilewidth)
        y, height = _round_edges(drawn.y + layer.offsety - down * drawn.height, drawn.height, self.drawn.tileheight)
        return Rect(x, y, width, height)

    def _find_anchor(self, drawn: _Object, where: str) -> tuple[float, float]:
        """The point of a picture that its x and y name, in shares of its width and height."""
        before = [each for each in self.drawn.tilesets if each.firstgid <= drawn.gid & TILE_NUMBER]
        tileset = max(before, key=lambda each: each.firstgid, default=None)
        if tileset is None or tileset.source:
            source = f"the tileset {tileset.source}, a file of its own which is not read" if tileset else "no tileset"
            raise self._fail(where, f"is a picture from {source}; in Tiled embed the tileset, or draw a rectangle")
        side = "bottomleft" if tileset.objectalignment == "unspecified" else tileset.objectalignment
        return (1 + ("right" in side) - ("left" in side)) / 2, (1 + ("bottom" in side) - ("top" in side)) / 2

    def _read_shapes(self, name: str) -> Iterator[_Shape]:
        for layer in self._find_layers(name, "objectgroup"):
            for drawn in layer.objects:
                where, rect = _render_place(layer, drawn), self._read_rect(layer, drawn)
                if not rect.is_within(self.extent):
                    raise self._fail(where, f"is not inside the map of {self.extent.width} by {self.extent.height} tiles")
                tiles = [Tile(x - self.extent.x, y - self.extent.y) for x, y in rect.list_tiles()]
                properties = {each.name: each.value for each in drawn.properties}
                kind = str(properties.get("kind") or drawn.kind.strip())
                yield _Shape(drawn.name.strip(), kind, properties, tiles, where)

    def _claim(self, address: Address, shape: _Shape) -> None:
        name = address.thing or address.arena or address.sector
        if not name or ":" in name:
            raise self._fail(shape.where, f"expected a name without a colon, found '{name}'")
        if problem := claim_tiles(self.claims, address, shape.tiles, again=True):
            raise self._fail(shape.where, problem)

    def _read_sectors(self) -> Mapping[str, str]:
        """Claims the tiles of the sectors. Returns the kinds of sectors by name."""
        kinds: dict[str, str] = {}
        for shape in self._read_shapes("sectors"):
            self._claim(Address(shape.name), shape)
            if shape.kind:
                kinds[shape.name] = shape.kind
        if not self.claims:
            raise self._fail("field 'layers'", "there is no object layer 'sectors' with rectangles in it")
        return kinds

    def _read_arenas(self) -> None:
        sectors = {place.sector for place in self.claims.values()}
        for shape in self._read_shapes("arenas"):
            sector, colon, arena = (part.strip() for part in shape.name.partition(":"))
            if not colon:
                around = self.claims.get(shape.tiles[0], Address(""))
                sector, arena = str(shape.properties.get("sector") or around.sector), shape.name
            if sector not in sectors:
                problem = f"there is no sector '{sector}'" if sector else "lies in no sector and names none"
                raise self._fail(shape.where, f"{problem}; there are {', '.join(sorted(sectors))}")
            self._claim(Address(sector, arena), shape)

    def _read_things(self) -> Iterator[Tile]:
        """Claims the tiles of things. Yields the tiles of those that are no seats."""
        for shape in self._read_shapes("objects"):
            around = self.claims.get(shape.tiles[0], Address(""))
            if not around.arena:
                raise self._fail(shape.where, "lies in no arena")
            self._claim(Address(around.sector, around.arena, shape.name), shape)
            seat = shape.properties.get("seat", False)
            if not isinstance(seat, bool):
                raise self._fail(shape.where, f"its property 'seat' must be true or false, found '{seat}'")
            yield from () if seat else shape.tiles

    def _read_doors(self, reached: NDArray[np.bool_]) -> frozenset[Tile]:
        doors = [(tile, shape.where) for shape in self._read_shapes("doors") for tile in shape.tiles]
        for tile, where in doors:
            if not reached[tile.y, tile.x]:
                raise self._fail(where, f"cannot be walked through at {list(tile)}; see the layer 'collision'")
        return frozenset(tile for tile, _ in doors)


def _render_place(layer: _Layer, drawn: _Object) -> str:
    return f"layer '{layer.name}', object {drawn.id}" + (f" '{drawn.name}'" if drawn.name else "")


def _flatten(layers: Iterable[_Layer], dx: float, dy: float) -> Iterator[_Layer]:
    """Layers out of their groups, with the groups' offsets."""
    for layer in layers:
        offset = {"offsetx": layer.offsetx + dx, "offsety": layer.offsety + dy}
        if layer.type == "group":
            yield from _flatten(layer.layers, offset["offsetx"], offset["offsety"])
        else:
            yield layer.model_copy(update=offset)


def _round_edges(start: float, length: float, tile: int) -> tuple[int, int]:
    """The first tile and the number of tiles; what is smaller than half a tile lies in the tile of its middle."""
    first, last = round(start / tile), round((start + length) / tile)
    if last <= first:
        return int((start + length / 2) // tile), 1
    return first, last - first


# Writing

TILE_SIZE = 32
"""Pixels."""

_COLOURS = ((90, 84, 78), (108, 154, 190))
"""The colours of the two tiles: wall, water."""


def write_tiled(town: TownMap, path: Path) -> None:
    """Writes a map of Tiled's, and beside it a picture of its two tiles (``.png``). Raises StorageFailure.

    Read again it is the same town. What nobody can reach is a wall in it.
    """
    walls, water = town.blocked.astype(int), np.zeros(town.blocked.shape, int)
    for x, y in town.water:
        walls[y, x], water[y, x] = 0, 2
    written: dict[str, list[dict[str, Any]]] = {"sectors": [], "arenas": [], "objects": [], "doors": []}
    for address, tiles in town.places.items():
        if address.thing:
            for x, y in tiles:
                walls[y, x] = 0
            for seat in (True, False):
                own = [tile for tile in tiles if town.is_free(tile) == seat]
                written["objects"] += _render_shapes(address.thing, own, "seat", "bool", seat)
        else:
            kind = town.kinds.get(str(address), "")
            written["arenas" if address.arena else "sectors"] += _render_shapes(str(address), tiles, "kind", "string", kind)
    written["doors"] += _render_shapes("", town.doors)
    number = count(1)
    layers = [
        {"name": name, "type": "tilelayer", "width": town.width, "height": town.height, "data": grid.ravel().tolist()}
        for name, grid in (("water", water), ("collision", walls))
    ] + [
        {"name": name, "type": "objectgroup", "draworder": "topdown", "objects": [{"id": next(number)} | each for each in shapes]}
        for name, shapes in written.items()
    ]
    common = {"x": 0, "y": 0, "opacity": 1, "visible": True}
    picture = path.with_suffix(".png")
    tileset = {
        "firstgid": 1, "name": "ground", "image": picture.name, "imagewidth": 2 * TILE_SIZE, "imageheight": TILE_SIZE,
        "tilewidth": TILE_SIZE, "tileheight": TILE_SIZE, "tilecount": 2, "columns": 2, "margin": 0, "spacing": 0,
    }  # fmt: skip
    drawn = {
        "type": "map", "version": "1.10", "tiledversion": "1.10.2", "orientation": "orthogonal", "renderorder": "right-down",
        "infinite": False, "width": town.width, "height": town.height, "tilewidth": TILE_SIZE, "tileheight": TILE_SIZE,
        "nextlayerid": len(layers) + 1, "nextobjectid": next(number), "compressionlevel": -1, "tilesets": [tileset],
        "properties": [{"name": "name", "type": "string", "value": town.name}],
        "layers": [{"id": place} | layer | common for place, layer in enumerate(layers, start=1)],
    }  # fmt: skip
    write_atomically(path, json.dumps(drawn, ensure_ascii=False))
    from matplotlib.image import imsave  # takes a while to load, and only writers need it

    try:
        imsave(picture, np.array([_COLOURS], np.uint8).repeat(TILE_SIZE, axis=0).repeat(TILE_SIZE, axis=1))
    except OSError as error:
        raise StorageFailure.at(picture, error) from error


def _render_shapes(
    name: str, tiles: Iterable[Tile], key: str = "", kind: str = "", value: object = ""
) -> Iterator[dict[str, Any]]:
    """The objects that cover a place's tiles, with a property unless its value is empty."""
    for rect in cover_with_rectangles(tiles):
        x, y, width, height = (each * TILE_SIZE for each in rect)
        shape = {"name": name, "type": "", "x": x, "y": y, "width": width, "height": height, "rotation": 0, "visible": True}
        yield shape | ({"properties": [{"name": key, "type": kind, "value": value}]} if value != "" else {})


def cover_with_rectangles(tiles: Iterable[Tile]) -> list[Rect]:
    """Rectangles that cover ``tiles`` and nothing else, without overlap: runs of a row, joined with the same run below."""
    left = set(tiles)
    found = []
    for tile in sorted(left, key=lambda each: (each.y, each.x)):
        if tile not in left:
            continue
        x, y = tile
        right = next(each for each in count(x) if Tile(each, y) not in left)
        bottom = next(each for each in count(y) if not all(Tile(column, each) in left for column in range(x, right)))
        found.append(Rect(x, y, right - x, bottom - y))
        left.difference_update(found[-1].list_tiles())
    return found
