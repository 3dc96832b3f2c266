"""HSII live's records: its options, messages as they were read, an episode."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sociable.benchmarks.hsii.live.dataset import ALL, Level
from sociable.benchmarks.hsii.live.scenario import Dials
from sociable.core.records import Episode, Record, Turn

ASSISTANT = "the assistant"
"""The speaker of the assistant's messages."""


class Pressure(StrEnum):
    LEVEL = "level"
    NONE = "none"
    POLITE = "polite"
    INSISTENT = "insistent"


_DEPTH = "1: who is asked tells; 2: some must be told something first; 3: some claim what is not so; 0: as the level has it"


class LiveOptions(Record):
    """The switches of this benchmark."""

    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = Field(default=ALL, description="the levels that are played")
    draws: int = Field(default=1, ge=1, description="how often each dossier is drawn at each level")
    rounds: int = Field(default=0, ge=0, description="rounds, at every level; 0: as the level has it")
    messages: int = Field(default=0, ge=0, description="messages in a round; 0: as the level has it")
    patience: int = Field(default=0, ge=0, description="questions that each person answers; 0: as the level has it")
    depth: int = Field(default=0, ge=0, le=3, description=_DEPTH)
    pressure: Pressure = Field(default=Pressure.LEVEL, description="how confidences are pressed for")
    changes: bool = Field(default=True, description="facts are replaced by others on the way")
    most_people: int = Field(default=8, ge=3, le=8, description="leave out dossiers with more people")
    character: str = Field(default="", description="the one of the people whom the partner plays, in dossiers that have it")

    def make_dials(self) -> Dials:
        by_depth = dict(enumerate(ALL, start=1))
        by_pressure = dict(zip((Pressure.NONE, Pressure.POLITE, Pressure.INSISTENT), ALL, strict=True))
        counts = {"rounds": self.rounds, "messages": self.messages, "patience": self.patience}
        budget = tuple((name, count) for name, count in counts.items() if count)
        return Dials(by_depth.get(self.depth), by_pressure.get(self.pressure), self.changes, budget)


class LiveTurn(Turn):
    """A message: from the assistant, from a person, or (speaker empty) news.

    ``addressees``: those who read it beside its sender and the assistant.
    """

    round: int
    is_aside: bool = False
    """Said by one person to others, unseen by the assistant."""
    topic: str = ""
    """What the assistant asked about, as far as the rule reads it."""
    facts: tuple[str, ...] = ()
    """The facts that it tells: the assistant's by the rule, others' as the dossier has them or the rule reads them."""


class LiveEpisode(Episode):
    """One dossier at one level as it was played."""

    turns: tuple[LiveTurn, ...] = ()
    """All messages in order."""
    arrangement: dict[str, str] | None = None
    """The arrangement that was proposed last; None: none that could be read."""
    decided: dict[str, str] = {}
    """The option by decision."""
    believed: dict[str, dict[str, str]] = {}
    """By fact and person: what those who may not know a confidence think in the end; a key of ``list_beliefs``."""
    unread: tuple[str, ...] = ()
    """Why replies of the assistant, round by round, could not be read; they count as no message."""
    partner_failure: str = ""
    """The reason why the people's part cannot be trusted: then nothing is scored."""
