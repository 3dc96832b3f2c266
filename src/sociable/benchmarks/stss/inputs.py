"""Everything that a study's paths and options name: town, people and tasks, ours or imported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sociable.benchmarks.stss.dataset import BUNDLED, TaskTemplate, draw_task, load_residents, load_templates
from sociable.benchmarks.stss.interop.authors import is_authors_tasks, load_authors_tasks
from sociable.benchmarks.stss.interop.smallville_people import is_smallville_people, load_smallville_people
from sociable.benchmarks.stss.options import StssOptions
from sociable.benchmarks.stss.task import Task
from sociable.core.errors import InputError
from sociable.core.records import Record
from sociable.core.seeding import drawn_evenly, named_generator
from sociable.town.clock import Clock
from sociable.town.map import TownMap
from sociable.town.persona import Persona
from sociable.town.town_file import load_map

REMARKS_SHOWN = 3
"""How many of an importer's remarks are shown; the rest are counted."""


@dataclass(frozen=True)
class Inputs:
    """All that the files say."""

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


def load_inputs(dataset: Path | None, options: StssOptions, clock: Clock, *, seed: int, limit: int | None) -> Inputs:
    """Raises InputError and DataError, which name file, record and field."""
    town = load_town(options.town)
    notes: list[str] = []
    remarks: list[str] = []

    def remark(noticed: Sequence[str], about: str) -> None:
        remarks.extend(noticed)
        notes.extend(noticed[:REMARKS_SHOWN])
        if more := len(noticed) - len(noticed[:REMARKS_SHOWN]):
            notes.append(f"{more} more remarks {about}: see `sociable audit stss` with the same files.")

    residents = Path(options.residents) if options.residents else None
    people: Mapping[str, Persona]
    if residents is not None and is_smallville_people(residents):
        people, noticed = load_smallville_people(residents, town)
        people_digest = _digest(people.values())
        remark(noticed, "about the people")
    else:
        people, loaded_people = load_residents(residents, town)
        people_digest = loaded_people.digest
        notes += loaded_people.notes
    templates: Sequence[TaskTemplate] = ()
    if dataset is not None and is_authors_tasks(dataset):
        imported = load_authors_tasks(dataset, town, people, clock)
        tasks = {task.id: task for task in imported.tasks}
        source, digest, known = str(dataset), _digest(tasks.values()), list(tasks)
        remark([str(each) for each in imported.remarks], f"about the tasks in {dataset.name}")
    else:
        loaded = load_templates(dataset, town, people)
        templates, source, digest = loaded.items, loaded.source, loaded.digest
        known = [template.id for template in templates]
        wanted = [template for template in templates if not options.tasks or template.id in options.tasks]
        tasks = {template.id: draw_task(template, people, town, clock, seed) for template in wanted}
    if unknown := set(options.tasks) - set(known):
        raise InputError(f"tasks: there is no task '{min(unknown)}'; there are: {', '.join(known)}.")
    tasks = {name: tasks[name] for name in options.tasks or tasks}
    digests = {"dataset": digest, "residents": people_digest, "town": town.digest}
    return Inputs(town, people, _limit(tasks, limit, seed), templates, digests, notes, remarks, source)


def _limit(tasks: Mapping[str, Task], limit: int | None, seed: int) -> Mapping[str, Task]:
    """As many tasks of each type as can be, up to a limit."""
    groups: dict[str, list[str]] = {}
    for task in tasks.values():
        groups.setdefault(task.type, []).append(task.id)
    chosen = drawn_evenly(groups, len(tasks) if limit is None else limit, named_generator(seed, "limit"))
    return {name: task for name, task in tasks.items() if name in chosen}


@lru_cache(maxsize=4)
def load_town(path: str | None) -> TownMap:
    """The bundled town, or another. Raises InputError."""
    return load_map(Path(path) if path else BUNDLED / "town.json")


def _digest(records: Iterable[Record]) -> str:
    return hashlib.sha256("\n".join(each.model_dump_json() for each in records).encode("utf-8", "replace")).hexdigest()
