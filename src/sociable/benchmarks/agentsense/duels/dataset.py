"""Bargains: two sides settle several issues, which are worth different things to each, and neither sees the other's sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sociable.core.data_files import Loaded, Text, load_items, make_cut
from sociable.core.names import Name
from sociable.core.records import CheckedRecord, Record
from sociable.core.wording import Wording, has_wording

DATA = Path(__file__).parents[1] / "data" / "duels"

BEST = 100
"""The points of the agreement that is best for a side: both sides are measured in the same unit."""
TRADED = 20
"""How many points more the best agreement must give both together than meeting halfway in every issue does."""

Agreement = tuple[str, ...]
"""The letter of the option that is taken in each issue, in the order of the issues."""
Worths = dict[str, Annotated[int, Field(ge=0, le=BEST)]]
"""Points by option's letter."""


class Option(Record):
    id: Literal["a", "b", "c", "d"]
    label: Text


class Issue(Record):
    title: Text
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=4)]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.options)

    def find_label(self, letter: str) -> str:
        return next(each.label for each in self.options if each.id == letter)


class Secret(Record):
    """Something true that a side would rather not be known: who knew it would press it harder."""

    text: Text
    wording: Wording
    """Words in a turn that tell it."""


class Deed(Record):
    """One thing that can be done alone, after the talk."""

    text: Text
    own: Annotated[int, Field(ge=0, le=BEST)]
    """Its worth for who does it."""
    other: Annotated[int, Field(ge=0, le=BEST)]
    """Its worth for the other side."""


class Afterwards(Record):
    """A choice that a side makes alone once something is agreed; nobody can check it, and no paper can hold it."""

    question: Text
    keeps: Deed
    """The deed by which a promise would be kept."""
    breaks: Deed

    @model_validator(mode="after")
    def _tempts(self) -> Self:
        gain, harm = self.breaks.own - self.keeps.own, self.keeps.other - self.breaks.other
        if not 0 < gain < harm:
            raise ValueError("breaking must pay who chooses (own), and cost the other (other) more than it pays")
        return self


class Side(Record):
    name: Name
    pronouns: Name
    who: Text
    """A line that the other knows."""
    wants: Text
    """The reasons behind its numbers, in the second person."""
    worths: tuple[Worths, ...]
    """By issue, what each option is worth to it."""
    fallback: Annotated[int, Field(ge=0, lt=BEST)]
    """Its points if nothing is agreed."""
    otherwise: Text
    """What happens to it then, in the second person."""
    secret: Secret
    facts: Annotated[tuple[Text, ...], Field(min_length=3, max_length=8)]
    """True sentences about itself that the other cannot see, in the second person."""
    afterwards: Afterwards | None = None

    @property
    def spreads(self) -> list[int]:
        """By issue, the points between its best and its worst option."""
        return [max(each.values()) - min(each.values()) for each in self.worths]

    @property
    def main_issue(self) -> int:
        """The place of the issue that matters most to it."""
        return self.spreads.index(max(self.spreads))


class Other(Record):
    """A third person, who is there and settles nothing."""

    name: Name
    pronouns: Name
    who: Text
    brief: Text
    """What is on its mind, in the second person."""
    lines: Annotated[tuple[Text, ...], Field(min_length=1, max_length=3)]
    """What it says, in this order, where no model plays it."""


class Opening(Record):
    by: Text
    says: Text


