"""The simulations that are measured: the bundled town, or several copies of it side by side, with their residents.

Each copy has the bundled residents under names of its own, who know nothing of the other copies: so everything that is
within a resident's reach stays as it is, while the town grows.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import isawaitable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from critical_path import Trace, TracedMind

from sociable.agents.architecture import Asker, Situation
from sociable.agents.generative.mind import GenerativeMind
from sociable.benchmarks.stss.dataset import BUNDLED, load_residents, load_templates
from sociable.benchmarks.stss.drawing import draw_task
from sociable.benchmarks.stss.persuaders import make_performer
from sociable.benchmarks.stss.residents import ReferenceResident, RoutineMind, World, find_bed
from sociable.models.protocol import Reply, Request
from sociable.town.bodies import Physics, Scheduler
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Decision, Mind, TakenAway, Talk, Utterance, View
from sociable.town.persona import Persona
from sociable.town.places import PlaceFinder
from sociable.town.simulation import Simulation
from sociable.town.town_file import load_map

S = TypeVar("S")
T = TypeVar("T")

TESTS = Path(__file__).parent.parent / "tests"
MARK = " of town "
"""Before the number of its copy, in every name of the large town."""


def helper(path: str) -> ModuleType:
    """A helper module of the tests."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, TESTS / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hashed_model = helper("agents/hashed_model.py")


@cache
def bundled() -> tuple[TownMap, PlaceFinder, Mapping[str, Persona]]:
    town = load_map(BUNDLED / "town.json")
    return town, PlaceFinder(town), load_residents(None, town)[0]


# Copies side by side.


def side_by_side(town: TownMap, count: int) -> TownMap:
    """``count`` copies of a town in a row, the sectors of each marked with its number. Streets join where they meet."""
    places = {
        Copy(number, town.width).outside(address): [Tile(x + number * town.width, y) for x, y in tiles]
        for number in range(count)
        for address, tiles in town.places.items()
    }
    return TownMap(f"{count} times {town.name}", np.hstack([town.blocked] * count), places, {})


@dataclass(frozen=True, slots=True)
class Copy:
    """One of the copies: what is in it has a name and a place in the large town, and its own inside."""

    number: int
    width: int

    def outside(self, address: Address) -> Address:
        return replace(address, sector=f"{address.sector}{MARK}{self.number}")

    def name(self, name: str) -> str:
        return f"{name}{MARK}{self.number}" if name else ""

    def view(self, view: View) -> View:
        return replace(
            view,
            tile=Tile(view.tile.x - self.number * self.width, view.tile.y),
            address=inside(view.address),
            sightings=[replace(each, name=bare(each.name), talking_to=bare(each.talking_to)) for each in view.sightings],
            news=[replace(each, name=bare(each.name), talking_to=bare(each.talking_to)) for each in view.news],
        )

    def talk(self, talk: Talk) -> Talk:
        lines = [line.model_copy(update={"speaker": bare(line.speaker)}) for line in talk.lines]
        return replace(talk, partner=bare(talk.partner), address=inside(talk.address), lines=lines)

    def decision(self, decision: Decision) -> Decision:
        return replace(decision, talk_to=self.name(decision.talk_to))


def bare(name: str) -> str:
    return name.partition(MARK)[0]


def inside(address: Address | None) -> Address | None:
    return replace(address, sector=bare(address.sector)) if address is not None else None


class Inside:
    """A mind that lives in a copy and takes it for the whole town."""

    def __init__(self, mind: Mind, copy: Copy) -> None:
        self._mind = mind
        self._copy = copy

    @property
    def alarm(self) -> int | None:
        return self._mind.alarm

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        return _then(self._mind.decide(self._copy.view(view)), self._copy.decision)

    def speak(self, talk: Talk) -> Utterance | Awaitable[Utterance]:
        return self._mind.speak(self._copy.talk(talk))

    def conclude(self, talk: Talk, until: int) -> TakenAway | Awaitable[TakenAway]:
        return self._mind.conclude(self._copy.talk(talk), until)


def _then(answer: S | Awaitable[S], convert: Callable[[S], T]) -> T | Awaitable[T]:
    if not isawaitable(answer):
        return convert(answer)

    async def converted() -> T:
        return convert(await answer)

    return converted()


class PlacesOfAll:
    """What somebody means by a place is in its own copy."""

    def __init__(self, places: PlaceFinder, width: int) -> None:
        self._places = places
        self._width = width

    def find(self, text: str, home: Address, here: Address | None) -> Address | None:
        found = self._places.find(text, inside(home) or home, inside(here))
        return Copy(int(home.sector.partition(MARK)[2]), self._width).outside(found) if found is not None else None


# Residents.


