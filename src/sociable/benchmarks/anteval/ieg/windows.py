"""Windows: the turns that end before a call for checks, and the checks that were called for.

The call itself and what follows are never part of a window.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pydantic import TypeAdapter

from sociable.benchmarks.anteval.ieg.logs import Check, Log, Spoken
from sociable.benchmarks.anteval.rules import DATA

Pair = tuple[str, str]
"""A player, and the skill of its check."""

MASK = "this"
"""The sign in place of a skill's name."""


@dataclass(frozen=True, eq=False)
class Window:
    """One object is one window, whatever else says the same: it is looked up very often."""

    session: str
    turns: tuple[Spoken, ...]
    players: tuple[str, ...]
    """The players who could be meant: those who speak in it, in the order in which they first do."""
    master: str
    checks: frozenset[Pair]
    """Empty in a window without a call."""


def cut_windows(logs: Iterable[Log], width: int) -> list[Window]:
    """One window for every call with at least one turn before it."""
    return [_cut_window(log, call.before, width, call.checks) for log in logs for call in log.calls if call.before]


def draw_quiet_windows(log: Log, width: int, count: int, generator: random.Random) -> list[Window]:
    """``count`` windows without a call, or as many as there are, drawn among those further than a window from any."""
    ends = range(width, len(log.turns) + 1)
    quiet = [before for before in ends if all(abs(call.before - before) >= width for call in log.calls)]
    return [_cut_window(log, before, width, ()) for before in generator.sample(quiet, min(count, len(quiet)))]


def _cut_window(log: Log, before: int, width: int, checks: Sequence[Check]) -> Window:
    turns = log.turns[max(0, before - width) : before]
    speaking = dict.fromkeys(turn.speaker for turn in turns if turn.speaker in log.players)
    return Window(log.id, turns, tuple(speaking), log.master, frozenset((each.character, each.skill) for each in checks))


_BETWEEN_WORDS = r"[\s\-\u2010-\u2015]+"


@cache
def _load_forms() -> Mapping[str, str]:
    """The pattern of each skill: its name and words of the same stem, as people say them."""
    return TypeAdapter(dict[str, str]).validate_json((DATA / "skill_forms.json").read_bytes())


@cache
def _compile_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern.replace(' ', _BETWEEN_WORDS)})\b", re.IGNORECASE)


def count_skills(windows: Iterable[Window]) -> Counter[str]:
    """The number of calls for each skill."""
    return Counter(skill for window in windows for _, skill in window.checks)


def mask_skills(window: Window) -> Window:
    """The window without the skills' names and their forms: nobody who calls a skill by its name is understood by it."""
    spelled = _compile_words("|".join(_load_forms().values()))
    turns = tuple(Spoken(speaker=turn.speaker, text=spelled.sub(MASK, turn.text)) for turn in window.turns)
    return replace(window, turns=turns)


def has_skill_name(text: str, skill: str) -> bool:
    """Whether ``text`` calls a skill by its name."""
    return _compile_words(re.escape(skill).replace(r"\ ", " ")).search(text) is not None
