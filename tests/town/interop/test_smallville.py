"""Smallville from the files of its authors, where they are, and from small ones of their shape."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sociable.core.errors import DataError, InputError
from sociable.town.interop.smallville import load_smallville, load_smallville_personas
from sociable.town.map import Address, Tile
from sociable.town.town_file import load_map

SHARED = Path(__file__).parents[4] / "shared" / "data" / "smallville"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/smallville")


@needs_shared
def test_the_authors_town() -> None:
    town = load_map(SHARED)
    arenas = [address for address in town.places if address.arena and not address.thing]
    assert (town.name, town.width, town.height) == ("the ville", 140, 100)
    assert (len({address.sector for address in arenas}), len(arenas)) == (19, 63)
    # The ground inside the wall, 4158 tiles; the 7519 outside are more.
    assert int((~town.blocked).sum()) == 4158
    assert all(town.find_free_tiles(address) for address in town.places)


@needs_shared
@pytest.mark.parametrize("folder", ["base_the_ville_n25", "clipped_the_ville_n25"])
def test_the_authors_personas_live_in_it_and_reach_each_other(folder: str) -> None:
    town = load_smallville(SHARED)
    personas = load_smallville_personas(SHARED / folder)
    assert len(personas) == 25
    assert all(town.is_free(each.start) and each.facts and each.age > 15 for each in personas)
    for each in personas:
        address = town.find_address(each.start)
        assert address is not None
        assert address.is_within(each.home)
    # Each first tile of a room must be on this side of the town's wall.
    beds = [town.find_free_tiles(each.home)[0] for each in personas]
    assert all(town.measure_distance(one, other) is not None for one in beds for other in beds)
    isabella = next(each for each in personas if each.name == "Isabella Rodriguez")
    assert (isabella.age, isabella.start) == (34, Tile(72, 14))
    assert ("Valentine" in isabella.currently) == (folder == "base_the_ville_n25")


@needs_shared
def test_the_folder_of_all_of_it_says_where_the_personas_are() -> None:
    with pytest.raises(InputError, match=r"no folder 'personas'.*base_the_ville_n25 or .*clipped_the_ville_n25\?"):
        load_smallville_personas(SHARED)


WALLS = [
    "..........",
    ".#######..",
    ".#...#.#..",
    ".#.....#..",
    ".#######..",
    "..........",
]
ROOMS = [
    "..........",
    "..........",
    "..bb.c....",
    "..bb..cc..",
    "..........",
    "..........",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A walled yard in a wilderness, in it a bedroom, and a café that also has a tile outside the wall."""
    ids = {"b": 3, "c": 4, "#": 9, ".": 0}
    sectors = {"b": 1, "c": 2, ".": 0}
    things = {(2, 2): 7}
    matrices = {
        "collision": [ids[sign] for row in WALLS for sign in row],
        "arena": [ids[sign] for row in ROOMS for sign in row],
        "sector": [sectors[sign] for row in ROOMS for sign in row],
        "game_object": [things.get((x, y), 0) for y in range(6) for x in range(10)],
    }
    blocks = {
        "sector": "1, the Ville, Ann's house \n2, the Ville, Hobbs Cafe",
        "arena": "3, the Ville, Ann's house, bedroom\n4, the Ville, Hobbs Cafe, cafe",
        "game_object": "7, the Ville, <all>, bed",
    }
    for name in ("maze", "special_blocks"):
        (tmp_path / name).mkdir()
    for name, matrix in matrices.items():
        (tmp_path / "maze" / f"{name}_maze.csv").write_text(", ".join(map(str, matrix)))
    for name, text in blocks.items():
        (tmp_path / "special_blocks" / f"{name}_blocks.csv").write_text(text)
    (tmp_path / "maze_meta_info.json").write_text('{"world_name": "the ville", "maze_width": 10, "maze_height": 6}')
    return tmp_path


def test_rooms_beyond_the_wall_are_not_free(folder: Path) -> None:
    town = load_smallville(folder)
    assert town.find_free_tiles(Address("Hobbs Cafe", "cafe")) == (Tile(6, 3),)
    assert town.places[Address("Hobbs Cafe", "cafe")] == [Tile(5, 2), Tile(6, 3), Tile(7, 3)]
    assert town.find_address(Tile(2, 2)) == Address("Ann's house", "bedroom", "bed")
    # One can stand on a thing, as in the authors' town.
    assert town.is_free(Tile(2, 2))
    assert not town.is_free(Tile(0, 0))


