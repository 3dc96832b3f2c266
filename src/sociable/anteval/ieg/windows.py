"""Windows: the turns that end before a call for checks, and the checks that were called for.

The call itself and what follows are never part of a window.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from sociable.anteval.ieg.logs import Log, Spoken
from sociable.anteval.rules import rules

Pair = tuple[str, str]
"""Who, and with which skill."""

MASK = "this"
"""In place of a skill's name."""


@dataclass(frozen=True, eq=False)
class Window:
    """One object is one window, whatever else says the same: it is looked up very often."""

    session: str
    turns: tuple[Spoken, ...]
    players: tuple[str, ...]
    """Who could be meant: the players who speak in it, in the order in which they first do."""
    master: str
    checks: frozenset[Pair]
    """Empty in a window without a call."""


def windows_of(logs: Iterable[Log], width: int) -> list[Window]:
    """One for every call with at least one turn before it."""
    return [
        _window(log, call.before, width, [(each.character, each.skill) for each in call.checks])
        for log in logs
        for call in log.calls
        if call.before
    ]


def quiet_windows(logs: Sequence[Log], width: int, count: int, generator: random.Random) -> list[Window]:
    """Windows without a call, drawn among those further than a window from any."""
    places = [
        (log, before)
        for log in logs
        for before in range(width, len(log.turns) + 1)
        if all(abs(call.before - before) >= width for call in log.calls)
    ]
    return [_window(log, before, width, []) for log, before in generator.sample(places, min(count, len(places)))]


def _window(log: Log, before: int, width: int, checks: Sequence[Pair]) -> Window:
    turns = log.turns[max(0, before - width) : before]
    speaking = dict.fromkeys(turn.speaker for turn in turns if turn.speaker in log.players)
    return Window(log.id, turns, tuple(speaking), log.master, frozenset(checks))


@cache
def _skill_words() -> re.Pattern[str]:
    """The skills' names, as they are said and written, and forms of them."""
    stems = "|".join(re.escape(name).replace(r"\ ", "[ -]") for name in rules().skills)
    forms = (
        "acrobatic|athletic|deceiv|intimidat|investigat|perceiv|perceptive|persuad|stealth(?:y|ily)|medical|historical|religious"
    )
    return re.compile(rf"\b(?:{stems}|(?:{forms})\w*)\b", re.IGNORECASE)


def masked(window: Window) -> Window:
    """Without the skills' names, so that nobody who calls a skill by its name is understood by it."""
    turns = tuple(Spoken(speaker=turn.speaker, text=_skill_words().sub(MASK, turn.text)) for turn in window.turns)
    return replace(window, turns=turns)


def names_a_skill(text: str) -> bool:
    return _skill_words().search(text) is not None
