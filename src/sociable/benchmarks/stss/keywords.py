"""The keyword filter (section 3.1): whether an activity's text says that somebody does the thing.

Words are compared by their stems, phrases word by word. Talking about the thing and getting ready for it never count;
conversing is a field beside the activity and no part of its text.

Differs from the paper: the authors look for substrings, which misses "exercising" where "exercise" is listed and takes
"preparing decorations for the party" for a party.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from sociable.benchmarks.stss.task import Signs


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(",") if phrase.strip())


NOT_YET = _split(
    # Talking of it; having it in mind; before and after.
    """
    talk about, talk people into, chat about, discuss, remind people, invite, spread the word, advertise, announce, hand out
    flyer, put up poster, write about,
    plan the, plan a, organise, organize, think about, think of, wonder about, look forward, read about, read up, look up,
    sign up,
    prepare, get ready, set up, set out the, practise for, practice for, rehearse for, make a list, the day before, the
    evening before, tidy, clean up, clear away, clear up, wash up, sweep up, put away, pack up, is over, next week, last
    week, last night, tomorrow, yesterday, later on, to wear to, would need, deliver, on the way, on my way, walk to, walk
    home, head to, head home, head for, hurry to, go home, leave for
    """
)
"""Words that show, anywhere in a text, that somebody is not at the thing, whatever it is."""

NOT_YET_AT_THE_BEGINNING = _split(
    """
    talk with, talk to, chat with, gossip, tell about, tell how, tell of, recommend, remind, ask around, ask people, ask if,
    ask whether, ask who, recruit, persuade, promote, send, email, message, phone, write to, plan, arrange, schedule,
    wonder, worry, look for somebody, look for someone, look for people, look for a partner, search for somebody, search for
    people, book a, choose a date, decide, hear about, pack, clean, wipe, sweep, mop, hose, scrub, roll up, stow, type up,
    walk toward, walk past, cycle to, drive to, carry
    """
)
"""Words that show it where a text begins with them. Words in between are passed over: "telling a friend about …"."""

ERRANDS = ("shop for", "buy", "order", "pay for")
"""Words that show it of an activity, though not of an errand, which may be just that."""

_DOUBLE = re.compile(r"([^\W\daeiou])\1$")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@cache
def _load_stemmer() -> Any:
    return import_module("snowballstemmer").stemmer("english")


@lru_cache(maxsize=8192)
def find_stems(text: str) -> tuple[str, ...]:
    """The stems of a text's words, hyphenated ones as several."""
    words = [part for word in _WORD.findall(text.casefold()) for part in re.split("['’-]", word)]
    # The stemmer leaves a double consonant at the end of a word, and takes one of it from "bluffing".
    return tuple(_DOUBLE.sub(r"\1", stem) for stem in _load_stemmer().stemWords([word for word in words if word != "s"]))


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
    for phrase in (*NOT_YET, *signs.not_keywords):
        if has_phrase(text, phrase) and not any(has_phrase(keyword, phrase) for keyword in own):
            return False
    if any(has_phrase(text, phrase) for phrase in signs.there):
        return True
    at_the_beginning = NOT_YET_AT_THE_BEGINNING if signs.errand else (*NOT_YET_AT_THE_BEGINNING, *ERRANDS)
    return not any(
        _is_begun_by(text, phrase) and not any(_is_begun_by(keyword, phrase) for keyword in own) for phrase in at_the_beginning
    )
