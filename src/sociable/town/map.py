"""The town's map: a grid of tiles with sectors, arenas and things, walls, and shortest paths. Immutable; knows no residents."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray
from scipy.ndimage import find_objects, label  # type: ignore[import-untyped]
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, dijkstra  # type: ignore[import-untyped]

LARGEST = 1000
"""The most tiles that a map may be wide or high."""

MEMORY_FOR_WAYS = 16 * 2**20
"""Bytes a map may keep of ways it has found: some 800 places to go to in a town of 120 by 80 tiles."""

MEMORY_FOR_STEPS = 128 * 2**20
"""Bytes a map may keep of steps into its rooms: some 1,000 rooms."""

MEMORY_FOR_GRAPHS = 128 * 2**20
"""Bytes a map may keep of graphs that ways are found in: some 300 areas as large as that town."""


class Tile(NamedTuple):
    """``x`` to the right and ``y`` down, from 0."""

    x: int
    y: int

    def follow(self, steps: str) -> Tile:
        """The tile that so many steps lead to, each one of N, E, S and W."""
        east, south = steps.count("E") - steps.count("W"), steps.count("S") - steps.count("N")
        return Tile(self.x + east, self.y + south)


class Rect(NamedTuple):
    """Tiles from (``x``, ``y``) on, to the right and down."""

    x: int
    y: int
    width: int
    height: int

    def measure_distance(self, tile: Tile) -> int:
        """The steps from a tile to the nearest one of these, on open ground."""
        along = max(self.x - tile.x, 0, tile.x - self.x - self.width + 1)
        return along + max(self.y - tile.y, 0, tile.y - self.y - self.height + 1)

    def list_tiles(self) -> Iterator[Tile]:
        """The tiles, row by row."""
        return (Tile(x, y) for y in range(self.y, self.y + self.height) for x in range(self.x, self.x + self.width))

    def is_within(self, other: Rect) -> bool:
        columns = other.x <= self.x and self.x + self.width <= other.x + other.width
        return columns and other.y <= self.y and self.y + self.height <= other.y + other.height


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A place in words: ``sector``, ``sector: arena``, or ``sector: arena: thing``."""

    sector: str
    arena: str = ""
    thing: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.sector, self.arena, self.thing) if part)

    @classmethod
    def parse(cls, text: str) -> Address:
        parts = [part.strip() for part in text.split(":")]
        return cls(*parts[:3])

    @property
    def is_arena(self) -> bool:
        return bool(self.arena) and not self.thing

    @property
    def whole(self) -> Address | None:
        """The place this one is a part of; None for a sector."""
        return Address(self.sector, self.arena if self.thing else "") if self.arena else None

    def is_within(self, other: Address) -> bool:
        """Whether this place is ``other`` or a part of it."""
        return self.sector == other.sector and other.arena in ("", self.arena) and other.thing in ("", self.thing)


_BLOCK = 96
"""The side, in tiles, of the squares that make up an area in which ways are looked for: so there are few different areas."""

_FEW_WAYS = 8
"""The most ways into a zone that are looked at one by one."""

_MARGIN = 16
"""The fewest tiles that an area has around the two ends of a way; three ways in four need no more."""


