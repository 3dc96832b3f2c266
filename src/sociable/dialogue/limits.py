"""The limit of words that a turn may have."""

from __future__ import annotations

MAX_WORD = 12
"""Characters for each word that a turn may have, blanks among them: the limit is not got round by one long word."""


def cut_words(text: str, words: int) -> tuple[str, int]:
    """(a text cut to so many words of ``MAX_WORD`` characters on the mean; how many words were cut off, or cut short)."""
    spoken = text.split()
    kept = " ".join(spoken[:words])[: words * MAX_WORD].strip()
    whole = sum(own == full for own, full in zip(kept.split(), spoken, strict=False))
    return kept, len(spoken) - whole
