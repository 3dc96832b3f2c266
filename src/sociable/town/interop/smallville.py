"""Smallville, the town of the first generative agents (Park et al. 2023), from the files of its authors.

The map is a folder of matrices: block ids in ``maze/*_maze.csv``, row after row in one line, and their names in
``special_blocks/*_blocks.csv``. A thing there can be stood on wherever the collision matrix is empty. Nothing but that
matrix tells walls from ground, so the street is what joins most rooms: the ground outside the town's wall is larger
than the town, and a few tiles of houses at its edge, and yards without a gate, lie beyond it. None of these are free.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from sociable.core.data_files import Text, make_data_error, read_records
from sociable.core.errors import DataError, InputError
from sociable.town.map import LARGEST, Address, Tile, TownMap, find_street, group_by_place

META, BLOCKS = "maze_meta_info.json", "special_blocks"
_MISSING = "no such file. It is a part of Smallville; copy its folder whole."


def is_smallville(folder: Path) -> bool:
    """Whether it is the folder of matrices, or has one called ``matrix``."""
    return (folder / META).is_file() or (folder / "matrix" / META).is_file()


class _Meta(BaseModel):
    world_name: Text
    maze_width: int = Field(ge=1, le=LARGEST)
    maze_height: int = Field(ge=1, le=LARGEST)


def load_smallville(folder: Path) -> TownMap:
    """The map. Raises InputError or DataError, which name the file that is missing or wrong."""
    if not (folder / META).is_file() and (folder / "matrix" / META).is_file():
        folder = folder / "matrix"
    meta = _check(_Meta, _read_json(folder / META), str(folder / META))
    at = {name: _read_matrix(folder, name, meta) for name in ("collision", "sector", "arena", "game_object")}
    names = {name: _read_names(folder, name, at[name]) for name in ("sector", "arena", "game_object")}
    tiles = []
    for y, x in np.argwhere(at["sector"] | at["arena"]).tolist():
        arena = int(at["arena"][y, x])
        # A row of arenas has its sector in it, a row of things has <all>.
        sector, *rest = names["arena"][arena][:2] if arena else names["sector"][int(at["sector"][y, x])][:1]
        if rest and (thing := int(at["game_object"][y, x])):
            rest.append(names["game_object"][thing][-1])
        tiles.append((Address(sector, *rest), Tile(x, y)))
    places = group_by_place(tiles)
    reached, lost = find_street(at["collision"] != 0, places)
    if lost:
        raise DataError(str(folder), "", f"'{lost[0]}' cannot be reached from the street; see maze/collision_maze.csv")
    return TownMap(meta.world_name, ~reached, places, {})


def _read_matrix(folder: Path, name: str, meta: _Meta) -> NDArray[np.int64]:
    """[height, width]: block ids."""
    file = folder / "maze" / f"{name}_maze.csv"
    try:
        ids = np.array([int(cell) for cell in _read_text(file).replace("\n", ",").split(",") if cell.strip()], np.int64)
    except (ValueError, OverflowError) as error:
        raise DataError(str(file), "", f"expected block ids, whole numbers parted by commas: {error}") from None
    if ids.size != meta.maze_height * meta.maze_width:
        problem = f"has {ids.size} ids; expected {meta.maze_width} times {meta.maze_height}, as {META} says"
        raise DataError(str(file), "", problem)
    return ids.reshape(meta.maze_height, meta.maze_width)


def _read_names(folder: Path, name: str, ids: NDArray[np.int64]) -> Mapping[int, Sequence[str]]:
    """The names by block id: what follows the world's name in its row."""
    file = folder / BLOCKS / f"{name}_blocks.csv"
    wanted = 4 if name == "arena" else 3
    found: dict[int, Sequence[str]] = {}
    for place, cells in _read_rows(file):
        if len(cells) < wanted or not cells[0].isdecimal() or not all(cells):
            raise DataError(place, "", f"expected an id, the world, and names, {wanted} cells in all; found {cells}")
        found[int(cells[0])] = cells[2:]
    unnamed = sorted(set(np.unique(ids).tolist()) - found.keys() - {0})
    if unnamed:
        raise DataError(str(file), "", f"has no name for block {unnamed[0]}, which stands in maze/{name}_maze.csv")
    return found


