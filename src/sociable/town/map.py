"""The town's map: a grid of tiles with sectors, arenas and things, walls, and shortest paths. Immutable; knows no residents."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray
from scipy.ndimage import label  # type: ignore[import-untyped]
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, dijkstra  # type: ignore[import-untyped]

LARGEST = 1000
"""Tiles a map may be wide or high."""

MEMORY_FOR_WAYS = 16 * 2**20
"""Bytes a map may keep of ways it has found: some 800 places to go to in a town of 120 by 80 tiles."""

MEMORY_FOR_GRAPHS = 128 * 2**20
"""Bytes a map may keep of graphs that ways are found in: some 300 areas as large as that town."""


class Tile(NamedTuple):
    """``x`` to the right and ``y`` down, from 0."""

    x: int
    y: int

    def after(self, steps: str) -> Tile:
        """Where so many steps lead, each one of N, E, S and W."""
        east, south = steps.count("E") - steps.count("W"), steps.count("S") - steps.count("N")
        return Tile(self.x + east, self.y + south)


class Rect(NamedTuple):
    """Tiles from (``x``, ``y``) on, to the right and down."""

    x: int
    y: int
    width: int
    height: int

    def tiles(self) -> Iterator[Tile]:
        """Row by row."""
        return (Tile(x, y) for y in range(self.y, self.y + self.height) for x in range(self.x, self.x + self.width))

    def within(self, other: Rect) -> bool:
        return (
            other.x <= self.x
            and other.y <= self.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )


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

    def within(self, other: Address) -> bool:
        """Whether this place is ``other`` or a part of it."""
        return self.sector == other.sector and other.arena in ("", self.arena) and other.thing in ("", self.thing)


_BLOCK = 96
"""Tiles to a side of the squares that make up an area in which ways are looked for: so there are few different areas."""

_MARGIN = 16
"""Tiles that an area has at least around the two ends of a way; of three ways in four no more is needed."""


@dataclass(frozen=True, slots=True)
class _Ways:
    """Shortest ways to one goal within an area."""

    area: Rect
    after: memoryview
    """By index of tile in the area the next index; negative where there is no way."""

    def way(self, start: Tile, goal: Tile) -> str | None:
        area, after = self.area, self.after
        if not (area.x <= start.x < area.x + area.width and area.y <= start.y < area.y + area.height):
            return None
        here, end = _index(start, area), _index(goal, area)
        # In an area one tile wide what is after a tile is below it.
        headings = {1: "E", -1: "W", area.width: "S", -area.width: "N"}
        way = []
        while here != end:
            before, here = here, after[here]
            if here < 0:
                return None
            way.append(headings[here - before])
        return "".join(way)

    @property
    def size(self) -> int:
        """In bytes."""
        return self.after.nbytes

    def least_outside(self, start: Tile, goal: Tile, width: int, height: int) -> int:
        """Steps that a way takes at least which leaves the area, on a map so large."""
        area = self.area
        along, across = abs(start.x - goal.x), abs(start.y - goal.y)
        right, bottom = area.x + area.width, area.y + area.height
        out = [
            *([start.x - area.x + goal.x - area.x + 2 + across] if area.x > 0 else []),
            *([right - start.x + right - goal.x + across] if right < width else []),
            *([start.y - area.y + goal.y - area.y + 2 + along] if area.y > 0 else []),
            *([bottom - start.y + bottom - goal.y + along] if bottom < height else []),
        ]
        return min(out, default=width * height)


def _index(tile: Tile, area: Rect) -> int:
    return (tile.y - area.y) * area.width + tile.x - area.x


def _steps_between(blocked: NDArray[np.bool_]) -> csr_array:
    """A graph of the steps between free tiles, up, left, right and down, by index."""
    height, width = blocked.shape
    free = ~blocked
    can = np.zeros((height, width, 4), bool)
    can[1:, :, 0] = can[:-1, :, 3] = free[1:] & free[:-1]
    can[:, 1:, 1] = can[:, :-1, 2] = free[:, 1:] & free[:, :-1]
    here = np.arange(blocked.size, dtype=np.int32).reshape(height, width, 1)
    ends = (here + np.array([-width, -1, 1, width], np.int32))[can]
    firsts = np.concatenate(([0], np.cumsum(can.sum(axis=2))), dtype=np.int32)
    return csr_array((np.ones(len(ends)), ends, firsts), shape=(blocked.size, blocked.size))


def _bytes_of(graph: csr_array) -> int:
    return int(graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes)


def _narrow(tiles: int) -> np.dtype[np.signedinteger]:
    """What counts so many tiles, and the -9999 that stands where there is no way."""
    return np.min_scalar_type(-max(tiles, 9999))


def _next_steps(steps: csr_array, goal: int) -> memoryview:
    """By index the next index on a shortest way to a goal; negative where there is none, and at the goal."""
    _, after = breadth_first_order(steps, goal)
    return memoryview(after.astype(_narrow(len(after))))


@dataclass(frozen=True, eq=False)
class TownMap:
    """A town as its readers make it (``town_file.load_map``): every free tile can be reached from every other."""

    name: str
    blocked: NDArray[np.bool_]
    """[height, width]: what cannot be stood on, or not be reached from the street."""
    places: Mapping[Address, Sequence[Tile]]
    """By address its tiles, walls included."""
    kinds: Mapping[str, str]
    """Of sectors: café, park, …"""
    doors: frozenset[Tile] = frozenset()
    """Where the file names them; nothing but drawings depends on it."""
    water: frozenset[Tile] = frozenset()
    """Likewise."""

    @cached_property
    def digest(self) -> str:
        """Of the places and of where people can walk."""
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
    def _address_of(self) -> Mapping[Tile, Address]:
        """The most precise address of each tile that has one."""
        found: dict[Tile, Address] = {}
        for address in sorted(self.places, key=lambda each: (bool(each.arena), bool(each.thing))):
            for tile in self.places[address]:
                found[tile] = address
        return found

    def address_of(self, tile: Tile) -> Address | None:
        """Where somebody who stands on ``tile`` is; None in the street."""
        return self._address_of.get(tile)

    @cached_property
    def _zones(self) -> NDArray[np.int32]:
        """By index of tile the number of its arena, counted from 1 in the order of addresses."""
        zones = np.zeros(self.blocked.size, np.int32)
        arenas = sorted(address for address in self.places if address.arena and not address.thing)
        for zone, address in enumerate(arenas, start=1):
            for tile in self.places[address]:
                zones[_index(tile, self._all)] = zone
        return zones

    def zone_of(self, tile: Tile) -> int:
        """The number of the arena that ``tile`` is in, 0 for the street: nobody sees from one zone into another."""
        return int(self._zones[_index(tile, self._all)])

    def steps_into(self, zone: int) -> NDArray[np.int32]:
        """By index of tile (y * width + x), the fewest steps into a zone; -1 where there is no way."""
        return self._ways_into(zone)

    def _index(self, tile: Tile) -> int:
        return tile.y * self.width + tile.x

    @cached_property
    def _graphs(self) -> LRUCache[Rect, csr_array]:
        return LRUCache(MEMORY_FOR_GRAPHS, _bytes_of)

    @cachedmethod(lambda self: self._graphs)
    def _steps(self, area: Rect) -> csr_array:
        return _steps_between(self.blocked[area.y : area.y + area.height, area.x : area.x + area.width])

    @cached_property
    def _found(self) -> LRUCache[tuple[Tile, Rect], _Ways]:
        return LRUCache(MEMORY_FOR_WAYS, lambda ways: ways.size)

    @cachedmethod(lambda self: self._found)
    def _towards(self, goal: Tile, area: Rect) -> _Ways:
        """The shortest ways to a goal within an area."""
        return _Ways(area, _next_steps(self._steps(area), _index(goal, area)))

    @cached_property
    def _all(self) -> Rect:
        return Rect(0, 0, self.width, self.height)

    def _around(self, start: Tile, goal: Tile) -> Rect:
        """As many blocks as hold both ends and a margin."""
        left, right = _blocks(start.x, goal.x, self.width)
        top, bottom = _blocks(start.y, goal.y, self.height)
        return Rect(left, top, right - left, bottom - top)

    @cached_property
    def _ways_into(self) -> Callable[[int], NDArray[np.int32]]:
        def ways_into(zone: int) -> NDArray[np.int32]:
            goals = np.flatnonzero((self._zones == zone) & ~self.blocked.ravel())
            if not goals.size:
                return np.full(self.blocked.size, -1, np.int32)
            steps = dijkstra(self._steps(self._all), indices=goals, unweighted=True, min_only=True)
            return np.where(np.isinf(steps), -1, steps).astype(np.int32)

        return lru_cache(MEMORY_FOR_WAYS // (self.blocked.size * 4) or 1)(ways_into)

    def distance(self, start: Tile, goal: Tile) -> int | None:
        """In tiles, walked; None when there is no way."""
        way = self.way(start, goal)
        return None if way is None else len(way)

    def way(self, start: Tile, goal: Tile) -> str | None:
        """The steps of a shortest way, each one of N, E, S and W; always the same one. None when there is none."""
        ways = self._towards(goal, self._around(start, goal))
        way = ways.way(start, goal)
        # A way that leaves the area is longer than this one, unless this one is long itself. So the same way is found as
        # on the whole map: which of two equal ways is taken depends on nothing but tiles that shortest ways lead over.
        if way is not None and len(way) < ways.least_outside(start, goal, self.width, self.height):
            return way
        return self._towards(goal, self._all).way(start, goal)

    def free_tiles(self, address: Address) -> list[Tile]:
        """Where one can stand there; beside a thing that cannot be stood on, if possible in its arena. Row by row."""
        return list(self._free_tiles(address))

    @cached_property
    def _free_tiles(self) -> Callable[[Address], Sequence[Tile]]:
        def free_tiles(address: Address) -> Sequence[Tile]:
            tiles = self.places.get(address, ())
            free = {tile for tile in tiles if self.is_free(tile)}
            if not free:
                beside = {near for tile in tiles for near in neighbours(tile) if self.is_free(near)}
                free = beside.intersection(self.places.get(Address(address.sector, address.arena), ())) or beside
            return sorted(free, key=lambda tile: (tile.y, tile.x))

        return lru_cache(4096)(free_tiles)


def _blocks(start: int, goal: int, end: int) -> tuple[int, int]:
    """From where to where the blocks reach along one axis."""
    first, last = sorted((start, goal))
    return max(first - _MARGIN, 0) // _BLOCK * _BLOCK, min(-(-(last + _MARGIN + 1) // _BLOCK) * _BLOCK, end)


def neighbours(tile: Tile) -> Iterable[Tile]:
    x, y = tile
    return (Tile(x + 1, y), Tile(x - 1, y), Tile(x, y + 1), Tile(x, y - 1))


def grouped(tiles: Iterable[tuple[Address, Tile]]) -> dict[Address, list[Tile]]:
    """Every address with the tiles of its parts."""
    places: dict[Address, list[Tile]] = defaultdict(list)
    for address, tile in tiles:
        for whole in dict.fromkeys((Address(address.sector), Address(address.sector, address.arena), address)):
            places[whole].append(tile)
    return dict(places)


def street_and_beyond(blocked: NDArray[np.bool_], places: Mapping[Address, Iterable[Tile]]) -> NDArray[np.bool_]:
    """The free tiles that the street reaches, the street being what joins most arenas.

    A map may have other free ground that looks like a street: Smallville's is walled, and the nothing around it is larger
    than the town. Where every free tile is part of a sector there is no street, and the ground that joins most counts.
    """
    parts, count = label(~blocked)
    outside = np.ones(blocked.shape, bool)
    arenas: list[set[int]] = [set() for _ in range(count + 1)]
    for number, (address, tiles) in enumerate(places.items()):
        for x, y in tiles:
            outside[y, x] = False
            if address.arena and not address.thing:
                arenas[parts[y, x]].add(number)
    streets = set(np.unique(parts[outside])) - {0} or set(range(1, count + 1))
    street = max(sorted(streets), key=lambda part: len(arenas[part]), default=-1)
    return np.asarray(parts == street)


def unreachable(places: Mapping[Address, Iterable[Tile]], reached: NDArray[np.bool_]) -> list[Address]:
    """The arenas no tile of which is among those reached, in the order of ``places``."""
    return [
        address
        for address, tiles in places.items()
        if address.arena and not address.thing and not any(reached[y, x] for x, y in tiles)
    ]
