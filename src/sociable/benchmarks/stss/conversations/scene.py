"""A conversation task: task, performer and target character, frozen at a moment of a simulation (section 3.2).

A scene holds what both know and do before the first word; the words are what the scene is played for.
"""

from __future__ import annotations

from collections.abc import Mapping

from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import Record
from sociable.town.events import Agreed, AnyEvent, Remembered
from sociable.town.map import Address
from sociable.town.persona import Persona

FACT_IMPORTANCE = 5.0
"""The importance that a generative agent gives to what it knows from the beginning."""


class Source(Record):
    """The run that a scene comes from."""

    run: str
    """Name of the run's folder."""
    episode: str
    agent: str
    """The model or reference agent that played the performer."""
    residents: str
    """The model or reference agent that played everybody else."""
    seed: int
    version: str
    """The version of the benchmark ``stss``."""


class Side(Record):
    """One of the two, as it stands before the conversation."""

    persona: Persona
    """Without the task, the performer's too."""
    doing: str
    memories: tuple[Remembered, ...]
    """Its memories in order of time; what it knows from the beginning stands in the persona's facts."""
    agreed: tuple[Agreed, ...] = ()
    """Its promises, to anybody."""
    acquaintances: Mapping[str, str]
    """The people it knows: one line each, by name."""

    @property
    def name(self) -> str:
        return self.persona.name

    @property
    def past(self) -> list[AnyEvent]:
        """Everything that a mind is to be given back: facts, then memories and promises in order of time."""
        facts = (
            Remembered(minute=0, resident=self.name, memory="fact", text=fact, importance=FACT_IMPORTANCE)
            for fact in self.persona.facts
        )
        past: list[AnyEvent] = [*self.memories, *self.agreed]
        return [*facts, *sorted(past, key=lambda event: event.minute)]


class Scene(Record):
    id: str
    task: Task
    minute: int
    """The minute in which the conversation began."""
    address: str = ""
    """``Sector: arena`` where they met; empty in the street."""
    performer_begins: bool
    """Whether the performer went up to the other."""
    performer: Side
    target: Side
    """The target character, with whom the performer talks."""
    source: Source
    reference_residents: bool
    """Whether either of the two had no model when the scene was frozen; what it remembers was then worded by rule."""

    @property
    def type(self) -> TaskType:
        return self.task.type

    @property
    def template(self) -> str:
        return self.task.template

    @property
    def where(self) -> Address | None:
        return Address.parse(self.address) if self.address else None
