"""Reference agents of intention expression: players that need no model, out of written lines.

``oracle`` and ``expressive`` are one: it acts on its intention in character, never naming the skill. ``blunt`` names the skill,
``random`` acts on another one, ``small-talk`` on none, and ``silent`` passes. What each must score stands in the README.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.players import ReferencePlayer
from sociable.benchmarks.anteval.rules import DATA
from sociable.benchmarks.anteval.session import Move, TableTurn
from sociable.core.records import Record
from sociable.core.seeding import make_generator

EXPRESSED = 3
"""The greatest number of times that a player acts on its intention."""


class Line(Record):
    act: str
    words: str


class Lines(Record):
    skills: Mapping[str, tuple[Line, ...]]
    small_talk: tuple[Line, ...]
    npc: tuple[Line, ...]
    blunt: tuple[Line, ...]


@cache
def load_lines() -> Lines:
    return Lines.model_validate_json((DATA / "lines.json").read_bytes())


@dataclass
class ReferenceIegPlayer(ReferencePlayer[IegScenario]):
    """Talks small but for the turns in which it acts on its intention."""

    kind: str
    """The agent's name, without an error rate."""
    half: int | None
    """The half of its lines that it keeps to, so that two sets of sessions need share none; None: it has them all."""

    @cached_property
    def _skill(self) -> str | None:
        """The skill that it acts on."""
        skill = self.scenario.intentions.get(self.name)
        if skill is not None and self.kind == "random":
            skill = self.draw("skill", self.name).choice(sorted(load_lines().skills))
        return None if self.draw("errs", self.name).random() < self.error_rate else skill

    @cached_property
    def _at(self) -> set[int]:
        """The numbers of turns that it has seen when it acts on its intention."""
        if self.name in self.scenario.acts_at:
            return {self.scenario.acts_at[self.name]}
        own = [place for place, speaker in enumerate(self.scenario.speakers) if speaker == self.name]
        return set(self.draw("turns", self.name).sample(own, min(EXPRESSED, len(own))))

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        if self.kind == "silent":
            return Move()
        taken = sum(turn.speaker == self.name for turn in seen)
        if self.name == self.scenario.npc.name:
            return self._speak(load_lines().npc, "npc", taken)
        if self._skill is None or self.kind == "small-talk" or len(seen) not in self._at:
            return self._speak(load_lines().small_talk, "talk", taken)
        if self.kind == "blunt":
            move = self._speak(load_lines().blunt, "blunt", taken)
            return Move(move.act, move.words.replace("{skill}", self._skill.lower()))
        return self._speak(load_lines().skills[self._skill], "skill", taken)

    def _speak(self, choices: Sequence[Line], kind: str, taken: int) -> Move:
        """The move after ``taken`` turns. No line is used twice by one player while there are others."""
        some = choices if self.half is None else choices[self.half :: 2]
        line = some[self.draw(kind, self.name).sample(range(len(some)), len(some))[taken % len(some)]]
        return Move(line.act, line.words)


def make_reference_player(
    agent: str, scenario: IegScenario, name: str, seed: int, repeat: int, half: int | None
) -> ReferenceIegPlayer:
    kind, _, rate = agent.partition("@")
    draw = partial(make_generator, seed, "reference", scenario.id, repeat)
    return ReferenceIegPlayer(scenario, name, len(scenario.speakers), draw, float(rate or 0.0), kind, half)
