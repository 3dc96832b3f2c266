"""A case at one level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.anteval.hidden.dataset import Case, Clue, Level, Will


@dataclass(frozen=True)
class Budget:
    rounds: int
    words: int
    """The most words of a turn."""


BUDGETS = {Level.EASY: Budget(3, 60), Level.MIDDLE: Budget(3, 30), Level.HARD: Budget(5, 35)}


@dataclass(frozen=True)
class Scenario:
    case: Case
    level: Level
    rounds: int = 0
    """Rounds in place of the level's; 0: the level's."""
    words: int = 0
    """Words of a turn in place of the level's; 0: the level's."""

    @property
    def id(self) -> str:
        return f"{self.case.id}@{self.level}"

    @property
    def budget(self) -> Budget:
        own = BUDGETS[self.level]
        return Budget(self.rounds or own.rounds, self.words or own.words)

    @cached_property
    def clues(self) -> tuple[Clue, ...]:
        """The clues of this level; at the easy one nobody withholds any."""
        own = (each for each in self.case.clues if self.level in each.levels)
        return tuple(each.model_copy(update={"unasked": each.unasked and self.level is not Level.EASY}) for each in own)

    @property
    def will(self) -> Will | None:
        """The member who wants another outcome."""
        return self.case.will if self.level is Level.HARD else None

    def list_known(self, name: str) -> list[Clue]:
        """The clues that somebody has at the start."""
        return [each for each in self.clues if not each.to or name in each.to]

    def list_hearers(self, name: str) -> tuple[str, ...]:
        """Those who hear somebody."""
        if self.level is not Level.HARD:
            return tuple(each for each in self.case.names if each != name)
        heard = {other for circle in self.case.circles if name in circle for other in circle}
        return tuple(each for each in self.case.names if each in heard and each != name)
