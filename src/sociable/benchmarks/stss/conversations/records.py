"""Conversation tasks, the record of one that was played, and the language level's options.

A scene is a conversation task: task, performer and target character, frozen at a moment of a simulation (section 3.2). It
holds what both know and do before the first word; the words are what the scene is played for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import Episode, Record
from sociable.town.events import Agreed, AnyEvent, Line, Remembered
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
    """The person without any task; so also the performer's."""
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


class ConversationEpisode(Episode):
    """One scene, played. ``turns`` hold what was said, in order."""

    summary: str = ""
    """The listener's own words of what it takes away; empty where nobody said anything."""
    partner_failure: str = ""
    """The reason why the other's part cannot be trusted: then nothing is scored."""
    summary_failure: str = ""
    """The reason why there is no summary though there should be one: then nothing is scored on it."""
    played_by: dict[str, str] = {}
    """The model or reference agent, by the name of the person it plays."""

    def has_words_of(self, name: str) -> bool:
        """Whether somebody said anything."""
        return any(turn.content.strip() and turn.speaker == name for turn in self.turns)

    @property
    def lines(self) -> list[Line]:
        return [Line(speaker=turn.speaker, says=turn.content, note=turn.note) for turn in self.turns]


class ConversationOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    level: Literal[1, 2] = Field(default=1, description="how hard: 1 the paper's; 2: the other has a reason against it")
    agent: str = Field(default="generative", description="the performer's architecture; only its words are asked for")
    background_agent: str = Field(
        default="generative", description="the architecture of the other person, who listens and summarises"
    )
    turns_each: int = Field(default=8, ge=1, description="the greatest number of turns of each")
    plain: bool = Field(False, description="ask the performer's model for its words only, if it is too weak for JSON (A.2)")
    embeddings: str | None = Field(default=None, description="a sentence-transformers model that compares memories")
    agent_prompts: str | None = Field(default=None, description="folder of prompts in place of the generative agent's")
    judge_prompts: str | None = Field(
        default=None, description="a copy of the authors' repository, to judge with their prompts and conditions"
    )
    town: str | None = Field(default=None, description="another map, for scenes frozen elsewhere")
