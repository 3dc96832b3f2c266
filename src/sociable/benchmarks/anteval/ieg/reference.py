"""Reference agents of intention expression: players that need no model, out of written lines.

``oracle`` and ``expressive`` are one: it acts on its intention in character, never naming the skill. What each must score
stands in the README.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random

from sociable.benchmarks.anteval.ieg.scenario import IegScenario
from sociable.benchmarks.anteval.rules import DATA
from sociable.benchmarks.anteval.session import Move, TableTurn
from sociable.core.records import Record, Usage
from sociable.core.seeding import make_generator

AGENTS = ("oracle", "expressive", "blunt", "small-talk", "random", "silent")

EXPRESSED = 3
"""How often, at the most, a player acts on its intention."""


class Line(Record):
    act: str
    words: str


class Lines(Record):
    skills: Mapping[str, tuple[Line, ...]]
    small_talk: tuple[Line, ...]
    npc: tuple[Line, ...]
    blunt: tuple[Line, ...]


@cache
def lines() -> Lines:
    return Lines.model_validate(json.loads((DATA / "lines.json").read_text(encoding="utf-8")))


class ReferenceIegPlayer:
    """Talks small but for the turns in which it acts on its intention; ``shows`` says how it does."""

    def __init__(
        self,
        scenario: IegScenario,
        name: str,
        draw: Callable[..., Random],
        turns: int,
        shows: str,
        half: int | None = None,
        error_rate: float = 0.0,
    ) -> None:
        """``half`` keeps to every second line, so that two sets of sessions need share none."""
        self.scenario = scenario
        self.name = name
        self._shows = shows
        self._half = half
        self._draw = draw
        seats = len(scenario.players) + 1
        own = max(turns // seats, 1)
        self._at = set(draw("turns", name).sample(range(own), min(EXPRESSED, own)))
        self._skill = scenario.intentions.get(name)
        if self._skill is not None and shows == "another":
            self._skill = draw("skill", name).choice(sorted(lines().skills))
        if draw("errs", name).random() < error_rate:
            self._skill = None

    @property
    def usage(self) -> Usage:
        return Usage()

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        if self._shows == "silence":
            return Move()
        taken = sum(turn.speaker == self.name for turn in seen)
        if self.name == self.scenario.scene.npc.name:
            return self._line(lines().npc, "npc", taken)
        if self._skill is None or self._shows == "nothing" or taken not in self._at:
            return self._line(lines().small_talk, "talk", taken)
        if self._shows == "bluntly":
            move = self._line(lines().blunt, "blunt", taken)
            return Move(move.act, move.words.replace("{skill}", self._skill.lower()))
        return self._line(lines().skills[self._skill], "skill", taken)

    def _line(self, choices: Sequence[Line], kind: str, taken: int) -> Move:
        """No line twice in one player's mouth while there are others."""
        some = choices if self._half is None else choices[self._half :: 2]
        order = self._draw(kind, self.name).sample(range(len(some)), len(some))
        line = some[order[taken % len(some)]]
        return Move(line.act, line.words)


_SHOWS = {
    "oracle": "in character",
    "expressive": "in character",
    "blunt": "bluntly",
    "small-talk": "nothing",
    "random": "another",
    "silent": "silence",
}


def reference_player(
    agent: str, scenario: IegScenario, name: str, turns: int, seed: int, repeat: int, *, half: int | None = None
) -> ReferenceIegPlayer:
    def draw(*names: str | int) -> Random:
        return make_generator(seed, "reference", scenario.id, repeat, *names)

    kind, at, rate = agent.partition("@")
    return ReferenceIegPlayer(scenario, name, draw, turns, _SHOWS[kind], half, float(rate) if at else 0.0)
