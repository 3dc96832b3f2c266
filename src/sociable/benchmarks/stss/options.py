"""The benchmark's own options."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sociable.benchmarks.stss.task import LAST_MINUTE
from sociable.core.records import Record


class Injected(Record):
    """Something one resident, or everybody, learns at a moment from outside the simulation."""

    minute: int = Field(ge=0, lt=LAST_MINUTE)
    text: str
    resident: str = ""
    """Empty: everybody learns it."""


class Fork(Record):
    """The episode that is lived again, of the run whose journal was copied."""

    repeat: int = Field(default=0, ge=0)
    anew_from: int | None = Field(default=None, ge=0)
    """The minute from which models are asked anew, whatever the journal holds; None: only what has changed is asked."""


class StssOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    agent: str = Field(default="generative", description="the performer's architecture")
    background_agent: str = Field(default="generative", description="the architecture of everybody else")
    scheduler: Literal["ahead", "lockstep"] = Field(default="ahead", description="whether residents may run ahead of one another")
    tiles_per_minute: int = Field(default=6, ge=1, le=8, description="how fast people walk; 1 is the authors' pace")
    place: Literal["standing", "planned"] = Field(
        default="standing", description="whether somebody is where it stands, or, as the authors have it, where its plan says"
    )
    attendance: Literal["stays", "authors"] = Field(
        default="stays",
        description="whether somebody must stay ten minutes (help: five), or, as the authors have it, begin within the window",
    )
    react: Literal["background", "performer"] = Field(
        default="background", description="whose model decides whether the performer starts talking"
    )
    plain: bool = Field(
        default=False, description="ask the performer's model for its words only, for models too weak for JSON (A.2)"
    )
    town: str | None = Field(default=None, description="another map: our JSON, Tiled's JSON, or a folder of Smallville's matrix")
    residents: str | None = Field(default=None, description="other residents: our JSON, or a folder of Smallville's personas")
    embeddings: str | None = Field(
        default=None, description="a model of sentence-transformers by which memories are alike; by default the words they share"
    )
    tasks: tuple[str, ...] = Field(default=(), description="only these tasks, by their names")
    injected: tuple[Injected, ...] = Field(default=(), description="what residents learn from outside")
    fork: Fork | None = Field(default=None, description="another run's episode that this one is a fork of; see `sociable fork`")
