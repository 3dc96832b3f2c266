"""Scenarios: a bargain, or a contest in one of AgentSense's scenes, with the subject in one of the two seats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.benchmarks.agentsense import scenario as agentsense
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

    @property
    def names(self) -> tuple[str, str]:
        return self.bargain.names

    def find_speaker(self, number: int) -> int:
        """The side that takes turn ``number`` of the two, counted from 1: the one who did not open begins."""
        begins = 1 if self.bargain.opening.by == self.bargain.names[0] else 0
        return (begins + number - 1) % 2

    def count_own_turns(self, side: int, number: int | None = None) -> int:
        """The turns of one side up to turn ``number`` of the two; by default all."""
        last = self.turns if number is None else number
        return sum(self.find_speaker(each) == side for each in range(1, last + 1))


@dataclass(frozen=True)
class Contest:
    """A scene of AgentSense in which two people's goals exclude each other; the two models play these two."""

    scene: agentsense.Scenario
    """The scene, under the contest's own id."""
    goals: tuple[agentsense.GoalReference, agentsense.GoalReference]
    """The goal of who sits in the first seat, and of who sits in the second."""
    seat: int
    turns: int
    """The turns of all together after the opening."""

    @property
    def id(self) -> str:
        return self.scene.id

    @property
    def cluster(self) -> str:
        return self.scene.template

    @property
    def names(self) -> tuple[str, str]:
        return self.goals[0].of, self.goals[1].of

    def list_probes(self, side: int) -> list[agentsense.GoalProbe]:
        """The questions to judges whether the goal of one side is reached in the end."""
        probes = agentsense.list_goal_probes(self.scene, self.turns, "judge")
        return [probe for probe in probes if (probe.owner.name, probe.item) == self.goals[side].key]


AnyScenario = Scenario | Contest


def find_contests(scenes: Sequence[agentsense.Scenario], turns: int) -> Iterator[Contest]:
    """The contests that scenes hold, at most one each: the first group of two goals of two people that exclude each other."""
    for scene in scenes:
        group = next((each for each in scene.exclusive if len(each) == 2 and each[0].of != each[1].of), None)
        if group:
            for seat in (0, 1):
                own = scene.model_copy(update={"id": f"{scene.id}#{seat + 1}"})
                yield Contest(own, (group[0], group[1]), seat, turns)
