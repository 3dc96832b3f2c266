"""Smallville's layout: what its viewer reads is there, and says what the log says."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from sociable.benchmarks.stss.interop.smallville_export import export_smallville
from sociable.benchmarks.stss.records import StssEpisode
from sociable.core.errors import InputError, StorageFailure
from sociable.town.clock import Clock
from sociable.town.events import Began, Line, Remembered, Slept, Talked, Walked, read_timelines
from sociable.town.map import Address, Tile, TownMap
from sociable.town.persona import Persona

ANN, BO = "Ann Ferry", "Bo Harker"
MINUTES = 12
HOSTILE = "hello </script><img src=x onerror=alert(1)>"
EPISODE = StssEpisode(
    id="the-quiz#0",
    scenario="the-quiz",
    cluster="the-quiz",
    repeat=0,
    starts={ANN: (0, 0), BO: (9, 0)},
    minutes=MINUTES,
    events=(
        Began(minute=0, resident=ANN, doing="mailing bo@quay", planned_place="cafe", address="Gull Cafe: cafe", until=12),
        Began(minute=0, resident=BO, doing="sleeping", until=3, asleep=True),
        Slept(minute=0, resident=BO, until=3),
        # Eight steps, six a minute: in minute 1 six of them, in minute 2 the rest.
        Walked(minute=1, resident=ANN, start=(0, 0), way="E8", tiles_per_minute=6),
        Began(minute=3, resident=BO, doing="being up", until=12),
        Talked(minute=5, resident=ANN, partner=BO, until=8,
               lines=(Line(speaker=ANN, says=HOSTILE), Line(speaker=BO, says="Morning."))),
        Remembered(minute=8, resident=ANN, memory="thought", text="Bo is up.", importance=3),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def town() -> TownMap:
    tiles = [Tile(x, 0) for x in range(10)]
    place, bed = Address("Gull Cafe", "cafe"), Address("Gull Cafe", "cafe", "bed")
    return TownMap("the quay", np.zeros((2, 10), bool), {Address("Gull Cafe"): tiles, place: tiles, bed: tiles[9:]}, {})


def somebody(name: str) -> Persona:
    return Persona(name=name, short=name, age=30, innate="calm", learned="A potter.", currently="", lifestyle="late",
                   home="Gull Cafe: cafe", wakes=420, sleeps=1380)  # fmt: skip


PEOPLE = {name: somebody(name) for name in (ANN, BO, "Yannick Le Goff")}


class Exported(NamedTuple):
    storage: Path
    compressed: Path
    losses: list[str]


@pytest.fixture
def exported(town: TownMap, tmp_path: Path) -> Exported:
    losses = export_smallville(EPISODE, PEOPLE, town, Clock(), tmp_path)
    return Exported(tmp_path / "storage" / "the-quiz-0", tmp_path / "compressed_storage" / "the-quiz-0", losses)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_every_step_has_its_files(exported: Exported) -> None:
    steps = {f"{step}.json" for step in range(MINUTES)}
    assert {path.name for path in (exported.storage / "movement").iterdir()} == steps
    # Where everybody stands before each step, and after the last.
    assert {path.name for path in (exported.storage / "environment").iterdir()} == steps | {f"{MINUTES}.json"}
    first = read(exported.storage / "movement" / "0.json")
    assert first["meta"] == {"curr_time": "February 13, 2023, 00:00:00"}
    assert read(exported.storage / "movement" / "11.json")["meta"] == {"curr_time": "February 13, 2023, 00:11:00"}
    assert list(first["persona"]) == [ANN, BO]
    assert set(first["persona"][ANN]) == {"movement", "pronunciatio", "description", "chat"}


def test_the_description_of_the_simulation(exported: Exported) -> None:
    meta = read(exported.storage / "reverie" / "meta.json")
    assert meta == read(exported.compressed / "meta.json")
    assert (meta["sec_per_step"], meta["maze_name"], meta["persona_names"]) == (60, "the_ville", [ANN, BO])
    assert meta["step"] == MINUTES
    # As the viewer reads it.
    assert datetime.strptime(meta["start_date"] + " 00:00:00", "%B %d, %Y %H:%M:%S") == datetime(2023, 2, 13)
    assert datetime.strptime(meta["curr_time"], "%B %d, %Y, %H:%M:%S") == datetime(2023, 2, 13, 0, 12)


def test_positions_are_those_that_count(exported: Exported) -> None:
    of = read_timelines(EPISODE.events, {ANN: Tile(0, 0), BO: Tile(9, 0)}, MINUTES)
    for step in range(MINUTES):
        shown = read(exported.storage / "movement" / f"{step}.json")["persona"]
        after = read(exported.storage / "environment" / f"{step + 1}.json")
        for name in (ANN, BO):
            tile = of[name].tiles[step]
            assert shown[name]["movement"] == [tile.x, tile.y]
            assert after[name] == {"maze": "the_ville", "x": tile.x, "y": tile.y}
    assert read(exported.storage / "environment" / "0.json")[BO] == {"maze": "the_ville", "x": 9, "y": 0}
    assert read(exported.storage / "movement" / "2.json")["persona"][ANN]["movement"] == [8, 0]


def test_the_conversation_stands_in_its_minutes_and_its_markup_is_harmless(exported: Exported) -> None:
    chats = [read(exported.storage / "movement" / f"{step}.json")["persona"][BO]["chat"] for step in range(MINUTES)]
    said = [[ANN, "hello &lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"], [BO, "Morning."]]
    assert chats == [None] * 5 + [said] * 3 + [None] * 4
    for file in exported.storage.rglob("movement/*.json"):
        assert "<" not in file.read_text()
    assert "<" not in (exported.compressed / "master_movement.json").read_text()


def test_what_somebody_does_and_where(exported: Exported) -> None:
    shown = {step: read(exported.storage / "movement" / f"{step}.json")["persona"] for step in range(MINUTES)}
    # The viewer shows what stands before the first @ and what stands after it.
    assert shown[4][ANN]["description"] == "mailing bo at quay @ the quay:Gull Cafe:cafe"
    # No place was named: where it stands.
    assert shown[4][BO]["description"] == "being up @ the quay:Gull Cafe:cafe:bed"
    assert [shown[step][ANN]["pronunciatio"] for step in (0, 1, 2, 3, 5, 8)] == ["🙂", "🚶", "🚶", "🙂", "💬", "🙂"]
    assert [shown[step][BO]["pronunciatio"] for step in (2, 3)] == ["💤", "🙂"]


def test_the_compressed_form_is_the_changes(exported: Exported) -> None:
    film = read(exported.compressed / "master_movement.json")
    # The viewer counts the steps by the keys.
    assert list(film) == [str(step) for step in range(MINUTES)]
    assert list(film["0"]) == [ANN, BO]
    now: dict[str, Any] = {}
    for step in range(MINUTES):
        now |= film[str(step)]
        assert now == read(exported.storage / "movement" / f"{step}.json")["persona"]
    # Nothing changes while they talk; when they stop, the conversation goes for both.
    assert [list(film[str(step)]) for step in (6, 7, 8, 9)] == [[], [], [ANN, BO], []]


def test_everybody_has_a_folder(exported: Exported) -> None:
    for whole in (exported.storage, exported.compressed):
        assert sorted(path.name for path in (whole / "personas").iterdir()) == [ANN, BO]
        memory = whole / "personas" / ANN / "bootstrap_memory"
        scratch = read(memory / "scratch.json")
        assert (scratch["first_name"], scratch["last_name"], scratch["age"]) == ("Ann", "Ferry", 30)
        assert scratch["living_area"] == "the quay:Gull Cafe:cafe"
        assert read(memory / "spatial_memory.json") == {"the quay": {"Gull Cafe": {"cafe": ["bed"]}}}
        nodes = read(memory / "associative_memory" / "nodes.json")
        assert [(key, node["type"], node["created"]) for key, node in nodes.items()] == [
            ("node_1", "chat", "2023-02-13 00:05:00"),
            ("node_2", "thought", "2023-02-13 00:08:00"),
        ]
        assert nodes["node_1"]["filling"][1] == [BO, "Morning."]


def test_what_the_viewer_will_not_show_is_said(exported: Exported, town: TownMap, tmp_path: Path) -> None:
    assert len(exported.losses) == 1
    assert "140 by 100" in exported.losses[0]
    told = export_smallville(EPISODE, PEOPLE, town, Clock(), tmp_path / "more", score="1.000: all came", warnings=["A fork."])
    assert told == [*exported.losses, "A fork."]
    for kind in ("storage", "compressed_storage"):
        about = read(tmp_path / "more" / kind / "the-quiz-0" / "sociable.json")
        assert (about["warnings"], about["score"]) == (told, "1.000: all came")
        assert [Persona.model_validate(each) for each in about["people"]] == [PEOPLE[ANN], PEOPLE[BO]]


@pytest.mark.parametrize("name", ["Yannick Le Goff", "Ana Maria de la Cruz", "Ann Ferry", "Cher"])
def test_the_demo_page_finds_every_name(name: str, town: TownMap, tmp_path: Path) -> None:
    odd = StssEpisode.model_validate(EPISODE.model_dump() | {"id": "odd", "starts": {name: (0, 0)}, "events": ()})
    export_smallville(odd, {name: somebody(name)}, town, Clock(), tmp_path)
    (key,) = read(tmp_path / "compressed_storage" / "odd" / "master_movement.json")["0"]
    # The page's server makes an identifier of it, and its script a name of that.
    assert key.replace(" ", "_").replace("_", " ", 1) == key
    # Its page on one person opens the folder of the whole name.
    assert " ".join(key.replace(" ", "_").split("_")) == name
    assert (tmp_path / "compressed_storage" / "odd" / "personas" / name).is_dir()


def test_what_cannot_be_written(town: TownMap, tmp_path: Path) -> None:
    climber = StssEpisode.model_validate(EPISODE.model_dump() | {"id": "climb", "starts": {"../../etc": (0, 0)}, "events": ()})
    with pytest.raises(InputError, match="cannot be one"):
        export_smallville(climber, PEOPLE, town, Clock(), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailure):
        export_smallville(EPISODE, PEOPLE, town, Clock(), tmp_path / "file")
