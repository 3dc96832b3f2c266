"""Reading and writing frozen scenes: JSON Lines, what scenes share before those that share it.

A file holds four kinds of records: ``setting`` (the town and its first day), ``person`` (who somebody is), ``task``, and
``scene``, which names its task and its two people. It needs nothing beside it but the town's map.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from sociable.benchmarks.stss.best import find_free_start, list_moments
from sociable.benchmarks.stss.conversations.records import Scene, Side, Source
from sociable.benchmarks.stss.obstacles import Obstacles
from sociable.benchmarks.stss.residents import RoutineMind, World
from sociable.benchmarks.stss.task import LAST_MINUTE, OptionalPlace, Task, TaskType
from sociable.benchmarks.stss.templates import Reason
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, validate_record
from sociable.core.errors import DataError
from sociable.core.records import Record
from sociable.core.seeding import make_generator, select_clusters
from sociable.town.clock import Clock
from sociable.town.events import Agreed, Remembered
from sociable.town.map import Address, TownMap
from sociable.town.persona import Persona, find_acquaintances

BUNDLED = Path(__file__).parent / "data" / "scenes.jsonl"

CANARY = "sociable stss-conversations, evaluation data: do not train on it. canary 5b0c6c1e-7a42-4d9b-9d1f-2f6c83e0a7d4"


class SettingRecord(Record):
    town: Text
    """Its name."""
    town_digest: Text
    start: date
    """The first day."""
    canary: str = ""


class PersonRecord(Record):
    persona: Persona


class TaskRecord(Record):
    id: Text
    """The task's name in this file: one template makes many."""
    task: Task