def test_a_matrix_may_be_written_in_rows_and_lie_in_a_folder_of_its_own(folder: Path, tmp_path: Path) -> None:
    file = folder / "maze" / "collision_maze.csv"
    cells = file.read_text().split(", ")
    file.write_text("\n".join(",".join(cells[start : start + 10]) for start in range(0, 60, 10)) + "\n")
    (tmp_path / "ville").mkdir()
    (tmp_path / "ville" / "matrix").symlink_to(folder)
    assert (load_map(tmp_path / "ville").blocked == load_smallville(folder).blocked).all()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda f: (f / "maze" / "arena_maze.csv").unlink(), r"arena_maze\.csv: no such file"),
        (lambda f: (f / "special_blocks" / "arena_blocks.csv").unlink(), r"arena_blocks\.csv: no such file"),
        (lambda f: (f / "maze" / "arena_maze.csv").write_text("1, 2"), r"arena_maze\.csv: has 2 ids; expected 10 times 6"),
        (lambda f: (f / "maze" / "arena_maze.csv").write_text("1, x"), r"arena_maze\.csv: expected block ids.*' x'"),
        (lambda f: (f / "maze" / "arena_maze.csv").write_text(f"{10**30}"), r"arena_maze\.csv: expected block ids"),
        (lambda f: (f / "special_blocks" / "sector_blocks.csv").write_text("1, the Ville, Ann's house"),
         r"sector_blocks\.csv: has no name for block 2, which stands in maze/sector_maze\.csv"),
        (lambda f: (f / "special_blocks" / "arena_blocks.csv").write_text("3, the Ville, Ann's house"), r"arena_blocks\.csv, line 1: expected"),
        (lambda f: (f / "maze_meta_info.json").write_text('{"world_name": "x",\n}'), r"maze_meta_info\.json, line 2: not JSON"),
        (lambda f: (f / "maze_meta_info.json").write_text("{}"), r"maze_meta_info\.json: field 'world_name'"),
        (lambda f: (f / "maze" / "collision_maze.csv").write_text(", ".join("9" * 60)), r"'.*' cannot be reached from the street"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_named(folder: Path, change: Callable[[Path], object], complaint: str) -> None:
    change(folder)
    with pytest.raises(InputError, match=complaint):
        load_smallville(folder)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    for name, room in (("Bo Ek", "cellar"), ("Ann Lee", "bedroom")):
        person = folder / "personas" / name / "bootstrap_memory"
        person.mkdir(parents=True)
        scratch = {
            "name": name, "age": 40, "innate": "calm", "learned": f"{name} cooks.", "currently": "", "vision_r": 8,
            "lifestyle": "Sleeps late.", "living_area": f"the Ville:Ann's house:{room}",
        }  # fmt: skip
        (person / "scratch.json").write_text(json.dumps(scratch))
    (folder / "environment").mkdir()
    (folder / "environment" / "0.json").write_text('{"Ann Lee": {"maze": "m", "x": 2, "y": 3}, "Bo Ek": {"x": 4, "y": 5}}')
    (tmp_path / "agent_history_init_n2.csv").write_text('Name,Whisper\nAnn Lee,"You cook; You know Bo, well; "\nBo Ek,You sing\n')
    return folder


def test_who_lives_there(people: Path) -> None:
    ann, bo = load_smallville_personas(people)
    assert (ann.name, ann.home, ann.start) == ("Ann Lee", Address("Ann's house", "bedroom"), Tile(2, 3))
    assert (ann.facts, bo.facts) == (("You cook", "You know Bo, well"), ("You sing",))


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("environment/0.json", None, r"0\.json: no such file"),
        ("environment/0.json", '{"Ann Lee": {"x": 1, "y": 2}}', r"0\.json: field 'Bo Ek': is missing"),
        ("environment/0.json", '{"Ann Lee": {"x": 1}, "Bo Ek": {}}', r"0\.json, Ann Lee: field 'y': Field required"),
        ("personas/Bo Ek/bootstrap_memory/scratch.json", None, r"Bo Ek.*scratch\.json: no such file"),
        ("personas/Bo Ek/bootstrap_memory/scratch.json", "{}", r"Bo Ek.*scratch\.json: field 'name'"),
        ("../agent_history_init_n2.csv", None, r"agent_history_init_n2\.csv.*is neither in this folder nor beside it"),
        ("../agent_history_init_n2.csv", "Name,Whisper\nAnn Lee,You cook\n", r"agent_history_init_n2\.csv.*has no row for Bo Ek"),
        ("../agent_history_init_n2.csv", "Name,Whisper\nAnn Lee\n", r"line 2: expected a name and what it knows, found 1 cells"),
    ],
)
def test_what_is_missing_about_them_is_named(people: Path, file: str, text: str | None, complaint: str) -> None:
    if text is None:
        (people / file).unlink()
    else:
        (people / file).write_text(text)
    with pytest.raises(InputError, match=complaint):
        load_smallville_personas(people)


def test_a_home_is_a_room_of_a_sector(people: Path) -> None:
    file = people / "personas" / "Bo Ek" / "bootstrap_memory" / "scratch.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"living_area": "the Ville"}))
    with pytest.raises(DataError, match=r"living_area.*expected 'world:sector:arena', found 'the Ville'"):
        load_smallville_personas(people)
