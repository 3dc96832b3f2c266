"""The records of a session of information exchange."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.records import Episode, Record


class When(StrEnum):
    """The moment at which a player was asked what it knows."""

    BEFORE = "before"
    DURING = "during"
    """After one of the turns that ``marks`` names."""
    AFTER = "after"


class Recall(Record):
    """A player's answer to what it knows. Asked of a copy of its view; stands in nobody's history."""

    player: str
    when: When
    turn: int = 0
    """The turn after which it was asked; 0 before and after the session."""
    claims: tuple[str, ...] = ()
    """The claims, at most as many as the card has key points."""
    reply: str = ""
    """The beginning of the reply as it came."""
    note: str = ""
    """The reason why nothing, or less than it says, could be read in it."""
    unreadable: bool = False
    """Whether no list of claims was found in it, be it empty."""

    @property
    def moment(self) -> str:
        """``before``, the turn, or ``after``."""
        return str(self.turn) if self.when is When.DURING else self.when.value


class IepEpisode(Episode):
    turns: tuple[TableTurn, ...] = ()
    recalls: tuple[Recall, ...] = ()
    npc_failure: str = ""
    """The NPC's failure, where the NPC is no part of the model under test: the session cannot be scored then."""


class IepOptions(Record):
    """Defaults are the paper's."""

    turns: int = Field(default=30, ge=1, le=1000, description="turns of a session; one participant's action is one turn")
    marks: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(), description="turns after which players are also asked what they know: 6,12"
    )
    players: int = Field(default=3, ge=1, le=10, description="players at the table, beside the NPC")
    sheets: str | None = Field(default=None, description="a file of characters, in place of the bundled ones")
    points: bool = Field(
        default=False, description="tell the NPC the key points as a list too, beside the prose in which they stand"
    )
    recall_tokens: int = Field(
        default=2048, ge=1, description="tokens that a list of what one knows may have, however few a turn may have"
    )
