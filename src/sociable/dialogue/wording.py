"""Rules over wording: what a text must convey, and what it must not reveal.

A wording is a list of alternatives; each alternative is a list of phrases that must all occur. Phrases match as runs of
whole words, without regard to case and punctuation. Never a pattern language: data files are not trusted to write one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sociable.dialogue.names import words

Wording = Sequence[Sequence[str]]


def expresses(text: str, wording: Wording) -> bool:
    """Whether any alternative of ``wording`` occurs in ``text``."""
    padded = padded_words(text)
    return any(all(padded_words(phrase) in padded for phrase in alternative) for alternative in wording)


def padded_words(text: str) -> str:
    """The words of ``text`` with a space around each, so that ``in`` finds whole words only."""
    return f" {' '.join(words(text))} "
