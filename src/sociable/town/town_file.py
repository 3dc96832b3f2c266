"""A town's own file, drawn by hand in JSON, and the choice of the right reader for any map.

``docs/guide/towns.md`` describes the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, PlainValidator
from scipy.ndimage import binary_dilation  # type: ignore[import-untyped]

from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record
from sociable.town.interop.smallville import find_matrices, load_smallville
from sociable.town.interop.tiled import is_tiled, read_tiled
from sociable.town.map import LARGEST, Address, Rect, Tile, TownMap, claim_tiles, find_street

WHAT_IS_READ = (
    "expected a town of ours (JSON with 'sectors'), a map of Tiled exported as JSON (with 'layers'), "
    "or the folder of Smallville's matrix (with maze_meta_info.json)"
)


def load_map(path: Path) -> TownMap:
    """Loads a map in any of the known layouts. Raises InputError or DataError, which name file and field."""
    if path.is_dir():
        if find_matrices(path):
            return load_smallville(path)
        raise InputError(f"{path}: no map in this folder; {WHAT_IS_READ}.")
    if not path.is_file():
        raise InputError(f"{path}: no such file; {WHAT_IS_READ}.")
    if path.suffix in (".tmx", ".tsx", ".tsj"):
        raise InputError(f"{path}: of Tiled's files its maps in JSON are read. In Tiled choose File > Export As, JSON map files.")
    values = [raw.value for raw in read_records(path, None)]
    value = values[0] if len(values) == 1 else values
    if is_tiled(value):
        return read_tiled(value, str(path), path.stem)
    if isinstance(value, dict) and "sectors" in value:
        return read_town(value, str(path))
    raise InputError(f"{path}: not a map; {WHAT_IS_READ}.")


def _parse_numbers(value: object, names: str) -> list[int]:
    wanted = len(names.split())
    if isinstance(value, list) and len(value) == wanted and all(type(each) is int for each in value):
        return value
    raise ValueError(f"expected {wanted} whole numbers, {names}, found {str(value)[:60]}")


def _parse_rect(value: object) -> Rect:
    rect = Rect(*_parse_numbers(value, "x y width height"))
    if rect.width < 1 or rect.height < 1:
        raise ValueError(f"expected a width and a height of at least 1, found {value}")
    return rect


def _check_name(name: str) -> str:
    if ":" in name or "\n" in name:
        raise ValueError(f"{name!r} has a colon or a line break in it, which part a place from what is in it")
    return name


PlaceName = Annotated[Text, AfterValidator(_check_name)]
RectField = Annotated[Rect, PlainValidator(_parse_rect)]
TileField = Annotated[Tile, PlainValidator(lambda value: Tile(*_parse_numbers(value, "x y")))]
Side = Annotated[int, Field(ge=1, le=LARGEST)]


class ThingRecord(Record):
    name: PlaceName
    at: Annotated[tuple[TileField, ...], Field(min_length=1)]
    seat: bool = False


class ArenaRecord(Record):
    name: PlaceName
    rect: RectField
    objects: tuple[ThingRecord, ...] = ()


class SectorRecord(Record):
    name: PlaceName
    kind: str = ""
    open: bool = False
    rect: RectField
    doors: tuple[TileField, ...] = ()
    walls: tuple[RectField, ...] = ()
    arenas: Annotated[tuple[ArenaRecord, ...], Field(min_length=1)]


class TownRecord(Record):
    name: Text
    width: Side
    height: Side
    sectors: Annotated[tuple[SectorRecord, ...], Field(min_length=1)]
    water: tuple[RectField, ...] = ()


def read_town(value: Any, source: str) -> TownMap:
    """The town of a parsed file. Raises DataError with ``source`` as its place at the first thing that cannot be built."""
    return _Builder(validate_record(TownRecord, value, source), source).build()


class _Builder:
    """Puts one thing after the other on the ground, and complains of what does not fit."""

    def __init__(self, record: TownRecord, source: str) -> None:
        self.record = record
        self.source = source
        self.whole = Rect(0, 0, record.width, record.height)
        self.blocked = np.zeros((record.height, record.width), bool)
        self.places: dict[Address, Sequence[Tile]] = {}
        self.fields: dict[str, str] = {}
        """The field of the file that each place is in, by its address in lower case."""
        self.owners: dict[Tile, Address] = {}
        """The sector, then the arena, then the thing that each tile belongs to."""

    def build(self) -> TownMap:
        for number, sector in enumerate(self.record.sectors):
            self._build(sector, f"sectors.{number}")
        water = self._flood()
        self._block(water)
        reached, lost = find_street(self.blocked, self.places)
        self._check_ways(reached, lost)
        kinds = {sector.name: sector.kind for sector in self.record.sectors if sector.kind}
        doors = frozenset(door for sector in self.record.sectors for door in sector.doors)
        return TownMap(self.record.name, ~reached, self.places, kinds, doors, water)

    def _fail(self, field: str, problem: str) -> DataError:
        return DataError(self.source, field, problem)

    def _block(self, tiles: Iterable[Tile]) -> None:
        for x, y in tiles:
            self.blocked[y, x] = True

    def _claim(self, address: Address, tiles: Sequence[Tile], field: str) -> None:
        # Two names that differ in case only are one to whoever reads them.
        name = str(address).casefold()
        if name in self.fields:
            raise self._fail(f"{field}.name", f"there are two places '{address}'; give one of them another name")
        if problem := claim_tiles(self.owners, address, tiles):
            raise self._fail(field, problem)
        self.places[address], self.fields[name] = tiles, field

    def _build(self, sector: SectorRecord, field: str) -> None:
        address, rect = Address(sector.name), sector.rect
        if not rect.is_within(self.whole):
            size = f"the map, which is {self.record.width} by {self.record.height} tiles"
            raise self._fail(f"{field}.rect", f"'{address}' at {list(rect)} is not inside {size}")
        self._claim(address, list(rect.list_tiles()), field)
        self._build_wall(sector, field)
        for number, arena in enumerate(sector.arenas):
            self._furnish(sector, arena, f"{field}.arenas.{number}")
        for tile in () if sector.open else rect.list_tiles():
            if self.owners[tile] == address and not self.blocked[tile.y, tile.x]:
                problem = f"'{address}' can be walked on at {list(tile)}, where it has no arena: make one larger, or a wall"
                raise self._fail(f"{field}.arenas", problem)

    def _build_wall(self, sector: SectorRecord, field: str) -> None:
        name, (x, y, width, height) = sector.name, sector.rect
        ring = {tile for tile in sector.rect.list_tiles() if tile.x in (x, x + width - 1) or tile.y in (y, y + height - 1)}
        corners = {Tile(a, b) for a in (x, x + width - 1) for b in (y, y + height - 1)}
        for door in sector.doors:
            if sector.open:
                raise self._fail(f"{field}.doors", f"'{name}' is open, so there is no wall for a door at {list(door)}")
            if door not in ring - corners:
                problem = f"the door at {list(door)} is not in the wall of '{name}', or in a corner of it"
                raise self._fail(f"{field}.doors", problem)
        if not sector.open:
            self._block(ring.difference(sector.doors))
        for number, wall in enumerate(sector.walls):
            at, where = f"{field}.walls.{number}", f"the wall at {list(wall)}"
            if not wall.is_within(sector.rect):
                raise self._fail(at, f"{where} is not inside '{name}'")
            if shut := set(wall.list_tiles()).intersection(sector.doors):
                raise self._fail(at, f"{where} stands in a door of '{name}', at {list(min(shut))}")
            self._block(wall.list_tiles())

    def _furnish(self, sector: SectorRecord, arena: ArenaRecord, field: str) -> None:
        self._claim(Address(sector.name, arena.name), list(arena.rect.list_tiles()), field)
        for number, record in enumerate(arena.objects):
            thing, at = Address(sector.name, arena.name, record.name), f"{field}.objects.{number}"
            self._claim(thing, record.at, at)
            for tile in record.at:
                if self.blocked[tile.y, tile.x] or tile in sector.doors:
                    what = "door" if tile in sector.doors else "wall"
                    raise self._fail(f"{at}.at", f"'{thing}' stands in a {what} at {list(tile)}")
            if not record.seat:
                self._block(record.at)

    def _flood(self) -> frozenset[Tile]:
        for number, rect in enumerate(self.record.water):
            if not rect.is_within(self.whole):
                raise self._fail(f"water.{number}", f"the water at {list(rect)} is not inside the map")
            for tile in rect.list_tiles():
                if owner := self.owners.get(tile):
                    raise self._fail(f"water.{number}", f"the water at {list(rect)} covers '{owner.sector}' at {list(tile)}")
        return frozenset(tile for rect in self.record.water for tile in rect.list_tiles())

    def _check_ways(self, reached: NDArray[np.bool_], lost: Iterable[Address]) -> None:
        for address in lost:
            sector = next(each for each in self.record.sectors if each.name == address.sector)
            shut = not sector.open and not sector.doors
            why = "it has no door" if shut else "a door, or a gap in a wall, is missing or blocked"
            raise self._fail(self.fields[str(address).casefold()], f"'{address}' cannot be reached from the street: {why}")
        close = binary_dilation(reached)
        for address, tiles in self.places.items():
            if address.thing and not any(close[y, x] for x, y in tiles):
                problem = f"nobody can come to '{address}': no tile beside it can be reached"
                raise self._fail(self.fields[str(address).casefold()], problem)
