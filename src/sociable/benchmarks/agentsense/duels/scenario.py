"""A bargain with the subject in one of the two seats."""

from __future__ import annotations

from dataclasses import dataclass

from sociable.benchmarks.agentsense.duels.dataset import Bargain


@dataclass(frozen=True)
class Scenario:
    bargain: Bargain
    seat: int
    """The side that the subject takes: 0 the first one, 1 the second one."""
    turns: int
    """The turns that both sides take together at the most."""
    words: int
    """The most words of a turn."""

    @property
    def id(self) -> str:
        return f"{self.bargain.id}#{self.seat + 1}"

    @property
    def cluster(self) -> str:
        return self.bargain.id

    def find_speaker(self, number: int) -> int:
        """The side that takes turn ``number`` of the two, counted from 1: the one who did not open begins."""
        begins = 1 if self.bargain.opening.by == self.bargain.names[0] else 0
        return (begins + number - 1) % 2

    def count_own_turns(self, side: int, number: int | None = None) -> int:
        """The turns of one side up to turn ``number`` of the two; by default all."""
        last = self.turns if number is None else number
        return sum(self.find_speaker(each) == side for each in range(1, last + 1))
