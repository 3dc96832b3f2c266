"""``reference/rule``: the goals of a scene that the signs written with them show as reached at the end of a conversation.

A sign is a wording in a turn of somebody who must say it. It counts where it is an answer, in the speaker's own words, and
not taken back: what repeats the goal or what others said before, what is denied, quoted, or said before the owner has
spoken, is none; the last word of a speaker on it stands; and of a turn only the beginning is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sociable.benchmarks.agentsense.scenario import Goal, Scenario, Sign
from sociable.core.names import find_words
from sociable.core.wording import has_claim, has_wording

MOST_WORDS = 120
"""Words of a turn that are read: as many as the paper's 128 tokens hold."""
COPIED = 8
"""So many words in a row that stand in the goal, or in what was said before, are a copy. A grant may repeat a few."""
_QUOTED = re.compile(r'"[^"\s][^"\n]* [^"\n]*"|“[^”\n]* [^”\n]*”')

Said = Sequence[tuple[str, str]]
"""Turns, as speaker and words."""
GoalKey = tuple[str, int]
"""The owner of a goal and its place among the owner's, from 0."""


def find_reached(scenario: Scenario, said: Iterable[tuple[str, str]]) -> Mapping[GoalKey, bool]:
    """Whether each goal that has signs is reached. Of goals that exclude each other the last one stands."""
    return _find_reached(_Key(scenario), tuple(said))


def is_reached(scenario: Scenario, owner: str, item: int, said: Iterable[tuple[str, str]]) -> bool | None:
    """Whether this goal is reached; None where nobody wrote down its signs."""
    return find_reached(scenario, said).get((owner, item))


def shows_signs(goal: Goal, owner: str, said: Iterable[tuple[str, str]]) -> bool:
    """Whether all signs of one goal are given for good, whatever becomes of the goals that it excludes."""
    return _find_turn(owner, goal, _read_turns(said)) is not None


class _Key:
    """A scenario as a key of the cache: one of an id, as long as it is the same object."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    def __hash__(self) -> int:
        return id(self.scenario)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.scenario is self.scenario


# Everybody is asked about every goal of the same conversation.
@lru_cache(maxsize=64)
def _find_reached(key: _Key, said: Said) -> Mapping[GoalKey, bool]:
    scenario = key.scenario
    turns = _read_turns(said)
    reached_at = {
        (owner.name, item): _find_turn(owner.name, goal, turns)
        for owner in scenario.characters
        for item, goal in enumerate(owner.goals)
        if goal.signs
    }
    for group in scenario.exclusive:
        found = {each.key: at for each in group if (at := reached_at.get(each.key)) is not None}
        if len(found) == len(group):
            reached_at[min(found, key=lambda each: found[each])] = None
    return {goal: at is not None for goal, at in reached_at.items()}


def _read_turns(said: Iterable[tuple[str, str]]) -> Said:
    """The beginnings of turns, without what is quoted."""
    return [(speaker, _QUOTED.sub(" ", " ".join(text.split()[:MOST_WORDS]))) for speaker, text in said]


def _find_turn(owner: str, goal: Goal, turns: Said) -> int | None:
    """The turn by which all signs of the goal had been given for good; None where one is missing."""
    found = [_find_sign(owner, goal, sign, turns) for sign in goal.signs]
    given = [at for at in found if at is not None]
    return max(given) if len(given) == len(found) else None


def _find_sign(owner: str, goal: Goal, sign: Sign, turns: Said) -> int | None:
    """The last turn that gives the sign, if nobody who gave it takes it back afterwards."""
    given: int | None = None
    before: list[str] = [goal.goal]
    asked = owner in sign.by
    for number, (speaker, text) in enumerate(turns):
        if speaker in sign.by and asked and has_wording(text, sign.says):
            own = _drop_copies(text, before)
            if has_claim(own, sign.says) and not (sign.unless and has_wording(text, sign.unless)):
                given = number
            elif own == text:
                # In so many words, and denied.
                given = None
        asked = asked or speaker == owner
        before.append(text)
    return given


def _drop_copies(text: str, before: Iterable[str]) -> str:
    """The text without runs of words that were there before; as it is where there are none."""
    words = text.split()
    spoken = [" ".join(find_words(word)) for word in words]
    runs = {run for other in before for run in cut_copied_runs(other)}
    copied: set[int] = set()
    for place in range(len(words) - COPIED + 1):
        if tuple(spoken[place : place + COPIED]) in runs:
            copied.update(range(place, place + COPIED))
    return " ".join(word for place, word in enumerate(words) if place not in copied) if copied else text


@lru_cache(maxsize=500)
def cut_copied_runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of words of a text that are so long that who says one has it from there."""
    spoken = [" ".join(find_words(word)) for word in text.split()]
    return frozenset(tuple(spoken[place : place + COPIED]) for place in range(len(spoken) - COPIED + 1))