class LatentModel:
    """The hashed model of the tests, answering after a time that depends on nothing but the prompt."""

    def __init__(self, latency: Callable[[random.Random], float]) -> None:
        self._model = hashed_model.HashedModel(malformed=0.0)
        self._latency = latency
        self.calls = 0
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return "hashed"

    async def generate(self, request: Request) -> Reply:
        digest = hashlib.blake2b(b"latency", digest_size=8)
        for message in request.messages:
            digest.update(message["content"].encode())
        seconds = self._latency(random.Random(digest.digest()))
        self.calls += 1
        self.seconds += seconds
        await asyncio.sleep(seconds)
        reply: Reply = await self._model.generate(request)
        return reply

    async def close(self) -> None:
        pass


class Lagging:
    """A mind that answers a drawn time later, as one that asks a model does; at once where it only goes on as it was."""

    def __init__(self, mind: Mind, latency: Callable[[random.Random], float], name: str) -> None:
        self._mind = mind
        self._latency = latency
        self._draw = random.Random(name)

    @property
    def alarm(self) -> int | None:
        return self._mind.alarm

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        if not view.sightings and view.activity is not None and view.minute < view.activity.until:
            return self._mind.decide(view)
        return self._after(self._mind.decide, view)

    def speak(self, talk: Talk) -> Awaitable[Utterance]:
        return self._after(self._mind.speak, talk)

    def conclude(self, talk: Talk, until: int) -> Awaitable[TakenAway]:
        return self._after(self._mind.conclude, talk, until)

    async def _after(self, ask: Callable[..., Any], *told: Any) -> Any:
        await asyncio.sleep(self._latency(self._draw))
        answer = ask(*told)
        return await answer if isawaitable(answer) else answer


def generative_minds(
    cast: Mapping[str, Persona], model: Any, tiles_per_minute: int, item: str = ""
) -> Iterator[tuple[Persona, Mind]]:
    """Plain generative agents; nobody has a task."""
    town, _, _ = bundled()
    for name, persona in cast.items():
        own, low = Asker(model, "subject", item, name), Asker(model, "partner", item, name)
        ties = {other: cast[other].learned for other in persona.ties if other in cast}
        situation = Situation(persona, town, Clock(), ties, None, own, low, low, tiles_per_minute)
        yield persona, GenerativeMind(situation)


def reference_minds(cast: Mapping[str, Persona], seed: int) -> Iterator[tuple[Persona, Mind]]:
    """Reference residents, with one heuristic performer of the first task among them."""
    town, _, people = bundled()
    clock = Clock()
    task = draw_task(load_templates(None, town, people).items[0], people, town, clock, seed)
    world = World(town, clock, 6, seed, "")
    habits = {name: RoutineMind(persona, world) for name, persona in cast.items()}
    for name, persona in cast.items():
        if name == task.performer:
            yield persona, make_performer("heuristic", persona, world, task, habits)
        else:
            yield persona, ReferenceResident(persona, world, task, tuple(persona.ties))


def generative_town(
    scheduler: Scheduler,
    model: LatentModel,
    *,
    residents: int,
    tiles_per_minute: int,
    minutes: int,
    trace: Trace | None = None,
) -> Simulation:
    """Up to as many residents as are bundled in one town, more in several of equal size."""
    _, _, people = bundled()
    copies = -(-residents // len(people))
    names = sorted(people)[: residents // copies]
    cast = {name: people[name] for name in names}
    minds = [list(generative_minds(cast, model, tiles_per_minute, str(number))) for number in range(copies)]
    return _simulation(minds, scheduler, Physics(tiles_per_minute=tiles_per_minute), minutes, trace)


def reference_town(scheduler: Scheduler, *, copies: int, latency: Callable[[random.Random], float] | None = None) -> Simulation:
    """Two days of as many copies of the whole bundled town; with a ``latency`` minds take their time."""
    _, _, people = bundled()
    minds = [list(reference_minds(people, seed)) for seed in range(copies)]
    if latency is not None:
        minds = [
            [(persona, Lagging(mind, latency, f"{persona.name}{copy}")) for persona, mind in each]
            for copy, each in enumerate(minds)
        ]
    return _simulation(minds, scheduler, Physics(), 2 * MINUTES_PER_DAY, None)


def _simulation(
    minds: list[list[tuple[Persona, Mind]]], scheduler: Scheduler, physics: Physics, minutes: int, trace: Trace | None
) -> Simulation:
    town, places, _ = bundled()
    residents: list[tuple[str, Address, Mind]] = []
    for number, inhabitants in enumerate(minds):
        copy = Copy(number, town.width)
        for persona, mind in inhabitants:
            name = copy.name(persona.name)
            lived: Mind = Inside(mind, copy)
            if trace is not None:
                lived = TracedMind(name, lived, trace)
            residents.append((name, copy.outside(find_bed(persona, town)), lived))
    large = side_by_side(town, len(minds))
    finder: Any = PlacesOfAll(places, town.width)
    return Simulation(large, residents, scheduler=scheduler, physics=physics, places=finder, minutes=minutes)
