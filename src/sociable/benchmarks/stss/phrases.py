"""What people without a model say: sentences drawn from a file, questions asked before a promise, and what answers them.

An answer is read by rule: it is about what was asked, and it says something that has not been said before. Whoever says the
same again, whatever was asked, has not answered.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from sociable.benchmarks.stss.keywords import find_stems
from sociable.benchmarks.stss.speech import find_times
from sociable.core.seeding import make_generator
from sociable.town.clock import MINUTES_PER_DAY

PHRASES: Mapping[str, Sequence[str]] = json.loads(
    (Path(__file__).parent / "data" / "small_talk.json").read_text(encoding="utf-8")
)
"""Sentences by what they are for; in some there are slots in braces."""

MORNING_ENDS, EVENING_BEGINS = 11 * 60, 18 * 60
"""The minutes of the day at which the openings of the morning end and those of the evening begin."""

NEW_WORDS = 3
"""The fewest words in an answer that the speaker has not said before."""


class Question(StrEnum):
    """What somebody wants to know before it promises anything; its value names the sentences that ask it."""

    WHO = "asks_who"
    HOW_LONG = "asks_how_long"
    WHAT = "asks_what"
    WHY = "asks_why"
    WHAT_TO_BRING = "asks_what_to_bring"
    FAVOUR = "asks_about_favour"


_ASKED = {sentence: question for question in Question for sentence in PHRASES[question]}
_ABOUT = {
    Question.WHO: r"every(?:one|body)|no(?:body| one)|others?|some|several|few|many|people|friends?|neighbours?|both|alone|only|"
    r"just|all|first|two|three|four|five|six|seven|eight|nine|ten|dozen|\d+",
    Question.HOW_LONG: r"minutes?|hours?|half|quarter|until|till|o['’]?clock|long|short|quick\w*|over|finish\w*|ends?|evening|"
    r"night|while|time",
    Question.WHAT: r"you|your|we|people|every(?:one|body)|each|there",
    Question.WHY: r"i|me|my|mine|we|us|our",
    Question.WHAT_TO_BRING: r"bring\w*|wear\w*|com(?:e|ing)|need\w*|nothing|anything|yourself|as you are|free|spare|enough|"
    r"matter|welcome|warm|shoes|coat|cup|chair|cushion|know\w*",
    Question.FAVOUR: r"i|me|my|mine|we|us|our",
}
"""Words of which an answer to each question has one."""
_PATTERNS = {question: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for question, words in _ABOUT.items()}
_SMALL = frozenset(
    find_stems(
        "a an and are as at be but by do for from have he her his i if in is it its me my not of on or our she so that the their "
        "them there they this to us was we what when where which who will with would you your yes no well oh please hello hi"
    )
)


def draw_phrase(kind: str, speaker: str, draw: random.Random, **slots: str) -> str:
    """A sentence of a kind, its slots filled."""
    return draw.choice(_find_own(kind, speaker)).format(**slots)


def draw_opening(minute: int, speaker: str, draw: random.Random) -> str:
    """First words that fit the hour."""
    time = minute % MINUTES_PER_DAY
    hour = "openings_morning" if time < MORNING_ENDS else "openings_evening" if time >= EVENING_BEGINS else "openings_day"
    return draw.choice([*_find_own(hour, speaker), *_find_own("openings_day", speaker)])


@cache
def _find_own(kind: str, speaker: str) -> Sequence[str]:
    """A quarter of the sentences: everybody has a voice, and says such things again."""
    return make_generator(0, "voice", kind, speaker).sample(PHRASES[kind], -(-len(PHRASES[kind]) // 4))


def find_question(text: str) -> Question | None:
    """The question that a resident without a model asks in these words."""
    return _ASKED.get(text)


def find_words(texts: Iterable[str]) -> set[str]:
    """The stems of all words that mean something."""
    return {stem for text in texts for stem in find_stems(text)} - _SMALL


def is_answer(question: Question, text: str, said_before: Collection[str], names: Collection[str] = ()) -> bool:
    """Whether a text answers a question: it is about what was asked, in words that are not in ``said_before``.

    ``said_before`` holds stems, ``names`` those of people, of whom one answers who comes.
    """
    if len(find_words([text]) - set(said_before)) < NEW_WORDS:
        return False
    if question is Question.WHO and any(re.search(rf"\b{re.escape(name)}\b", text) for name in names):
        return True
    return bool(_PATTERNS[question].search(text)) or (question is Question.HOW_LONG and bool(find_times(text)))
