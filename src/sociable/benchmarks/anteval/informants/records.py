"""The records of a session with informants: its options, turns, the episode."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sociable.benchmarks.anteval.iep.records import Recall
from sociable.benchmarks.anteval.informants.dataset import ALL, Level, Way
from sociable.core.records import Episode, Record, Turn


class InformantsOptions(Record):
    """The switches of this benchmark."""

    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = Field(default=ALL, description="the levels that are played")
    turns: int = Field(default=30, ge=2, le=1000, description="turns of a session; a question and its answer are two")
    marks: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(6, 12), description="turns after which players are also asked what they know; 0 for none"
    )
    players: int = Field(default=3, ge=1, le=6, description="players at the table, beside the informants")
    points: int = Field(
        default=0,
        ge=0,
        description="facts that each informant holds at the most, without lies and rumours that none of them shows; 0: all",
    )
    words: int = Field(default=40, ge=5, description="words of a player's turn; an informant's has half as many again")
    sheets: str | None = Field(default=None, description="a file of characters, in place of the bundled ones")
    recall_tokens: int = Field(
        default=4096, ge=1, description="tokens that a list of what one knows may have, however few a turn may have"
    )


class InformantsTurn(Turn):
    """A turn. ``content`` is what was said; empty: the player passed. ``addressees``: the only one who hears a word aside."""

    to: str = ""
    """The one who is spoken to; empty: nobody in particular."""
    heard_by: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """The statements that it says: of a written informant as it was meant, else by their wordings."""
    waits: tuple[Way, ...] = ()
    """Of a written informant: what it waits for before it says more."""

    @property
    def aside(self) -> bool:
        """Whether nobody else hears it."""
        return bool(self.addressees)


class InformantsEpisode(Episode):
    turns: tuple[InformantsTurn, ...] = ()
    recalls: tuple[Recall, ...] = ()
    partner_failure: str = ""
    """The reason why an informant's part cannot be trusted: then nothing is scored."""
