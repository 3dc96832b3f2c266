"""What STSS keeps of an episode: its log, and what was measured in it."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from sociable.benchmarks.stss.task import Task
from sociable.core.records import Episode, Record
from sociable.town.clock import time_of_day
from sociable.town.events import AnyEvent, Line


class StssEpisode(Episode):
    """Two days of a town. ``turns`` stays empty: conversations are events of the log."""

    task: Task | None = None
    """As it was drawn; None in an episode that the run could not finish."""
    starts: dict[str, tuple[int, int]] = {}
    """By resident, the tile on which it wakes up on the first day."""
    minutes: int = 0
    tiles_per_minute: int = 6
    events: tuple[AnyEvent, ...] = ()
    played_by: dict[str, str] = {}
    """By resident: a model's or a reference agent's name."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """A log is read by who was where: it must not speak of anybody else."""
        for event in self.events:
            if unknown := {event.resident, getattr(event, "partner", event.resident)} - self.starts.keys():
                raise ValueError(f"events: '{min(unknown)}' is nobody of this episode")
        return self


class Stage(StrEnum):
    """How far the task came with one person: the first thing that was missing."""

    NOT_MET = "not met"
    """It was never in the performer's sight, both awake, before the event, and was told by nobody."""
    NOT_TOLD = "not told"
    """Nobody told it what it would have had to know."""
    NOT_AGREED = "not agreed"
    NOT_DONE = "agreed but not done"
    DONE = "done"


class Attendance(Record):
    """A resident's stay at the event; of help: at one step."""

    resident: str
    start: int
    end: int
    """First minute after it."""
    counts: bool
    why: str = ""
    """Why it does not count; of help also which step it is."""

    def __str__(self) -> str:
        """``17:35–18:20, less than 10 minutes``."""
        span = f"{time_of_day(self.start)}–{time_of_day(self.end)}"
        return f"{span}, {self.why}" if self.why else span


class Told(Record):
    """One resident told another of the event."""

    minute: int
    teller: str
    listener: str
    parts: tuple[str, ...]
    """What was named, see ``Task.needed_parts``."""


class PerformerTalk(Record):
    """A conversation of the performer's."""

    minute: int
    until: int
    """First minute after it."""
    partner: str
    place: str
    """``Sector: arena``; empty in the street."""
    is_about_task: bool
    lines: tuple[Line, ...]


class NoteCount(Record):
    """How often something was noted in the log about the performer, or about everybody else."""

    about: str
    of_performer: bool
    count: int


class Measured(Record):
    """All that is measured in one episode by rule (App. A.1): what scores, reports and replays are made of."""

    failure: str = ""
    """Why the background cannot be trusted, so that nothing is scored; empty where it can."""
    score: float
    reason: str
    attendance: tuple[Attendance, ...] = ()
    told: tuple[Told, ...] = ()
    """In order of time."""
    stages: dict[str, Stage] = {}
    """By name, everybody who could have come: the cast; of an appointment the target."""
    conversation_ratio: float | None = None
    """None for help (Table 4's caption)."""
    came_to_nothing: float | None = None
    """The share of the performer's plans and words in which nothing could be read; None: it made none."""
    talks: tuple[PerformerTalk, ...] = ()
    """The performer's conversations, in order of time."""
    notes: tuple[NoteCount, ...] = ()
    """The most frequent first."""
