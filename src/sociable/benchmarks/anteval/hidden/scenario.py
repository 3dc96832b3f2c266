"""A case at one level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.anteval.hidden.dataset import Case, Clue, Level
from sociable.core.seeding import make_generator


@dataclass(frozen=True)
class Budget:
    rounds: int
    words: int
    """The most words of a turn."""


BUDGETS = {Level.EASY: Budget(3, 60), Level.MIDDLE: Budget(3, 30), Level.HARD: Budget(3, 16)}


@dataclass(frozen=True)
class Scenario:
    case: Case
    level: Level
    best: str
    """The option that is right in this draw."""
    number: int = 1
    """Which draw of its level it is."""
    rounds: int = 0
    """Rounds in place of the level's; 0: the level's."""
    words: int = 0
    """Words of a turn in place of the level's; 0: the level's."""
    vote: bool = False
    """Whether what each chose before the talk is read aloud to all."""
    asides: bool = False
    """Whether a turn may be for one hearer alone."""

    @property
    def id(self) -> str:
        return f"{self.case.id}@{self.level}" + (f"+{self.number}" if self.number > 1 else "")

    @property
    def budget(self) -> Budget:
        own = BUDGETS[self.level]
        return Budget(self.rounds or own.rounds, self.words or own.words)

    @cached_property
    def clues(self) -> tuple[Clue, ...]:
        """The clues of this level and draw; at the easy one nobody withholds any."""
        own = (each for each in self.case.clues if each.is_there(self.level, self.best))
        return tuple(each.model_copy(update={"unasked": each.unasked and self.level is not Level.EASY}) for each in own)

    @property
    def dissenter(self) -> str:
        """The member who wants another outcome; empty: nobody does."""
        return self.case.will.person if self.level is Level.HARD else ""

    @property
    def wanted(self) -> str:
        """The option that he wants."""
        return next(option for option in self.case.will.wants if option != self.best)

    def list_known(self, name: str) -> list[Clue]:
        """The clues that somebody has at the start."""
        return [each for each in self.clues if not each.to or name in each.to]

    def list_hearers(self, name: str) -> tuple[str, ...]:
        """Those who hear somebody."""
        if self.level is not Level.HARD:
            return tuple(each for each in self.case.names if each != name)
        heard = {other for circle in self.case.circles if name in circle for other in circle}
        return tuple(each for each in self.case.names if each in heard and each != name)


def draw_scenario(case: Case, level: Level, seed: int, number: int = 1) -> Scenario:
    """A case at one level; the right option is drawn, each as likely, at each level apart."""
    return Scenario(case, level, make_generator(seed, "right", case.id, level, number).choice(case.options).id, number)
