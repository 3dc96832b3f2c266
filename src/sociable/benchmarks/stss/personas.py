"""Residents as files say them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from sociable.benchmarks.stss.task import Place, Span, Time
from sociable.core.data_files import Text
from sociable.core.records import Record
from sociable.town.clock import MINUTES_PER_DAY, parse_minute
from sociable.town.persona import Habit, Persona


class _Habit(Record):
    place: Place
    days: tuple[Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], ...]
    doing: Text
    alone: str = ""

    def make_habit(self, start: int, end: int, names: Mapping[str, str], *, work: bool) -> Habit:
        """``names``: everybody's full name by the short one."""
        company = tuple(full for short, full in names.items() if re.search(rf"\b{re.escape(short)}\b", self.doing))
        same = {name: getattr(self, name) for name in ("days", "doing", "alone", "place")}
        return Habit(**same, start=start, end=end, company=company, work=work)


class _Work(Span, _Habit):
    pass


class _Usual(_Habit):
    at: Time
    minutes: int = Field(ge=1, le=MINUTES_PER_DAY)


class _Tie(Record):
    to: Text
    kind: Text
    note: Text


class ResidentRecord(Record):
    """A resident as it stands in ``residents.json``."""

    name: Text
    short: Text
    age: int = Field(ge=1, le=120)
    pronouns: str = ""
    innate: Text
    learned: Text
    currently: Text
    lifestyle: Text
    wakes: Time
    sleeps: Time
    home: dict[Literal["place"], Place] = Field(min_length=1)
    work: tuple[_Work, ...] = ()
    usual: tuple[_Usual, ...] = ()
    ties: tuple[_Tie, ...] = ()
    facts: tuple[Text, ...] = ()

    @property
    def id(self) -> str:
        return self.name

    def make_persona(self, names: Mapping[str, str]) -> Persona:
        """``names``: everybody's full name by the short one."""
        wakes, sleeps = parse_minute(self.wakes), parse_minute(self.sleeps)
        others = {short: full for short, full in names.items() if short != self.short}
        work = [each.make_habit(parse_minute(each.start), parse_minute(each.end), others, work=True) for each in self.work]
        starts = [parse_minute(each.at) for each in self.usual]
        usual = [
            each.make_habit(start, start + each.minutes, others, work=False)
            for start, each in zip(starts, self.usual, strict=True)
        ]
        return Persona(
            **self.model_dump(exclude={"wakes", "sleeps", "home", "work", "usual", "ties"}),
            home=self.home["place"],
            wakes=wakes,
            # Whoever goes to bed after midnight does so on the next day.
            sleeps=sleeps if sleeps > wakes else sleeps + MINUTES_PER_DAY,
            habits=(*work, *usual),
            ties={names[tie.to]: tie.note for tie in self.ties},
        )
