"""Architectures by name, and the example that says how to write one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sociable.agents.architecture import Asker, Situation, find_architecture
from sociable.agents.generative import generative
from sociable.core.errors import InputError
from sociable.models.scripted import ScriptedModel
from sociable.town.bodies import ahead
from sociable.town.clock import Clock
from sociable.town.map import Address, Tile, TownMap, group_by_place
from sociable.town.persona import Persona
from sociable.town.simulation import Simulation

HALL = Address("Hall", "room")
TOWN = TownMap("Test", np.zeros((1, 3), np.bool_), group_by_place((HALL, Tile(x, 0)) for x in range(3)), {})


def situation(name: str, model: Any) -> Situation:
    persona = Persona(
        name=name, short=name, age=30, innate="", learned="", currently="", lifestyle="", home=str(HALL), wakes=0, sleeps=1440
    )
    asker = Asker(model, "subject", "test", name)
    return Situation(persona, TOWN, Clock(), {}, None, asker, asker, asker)


def test_the_example_lives_in_a_town() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "architecture.md"
    code = page.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    models = {name: ScriptedModel(lambda request: "Hello.") for name in ("Ann", "Ben")}
    residents = [(name, HALL, names["sociable_person"](situation(name, model))) for name, model in models.items()]
    simulation = Simulation(TOWN, residents, scheduler=ahead, minutes=120)
    asyncio.run(simulation.run())
    talks = [event for event in simulation.events if event.kind == "talked"]
    assert [(talk.minute, talk.resident) for talk in talks] == [(0, "Ann"), (60, "Ann")]
    # Each may speak eight times, and sees what was said before.
    assert [line.speaker for line in talks[0].lines] == ["Ann", "Ben"] * 8
    assert models["Ben"].requests[0].messages[0]["content"].split("\n")[1] == "Ann: Hello."
    assert not any(hasattr(mind, name) for _, _, mind in residents for name in ("inject", "interview", "restore"))


def test_a_generative_agent_can_be_told_asked_and_given_a_memory() -> None:
    mind = generative(situation("Ann", ScriptedModel([])))
    assert all(callable(getattr(mind, name)) for name in ("inject", "interview", "restore"))


def test_architectures_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "generative": SimpleNamespace(name="generative", load=lambda: generative),
        "odd": SimpleNamespace(name="odd", load=lambda: 7),
    }

    def entry_points(group: str, name: str | None = None) -> list[SimpleNamespace]:
        assert group == "sociable.architectures"
        return [point for key, point in points.items() if name in (None, key)]

    monkeypatch.setattr("sociable.agents.architecture.metadata.entry_points", entry_points)
    assert find_architecture("generative") is generative
    with pytest.raises(InputError, match=r"no architecture 'clever'; there are: generative, odd"):
        find_architecture("clever")
    with pytest.raises(InputError, match="'odd' is no function"):
        find_architecture("odd")
