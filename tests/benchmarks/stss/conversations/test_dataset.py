"""Files of scenes that are wrong: file, line, field and what was expected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.stss.conversations.dataset import load_scenes, select_templates, write_lines
from sociable.benchmarks.stss.conversations.records import Scene
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.errors import DataError, InputError
from sociable.town.clock import Clock
from sociable.town.map import TownMap


@pytest.fixture
def lines(make_scene: Callable[..., Scene], town: TownMap, clock: Clock) -> list[dict[str, Any]]:
    """setting, Ann, Pia, the task, the scene."""
    scene = make_scene()
    people = {side.name: side.persona for side in (scene.performer, scene.target)}
    return [json.loads(line) for line in write_lines([scene], people, town, clock)]


def written(lines: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_scene_written_by_hand_comes_back(
    lines: list[dict[str, Any]], make_scene: Callable[..., Scene], town: TownMap, tmp_path: Path
) -> None:
    assert [line["kind"] for line in lines] == ["setting", "person", "person", "task", "scene"]
    loaded, _ = load_scenes(written(lines, tmp_path / "s.jsonl"), town)
    assert loaded.items == (make_scene(),)


@pytest.mark.parametrize(
    ("place", "changes", "complaint"),
    [
        (0, {"town": "Elsewhere"}, r"line 1: field 'town'.*Elsewhere.*--option town=FILE"),
        (3, {"kind": "tusk"}, r"line 4: field 'kind'.*expected one of setting, person, task, scene"),
        (4, {"task": "other"}, r"line 5: field 'task'.*no task 'other' before it"),
        (4, {"address": "The Moon: crater"}, r"field 'address'.*no 'The Moon: crater'"),
        (4, {"minute": 5}, r"field 'performer.memories.0.minute'.*from 0 to the scene's, 5"),
        (4, {"minute": -1}, r"field '.*minute'"),
        (4, {"minute": 10**12}, r"field '.*minute'"),
        (4, {"mood": "good"}, r"field '.*mood'"),
    ],
)
def test_what_is_wrong_is_named(
    place: int, changes: dict[str, Any], complaint: str, lines: list[dict[str, Any]], town: TownMap, tmp_path: Path
) -> None:
    lines[place] |= changes
    with pytest.raises(DataError, match=complaint):
        load_scenes(written(lines, tmp_path / "s.jsonl"), town)


def test_people_and_tasks_must_be_there_and_the_performer_the_tasks(
    lines: list[dict[str, Any]], town: TownMap, tmp_path: Path
) -> None:
    setting, ann, pia, task, scene = lines
    for wrong, complaint in (
        ([setting, ann, task, scene], "nobody called 'Pia' before it"),
        ([ann, pia, task, scene], "a scene before any setting"),
        ([setting, ann, pia, task, scene | {"performer": scene["target"], "target": scene["performer"]}], "performer is Pia"),
        (
            [setting, ann, ann | {"persona": ann["persona"] | {"age": 9}}, pia, task, scene],
            "'Ann' is there already, and is another",
        ),
    ):
        with pytest.raises(DataError, match=complaint):
            load_scenes(written(wrong, tmp_path / "s.jsonl"), town)


@pytest.mark.parametrize(
    ("kind", "changes", "complaint"),
    [
        (TaskType.PUBLIC, {"start": 10**12, "end": 10**12 + 60}, r"line 4: field 'task': start and end: .*from 0 to 2880"),
        (TaskType.PUBLIC, {"end": 0}, r"field 'task': start and end: .*the end after the beginning"),
        (TaskType.PUBLIC, {"place": ""}, r"field 'task': place: .*needs one"),
        (TaskType.PUBLIC, {"place": "The Moon: crater"}, r"field 'task.place'.*no 'The Moon: crater'"),
        (TaskType.HELP, {"subtasks": []}, r"field 'task': subtasks: .*needs"),
        (TaskType.APPOINTMENT, {"target": "Ben"}, r"line 5: field 'target.name'.*appointment is with Ben"),
    ],
)
def test_a_task_that_cannot_be_played_is_named(
    kind: TaskType,
    changes: dict[str, Any],
    complaint: str,
    make_scene: Callable[..., Scene],
    make_task: Callable[..., Task],
    town: TownMap,
    clock: Clock,
    tmp_path: Path,
) -> None:
    scene = make_scene(task=make_task(kind))
    people = {side.name: side.persona for side in (scene.performer, scene.target)}
    lines = [json.loads(line) for line in write_lines([scene], people, town, clock)]
    load_scenes(written(lines, tmp_path / "good.jsonl"), town)
    lines[3]["task"] |= changes
    with pytest.raises(DataError, match=complaint):
        load_scenes(written(lines, tmp_path / "s.jsonl"), town)


def test_nobody_talks_to_themselves_or_remembers_what_was_before_the_first_day(
    lines: list[dict[str, Any]], town: TownMap, tmp_path: Path
) -> None:
    scene = lines[4]
    with pytest.raises(DataError, match=r"line 5: field 'target.name'.*the performer"):
        load_scenes(written([*lines[:4], scene | {"target": scene["performer"]}], tmp_path / "s.jsonl"), town)
    memory = {"minute": -1, "memory": "seen", "text": "A ship."}
    with pytest.raises(DataError, match="minute"):
        changed = scene | {"target": scene["target"] | {"memories": [memory]}}
        load_scenes(written([*lines[:4], changed], tmp_path / "s.jsonl"), town)


def test_bad_scenes_can_be_skipped_and_counted(lines: list[dict[str, Any]], town: TownMap, tmp_path: Path) -> None:
    path = written([*lines, lines[4] | {"id": "b", "task": "other"}], tmp_path / "s.jsonl")
    loaded, _ = load_scenes(path, town, skip_invalid=True)
    assert len(loaded.items) == 1
    assert "1 bad records" in loaded.notes[0]
    with pytest.raises(InputError, match="nothing in it"):
        load_scenes(written(lines[:4], tmp_path / "s.jsonl"), town)


def test_a_limit_takes_whole_templates_of_all_types(town: TownMap) -> None:
    scenes = load_scenes(None, town)[0].items
    chosen = select_templates(scenes, 5, seed=3)
    assert len(chosen) == 60
    assert {scene.type for scene in chosen.values()} == set(TaskType)
    assert chosen.keys() != select_templates(scenes, 5, seed=4).keys()
    assert len(select_templates(scenes, None, seed=3)) == len(scenes)