class SideRecord(Record):
    name: Text
    doing: str
    memories: tuple[Remembered, ...]
    agreed: tuple[Agreed, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _add_residents(cls, value: Any) -> Any:
        """Adds the residents' names to memories and agreements, which have none in a file."""
        if not isinstance(value, dict):
            return value
        lists = {field: value[field] for field in ("memories", "agreed") if isinstance(value.get(field), list)}
        own = {"resident": value.get("name")}
        return {**value, **{field: [own | e if isinstance(e, dict) else e for e in each] for field, each in lists.items()}}


class SceneRecord(Record):
    id: Text
    task: Text
    minute: int = Field(ge=0, lt=LAST_MINUTE)
    address: OptionalPlace = ""
    performer_begins: bool
    performer: SideRecord
    target: SideRecord
    source: Source
    reference_residents: bool


_KINDS: Mapping[str, type[Record]] = {"setting": SettingRecord, "person": PersonRecord, "task": TaskRecord, "scene": SceneRecord}


def load_scenes(path: Path | None, town: TownMap, *, skip_invalid: bool = False) -> tuple[Loaded[Scene], Clock]:
    """Raises DataError naming file, line and field where a record is wrong, or names what is not there."""
    return _load(path, town, skip_invalid) if path else _load_bundled(town)


def _load(path: Path | None, town: TownMap, skip_invalid: bool) -> tuple[Loaded[Scene], Clock]:
    reader = _Reader(town)
    expected = "records of kind setting, person, task and scene, as `sociable write_scenes stss-conversations` writes them"
    loaded = load_items(path, BUNDLED, reader.read, skip_invalid=skip_invalid, expected=expected)
    return loaded, reader.clock


_load_bundled = lru_cache(maxsize=2)(lambda town: _load(None, town, False))


class _Reader:
    """Puts scenes together from what came before them."""

    def __init__(self, town: TownMap) -> None:
        self.clock = Clock()
        self._town = town
        self._start: date | None = None
        self._people: dict[str, Persona] = {}
        self._tasks: dict[str, Task] = {}

    def read(self, raw: RawRecord) -> list[Scene]:
        """Reads a record. Returns its scene, where it is one."""
        value = dict(raw.value) if isinstance(raw.value, dict) else {}
        kind = _KINDS.get(str(value.pop("kind", "")))
        if kind is None:
            raise DataError(raw.place, "kind", f"expected one of {', '.join(_KINDS)}")
        record = validate_record(kind, value, raw.place, town=self._town)
        match record:
            case SettingRecord(town=town, start=start):
                if town != self._town.name:
                    remedy = f"the map is of {self._town.name}; name theirs: --option town=FILE"
                    raise DataError(raw.place, "town", f"the scenes are from {town}, and {remedy}")
                if self._start not in (None, start):
                    raise DataError(raw.place, "start", f"{start}, where scenes before it began on {self._start}")
                self._start, self.clock = start, Clock(start)
            case PersonRecord(persona=persona):
                if Address.parse(persona.home) not in self._town.places:
                    raise DataError(raw.place, "persona.home", f"there is no '{persona.home}' in {self._town.name}")
                if self._people.setdefault(persona.name, persona) != persona:
                    raise DataError(raw.place, "persona.name", f"'{persona.name}' is there already, and is another")
            case TaskRecord(id=name, task=task):
                if self._tasks.setdefault(name, task) != task:
                    raise DataError(raw.place, "id", f"'{name}' is there already, and is another")
            case SceneRecord():
                return [self._make_scene(record, raw)]
        return []

    def _make_scene(self, record: SceneRecord, raw: RawRecord) -> Scene:
        task = self._tasks.get(record.task)
        if self._start is None:
            raise DataError(raw.place, "kind", "a scene before any setting; a record of kind setting must come first")
        if task is None:
            raise DataError(raw.place, "task", f"no task '{record.task}' before it")
        for field, side in (("performer", record.performer), ("target", record.target)):
            if side.name not in self._people:
                raise DataError(raw.place, f"{field}.name", f"nobody called '{side.name}' before it")
            for name, own in (("memories", side.memories), ("agreed", side.agreed)):
                for number, each in enumerate(own):
                    if not 0 <= each.minute <= record.minute:
                        problem = f"{each.minute}; expected a minute from 0 to the scene's, {record.minute}"
                        raise DataError(raw.place, f"{field}.{name}.{number}.minute", problem)
        if record.performer.name != task.performer:
            raise DataError(raw.place, "performer.name", f"the task's performer is {task.performer}")
        if record.target.name == task.performer:
            raise DataError(raw.place, "target.name", f"{task.performer} is the performer, who talks with somebody else")
        if task.target and record.target.name != task.target:
            raise DataError(raw.place, "target.name", f"the appointment is with {task.target}")
        sides = {field: self._make_side(getattr(record, field), task) for field in ("performer", "target")}
        return Scene(**{**dict(record), "task": task, **sides})

    def _make_side(self, record: SideRecord, task: Task) -> Side:
        persona = self._people[record.name]
        here = {name: self._people[name] for name in task.residents if name in self._people}
        return Side(
            persona=persona,
            doing=record.doing,
            memories=record.memories,
            agreed=record.agreed,
            acquaintances=find_acquaintances(persona, here),
        )


# Writing.


def write_lines(scenes: Sequence[Scene], people: Mapping[str, Persona], town: TownMap, clock: Clock) -> Iterator[str]:
    """The lines of a file that ``load_scenes`` reads as the same scenes."""
    tasks: dict[str, Task] = {}
    """Each task by its name in the file."""
    names: dict[str, str] = {}
    """Each task's name by its content."""
    for scene in scenes:
        content = scene.task.model_dump_json()
        if content not in names:
            name = f"{scene.task.id}@{scene.source.seed}"
            names[content] = name if name not in tasks else f"{name}.{len(tasks)}"
            tasks[names[content]] = scene.task
    yield _write_line("setting", SettingRecord(town=town.name, town_digest=town.digest, start=clock.start, canary=CANARY))
    for name in sorted({name for task in tasks.values() for name in task.residents if name in people}):
        yield _write_line("person", PersonRecord(persona=people[name]))
    for name, task in tasks.items():
        yield _write_line("task", TaskRecord(id=name, task=task))
    for scene in scenes:
        own = {"performer": scene.performer, "target": scene.target}
        sides = {field: SideRecord.model_validate(side, from_attributes=True) for field, side in own.items()}
        yield _write_line("scene", SceneRecord(**{**dict(scene), "task": names[scene.task.model_dump_json()], **sides}))


def _write_line(kind: str, record: Record) -> str:
    # Without what is empty or as usual, and without the owners of memories.
    own = {"memories": {"__all__": {"resident"}}, "agreed": {"__all__": {"resident"}}}
    value = record.model_dump(mode="json", exclude_defaults=True, exclude={"performer": own, "target": own})
    return json.dumps({"kind": kind, **value}, ensure_ascii=False, separators=(",", ":"))


def note_origin(scenes: Collection[Scene]) -> Iterator[str]:
    """Notes that scenes were made with reference residents, where any were."""
    if made := sum(scene.reference_residents for scene in scenes):
        yield (
            f"{made} of {len(scenes)} scenes were made with reference residents: they come from runs in which people had no "
            "model, and what they remember was worded by rule from what happened. Scenes from runs of models are made with: "
            "sociable construct stss-conversations RUN …"
        )


def give_wills(scenes: Sequence[Scene], reasons: Sequence[Reason], town: TownMap, clock: Clock, seed: int) -> tuple[Scene, ...]:
    """The scenes of level 2: in each the other has a reason of its own, which it tells if it is asked kindly.

    Scenes are left out for which it has no reason that fits (with an appointment those against company fit), or no time.
    """
    found = []
    world = World(town, clock, 6, seed, "level 2")
    for scene in scenes:
        mind = RoutineMind(scene.target.persona, world)
        if all(find_free_start(scene.task, mind, moment) is None for moment in list_moments(scene.task)):
            continue
        kind = TaskType.COMPANIONS if scene.type is TaskType.APPOINTMENT else scene.type
        own = [each for each in reasons if each.who == scene.target.name and each.tells and kind in each.fits]
        own = [each for each in own if scene.performer.name not in each.not_with]
        if own:
            will = make_generator(seed, "will", scene.id).choice(own).make_will(())
            obstacles = Obstacles(level=2, wills=(will,), best=1, best_plan=(scene.target.name,))
            found.append(scene.model_copy(update={"task": scene.task.model_copy(update={"obstacles": obstacles})}))
    return tuple(found)


def select_templates(scenes: Sequence[Scene], limit: int | None, seed: int) -> dict[str, Scene]:
    """All scenes of ``limit`` templates, as many of each type as can be; by id."""
    templates, types = attrgetter("template"), attrgetter("type")
    return {scene.id: scene for scene in select_clusters(scenes, limit, seed, cluster=templates, group=types, by_name=False)}