@dataclass(frozen=True, eq=False)
class TownMap:
    """A town as its readers make it (``town_file.load_map``): every free tile can be reached from every other."""

    REACH: ClassVar[int] = 192
    """Steps into an arena are counted up to this number; of what is farther off it is known that it is."""

    name: str
    blocked: NDArray[np.bool_]
    """[height, width]: what cannot be stood on, or not be reached from the street."""
    places: Mapping[Address, Sequence[Tile]]
    """The tiles of every address, walls included."""
    kinds: Mapping[str, str]
    """The kinds of sectors: café, park, …"""
    doors: frozenset[Tile] = frozenset()
    """The doors that the file names; nothing but drawings depends on them."""
    water: frozenset[Tile] = frozenset()
    """The water that the file names; nothing but drawings depends on it."""

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the places and of the ground that can be walked on."""
        places = sorted((str(address), [tuple(tile) for tile in tiles]) for address, tiles in self.places.items())
        return hashlib.sha256(f"{self.name}{places}".encode() + self.blocked.tobytes()).hexdigest()

    @property
    def height(self) -> int:
        return int(self.blocked.shape[0])

    @property
    def width(self) -> int:
        return int(self.blocked.shape[1])

    def is_free(self, tile: Tile) -> bool:
        return 0 <= tile.x < self.width and 0 <= tile.y < self.height and not self.blocked[tile.y, tile.x]

    @cached_property
    def _addresses(self) -> Mapping[Tile, Address]:
        """The most precise address of each tile that has one."""
        places = sorted(self.places, key=lambda each: (bool(each.arena), bool(each.thing)))
        return {tile: address for address in places for tile in self.places[address]}

    def find_address(self, tile: Tile) -> Address | None:
        """The most precise place that ``tile`` is in; None in the street."""
        return self._addresses.get(tile)

    @cached_property
    def _zones(self) -> NDArray[np.int32]:
        """[height, width]: the number of each tile's arena, counted from 1 in the order of addresses."""
        zones = np.zeros(self.blocked.shape, np.int32)
        for zone, address in enumerate(sorted(address for address in self.places if address.is_arena), start=1):
            for x, y in self.places[address]:
                zones[y, x] = zone
        return zones

    def find_zone(self, tile: Tile) -> int:
        """The number of the arena that ``tile`` is in, 0 for the street: nobody sees from one zone into another."""
        return int(self._zones[tile.y, tile.x])

    def count_steps_into(self, zone: int, start: Tile, enough: float = math.inf) -> float:
        """The fewest steps into a zone; infinite where there is no way.

        Where they are more than ``enough`` or ``REACH`` it may be a smaller number, still not less than that.
        """
        own = self.find_zone(start)
        if own == zone:
            return 0
        if zone not in self._ways_in:
            return math.inf
        bound = self._bound_steps_into(zone, start, own)
        if bound > enough or bound >= self.REACH:
            return bound
        area = self._find_area_around(zone)
        if not (area.x <= start.x < area.x + area.width and area.y <= start.y < area.y + area.height):
            return self.REACH
        steps = int(self._count_all_steps_into(zone)[_find_index(start, area)])
        return min(steps, self.REACH) if steps >= 0 else math.inf if area == self._whole else self.REACH

    def _bound_steps_into(self, zone: int, start: Tile, own: int) -> int:
        """No more steps than it takes from a tile of the zone ``own`` into another zone."""
        if own and (between := self.count_steps_between(zone).get(own)) is not None:
            return between + self.count_steps_out(start)
        far = self._zone_boxes[zone].measure_distance(start)
        return max(far, self.REACH) if own else far

    def count_steps_out(self, tile: Tile) -> int:
        """No more steps than it takes out of a tile's own zone."""
        ways = self._ways_in.get(self.find_zone(tile), ())
        # In a park there are many, and the nearest is near.
        return min((abs(tile.x - x) + abs(tile.y - y) for x, y in ways), default=0) if len(ways) <= _FEW_WAYS else 0

    def find_box(self, zone: int) -> Rect:
        """The smallest box around the free tiles of a zone."""
        return self._zone_boxes[zone]

    def _find_area_around(self, zone: int) -> Rect:
        """An area in which all ways of ``REACH`` steps into a zone lie."""
        box = self._zone_boxes[zone]
        left, top = (max(at - self.REACH, 0) // _BLOCK * _BLOCK for at in (box.x, box.y))
        right = min(-(-(box.x + box.width + self.REACH) // _BLOCK) * _BLOCK, self.width)
        bottom = min(-(-(box.y + box.height + self.REACH) // _BLOCK) * _BLOCK, self.height)
        return Rect(left, top, right - left, bottom - top)

    @cached_property
    def _zone_boxes(self) -> Mapping[int, Rect]:
        """The smallest box around the free tiles of each zone."""
        boxes = {}
        # What cannot be stood on is in no zone, which is called 0 here, and the street 1.
        for zone, found in enumerate(find_objects(np.where(self.blocked, 0, self._zones + 1))):
            if found is not None:
                down, along = found
                boxes[zone] = Rect(along.start, down.start, along.stop - along.start, down.stop - down.start)
        return boxes

    @cached_property
    def _ways_in(self) -> Mapping[int, Sequence[Tile]]:
        """For each zone its free tiles that can be stepped on from outside."""
        free = np.where(self.blocked, -1, self._zones)
        wide = np.pad(free, 1, constant_values=-1)
        beside = (wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:])
        is_way_in = np.any([(each >= 0) & (each != free) for each in beside], axis=0) & (free >= 0)
        found: defaultdict[int, list[Tile]] = defaultdict(list)
        for y, x in np.argwhere(is_way_in).tolist():
            found[int(free[y, x])].append(Tile(x, y))
        return dict(found)

    @cached_property
    def _between(self) -> dict[int, Mapping[int, int]]:
        return {}

    @cachedmethod(lambda self: self._between)
    def count_steps_between(self, zone: int) -> Mapping[int, int]:
        """The fewest steps from anywhere in each other zone into this one; from those left out there are ``REACH`` or more."""
        if zone not in self._ways_in:
            return {}
        area, steps = self._find_area_around(zone), self._count_all_steps_into(zone)
        zones = self._zones[area.y : area.y + area.height, area.x : area.x + area.width].ravel()
        near = np.flatnonzero((steps >= 0) & (steps < self.REACH))
        # Of several the last counts, which is the least.
        near = near[np.argsort(-steps[near], kind="stable")]
        return dict(zip(zones[near].tolist(), steps[near].tolist(), strict=True))

    @cached_property
    def _steps_into(self) -> LRUCache[int, NDArray[np.int32]]:
        return LRUCache(MEMORY_FOR_STEPS, lambda steps: steps.nbytes)

    @cachedmethod(lambda self: self._steps_into)
    def _count_all_steps_into(self, zone: int) -> NDArray[np.int32]:
        """By index of tile in the area around a zone, the fewest steps into it on ways in that area; -1 where there is none."""
        area = self._find_area_around(zone)
        part = np.s_[area.y : area.y + area.height, area.x : area.x + area.width]
        goals = np.flatnonzero((self._zones[part] == zone) & ~self.blocked[part])
        steps = dijkstra(self._make_graph(area), indices=goals, unweighted=True, min_only=True)
        return np.where(np.isinf(steps), -1, steps).astype(np.min_scalar_type(-max(steps.size, 1)))

    @cached_property
    def _whole(self) -> Rect:
        return Rect(0, 0, self.width, self.height)

    @cached_property
    def _graphs(self) -> LRUCache[Rect, csr_array]:
        return LRUCache(MEMORY_FOR_GRAPHS, lambda graph: graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes)

    @cachedmethod(lambda self: self._graphs)
    def _make_graph(self, area: Rect) -> csr_array:
        """The steps between the free tiles of an area, up, left, right and down, by index of tile in it."""
        free = ~self.blocked[area.y : area.y + area.height, area.x : area.x + area.width]
        can = np.zeros((*free.shape, 4), bool)
        can[1:, :, 0] = can[:-1, :, 3] = free[1:] & free[:-1]
        can[:, 1:, 1] = can[:, :-1, 2] = free[:, 1:] & free[:, :-1]
        here = np.arange(free.size, dtype=np.int32).reshape(*free.shape, 1)
        ends = (here + np.array([-area.width, -1, 1, area.width], np.int32))[can]
        firsts = np.concatenate(([0], np.cumsum(can.sum(axis=2))), dtype=np.int32)
        return csr_array((np.ones(len(ends)), ends, firsts), shape=(free.size, free.size))

    @cached_property
    def _found(self) -> LRUCache[tuple[Tile, Rect], memoryview]:
        return LRUCache(MEMORY_FOR_WAYS, lambda after: after.nbytes)

    @cachedmethod(lambda self: self._found)
    def _find_next_tiles(self, goal: Tile, area: Rect) -> memoryview:
        """The next tile on a shortest way to a goal by index of tile in an area; negative at the goal, and without a way."""
        _, after = breadth_first_order(self._make_graph(area), _find_index(goal, area))
        # The narrowest numbers that hold every index, and the -9999 that stands where there is no way.
        return memoryview(after.astype(np.min_scalar_type(-max(len(after), 9999))))

    def _find_way_within(self, area: Rect, start: Tile, goal: Tile) -> str | None:
        if not Rect(*start, 1, 1).is_within(area):
            return None
        after = self._find_next_tiles(goal, area)
        here, end = _find_index(start, area), _find_index(goal, area)
        # In an area one tile wide what is after a tile is below it.
        headings = {1: "E", -1: "W", area.width: "S", -area.width: "N"}
        way = []
        while here != end:
            before, here = here, after[here]
            if here < 0:
                return None
            way.append(headings[here - before])
        return "".join(way)

    def find_way(self, start: Tile, goal: Tile) -> str | None:
        """The steps of a shortest way, each one of N, E, S and W; always the same one. None where there is none."""
        left, right, beside = _find_blocks_around(start.x, goal.x, self.width)
        top, bottom, above = _find_blocks_around(start.y, goal.y, self.height)
        way = self._find_way_within(Rect(left, top, right - left, bottom - top), start, goal)
        # A way that leaves the area is longer than this one, unless this one is long itself. So the same way is found as
        # on the whole map: which of two equal ways is taken depends on nothing but tiles that shortest ways lead over.
        least_outside = abs(start.x - goal.x) + abs(start.y - goal.y) + 2 * (min(beside, above) + 1)
        return way if way is not None and len(way) < least_outside else self._find_way_within(self._whole, start, goal)

    def measure_distance(self, start: Tile, goal: Tile) -> int | None:
        """The length of a shortest way, in tiles; None where there is no way."""
        way = self.find_way(start, goal)
        return None if way is None else len(way)

    @cached_property
    def _free_tiles(self) -> dict[Address, Sequence[Tile]]:
        return {}

    @cachedmethod(lambda self: self._free_tiles)
    def find_free_tiles(self, address: Address) -> Sequence[Tile]:
        """The tiles of a place to stand on, row by row; for a thing that blocks those beside it, if possible in its arena."""
        tiles = self.places.get(address, ())
        free = {tile for tile in tiles if self.is_free(tile)}
        if not free:
            beside = {near for tile in tiles for near in find_neighbours(tile) if self.is_free(near)}
            free = beside.intersection(self.places.get(Address(address.sector, address.arena), ())) or beside
        return tuple(sorted(free, key=lambda tile: (tile.y, tile.x)))


def _find_index(tile: Tile, area: Rect) -> int:
    return (tile.y - area.y) * area.width + tile.x - area.x


def _find_blocks_around(start: int, goal: int, size: int) -> tuple[int, int, float]:
    """The beginning and end, along one axis, of the blocks around a way, and the least tiles between its ends and theirs."""
    first, last = sorted((start, goal))
    low, high = max(first - _MARGIN, 0) // _BLOCK * _BLOCK, min(-(-(last + _MARGIN + 1) // _BLOCK) * _BLOCK, size)
    return low, high, min(first - low if low > 0 else math.inf, high - 1 - last if high < size else math.inf)


def find_neighbours(tile: Tile) -> Iterable[Tile]:
    x, y = tile
    return (Tile(x + 1, y), Tile(x - 1, y), Tile(x, y + 1), Tile(x, y - 1))


def group_by_place(tiles: Iterable[tuple[Address, Tile]]) -> dict[Address, list[Tile]]:
    """The tiles of every address, with those of its parts."""
    places: dict[Address, list[Tile]] = defaultdict(list)
    for address, tile in tiles:
        for whole in dict.fromkeys((Address(address.sector), Address(address.sector, address.arena), address)):
            places[whole].append(tile)
    return dict(places)


def claim_tiles(owners: dict[Tile, Address], address: Address, tiles: Iterable[Tile], *, again: bool = False) -> str:
    """Gives a place its tiles. Each must belong to what the place is a part of or, with ``again``, to the place already.

    Returns why it cannot have them, or the empty string.
    """
    whole = address.whole
    for tile in tiles:
        owner = owners.get(tile)
        if owner != whole and not (again and owner == address):
            if whole is not None and (owner is None or not owner.is_within(whole)):
                return f"'{address}' is not inside '{whole}': see {list(tile)}"
            return f"'{address}' and '{owner}' overlap at {list(tile)}"
        owners[tile] = address
    return ""


def find_street(
    blocked: NDArray[np.bool_], places: Mapping[Address, Iterable[Tile]]
) -> tuple[NDArray[np.bool_], Sequence[Address]]:
    """The free tiles that the street reaches, and the arenas that it does not; the street is what joins most arenas.

    A map may have other free ground that looks like a street: Smallville's is walled, and the nothing around it is larger
    than the town. Where every free tile is part of a sector there is no street, and the ground that joins most counts.
    """
    parts, count = label(~blocked)
    parts_of = {address: {parts[y, x] for x, y in tiles} for address, tiles in places.items() if address.is_arena}
    joined = Counter(chain.from_iterable(parts_of.values()))
    outside = ~blocked
    for x, y in chain.from_iterable(places.values()):
        outside[y, x] = False
    streets = np.unique(parts[outside]).tolist() or range(1, count + 1)
    street = max(streets, key=lambda part: joined[part], default=-1)
    return parts == street, [address for address, own in parts_of.items() if street not in own]
