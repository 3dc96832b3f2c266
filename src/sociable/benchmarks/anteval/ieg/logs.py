"""Sessions as a game master looks back on them: who said what, and which checks were called for when. Generated or real."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Annotated, Self

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from sociable.benchmarks.anteval.rules import load_rules
from sociable.core.data_files import Text
from sociable.core.names import Name, find_words
from sociable.core.records import Record, make_storable

MASTER = "Dungeon Master"
"""The name of the person who speaks for the world, where a log gives no other."""


def _spell_skill(name: str) -> str:
    """The skill as the rules spell it, however it is capitalised. Raises ValueError where it is none."""
    spelled = {skill.casefold(): skill for skill in load_rules().skills}.get(name.strip().casefold())
    if spelled is None:
        raise ValueError(f"'{name}' is no skill; skills are: {', '.join(load_rules().skills)}")
    return spelled


class Spoken(Record):
    speaker: Name
    text: Annotated[str, AfterValidator(make_storable)]


class Check(Record):
    """A skill check that somebody is to make: the intention a game master has seen."""

    character: Name
    skill: Annotated[str, AfterValidator(_spell_skill)]


class Call(Record):
    """``before`` turns had been taken; the checks that were then called for, at once."""

    before: Annotated[int, Field(ge=0)]
    checks: tuple[Check, ...]


class Log(Record):
    """One session. A user's own, as one line of a JSON Lines file, has exactly these fields."""

    id: Annotated[Text, AfterValidator(make_storable)]
    players: tuple[Name, ...]
    master: Name = MASTER
    turns: tuple[Spoken, ...]
    calls: tuple[Call, ...] = ()

    @model_validator(mode="after")
    def _check_calls(self) -> Self:
        for call in self.calls:
            if call.before > len(self.turns):
                raise ValueError(f"a call stands before turn {call.before + 1}, and there are {len(self.turns)} turns")
            for check in call.checks:
                if check.character not in self.players:
                    raise ValueError(f"'{check.character}', who is to make a check, is none of the players")
        if self.master in self.players:
            raise ValueError(f"'{self.master}' is both master and player")
        called: dict[str, str] = {}
        for name in (*self.players, self.master):
            if (other := called.setdefault(_normalise(name), name)) != name or self.players.count(name) > 1:
                raise ValueError(f"'{name}' is also '{other}'; everybody must have a name of their own")
        for number, turn in enumerate(self.turns):
            if (known := called.get(_normalise(turn.speaker), turn.speaker)) != turn.speaker:
                raise ValueError(f"turns.{number}: the speaker '{turn.speaker}' is spelled '{known}' among players and master")
        return self


_NAME: TypeAdapter[str] = TypeAdapter(Name)


def clean_name(name: object, otherwise: str) -> str:
    """A speaker's name as a transcript has it, on one line; ``otherwise`` where it is no name, of signs only, say."""
    try:
        return _NAME.validate_python(" ".join(make_storable(str(name)).split()))
    except ValidationError:
        return otherwise


def make_distinct(names: Mapping[str, str]) -> dict[str, str]:
    """A distinct name for each speaker: of two with the same name the second becomes ``Zed 2``."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for speaker, name in names.items():
        tried = (f"{name} {number}" if number > 1 else name for number in count(1))
        found[speaker] = next(each for each in tried if _normalise(each) not in taken)
        taken.add(_normalise(found[speaker]))
    return found


def compile_names(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the names as they are written: "Will", not "will"."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b")


def _normalise(name: str) -> str:
    return " ".join(find_words(name))


class Imported(Record):
    """Logs that were read, and what fell out on the way."""

    logs: tuple[Log, ...]
    counts: dict[str, int] = {}
    """The number of calls that were found, and of those dropped, by reason."""


def combine(parts: Iterable[Imported]) -> Imported:
    parts = list(parts)
    counts = sum((Counter(part.counts) for part in parts), Counter[str]())
    return Imported(logs=tuple(log for part in parts for log in part.logs), counts=counts)