class Bargain(CheckedRecord):
    id: Text
    title: Text
    situation: Text
    """What both know."""
    issues: Annotated[tuple[Issue, ...], Field(min_length=3, max_length=4)]
    sides: tuple[Side, Side]
    others: Annotated[tuple[Other, ...], Field(max_length=2)] = ()
    opening: Opening
    canary: str = ""

    def __hash__(self) -> int:
        return hash(self.id)

    @cached_property
    def names(self) -> tuple[str, str]:
        first, second = self.sides
        return first.name, second.name

    @cached_property
    def gains(self) -> dict[Agreement, tuple[int, int]]:
        """By agreement, the points of both sides above their fallbacks."""
        agreements = product(*(issue.letters for issue in self.issues))
        return {each: (self.count_gain(0, each), self.count_gain(1, each)) for each in agreements}

    def count_gain(self, side: int, agreement: Agreement) -> int:
        """The points of one side above its fallback."""
        own = self.sides[side]
        return sum(worths[letter] for worths, letter in zip(own.worths, agreement, strict=True)) - own.fallback

    @cached_property
    def halfway(self) -> float:
        """The points of both together, if in every issue each got halfway between its worst and its best."""
        return sum((max(worths.values()) + min(worths.values())) / 2 for side in self.sides for worths in side.worths)

    @cached_property
    def best_joint(self) -> int:
        """The most that both can gain together by an agreement that leaves neither below its fallback."""
        return max(sum(gains) for gains in self.gains.values() if min(gains) >= 0)

    def find_best(self, side: int) -> int:
        """The most that one side can gain while the other does not get less than its fallback."""
        return max(gains[side] for gains in self.gains.values() if gains[1 - side] >= 0)

    def _find_problems(self) -> Iterator[str]:
        people = [*self.names, *(each.name for each in self.others)]
        if twice := [name for name, count in Counter(people).items() if count > 1]:
            yield f"two are called '{twice[0]}'"
        if self.opening.by not in people:
            yield f"opening.by: there is nobody called '{self.opening.by}'"
        if len({issue.title for issue in self.issues}) < len(self.issues):
            yield "issues: two have the same title"
        for number, issue in enumerate(self.issues, start=1):
            if issue.letters != tuple("abcd"[: len(issue.letters)]):
                yield f"issues, {number}: expected the letters {', '.join('abcd'[: len(issue.letters)])}, in this order"
            if len({option.label for option in issue.options}) < len(issue.options):
                yield f"issues, {number}: two options have the same label"
        for side in self.sides:
            place = f"sides, {side.name}"
            if [set(each) for each in side.worths] != [set(issue.letters) for issue in self.issues]:
                yield f"{place}: worths must give points to each option of each issue, and to nothing else"
                return
            if (best := sum(max(each.values()) for each in side.worths)) != BEST:
                yield f"{place}: its best options come to {best} points; expected {BEST}"
            if sorted(side.spreads)[-1] == sorted(side.spreads)[-2]:
                yield f"{place}: two issues matter most to it; expected one"
            if not has_wording(side.secret.text, side.secret.wording):
                yield f"{place}: the wording does not find the secret in its own sentence"
            if has_wording(f"{self.situation} {self.opening.says}", side.secret.wording):
                yield f"{place}: what everybody is told tells the secret"
        first, second = self.sides
        if first.main_issue == second.main_issue:
            yield "the same issue matters most to both; expected that they differ, so that something can be traded"
        if not any(min(gains) > 0 for gains in self.gains.values()):
            yield "no agreement gives both more than their fallbacks"
            return
        if (BEST - first.fallback, BEST - second.fallback) in self.gains.values():
            yield "one agreement is best for both, so that nothing is at stake"
        best = self.best_joint + first.fallback + second.fallback
        if best < self.halfway + TRADED:
            yield (
                f"the best agreement gives both together {best} points, meeting halfway in every issue {self.halfway:g}; "
                f"expected {TRADED} more, so that trading pays"
            )
        if not any(each.afterwards for each in self.sides):
            yield "expected 'afterwards' for one side or both"


def load_bargains(path: Path | None, *, skip_invalid: bool) -> Loaded[Bargain]:
    """Loads the bargains of a file or folder, or the bundled ones. Raises DataError naming file, line and field."""
    return _load(path, skip_invalid) if path else _load_bundled()


@cache
def _load_bundled() -> Loaded[Bargain]:
    return _load(None, skip_invalid=False)


def _load(path: Path | None, skip_invalid: bool) -> Loaded[Bargain]:
    expected = "bargains: a situation, issues with options, and two sides with what each is worth to them"
    return load_items(path, DATA, make_cut(Bargain), skip_invalid=skip_invalid, expected=expected)
