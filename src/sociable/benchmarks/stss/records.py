"""What STSS keeps of an episode."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from sociable.benchmarks.stss.task import Task
from sociable.core.records import Episode
from sociable.town.events import AnyEvent, Talked


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
    def _of_its_residents(self) -> Self:
        """A log is read by who was where: it must not speak of anybody else."""
        for event in self.events:
            names = (event.resident, event.partner) if isinstance(event, Talked) else (event.resident,)
            if unknown := set(names) - self.starts.keys():
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
