"""Reading and writing frozen scenes: JSON Lines, what scenes share before those that share it.

A file holds four kinds of records: ``setting`` (the town and its first day), ``person`` (who somebody is), ``task``, and
``scene``, which names its task and its two people. It needs nothing beside it but the town's map.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from sociable.benchmarks.stss.conversations.scene import Scene, Side, Source
from sociable.benchmarks.stss.dataset import DAYS, check_place
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, make_data_error
from sociable.core.errors import DataError
from sociable.core.records import Record
from sociable.core.seeding import select_clusters
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.events import Agreed, Remembered
from sociable.town.map import Address, TownMap
from sociable.town.memory import MemoryKind
from sociable.town.persona import Persona, acquaintances_of

BUNDLED = Path(__file__).parent / "data" / "scenes.jsonl"

LAST = DAYS * MINUTES_PER_DAY
"""The minute at which a simulation ends."""

CANARY = "sociable stss-conversations, evaluation data: do not train on it. canary 5b0c6c1e-7a42-4d9b-9d1f-2f6c83e0a7d4"


class SettingRecord(Record):
    kind: Literal["setting"] = "setting"
    town: Text
    """By name."""
    town_digest: Text
    start: date
    """The first day."""
    canary: str = ""


class PersonRecord(Record):
    kind: Literal["person"] = "person"
    persona: Persona


class TaskRecord(Record):
    kind: Literal["task"] = "task"
    id: Text
    """Of the task in this file: one template makes many."""
    task: Task


class MemoryRecord(Record):
    minute: int = Field(ge=0)
    memory: MemoryKind
    text: Text
    importance: float = 0.0


class AgreementRecord(Record):
    minute: int = Field(ge=0)
    partner: Text
    doing: Text
    place: str = ""
    start: int | None = None
    end: int | None = None


class SideRecord(Record):
    name: Text
    doing: str
    memories: tuple[MemoryRecord, ...]
    agreed: tuple[AgreementRecord, ...] = ()


class SceneRecord(Record):
    kind: Literal["scene"] = "scene"
    id: Text
    task: Text
    minute: int = Field(ge=0, lt=LAST)
    address: str = ""
    performer_begins: bool
    performer: SideRecord
    target: SideRecord
    source: Source
    reference_residents: bool


AnyRecord = Annotated[SettingRecord | PersonRecord | TaskRecord | SceneRecord, Field(discriminator="kind")]
_RECORD: TypeAdapter[SettingRecord | PersonRecord | TaskRecord | SceneRecord] = TypeAdapter(AnyRecord)


def load_scenes(path: Path | None, town: TownMap, *, skip_invalid: bool = False) -> tuple[Loaded[Scene], Clock]:
    """Raises DataError naming file, line and field where a record is wrong, or names what is not there."""
    return _loaded(path, town, skip_invalid) if path else _bundled(town)


@lru_cache(maxsize=2)
def _bundled(town: TownMap) -> tuple[Loaded[Scene], Clock]:
    return _loaded(None, town, False)


def _loaded(path: Path | None, town: TownMap, skip_invalid: bool) -> tuple[Loaded[Scene], Clock]:
    reader = _Reader(town)
    expected = "records of kind setting, person, task and scene, as `sociable construct stss-conversations` writes them"
    loaded = load_items(path, BUNDLED, reader.scenes, skip_invalid=skip_invalid, expected=expected)
    return loaded, reader.clock


class _Reader:
    """Puts scenes together from what came before them."""

    def __init__(self, town: TownMap) -> None:
        self.clock = Clock()
        self._town = town
        self._setting: SettingRecord | None = None
        self._people: dict[str, Persona] = {}
        self._tasks: dict[str, Task] = {}

    def scenes(self, raw: RawRecord) -> Iterable[Scene]:
        """Of one record: a scene, or nothing."""
        try:
            record = _RECORD.validate_python(raw.value)
        except ValidationError as error:
            raise _complaint(error, raw) from None
        match record:
            case SettingRecord():
                self._take_setting(record, raw)
            case PersonRecord(persona=persona):
                _put(self._people, persona.name, persona, raw, "persona.name")
            case TaskRecord(id=name, task=task):
                self._check_task(task, raw)
                _put(self._tasks, name, task, raw, "id")
            case SceneRecord():
                return [self._scene(record, raw)]
        return []

    def _take_setting(self, record: SettingRecord, raw: RawRecord) -> None:
        if record.town != self._town.name:
            raise DataError(
                raw.place,
                "town",
                f"the scenes are from {record.town}, and the map is of {self._town.name}; name theirs: --option town=FILE",
            )
        if self._setting is not None and record.start != self._setting.start:
            raise DataError(raw.place, "start", f"{record.start}, where scenes before it began on {self._setting.start}")
        self._setting = record
        self.clock = Clock(record.start)

    def _check_task(self, task: Task, raw: RawRecord) -> None:
        if not 0 <= task.start < task.end <= LAST:
            expected = f"expected minutes from 0 to {LAST}, the end after the beginning"
            raise DataError(raw.place, "task.start", f"from {task.start} to {task.end}; {expected}")
        if task.type in (TaskType.PUBLIC, TaskType.COMPANIONS) and not task.place:
            raise DataError(raw.place, "task.place", f"a task of {task.type} needs one")
        if task.type is TaskType.HELP and not task.subtasks:
            raise DataError(raw.place, "task.subtasks", f"a task of {task.type} needs them")
        if task.place:
            check_place(task.place, self._town, raw.place, "task.place")
        for number, step in enumerate(task.subtasks):
            check_place(step.place, self._town, raw.place, f"task.subtasks.{number}.place")

    def _scene(self, record: SceneRecord, raw: RawRecord) -> Scene:
        if self._setting is None:
            raise DataError(raw.place, "kind", "a scene before any setting; a record of kind setting must come first")
        if record.task not in self._tasks:
            raise DataError(raw.place, "task", f"no task '{record.task}' before it")
        task = self._tasks[record.task]
        for field in ("performer", "target"):
            side: SideRecord = getattr(record, field)
            if side.name not in self._people:
                raise DataError(raw.place, f"{field}.name", f"nobody called '{side.name}' before it")
            if Address.parse(self._people[side.name].home) not in self._town.places:
                raise DataError(raw.place, f"{field}.name", f"the home of {side.name} is not in {self._town.name}")
            for number, memory in enumerate(side.memories):
                if memory.minute > record.minute:
                    raise DataError(raw.place, f"{field}.memories.{number}.minute", f"after the scene's minute, {record.minute}")
        if record.performer.name != task.performer:
            raise DataError(raw.place, "performer.name", f"the task's performer is {task.performer}")
        if record.target.name == task.performer:
            raise DataError(raw.place, "target.name", f"{task.performer} is the performer, who talks with somebody else")
        if task.target and record.target.name != task.target:
            raise DataError(raw.place, "target.name", f"the appointment is with {task.target}")
        if record.address and Address.parse(record.address) not in self._town.places:
            raise DataError(raw.place, "address", f"there is no '{record.address}' in {self._town.name}")
        return Scene(
            id=record.id,
            task=task,
            minute=record.minute,
            address=record.address,
            performer_begins=record.performer_begins,
            performer=self._side(record.performer, task),
            target=self._side(record.target, task),
            source=record.source,
            reference_residents=record.reference_residents,
        )

    def _side(self, record: SideRecord, task: Task) -> Side:
        persona = self._people[record.name]
        here = {name: self._people[name] for name in task.residents if name in self._people}
        return Side(
            persona=persona,
            doing=record.doing,
            memories=tuple(Remembered(resident=record.name, **memory.model_dump()) for memory in record.memories),
            agreed=tuple(Agreed(resident=record.name, **agreement.model_dump()) for agreement in record.agreed),
            acquaintances=acquaintances_of(persona, here),
        )


def _put(known: dict[str, Any], name: str, value: object, raw: RawRecord, field: str) -> None:
    if known.setdefault(name, value) != value:
        raise DataError(raw.place, field, f"'{name}' is there already, and is another")


def _complaint(error: ValidationError, raw: RawRecord) -> DataError:
    found = make_data_error(error, raw.place)
    kinds = [get_args(each.model_fields["kind"].annotation)[0] for each in (SettingRecord, PersonRecord, TaskRecord, SceneRecord)]
    known = isinstance(raw.value, dict) and raw.value.get("kind") in kinds
    return found if known else DataError(raw.place, "kind", f"expected one of {', '.join(kinds)}")


# Writing.


def scenes_in_lines(scenes: Sequence[Scene], people: Mapping[str, Persona], town: TownMap, clock: Clock) -> Iterator[str]:
    """The lines of a file that ``load_scenes`` reads as the same scenes."""
    tasks: dict[str, str] = {}
    """By content, what a task is called in the file."""
    used: dict[str, Task] = {}
    for scene in scenes:
        content = scene.task.model_dump_json()
        if content not in tasks:
            name = f"{scene.task.id}@{scene.source.seed}"
            tasks[content] = name if name not in used else f"{name}.{len(used)}"
            used[tasks[content]] = scene.task
    here = sorted({name for task in used.values() for name in task.residents if name in people})
    yield _line(SettingRecord(town=town.name, town_digest=town.digest, start=clock.start, canary=CANARY))
    yield from (_line(PersonRecord(persona=people[name])) for name in here)
    yield from (_line(TaskRecord(id=name, task=task)) for name, task in used.items())
    for scene in scenes:
        yield _line(
            SceneRecord(
                id=scene.id,
                task=tasks[scene.task.model_dump_json()],
                minute=scene.minute,
                address=scene.address,
                performer_begins=scene.performer_begins,
                performer=_side_record(scene.performer),
                target=_side_record(scene.target),
                source=scene.source,
                reference_residents=scene.reference_residents,
            )
        )


def _line(record: Record) -> str:
    # Without what is empty or as usual, but for the kind, by which it is read.
    value = record.model_dump(mode="json", exclude_defaults=True)
    kind: str = record.kind  # type: ignore[attr-defined]
    return json.dumps({"kind": kind, **value}, ensure_ascii=False, separators=(",", ":"))


def _side_record(side: Side) -> SideRecord:
    return SideRecord(
        name=side.name,
        doing=side.doing,
        memories=tuple(
            MemoryRecord(minute=each.minute, memory=each.memory, text=each.text, importance=each.importance)
            for each in side.memories
        ),
        agreed=tuple(
            AgreementRecord(
                minute=each.minute, partner=each.partner, doing=each.doing, place=each.place, start=each.start, end=each.end
            )
            for each in side.agreed
        ),
    )


def select_templates(scenes: Sequence[Scene], limit: int | None, seed: int) -> dict[str, Scene]:
    """All scenes of ``limit`` templates, as many of each type as can be; by id."""
    chosen = select_clusters(
        scenes, limit, seed, cluster=lambda scene: scene.template, group=lambda scene: scene.type, by_name=False
    )
    return {scene.id: scene for scene in chosen}
