"""The bundled town, its people and templates, loaded once; a task and a resident to be varied by hand; whole runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sociable.benchmarks.stss.dataset import BUNDLED, load_residents, load_templates
from sociable.benchmarks.stss.drawing import draw_task
from sociable.benchmarks.stss.measure import measure_episode
from sociable.benchmarks.stss.protocol import Setting, Town, run_task
from sociable.benchmarks.stss.records import Measured, StssEpisode, StssOptions
from sociable.benchmarks.stss.task import Signs, Subtask, Task, TaskType
from sociable.benchmarks.stss.templates import TaskTemplate
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling
from sociable.town.clock import MINUTES_PER_DAY, Clock, parse_minute
from sociable.town.map import TownMap
from sociable.town.persona import Persona
from sociable.town.places import PlaceFinder
from sociable.town.town_file import load_map

HALL = "The Guildhall: hall"
KITCHEN = "The Guildhall: kitchen"
STORE = "Bolt & Brace: shop floor"


@pytest.fixture(scope="session")
def town() -> TownMap:
    return load_map(BUNDLED / "town.json")


@pytest.fixture(scope="session")
def clock() -> Clock:
    """Day 0 is Monday 13 February 2023, day 1 the event's Tuesday."""
    return Clock()


@pytest.fixture(scope="session")
def places(town: TownMap) -> PlaceFinder:
    return PlaceFinder(town)


@pytest.fixture(scope="session")
def people(town: TownMap) -> Mapping[str, Persona]:
    return load_residents(None, town)[0]


@pytest.fixture(scope="session")
def templates(town: TownMap, people: Mapping[str, Persona]) -> Mapping[str, TaskTemplate]:
    return {template.id: template for template in load_templates(None, town, people).items}


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    """A task by hand on Tuesday, 17:00 to 19:00 (minutes 2460 to 2580): soup at the Guildhall; Pia performs."""

    def make(kind: TaskType = TaskType.PUBLIC, **changes: Any) -> Task:
        cast = ("Ann", "Ben", "Cy", "Dee")
        start, end = parse_minute("17:00", 2), parse_minute("19:00", 2)
        fields: dict[str, Any] = {
            "id": "soup",
            "template": "soup",
            "type": kind,
            "activity": "soup swap",
            "goal": "Pia wants people to swap soup.",
            "first_person": "I want people to swap soup.",
            "description": "Soups go from pot to pot.",
            "performer": "Pia",
            "cast": cast,
            "start": start,
            "end": end,
            "expected": 2,
            "place": HALL if kind in (TaskType.PUBLIC, TaskType.COMPANIONS) else "",
            "places": (HALL, "Kettle & Tern: tea room") if kind is TaskType.APPOINTMENT else (),
            "target": "Ann" if kind is TaskType.APPOINTMENT else "",
            "signs": Signs(keywords=(("soup", "broth"),), not_keywords=("recipe",)),
            "wordings": ("tasting soup",),
            "subtasks": (
                Subtask(
                    doing="buying a washer",
                    place=STORE,
                    minutes=5,
                    signs=Signs(keywords=(("washer",), ("buy", "fetch")), errand=True),
                    wordings=("buying a washer",),
                ),
                Subtask(
                    doing="fitting the washer",
                    place=KITCHEN,
                    minutes=5,
                    signs=Signs(keywords=(("washer", "tap"), ("fit", "mend")), errand=True),
                    wordings=("fitting the washer in the tap",),
                ),
            )
            if kind is TaskType.HELP
            else (),
        }
        if kind is TaskType.HELP:
            fields["activity"] = "mending a tap for somebody"
            fields["signs"] = Signs(keywords=(("washer", "tap"),), errand=True)
        return Task(**{**fields, **changes})

    return make


@pytest.fixture(scope="session")
def make_persona() -> Callable[..., Persona]:
    """Somebody who gets up at 07:00, goes to bed at 23:00 and has no habits."""

    def make(name: str = "Ann", **changes: Any) -> Persona:
        fields: dict[str, Any] = {
            "name": name,
            "short": name,
            "age": 40,
            "innate": "patient",
            "learned": f"{name} lives here.",
            "currently": f"{name} is well.",
            "lifestyle": "",
            "home": "Chandler's Row 1: bedroom",
            "wakes": 7 * 60,
            "sleeps": 23 * 60,
        }
        return Persona(**{**fields, **changes})

    return make


Live = Callable[..., tuple[StssEpisode, Measured]]


@pytest.fixture(scope="session")
def live(
    town: TownMap, clock: Clock, places: PlaceFinder, people: Mapping[str, Persona], templates: Mapping[str, TaskTemplate]
) -> Live:
    """Draws a template's task, lets a reference performer do it among reference residents, and measures it."""

    def run(template: str, agent: str, seed: int = 0, options: StssOptions | None = None) -> tuple[StssEpisode, Measured]:
        options = options or StssOptions()
        task = draw_task(templates[template], people, town, clock, seed)
        seats = Seats(
            Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()),
            Seat(Role.PARTNER, "reference/residents", None, Sampling()),
        )
        episode = asyncio.run(run_task(Town(task, 0, seats, Setting(town, places, people, clock, options, seed))))
        assert episode.minutes == 2 * MINUTES_PER_DAY
        return episode, measure_episode(episode, town, clock, options)

    return run
