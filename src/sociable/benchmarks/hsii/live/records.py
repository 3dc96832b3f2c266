"""HSII live's records: its options, messages as they were read, an episode."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sociable.benchmarks.hsii.live.dataset import ALL, Level
from sociable.core.records import Episode, Record, Turn

ASSISTANT = "the assistant"
"""The speaker of the assistant's messages."""


class LiveOptions(Record):
    """The switches of this benchmark."""

    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = Field(default=ALL, description="the levels that are played")
    draws: int = Field(default=1, ge=1, description="how often each dossier is drawn at each level")
    character: str = Field(default="", description="the one of the people whom the partner plays, in dossiers that have it")


class LiveTurn(Turn):
    """A message: from the assistant, from a person, or (speaker empty) news.

    ``addressees``: those who read it beside its sender and the assistant.
    """

    round: int
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
    unread: tuple[str, ...] = ()
    """Why replies of the assistant, round by round, could not be read; they count as no message."""
    partner_failure: str = ""
    """The reason why the people's part cannot be trusted: then nothing is scored."""
