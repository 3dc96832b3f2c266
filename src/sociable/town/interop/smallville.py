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
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.town.map import LARGEST, Address, Tile, TownMap, find_street, group_by_place

META, BLOCKS = "maze_meta_info.json", "special_blocks"
_MISSING = "no such file. It is a part of Smallville; copy its folder whole."


def find_matrices(folder: Path) -> Path | None:
    """Finds the folder of matrices: ``folder`` itself, or the one called ``matrix`` in it; None where there is none."""
    return next((each for each in (folder, folder / "matrix") if (each / META).is_file()), None)


class _Meta(BaseModel):
    world_name: Text
    maze_width: int = Field(ge=1, le=LARGEST)
    maze_height: int = Field(ge=1, le=LARGEST)


def load_smallville(folder: Path) -> TownMap:
    """Loads the map. Raises InputError or DataError, which name the file that is missing or wrong."""
    folder = find_matrices(folder) or folder
    meta = validate_record(_Meta, _read_json(folder / META), str(folder / META))
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


def _parse_home(area: object) -> Address:
    _, *home = (part.strip() for part in str(area).split(":"))
    if len(home) != 2 or not all(home):
        raise ValueError(f"expected 'world:sector:arena', found {area!r}")
    return Address(*home)


class SmallvillePersona(BaseModel):
    """A resident of Smallville, as its authors describe it in ``scratch.json``."""

    model_config = ConfigDict(frozen=True)

    name: Text
    age: int
    innate: Text
    learned: Text
    currently: str
    lifestyle: Text
    home: Annotated[Address, PlainValidator(_parse_home)] = Field(alias="living_area")
    start: Tile = Tile(0, 0)
    """The tile it stands on when the simulation begins. This and the facts come from files of their own."""
    facts: tuple[str, ...] = ()
    """Sentences it knows, in the second person. Some misspell the names of others."""


class _Start(BaseModel):
    x: int
    y: int


def load_smallville_personas(folder: Path) -> list[SmallvillePersona]:
    """Loads the personas of a folder with ``personas`` and ``environment/0.json``, in the order of their names.

    Their facts come from ``agent_history_init_n25.csv`` (for 25 personas) in the folder or beside it. Raises InputError or
    DataError, which name what is missing.
    """
    if not (folder / "personas").is_dir():
        others = sorted(path.name for path in folder.glob("*") if (path / "personas").is_dir())
        instead = f" Did you mean {' or '.join(str(folder / name) for name in others)}?" if others else ""
        raise InputError(f"{folder}: has no folder 'personas'.{instead}")
    people = sorted(path for path in (folder / "personas").iterdir() if path.is_dir())
    if not people:
        raise InputError(f"{folder / 'personas'}: nobody in it; expected a folder for each persona.")
    name = f"agent_history_init_n{len(people)}.csv"
    history = next((each / name for each in (folder, folder.parent) if (each / name).is_file()), None)
    if history is None:
        where = "the original has it in environment/frontend_server/static_dirs/assets/the_ville"
        known = f"with what the {len(people)} personas know, is neither in this folder nor beside it"
        raise InputError(f"{folder}: {name}, {known}; {where}.")
    facts = dict(_read_facts(history))
    starts_file = folder / "environment" / "0.json"
    starts = _read_json(starts_file)
    personas = []
    for person in people:
        file = person / "bootstrap_memory" / "scratch.json"
        who = validate_record(SmallvillePersona, _read_json(file), str(file))
        if not isinstance(starts, dict) or who.name not in starts:
            raise DataError(str(starts_file), who.name, "is missing; expected x and y of the tile where this persona starts")
        start = validate_record(_Start, starts[who.name], f"{starts_file}, {who.name}")
        if who.name not in facts:
            raise DataError(str(history), "Name", f"has no row for {who.name}")
        personas.append(who.model_copy(update={"start": Tile(start.x, start.y), "facts": facts[who.name]}))
    return personas


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
