"""Everything that a study reads: town, residents and tasks, ours or of others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

from sociable.benchmarks.stss.drawing import draw_level_task, draw_task
from sociable.benchmarks.stss.interop.authors import is_authors_tasks, load_authors_tasks
from sociable.benchmarks.stss.interop.smallville_people import is_smallville_people, load_smallville_people
from sociable.benchmarks.stss.personas import ResidentRecord
from sociable.benchmarks.stss.records import StssOptions
from sociable.benchmarks.stss.task import Task
from sociable.benchmarks.stss.templates import LevelTemplate, Reason, TaskTemplate
from sociable.core.data_files import Loaded, RawRecord, load_items, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record
from sociable.core.seeding import select_clusters
from sociable.town.clock import Clock
from sociable.town.map import TownMap
from sociable.town.persona import Persona
from sociable.town.town_file import load_map

BUNDLED = Path(__file__).parent / "data"

REMARKS_SHOWN = 3
"""The number of an importer's remarks that are shown; the rest are counted."""


def load_residents(path: Path | None, town: TownMap) -> tuple[Mapping[str, Persona], Loaded[ResidentRecord]]:
    """Everybody who can be cast. Raises DataError where a resident names a place or a person that is not there."""
    read: list[tuple[RawRecord, ResidentRecord]] = []

    def cut(raw: RawRecord) -> list[ResidentRecord]:
        read.append((raw, validate_record(ResidentRecord, raw.value, raw.place, town=town)))
        return [read[-1][1]]

    loaded = load_items(path, BUNDLED / "residents.json", cut, skip_invalid=False, expected="residents with name, home and facts")
    names: dict[str, str] = {}
    for raw, record in read:
        if (other := names.setdefault(record.short, record.name)) != record.name:
            raise DataError(raw.place, "short", f"'{record.short}' is what {other} is called already; ties name people by it")
    for raw, record in read:
        for number, tie in enumerate(record.ties):
            if tie.to not in names:
                problem = f"nobody is called '{tie.to}'; ties name people by their short names"
                raise DataError(raw.place, f"ties.{number}.to", problem)
    return {record.name: record.make_persona(names) for record in loaded.items}, loaded


def load_templates(path: Path | None, town: TownMap, people: Mapping[str, Persona]) -> Loaded[TaskTemplate]:
    """Task templates. Raises DataError with file, line and field where one names people or places that are not there."""

    def cut(raw: RawRecord) -> list[TaskTemplate]:
        return [validate_record(TaskTemplate, raw.value, raw.place, town=town, people=people)]

    return load_items(path, BUNDLED / "tasks.json", cut, skip_invalid=False, expected="task templates")


def load_level(level: int, path: Path | None, town: TownMap, people: Mapping[str, Persona]) -> Loaded[LevelTemplate]:
    """Templates of level 2 or 3, bundled or in a file like them. Raises DataError with file, line and field."""
    bases = {each["id"]: each for each in json.loads((BUNDLED / "tasks.json").read_text(encoding="utf-8"))}

    def cut(raw: RawRecord) -> list[LevelTemplate]:
        value = raw.value if isinstance(raw.value, dict) else {}
        base = value.get("base")
        if not isinstance(base, str):
            raise DataError(raw.place, "base", f"expected the name of a task of level 1, one of: {', '.join(bases)}")
        if base not in bases:
            raise DataError(raw.place, "base", f"there is no task '{base}' of level 1; there are: {', '.join(bases)}")
        return [validate_record(LevelTemplate, {**bases[base], **value}, raw.place, town=town, people=people)]

    bundled = BUNDLED / f"tasks_level{level}.json"
    return load_items(path, bundled, cut, skip_invalid=False, expected="task templates with base and wills")


def load_reasons(town: TownMap, people: Mapping[str, Persona]) -> Loaded[Reason]:
    """Reasons of residents, whatever they are invited to. Another town's people may have none of them."""

    def cut(raw: RawRecord) -> list[Reason]:
        return [validate_record(Reason, raw.value, raw.place, town=town, people=people)]

    return load_items(None, BUNDLED / "reasons.json", cut, skip_invalid=False, expected="reasons of residents")


