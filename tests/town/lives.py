"""Lives of many residents in the bundled town, for what must hold in all of them."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from hashing_mind import HashingMind, SlowMind
from virtual_time import run_in_virtual_time

from sociable.agents.architecture import Asker, Situation
from sociable.agents.generative.mind import GenerativeMind
from sociable.benchmarks.stss import dataset
from sociable.benchmarks.stss.routine import find_bed
from sociable.town.bodies import Physics, Scheduler
from sociable.town.clock import Clock
from sociable.town.events import AnyEvent
from sociable.town.map import Address, TownMap
from sociable.town.minds import Mind
from sociable.town.persona import Persona
from sociable.town.places import PlaceFinder
from sociable.town.simulation import Simulation
from sociable.town.town_file import load_map

_MODEL = Path(__file__).parents[1] / "agents" / "hashed_model.py"


@cache
def town() -> TownMap:
    return load_map(Path(dataset.__file__).parent / "data" / "town.json")


@cache
def places() -> PlaceFinder:
    return PlaceFinder(town())


@cache
def people() -> dict[str, Persona]:
    return dict(dataset.load_residents(None, town())[0])


@cache
def hashed_model() -> Any:
    spec = importlib.util.spec_from_file_location("hashed_model", _MODEL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def rooms() -> Sequence[Address]:
    return [address for address in town().places if address.arena and not address.thing and town().find_free_tiles(address)]


def hashing_lives(
    seed: int,
    scheduler: Scheduler,
    *,
    slow: int | None = None,
    tiles_per_minute: int = 6,
    residents: int = 9,
    minutes: int = 420,
    kind: type[Simulation] = Simulation,
) -> Simulation:
    """Residents who go to and fro between a few places. ``slow``: the seed of their latencies; None: no latencies."""
    draw = random.Random(seed)
    visited = draw.sample([str(room) for room in rooms()], 5)
    cast: list[tuple[str, Address, Mind]] = []
    for number in range(residents):
        home = draw.choice(rooms())
        mind: Any = HashingMind(f"R{number}", [*visited, str(home)])
        if slow is not None:
            latencies = random.Random(f"{seed} {slow} {number}")
            mind = SlowMind(mind, partial(latencies.choice, (0, 0.01, 0.1, 1, 5)))
        cast.append((f"R{number}", home, mind))
    physics = Physics(tiles_per_minute=tiles_per_minute)
    return kind(town(), cast, scheduler=scheduler, physics=physics, places=places(), minutes=minutes, seed=seed)


def generative_lives(
    seed: int,
    scheduler: Scheduler,
    *,
    latency_seed: int,
    tiles_per_minute: int = 6,
    residents: int = 7,
    minutes: int = 720,
) -> Simulation:
    """Generative agents on a model whose replies are a pure function of the whole prompt, after up to a second each."""
    model = hashed_model().HashedModel(latency_seconds=1.0, latency_seed=latency_seed)
    names = random.Random(seed).sample(sorted(people()), residents)
    cast: list[tuple[str, Address, Mind]] = []
    for name in names:
        persona = people()[name]
        own, low = Asker(model, "subject", str(seed), name), Asker(model, "partner", str(seed), name)
        situation = Situation(
            persona,
            town(),
            Clock(),
            {other: people()[other].learned for other in persona.ties if other in names},
            None,
            high=own,
            low=low,
            react=low,
            tiles_per_minute=tiles_per_minute,
        )
        cast.append((name, find_bed(persona, town()), GenerativeMind(situation)))
    physics = Physics(tiles_per_minute=tiles_per_minute)
    return Simulation(town(), cast, scheduler=scheduler, physics=physics, places=places(), minutes=minutes, seed=seed)


def lived(simulation: Simulation) -> tuple[list[AnyEvent], float]:
    """The log, and how many seconds it would have taken if nothing but waiting for minds took time."""
    _, seconds = run_in_virtual_time(simulation.run)
    return simulation.events, seconds
