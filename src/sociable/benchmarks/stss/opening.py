"""From paths to what a study is made of: town, people and tasks, ours or imported."""

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
from sociable.core.seeding import select_clusters
from sociable.town.clock import Clock
from sociable.town.map import TownMap
from sociable.town.persona import Persona
from sociable.town.town_file import load_map

REMARKS_SHOWN = 3
"""Of what an importer noticed; the rest is counted."""


@dataclass(frozen=True)
class Opened:
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


def opened(dataset: Path | None, options: StssOptions, clock: Clock, *, seed: int, limit: int | None) -> Opened:
    """Raises InputError and DataError, which name file, record and field."""
    town = opened_map(options.town)
    people, digest, notes, remarks = _people(options.residents, town)
    templates: Sequence[TaskTemplate] = ()
    if dataset is not None and is_authors_tasks(dataset):
        imported = load_authors_tasks(dataset, town, people, clock)
        tasks = {task.id: task for task in imported.tasks}
        noticed = [str(remark) for remark in imported.remarks]
        notes, remarks = [*notes, *_shortened(noticed, f"about the tasks in {dataset.name}")], [*remarks, *noticed]
        source, read = str(dataset), _digest(task.model_dump_json() for task in tasks.values())
    else:
        loaded = load_templates(dataset, town, people)
        templates, source, read = loaded.items, loaded.source, loaded.digest
        wanted = [template for template in templates if not options.tasks or template.id in options.tasks]
        tasks = {template.id: draw_task(template, people, town, clock, seed) for template in wanted}
    chosen = _chosen(tasks, options.tasks, limit, seed, [template.id for template in templates] or list(tasks))
    digests = {
        "dataset": read,
        "residents": digest,
        "town": town.digest,
    }
    return Opened(town, people, chosen, templates, digests, notes, remarks, source)


def _people(path: str | None, town: TownMap) -> tuple[Mapping[str, Persona], str, list[str], list[str]]:
    """(by name, their digest, what users should know, all that an importer noticed)."""
    if path is not None and is_smallville_people(Path(path)):
        people, remarks = load_smallville_people(Path(path), town)
        digest = _digest(person.model_dump_json() for person in people.values())
        return people, digest, _shortened(remarks, "about the people"), list(remarks)
    found, loaded = load_residents(Path(path) if path else None, town)
    return found, loaded.digest, loaded.notes, []


def _chosen(
    tasks: Mapping[str, Task], names: Sequence[str], limit: int | None, seed: int, known: Sequence[str]
) -> Mapping[str, Task]:
    """Those named, or as many of each type as can be up to a limit."""
    if unknown := set(names) - set(known):
        raise InputError(f"tasks: there is no task '{min(unknown)}'; there are: {', '.join(known)}.")
    if names:
        tasks = {name: tasks[name] for name in names}
    names = list(tasks)
    chosen = select_clusters(names, limit, seed, cluster=str, group=lambda name: tasks[name].type, by_name=False)
    return {name: tasks[name] for name in chosen}


def _shortened(remarks: Sequence[str], about: str) -> list[str]:
    if len(remarks) <= REMARKS_SHOWN:
        return list(remarks)
    return [
        *remarks[:REMARKS_SHOWN],
        f"{len(remarks) - REMARKS_SHOWN} more remarks {about}: see `sociable audit stss` with the same files.",
    ]


@lru_cache(maxsize=4)
def opened_map(path: str | None) -> TownMap:
    """The bundled town, or another. Raises InputError."""
    return load_map(Path(path) if path else BUNDLED / "town.json")


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