@dataclass(frozen=True)
class Inputs:
    """Everything that the files say."""

    town: TownMap
    people: Mapping[str, Persona]
    tasks: Mapping[str, Task]
    templates: Sequence[TaskTemplate]
    """Empty where the tasks came ready made."""
    digests: Mapping[str, str]
    notes: Sequence[str]
    remarks: Sequence[str]
    """All that importers noticed; ``notes`` has the first of them."""
    source: str
    origin: Path | None = None
    """The file of the templates, where one was read that says nothing but them."""


def load_inputs(dataset: Path | None, options: StssOptions, clock: Clock, *, seed: int, limit: int | None) -> Inputs:
    """Loads everything that the options and ``dataset`` name. Raises InputError and DataError with file, record and field."""
    if options.level > 1 and dataset is None and (options.town or options.residents):
        raise InputError(
            "level: the bundled tasks of levels 2 and 3 are about Tern Harbour's people; name your own with --dataset."
        )
    town = load_town(options.town)
    notes: list[str] = []
    remarks: list[str] = []

    def remark(noticed: Sequence[str], about: str) -> None:
        remarks.extend(noticed)
        notes.extend(noticed[:REMARKS_SHOWN])
        if more := noticed[REMARKS_SHOWN:]:
            notes.append(f"{len(more)} more remarks {about}: see `sociable audit stss` with the same files.")

    residents = Path(options.residents) if options.residents else None
    people: Mapping[str, Persona]
    if residents is not None and is_smallville_people(residents):
        people, noticed = load_smallville_people(residents, town)
        people_digest = _compute_digest(people.values())
        remark(noticed, "about the people")
    else:
        people, loaded_people = load_residents(residents, town)
        people_digest = loaded_people.digest
        notes += loaded_people.notes
    templates: Sequence[TaskTemplate] = ()
    origin: Path | None = None
    if dataset is not None and is_authors_tasks(dataset):
        if options.level > 1:
            raise InputError(f"level: the authors' tasks in {dataset} have level 1 only; leave it out.")
        imported = load_authors_tasks(dataset, town, people, clock)
        tasks = {task.id: task for task in imported.tasks}
        source, digest, known = str(dataset), _compute_digest(tasks.values()), list(tasks)
        remark([str(each) for each in imported.remarks], f"about the tasks in {dataset.name}")
    elif options.level > 1:
        leveled = load_level(options.level, dataset, town, people)
        # Other people have none of their own beside those of their tasks.
        reasons = None if options.residents else load_reasons(town, people)
        own = reasons.items if reasons is not None else ()
        templates, source = leveled.items, leveled.source
        digest = f"{leveled.digest}, {reasons.digest if reasons is not None else '-'}"
        known = [template.id for template in templates]
        tasks = {
            template.id: draw_level_task(template, own, people, town, clock, seed, options.level)
            for template in leveled.items
            if not options.tasks or template.id in options.tasks
        }
    else:
        loaded = load_templates(dataset, town, people)
        templates, source, digest, origin = loaded.items, loaded.source, loaded.digest, loaded.origin
        known = [template.id for template in templates]
        wanted = [template for template in templates if not options.tasks or template.id in options.tasks]
        tasks = {template.id: draw_task(template, people, town, clock, seed) for template in wanted}
    if unknown := set(options.tasks) - set(known):
        raise InputError(f"tasks: there is no task '{min(unknown)}'; there are: {', '.join(known)}.")
    tasks = {name: tasks[name] for name in options.tasks or tasks}
    digests = {"dataset": digest, "residents": people_digest, "town": town.digest}
    ids, types = attrgetter("id"), attrgetter("type")
    chosen = select_clusters(list(tasks.values()), limit, seed, cluster=ids, group=types, by_name=False)
    return Inputs(town, people, {task.id: task for task in chosen}, templates, digests, notes, remarks, source, origin)


@lru_cache(maxsize=4)
def load_town(path: str | None) -> TownMap:
    """The bundled town, or another. Raises InputError."""
    return load_map(Path(path) if path else BUNDLED / "town.json")


def _compute_digest(records: Iterable[Record]) -> str:
    return hashlib.sha256("\n".join(each.model_dump_json() for each in records).encode("utf-8", "replace")).hexdigest()
