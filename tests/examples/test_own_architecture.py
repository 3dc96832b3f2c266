"""An architecture of one's own: two residents of a small town meet and talk, and the benchmark takes it by name."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sociable
from sociable.agents.architecture import Asker, Situation, TaskInWords, find_architecture
from sociable.models.scripted import ScriptedModel
from sociable.town.bodies import Scheduler, ahead, lockstep
from sociable.town.clock import Clock, parse_minute
from sociable.town.map import Address
from sociable.town.persona import Habit, Persona
from sociable.town.simulation import Simulation
from sociable.town.town_file import read_town

from .conftest import EXAMPLES

TOWN = {
    "name": "Small Town",
    "width": 12,
    "height": 6,
    "sectors": [
        {"name": name, "rect": [x, 0, 5, 5], "doors": [[x + 2, 4]], "arenas": [{"name": "room", "rect": [x + 1, 1, 3, 4]}]}
        for name, x in (("Hall", 0), ("Den", 6))
    ],
}
CANARY = "keep the blue lamp a secret"


@pytest.fixture(autouse=True)
def installed(install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    install(EXAMPLES / "own_architecture")
    monkeypatch.delitem(sys.modules, "messenger", raising=False)


def persona(name: str, home: str) -> Persona:
    every_day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    return Persona(
        name=name,
        short=name,
        age=40,
        innate="calm",
        learned=f"{name} lives here.",
        currently="Nothing is urgent.",
        lifestyle="Early to bed.",
        home=home,
        wakes=parse_minute("06:00"),
        sleeps=parse_minute("22:00"),
        habits=(
            Habit(days=every_day, start=parse_minute("09:00"), end=parse_minute("11:00"), doing="reading", place="Hall: room"),
        ),
    )


def live(scheduler: Scheduler) -> tuple[list[object], list[str]]:
    """(the event log of two days, the prompts of Ben)."""
    town = read_town(TOWN, "the small town")
    prompts: list[str] = []
    minds = {}
    for name, home in (("Ada", "Hall: room"), ("Ben", "Den: room")):

        def say(request: object, name: str = name) -> str:
            asked = request.messages[-1]["content"]  # type: ignore[attr-defined]
            if name == "Ben":
                prompts.append(asked)
            return "Come to the reading on Tuesday." if "(nothing yet)" in asked else "Gladly. GOODBYE"

        asker = Asker(ScriptedModel(say, name=name), "subject", "town#0", name)
        task = TaskInWords(CANARY, "") if name == "Ada" else None
        situation = Situation(persona(name, home), town, Clock(), {}, task, asker, asker, asker)
        minds[name] = (name, Address.parse(home), find_architecture("messenger")(situation))
    simulation = Simulation(town, list(minds.values()), scheduler=scheduler)
    asyncio.run(simulation.run())
    return [event.model_dump() for event in simulation.events], prompts


def test_two_residents_meet_talk_and_keep_their_day() -> None:
    events, prompts = live(ahead)
    talks = [event for event in events if event["kind"] == "talked"]  # type: ignore[index]
    # Once a day, when Ben has come to the hall.
    first, second = (talk["minute"] for talk in talks)  # type: ignore[index]
    assert parse_minute("09:00", 1) <= first < parse_minute("11:00", 1)
    assert parse_minute("09:00", 2) <= second < parse_minute("11:00", 2)
    slept = [event["resident"] for event in events if event["kind"] == "slept"]  # type: ignore[index]
    assert {"Ada", "Ben"} == set(slept)
    # What Ada wants stands in her prompts only; what she said yesterday Ben remembers.
    assert not any(CANARY in prompt for prompt in prompts)
    assert any("earlier conversations" in prompt and "Come to the reading" in prompt for prompt in prompts)


def test_the_log_is_the_same_in_lockstep() -> None:
    assert live(lockstep) == live(ahead)


def test_stss_takes_it_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def reply(messages):\n    return 'Good to see you. GOODBYE'\n")
    result = sociable.run(
        "stss",
        f"python:{tmp_path / 'agent.py'}:reply",
        partner="reference/residents",
        out=tmp_path / "run",
        options={"agent": "messenger", "tasks": ["soup-swap"]},
    )
    episode = next(result.episodes())
    assert any(event.kind == "talked" and episode.task.performer in (event.resident, event.partner) for event in episode.events)
