"""Scenes by hand, and scenes frozen from a small real run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sociable.benchmarks.stss.conversations.records import Scene, Side, Source
from sociable.benchmarks.stss.drawing import draw_task
from sociable.benchmarks.stss.protocol import Setting, Town
from sociable.benchmarks.stss.records import StssEpisode, StssOptions
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.benchmarks.stss.templates import TaskTemplate
from sociable.core.records import Usage
from sociable.datasets.recipes.stss.freeze import TownRun
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Model, Reply, Request, Sampling
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.events import Remembered
from sociable.town.map import TownMap
from sociable.town.persona import Persona
from sociable.town.places import PlaceFinder

TEMPLATES = ("soup-swap", "first-three-chords", "dumpling-table", "nonsense-quiz", "the-dripping-tap")
"""One of each type."""

RUNS = (("oracle", 0), ("oracle", 1), ("heuristic", 0))


class Kept:
    """Episodes in memory, in place of a run folder's."""

    def __init__(self, *episodes: StssEpisode) -> None:
        self._episodes = {episode.id: episode for episode in episodes}

    def list_ids(self) -> list[str]:
        return list(self._episodes)

    def read(self, identifier: str) -> StssEpisode:
        return self._episodes[identifier]


@pytest.fixture(scope="session")
def make_run(town: TownMap, people: Mapping[str, Persona], clock: Clock) -> Callable[..., TownRun]:
    def make(
        name: str,
        *episodes: StssEpisode,
        agent: str = "reference/oracle",
        seed: int = 0,
        people: Mapping[str, Persona] = people,
    ) -> TownRun:
        source = Source(run=name, episode="", agent=agent, residents="reference/residents", seed=seed, version="1.0.0")
        kept: Any = Kept(*episodes)
        return TownRun(source, town, people, clock, kept)

    return make


@pytest.fixture(scope="session")
def runs(
    town: TownMap,
    people: Mapping[str, Persona],
    clock: Clock,
    places: PlaceFinder,
    templates: Mapping[str, TaskTemplate],
    make_run: Callable[..., TownRun],
) -> list[TownRun]:
    """Two reference performers among reference residents, two seeds, one template of each type."""

    def episode(template: str, agent: str, seed: int) -> StssEpisode:
        task = draw_task(templates[template], people, town, clock, seed)
        lived = Town(task, 0, seats(agent), Setting(town, places, people, clock, StssOptions(), seed))
        # Scenes are of the day before the event's.
        asyncio.run(lived.simulation.run(until=MINUTES_PER_DAY))
        return lived.make_episode()

    return [
        make_run(f"{agent}-{seed}", *(episode(name, agent, seed) for name in TEMPLATES), agent=f"reference/{agent}", seed=seed)
        for agent, seed in RUNS
    ]


@pytest.fixture(scope="session")
def make_scene(make_task: Callable[..., Task], make_persona: Callable[..., Persona]) -> Callable[..., Scene]:
    """Pia meets Ann on Monday at noon (minute 720) at the Guildhall, where her task of ``make_task`` is to be done."""

    def make(kind: TaskType = TaskType.PUBLIC, **changes: Any) -> Scene:
        def side(name: str, secret: str) -> Side:
            memory = Remembered(minute=600, resident=name, memory="conversation", text=f"Ben: {secret}", importance=9)
            persona = make_persona(name, facts=(f"I am {name}.",))
            return Side(persona=persona, doing=f"being {name}", memories=(memory,), acquaintances={})

        fields: dict[str, Any] = {
            "id": "soup-01",
            "task": make_task(kind),
            "minute": 720,
            "address": "The Guildhall: hall",
            "performer_begins": True,
            "performer": side("Pia", "PIAS SECRET"),
            "target": side("Ann", "ANNS SECRET"),
            "source": Source(
                run="a", episode="soup#0", agent="reference/oracle", residents="reference/residents", seed=0, version="1.0.0"
            ),
            "reference_residents": True,
        }
        return Scene(**{**fields, **changes})

    return make


class Talker:
    """A model that says what ``replies`` has for the one who asks and the purpose, in order; the last again and again."""

    def __init__(self, **replies: list[str]) -> None:
        self.name = "talker"
        self.requests: list[Request] = []
        self._replies = replies

    async def generate(self, request: Request) -> Reply:
        self.requests.append(request)
        who, _, purpose = request.scope.participant.partition("|")
        waiting = self._replies.get(f"{who}_{purpose}") or self._replies[purpose]
        return Reply(waiting.pop(0) if len(waiting) > 1 else waiting[0], Usage(calls=1))

    async def close(self) -> None:
        pass

    def prompts(self, who: str, purpose: str = "") -> list[str]:
        """All that was shown in calls of one of the two."""
        return [
            "\n".join(message["content"] for message in request.messages)
            for request in self.requests
            if request.scope.participant.startswith(f"{who}|{purpose}")
        ]


def seats(subject: Model | str, partner: Model | str = "residents") -> Seats:
    def seat(role: Role, who: Model | str) -> Seat:
        if isinstance(who, str):
            return Seat(role, f"reference/{who}", None, Sampling())
        return Seat(role, who.name, who, Sampling())

    return Seats(seat(Role.SUBJECT, subject), seat(Role.PARTNER, partner))
