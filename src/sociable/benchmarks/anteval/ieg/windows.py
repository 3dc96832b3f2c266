"""Windows: the turns that end before a call for checks, and the checks that were called for.

The call itself and what follows are never part of a window.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from sociable.benchmarks.anteval.ieg.logs import Check, Log, Spoken

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


_FORMS = {
    "Acrobatics": r"acrobat\w*",
    "Animal Handling": r"handl\w* \w+ animals?|animal handl\w*",
    "Arcana": r"arcan\w*",
    "Athletics": r"athlet\w*",
    "Deception": r"decept\w*|deceiv\w*|deceit\w*",
    "History": r"histor\w*",
    "Insight": r"insight\w*",
    "Intimidation": r"intimidat\w*",
    "Investigation": r"investigat\w*",
    "Medicine": r"medicin\w*|medical\w*",
    "Nature": r"natures?",
    "Perception": r"percept\w*|perceiv\w*",
    "Performance": r"perform\w*",
    "Persuasion": r"persua\w*",
    "Religion": r"religio\w*",
    "Sleight of Hand": r"sleights? of hands?",
    "Stealth": r"stealth\w*",
    "Survival": r"surviv\w*",
}
"""By skill its name and words of the same stem, as people say them."""
_BETWEEN_WORDS = r"[\s\-\u2010-\u2015]+"


@cache
def _compile_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern.replace(' ', _BETWEEN_WORDS)})\b", re.IGNORECASE)


def mask_skills(window: Window) -> Window:
    """The window without the skills' names and their forms: nobody who calls a skill by its name is understood by it."""
    spelled = _compile_words("|".join(_FORMS.values()))
    turns = tuple(Spoken(speaker=turn.speaker, text=spelled.sub(MASK, turn.text)) for turn in window.turns)
    return replace(window, turns=turns)


def names_skill(text: str, skill: str) -> bool:
    """Whether ``text`` calls a skill by its name."""
    return _compile_words(re.escape(skill).replace(r"\ ", " ")).search(text) is not None
