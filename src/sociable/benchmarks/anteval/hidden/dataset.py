"""Cases of hidden profiles (Stasser and Titus 1985): clues shared out so that nobody finds the right answer alone.

A clue may favour options, rule some out, or mean something only together with others. Which option is right is drawn by lot: a
clue may be there only where an option is right, or only where it is not. All clues that are there leave one option. What
everybody knows is the same in every draw and favours one option, which is rarely the right one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sociable.core.data_files import Loaded, Text, load_records
from sociable.core.names import Name
from sociable.core.records import CheckedRecord, Record

DATA = Path(__file__).parents[1] / "data" / "hidden"


class Level(StrEnum):
    """How hard a case is played: how much may be said, who hears whom, what is withheld, and what is not so."""

    EASY = "easy"
    MIDDLE = "middle"
    HARD = "hard"


ALL = tuple(Level)


class Choice(Record):
    id: Text
    text: Text


class Member(Record):
    """Somebody at the table."""

    name: Name
    pronouns: Text
    line: Text
    """What everybody knows of it, to stand after its name: "a nurse, who keeps the lists"."""


class Clue(Record):
    id: Text
    text: Text
    to: tuple[str, ...] = ()
    """Those who know it; empty: everybody."""
    favours: dict[str, int] = {}
    """What it seems to speak for (above 0) or against, by option: for whoever counts points."""
    gives: tuple[str, ...] = ()
    """What follows from it, as names; once all it ``needs`` follows from other clues."""
    needs: tuple[str, ...] = ()
    rules_out: tuple[str, ...] = ()
    """Options that cannot be right if it is so; once all it ``needs`` follows."""
    voids: tuple[str, ...] = ()
    """Clues that are not so if this one is."""
    if_right: str = ""
    """The option that must be right for it to be there; empty: always."""
    if_wrong: str = ""
    """The option that must not be right for it to be there."""
    unasked: bool = False
    """Whether they think nothing of it, and do not bring it up unless somebody asks about it; above the easy level."""
    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = ALL

    def is_there(self, level: Level, best: str) -> bool:
        """Whether it is a clue at a level where the option ``best`` is right."""
        return level in self.levels and self.if_right in ("", best) and self.if_wrong != best


class Will(Record):
    """A member who wants another outcome, at the hard level."""

    person: Text
    wants: Annotated[dict[str, Text], Field(min_length=2)]
    """What it has of an option, as it is told itself ("You ..."). It wants the first one that is not right."""


class Case(CheckedRecord):
    id: Text
    title: Text
    setting: Text
    """What has to be decided, and by what rule, as everybody is told."""
    question: Text
    options: Annotated[tuple[Choice, ...], Field(min_length=3, max_length=6)]
    members: Annotated[tuple[Member, ...], Field(min_length=3, max_length=6)]
    circles: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]
    """Who hears whom at the hard level: everybody who sits in a circle hears all who do. At the others all hear all."""
    will: Will
    clues: Annotated[tuple[Clue, ...], Field(min_length=3)]
    canary: str = ""

    def __hash__(self) -> int:
        return hash(self.id)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.members)

    def _find_problems(self) -> Iterator[str]:
        options, clues = {each.id for each in self.options}, {each.id for each in self.clues}
        for kind, ids in {
            "options": [each.id for each in self.options],
            "members": list(self.names),
            **{
                f"clues, {level}, {best.id} right": [each.id for each in self.clues if each.is_there(level, best.id)]
                for level in Level
                for best in self.options
            },
        }.items():
            if twice := [name for name, count in Counter(ids).items() if count > 1]:
                yield f"{kind}: '{twice[0]}' is there twice"
        named = [("will.wants", option) for option in self.will.wants]
        for each in self.clues:
            sides = [side for side in (each.if_right, each.if_wrong) if side]
            named += [(f"clues.{each.id}", option) for option in (*each.favours, *each.rules_out, *sides)]
        for place, option in named:
            if option not in options:
                yield f"{place}: there is no option '{option}'"
        seated = [("will.person", self.will.person), *(("circles", name) for circle in self.circles for name in circle)]
        seated += [(f"clues.{each.id}.to", name) for each in self.clues for name in each.to]
        for place, name in seated:
            if name not in self.names:
                yield f"{place}: there is nobody called '{name}'"
        for clue in self.clues:
            for other in clue.voids:
                if other not in clues:
                    yield f"clues.{clue.id}.voids: there is no clue '{other}'"
        given = {name for each in self.clues for name in each.gives}
        for clue in self.clues:
            if missing := [name for name in clue.needs if name not in given]:
                yield f"clues.{clue.id}.needs: no clue gives '{missing[0]}'"
        for clue in self.clues:
            if not clue.to and (clue.if_right or clue.if_wrong):
                yield f"clues.{clue.id}: everybody knows it, so it must be there in every draw"
        reached = set(self.circles[0])
        for _ in self.circles:
            reached |= {name for circle in self.circles if reached & {*circle} for name in circle}
        if reached != {*self.names}:
            yield "circles: expected circles that hang together and leave nobody out"


def load_cases(path: Path | None, *, skip_invalid: bool) -> Loaded[Case]:
    """Loads the cases of a file or folder, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "cases: a question, options, members, clues and who knows them"
    return load_records(Case, path, DATA, skip_invalid=skip_invalid, expected=expected)
