"""The keyword filter (section 3.1): whether an activity's text says that somebody does the thing.

Words are compared by their stems, phrases word by word. Talking about the thing and getting ready for it never count;
conversing is a field beside the activity and no part of its text.

Differs from the paper: the authors look for substrings, which misses "exercising" where "exercise" is listed and takes
"preparing decorations for the party" for a party.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sociable.benchmarks.stss.task import Signs

_WORDS = json.loads((Path(__file__).parent / "data" / "filter_words.json").read_text(encoding="utf-8"))
NOT_YET: Sequence[str] = _WORDS["anywhere"]
"""Words that show, anywhere in a text, that somebody is not at the thing, whatever it is: it is talked of, in mind, or over."""

NOT_YET_AT_THE_BEGINNING: Sequence[str] = _WORDS["at the beginning"]
"""Words that show it where a text begins with them. Words in between are passed over: "telling a friend about …"."""

ERRANDS: Sequence[str] = _WORDS["errands"]
"""Words that show it of an activity, though not of an errand, which may be just that."""

_DOUBLE = re.compile(r"([^\W\daeiou])\1$")


@cache
def _load_stemmer() -> Any:
    return import_module("snowballstemmer").stemmer("english")


@lru_cache(maxsize=8192)
def find_stems(text: str) -> tuple[str, ...]:
    """The stems of a text's words, hyphenated ones as several."""
    words = [word for word in re.findall(r"[^\W_]+", text.casefold()) if word != "s"]
    # The stemmer leaves a double consonant at the end of a word, and takes one of it from "bluffing".
    return tuple(_DOUBLE.sub(r"\1", stem) for stem in _load_stemmer().stemWords(words))


def has_phrase(text: str, phrase: str) -> bool:
    """Whether ``phrase`` stands in ``text``, word by word, whatever the endings."""
    words, wanted = find_stems(text), find_stems(phrase)
    return any(words[place : place + len(wanted)] == wanted for place in range(len(words) - len(wanted) + 1))


def is_about(text: str, signs: Signs) -> bool:
    """Whether a text is about the activity at all: whether it has one keyword of every group."""
    return all(any(has_phrase(text, keyword) for keyword in group) for group in signs.keywords)


def phrase_preparation(activity: str) -> tuple[str, ...]:
    """Phrases with an activity's name for what is done beside it: "for the soup swap", "after the soup swap"."""
    return _prefix_name(activity, "for", "before", "after", "until", "about")


def phrase_attendance(activity: str) -> tuple[str, ...]:
    """Phrases with an activity's name for what people do at it: "at the soup swap", "during the soup swap"."""
    return _prefix_name(activity, "at", "during", "in the middle of")


def _prefix_name(activity: str, *words: str) -> tuple[str, ...]:
    return tuple(f"{word} {article} {activity}" for word in words for article in ("the", "a", "an"))


def _is_begun_by(text: str, phrase: str) -> bool:
    """Whether a text begins with the first word of ``phrase``, and has the others anywhere after it, in order."""
    rest = iter(find_stems(text))
    first, *others = find_stems(phrase)
    return next(rest, None) == first and all(any(stem == word for word in rest) for stem in others)


@lru_cache(maxsize=65536)
def is_doing(text: str, signs: Signs) -> bool:
    """Whether somebody of whom this is said is doing the activity."""
    if not is_about(text, signs):
        return False
    # What is the thing itself cannot show that it is not: to discuss a book, to deliver a medicine.
    own = [keyword for group in signs.keywords for keyword in group]

    def has_any(is_in: Callable[[str, str], bool], phrases: Iterable[str]) -> bool:
        return any(is_in(text, phrase) and not any(is_in(keyword, phrase) for keyword in own) for phrase in phrases)

    if has_any(has_phrase, (*NOT_YET, *signs.not_keywords)):
        return False
    if any(has_phrase(text, phrase) for phrase in signs.there):
        return True
    return not has_any(_is_begun_by, [*NOT_YET_AT_THE_BEGINNING, *([] if signs.errand else ERRANDS)])
