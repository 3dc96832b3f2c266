"""Reading by rule: what a turn says and leans to, and which clues it tells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sociable.benchmarks.anteval.hidden.dataset import Clue
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.core.names import find_words
from sociable.core.prompts import put_on_one_line
from sociable.core.records import make_storable
from sociable.dialogue.limits import cut_words
from sociable.judging.answers import parse_choice
from sociable.models.replies import mend_object

MAX_REPLY = 20_000
TOLD = 0.5
"""The part of a clue's own words that a turn has which tells it."""
STEM = 5
"""Letters by which words are taken for the same."""
_ASIDE = re.compile(r"TO\s+([^:]{1,80}?)\s*:\s*")


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a reply says and leans to."""

    text: str
    lean: int | None = None
    """The place of the option."""
    cut: int = 0
    """How many words were cut off, or cut short."""
    to: str = ""
    """The only one whom it is for; empty: all who hear the speaker."""
    problem: str = ""
    """Why the reply says nothing, where it cannot be read."""


def read_turn(text: str, options: Sequence[str], words: int, names: Sequence[str] = ()) -> Spoken:
    """What is said, cut to so many words.

    A reply without an object is taken for the words themselves; one with an object that has no text ``say`` says nothing.

    ``names``: those to whom it may be an aside, which begins ``TO NAME:``; the name's first word is enough where it is
    nobody else's. These words do not count.
    """
    said, lean, problem = make_storable(text)[:MAX_REPLY], None, ""
    found = mend_object(text, MAX_REPLY)
    if isinstance(found, dict) or (found is None and "{" in said):
        fields = {str(key).strip().casefold(): value for key, value in (found or {}).items()}
        lean = parse_choice(str(fields.get("lean", "")), len(options), options).value
        is_said = isinstance(fields.get("say"), str)
        said, problem = (fields["say"], "") if is_said else ("", "no 'say' in the reply")
    line, to = put_on_one_line(said).strip(), ""
    if names and (opening := _ASIDE.match(line)):
        named = opening[1].casefold()
        meant = [name for name in names if named in (name.casefold(), name.split()[0].casefold())]
        if len(meant) == 1:
            to, line = meant[0], line[opening.end() :]
    kept, cut = cut_words(line, words)
    return Spoken(kept, lean, cut, to, problem)


@lru_cache(maxsize=200)
def _list_own_words(scenario: Scenario) -> dict[str, frozenset[str]]:
    """By clue: the stems that it has and that hardly any other clue does, nor what everybody is told first."""
    stems = {each.id: _find_stems(each.text) for each in scenario.clues}
    case = scenario.case
    common = _find_stems(" ".join([case.setting, case.question, *(option.text for option in case.options), *case.names]))
    found = {}
    for name, own in stems.items():
        others = [stem for other, each in stems.items() if other != name for stem in each]
        rare = frozenset(stem for stem in own if stem not in common and others.count(stem) == 0)
        found[name] = rare if len(rare) > 1 else own
    return found


def _find_stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in find_words(text) if len(word) > 3 or word.isdigit())


def shorten(clue: Clue, scenario: Scenario) -> list[str]:
    """A clue in key words: as many of those that are its own, from its end, as tell it."""
    own, said = set(_list_own_words(scenario)[clue.id]), list[str]()
    least = _count_telling(len(own))
    for word in reversed(clue.text.split()):
        if len(said) < least and (stems := _find_stems(word) & own):
            own -= stems
            said.insert(0, word.strip(".,;:"))
    return said


def _count_telling(own: int) -> int:
    """How many of a clue's own words a text must have to tell it."""
    return max(math.ceil(TOLD * own), 2)


def find_said(text: str, scenario: Scenario) -> tuple[str, ...]:
    """The clues that a text tells: it has half of the words that are the clue's own."""
    said = _find_stems(text)
    return tuple(name for name, own in _list_own_words(scenario).items() if len(own & said) >= _count_telling(len(own)))
