"""Rules over wording: what a text must convey, and what it must not reveal.

A wording is a list of alternatives; each alternative is a list of phrases that must all occur. Phrases match as runs of
whole words, without regard to case and punctuation; a phrase that ends in ``*`` matches any ending of its last word.
Nothing else means anything: data files are not trusted to write a pattern language.
"""

from __future__ import annotations

import re
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
    # Every rule asks for it about every text: generators would take most of the time.
    for alternative in wording:
        for phrase in alternative:
            if _pad_phrase(phrase) not in padded:
                break
        else:
            return True
    return False


def has_claim(text: str, wording: Sequence[Sequence[str]], reach: int = 3) -> bool:
    """Whether ``text`` says what ``wording`` stands for: as ``has_wording``, but a phrase that is denied does not count.

    A phrase is denied that has a negation within the ``reach`` words before it in its sentence, or that comes after "it is
    not true that" and the like; a phrase with a negation of its own never is.
    """
    if not has_wording(text, wording):
        return False
    sentences = _cut_sentences(text)
    return any(all(_is_claimed(phrase, sentences, reach) for phrase in alternative) for alternative in wording)


def _is_claimed(phrase: str, sentences: Sequence[str], reach: int) -> bool:
    run = _pad_phrase(phrase)
    has_own = not _NEGATIONS.isdisjoint(run.split())
    for sentence in sentences:
        before, found, _ = sentence.partition(run)
        while found:
            if has_own or not (_DENIALS.search(before) or _NEGATIONS.intersection(before.split()[-reach:] if reach else ())):
                return True
            # The space that ends one run begins the next.
            before, found, _ = _part_after(sentence, run, len(before) + len(run) - 1)
    return False


def _part_after(sentence: str, run: str, place: int) -> tuple[str, str, str]:
    """``sentence`` before and after the first ``run`` from ``place`` on."""
    at = sentence.find(run, place)
    return (sentence, "", "") if at == -1 else (sentence[:at], run, sentence[at + len(run) :])


@lru_cache(maxsize=1_000)
def _cut_sentences(text: str) -> tuple[str, ...]:
    """The padded words of each sentence; what comes after "No," is a sentence of its own."""
    return tuple(map(pad_words, re.split(r"[!?;\n\u2013\u2014]+|\.+(?=\s|$)|(?<=\b[Nn]o),|(?<=\b[Nn]ot at all),", text)))


_NEGATIONS = frozenset(
    {"not", "never", "nobody", "neither", "nor", "cannot", "cant", "wont", "wasnt", "werent"}
    | {f"{verb}nt" for verb in ("are", "could", "did", "do", "does", "had", "has", "have", "is", "must", "should", "would")}
)
_DENIALS = re.compile(
    r" (?:not|isnt|wasnt|hardly|never) true | untrue | no truth | not the case | (?:deny|denies|denied) "
    r"| (?:nobody|no one)(?: has)?(?: ever)? said | (?:never|did not|didnt) sa(?:y|id) "
    r"| (?:a lie|false|nonsense)(?: to say)? that "
)
"""Words after which the rest of a sentence is denied."""


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
