"""The records of a duel: its options, turns, an episode."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from sociable.benchmarks.agentsense.duels.dataset import Agreement
from sociable.core.records import Episode, Record, Turn

KEEPS, BREAKS = "keeps", "breaks"
"""What a side does afterwards."""
PROMISE, FALSE, SECRET, GOAL = "promise", "false", "secret", "goal"
"""What judges are asked: of a side, of a turn, of a side; of a goal in a contest."""


class SceneKind(StrEnum):
    BARGAINS = "bargains"
    CONTESTS = "contests"
    """Scenes of AgentSense in which two goals exclude each other."""


class DuelOptions(Record):
    """The switches of this benchmark."""

    scenes: Annotated[tuple[SceneKind, ...], Field(min_length=1)] = Field(
        default=(SceneKind.BARGAINS,), description="the kinds of scenes that are played: bargains, contests"
    )
    turns: int = Field(
        default=16, ge=2, le=100, multiple_of=2, description="turns of a bargain's two sides, or of all in a contest"
    )
    words: int = Field(default=90, ge=5, description="words of a turn of a bargain; it is cut off at a third more")


class Move(StrEnum):
    """What a turn does, beside what it says."""

    OFFER = "offer"
    ACCEPT = "accept"
    LEAVE = "leave"


class DuelTurn(Turn):
    """A turn. Turn 0 is the opening."""

    side: int | None = None
    """The side that speaks: 0 the first one, 1 the second one; None: a third person."""
    number: int = 0
    """The turn's place among those of the two sides, from 1."""
    move: Move | None = None
    offer: Agreement = ()
    """The paper that it puts on the table."""
    unreadable: bool = False
    """Whether it was meant to do something that could not be read."""


class DuelEpisode(Episode):
    """One bargain, or one contest, as it was played. Names are those of the sides."""

    turns: tuple[DuelTurn, ...] = ()
    agreement: Agreement = ()
    """What was agreed; empty: nothing."""
    left: str = ""
    """Who walked away."""
    deeds: dict[str, str] = {}
    """What each did afterwards, who had a choice: keeps, breaks, or empty where no answer could be read."""
    read: dict[str, int | None] = {}
    """The place of the issue that each takes for the one that matters most to the other; None: no answer could be read."""
    partner_failure: str = ""
    """The reason why a third person's part cannot be trusted: then nothing is scored."""


def find_offer(turns: Sequence[DuelTurn], side: int) -> Agreement:
    """The latest paper that a side has put on the table; empty: none."""
    return next((turn.offer for turn in reversed(turns) if turn.side == side and turn.offer), ())
