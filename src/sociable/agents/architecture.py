"""What an architecture of agents is: it makes a mind out of a resident's situation. Found by name.

A package adds its own under the entry point group ``sociable.architectures``: a function of ``Situation`` that returns a
``Mind``. A mind may have two methods more than the town needs:

* ``async interview(question: str, minute: int) -> str``: what it answers when asked from outside, without remembering it;
* ``inject(minute: int, text: str) -> None``: something it learns from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sociable.agents.asking import Asker
from sociable.core.errors import InputError
from sociable.town.clock import Clock
from sociable.town.map import TownMap
from sociable.town.memory import MemoryStream
from sociable.town.minds import Mind
from sociable.town.persona import Persona

GROUP = "sociable.architectures"


@dataclass(frozen=True, slots=True)
class TaskInWords:
    """What the performer is to bring about, in words; nobody else knows of it."""

    goal: str
    criteria: str


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a mind begins with."""

    persona: Persona
    """The performer's ``currently`` says the task already (App. A): that is all a plain generative agent has of it."""
    town: TownMap
    clock: Clock
    acquaintances: Mapping[str, str]
    """By name, whom it knows: one line each."""
    task: TaskInWords | None
    high: Asker
    """The model that makes this resident's target-driven plans, day plans and words: for the performer the one under test."""
    low: Asker
    """The model for everything else."""
    react: Asker
    """The model that decides whether to start talking."""
    tiles_per_minute: int = 6
    seed: int = 0
    new_memory: Callable[[], MemoryStream] = MemoryStream
    """What it remembers with: by default memories are alike that share words."""
    prompts: Path | None = None
    """A user's own prompts in place of the architecture's; None: its own."""
    plain: bool = False
    """For models too weak for structured replies: of a conversation they are asked for the words only (App. A.2)."""


Architecture = Callable[[Situation], Mind]


def architecture_names() -> list[str]:
    return sorted({point.name for point in metadata.entry_points(group=GROUP)})


def find_architecture(name: str) -> Architecture:
    """Raises InputError naming those there are."""
    points = metadata.entry_points(group=GROUP, name=name)
    if not points:
        known = ", ".join(architecture_names()) or "none"
        raise InputError(f"There is no architecture '{name}'; there are: {known}. Packages add theirs under '{GROUP}'.")
    found = next(iter(points)).load()
    if not callable(found):
        raise InputError(f"The architecture '{name}' is no function of a Situation; ask its authors.")
    architecture: Architecture = found
    return architecture
