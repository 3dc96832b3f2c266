"""The records of a session of intention expression, and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from sociable.benchmarks.anteval.session import TableTurn
from sociable.core.records import Episode, Record

MASTERS_FOLDER = "masters"
"""The folder of a run that holds its virtual DMs and what came of them."""
STAND_IN = "stand-in"
"""The word for sessions by reference players in place of real ones, to try things out."""


class IegEpisode(Episode):
    turns: tuple[TableTurn, ...] = ()
    npc_failure: str = ""
    """The NPC's failure, where the NPC is no part of the model under test: the session is left out then."""


PAPER_SESSIONS = 600
"""The number of sessions that the authors had played (section 5.1)."""


class IegOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    real: str | None = Field(
        default=None,
        description="real sessions: a folder of CRD3's cleaned transcripts, FIREBALL's events, logs as JSON Lines",
    )
    sessions: int | None = Field(
        default=None, ge=1, le=100_000, description="sessions to be played; by default as many as the experiment can use"
    )
    turns: int = Field(default=30, ge=1, le=1000, description="turns of a session; one participant's action is one turn")
    players: int = Field(default=3, ge=1, le=10, description="players at the table, beside the NPC")
    windows: Literal["aligned", "paper"] = Field(
        default="aligned",
        description="where generated windows end: with the turn in which an intention is acted on, or after a whole session",
    )
    window: int = Field(default=30, ge=1, le=1000, description="turns before a call that a virtual DM reads")
    held_out: float = Field(default=0.3, gt=0, lt=1, description="share of the real sessions that is kept for testing")
    table_talk: bool = Field(default=False, description="let models talk as players do too, as in real sessions")
    quiet: float = Field(
        default=0.0, ge=0, le=5, description="windows without a call for each window with one, in the real sessions"
    )
    master: Literal["local", "lora", "hosted"] = Field(default="local", description="the kind of virtual DM")
    master_model: str | None = Field(default=None, description="the base of a lora or hosted DM")
    embeddings: str | None = Field(default=None, description="sentence-transformers model for the local DM, beside words")
    masters: str | None = Field(
        default=None, description="a run whose virtual DMs are used again where they were tuned on the same"
    )
    resamples: int = Field(
        default=100, ge=0, le=10_000, description="resamples of sessions for the intervals; each is trained on anew"
    )
    curve: bool = Field(default=True, description="measure F-scores over the size of the training set as well")
    sheets: str | None = Field(default=None, description="a file of characters, in place of the bundled ones")

    @property
    def masters_folder(self) -> Path | None:
        """The folder of the virtual DMs to be used again."""
        return Path(self.masters) / MASTERS_FOLDER if self.masters else None
