"""Sessions as a game master looks back on them: who said what, and which checks were called for when. Generated or real."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from sociable.anteval.rules import rules
from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.dialogue.names import Name

MASTER = "Dungeon Master"
"""Whoever speaks for the world, where a log gives no other name."""


class Spoken(Record):
    speaker: Name
    text: str


class Check(Record):
    """A skill check that somebody is to make: the intention a game master has seen."""

    character: Name
    skill: str

    @model_validator(mode="after")
    def _a_skill_there_is(self) -> Self:
        if self.skill not in rules().skills:
            raise ValueError(f"'{self.skill}' is no skill; skills are: {', '.join(rules().skills)}")
        return self


class Call(Record):
    """``before`` turns had been taken; the checks that were then called for, at once."""

    before: Annotated[int, Field(ge=0)]
    checks: tuple[Check, ...]


class Log(Record):
    """One session. A user's own, as one line of a JSON Lines file, has exactly these fields."""

    id: Text
    players: tuple[Name, ...]
    master: Name = MASTER
    turns: tuple[Spoken, ...]
    calls: tuple[Call, ...] = ()

    @model_validator(mode="after")
    def _calls_are_within(self) -> Self:
        for call in self.calls:
            if call.before > len(self.turns):
                raise ValueError(f"a call stands before turn {call.before + 1}, and there are {len(self.turns)} turns")
            for check in call.checks:
                if check.character not in self.players:
                    raise ValueError(f"'{check.character}', who is to make a check, is none of the players")
        if self.master in self.players:
            raise ValueError(f"'{self.master}' is both master and player")
        return self


class Imported(Record):
    """Logs that were read, and what fell out on the way."""

    logs: tuple[Log, ...]
    counts: dict[str, int] = {}
    """Of calls: found, and dropped, by reason."""


def combined(parts: Iterable[Imported]) -> Imported:
    logs: list[Log] = []
    counts: dict[str, int] = {}
    for part in parts:
        logs += part.logs
        for reason, count in part.counts.items():
            counts[reason] = counts.get(reason, 0) + count
    return Imported(logs=tuple(logs), counts=counts)
