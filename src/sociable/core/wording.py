"""Rules over wording: what a text must convey, and what it must not reveal.

A wording is a list of alternatives; each alternative is a list of phrases that must all occur. Phrases match as runs of
whole words, without regard to case and punctuation; a phrase that ends in ``*`` matches any ending of its last word.
Nothing else means anything: data files are not trusted to write a pattern language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, Field

from sociable.core.data_files import Text
from sociable.core.names import find_words, require_word

Phrase = Annotated[Text, AfterValidator(require_word)]
Alternative = Annotated[tuple[Phrase, ...], Field(min_length=1)]
Wording = Annotated[tuple[Alternative, ...], Field(min_length=1)]
"""A wording, as a field of a data file."""


def has_wording(text: str, wording: Sequence[Sequence[str]]) -> bool:
    """Whether any alternative of ``wording`` occurs in ``text``."""
    padded = pad_words(text)
    return any(all(_pad_phrase(phrase) in padded for phrase in alternative) for alternative in wording)


# A turn is looked at by every rule of its scene, and a rule looks at every turn.
@lru_cache(maxsize=1_000)
def pad_words(text: str) -> str:
    """The words of ``text`` with a space around each, so that ``in`` finds whole words only."""
    return f" {' '.join(find_words(text))} "


@lru_cache(maxsize=50_000)
def _pad_phrase(phrase: str) -> str:
    """The run of words to look for in a text's padded words."""
    padded = f" {' '.join(find_words(phrase))} "
    return padded.rstrip() if phrase.endswith("*") else padded


def find_telling_words(text: str) -> set[str]:
    """The words of a text that are long enough to tell something: more than three letters."""
    return {word for word in find_words(text) if len(word) > 3}


def measure_overlap(part: set[str], whole: set[str]) -> float:
    """The share of ``part`` that is in ``whole``; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0