@dataclass(frozen=True, slots=True)
class SmallvillePersona:
    """A resident of Smallville, as the authors wrote it."""

    name: str
    age: int
    innate: str
    learned: str
    currently: str
    lifestyle: str
    home: Address
    start: Tile
    """The tile it stands on when the simulation begins."""
    facts: tuple[str, ...] = ()
    """Sentences it knows, in the second person. Some misspell the names of others."""


class _Scratch(BaseModel):
    """The fields of ``scratch.json`` that say who somebody is."""

    name: Text
    age: int
    innate: Text
    learned: Text
    currently: str
    lifestyle: Text
    living_area: Text


class _Start(BaseModel):
    x: int
    y: int


def load_smallville_personas(folder: Path, history: Path | None = None) -> list[SmallvillePersona]:
    """The personas of a folder with ``personas`` and ``environment/0.json``, in the order of their names.

    Facts are taken from ``history``, or from ``agent_history_init_n25.csv`` (for 25 personas) in the folder or beside it.
    Raises InputError or DataError, which name what is missing.
    """
    if not (folder / "personas").is_dir():
        others = sorted(path.name for path in folder.glob("*") if (path / "personas").is_dir())
        instead = f" Did you mean {' or '.join(str(folder / name) for name in others)}?" if others else ""
        raise InputError(f"{folder}: has no folder 'personas'.{instead}")
    people = sorted(path for path in (folder / "personas").iterdir() if path.is_dir())
    if not people:
        raise InputError(f"{folder / 'personas'}: nobody in it; expected a folder for each persona.")
    history = history or _find_history(folder, len(people))
    facts = dict(_read_facts(history))
    starts_file = folder / "environment" / "0.json"
    starts = _read_json(starts_file)
    personas = []
    for person in people:
        file = person / "bootstrap_memory" / "scratch.json"
        who = _check(_Scratch, _read_json(file), str(file))
        _, *home = (part.strip() for part in who.living_area.split(":"))
        if len(home) != 2 or not all(home):
            raise DataError(str(file), "living_area", f"expected 'world:sector:arena', found {who.living_area!r}")
        if not isinstance(starts, dict) or who.name not in starts:
            raise DataError(str(starts_file), who.name, "is missing; expected x and y of the tile where this persona starts")
        start = _check(_Start, starts[who.name], f"{starts_file}, {who.name}")
        if who.name not in facts:
            raise DataError(str(history), "Name", f"has no row for {who.name}")
        written = who.model_dump(exclude={"living_area"})
        personas.append(SmallvillePersona(**written, home=Address(*home), start=Tile(start.x, start.y), facts=facts[who.name]))
    return personas


def _find_history(folder: Path, people: int) -> Path:
    name = f"agent_history_init_n{people}.csv"
    for place in (folder, folder.parent):
        if (place / name).is_file():
            return place / name
    raise InputError(f"{folder}: {name}, with what the {people} personas know, is neither in this folder nor beside it.")


def _read_facts(history: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names, each with what it knows; the first row is the heading."""
    for place, cells in islice(_read_rows(history), 1, None):
        if len(cells) != 2:
            raise DataError(place, "", f"expected a name and what it knows, found {len(cells)} cells")
        yield cells[0], tuple(fact.strip() for fact in cells[1].split(";") if fact.strip())


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{file}: {_MISSING}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from None


def _read_rows(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV file that are not empty, each with its place."""
    for number, row in enumerate(csv.reader(io.StringIO(_read_text(file))), start=1):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield f"{file}, line {number}", cells


def _read_json(file: Path) -> Any:
    if not file.is_file():
        raise InputError(f"{file}: {_MISSING}")
    return next((raw.value for raw in read_records(file, None)), None)


R = TypeVar("R", bound=BaseModel)


def _check(kind: type[R], value: Any, place: str) -> R:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise make_data_error(error, place) from None
