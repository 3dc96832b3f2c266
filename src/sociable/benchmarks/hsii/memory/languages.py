"""In which language a text is, among a few that could be meant."""

from __future__ import annotations

from functools import cache
from typing import Any


def language_of(text: str, among: frozenset[str]) -> str:
    """The likeliest of the languages ``among``, as codes of ISO 639-1, by py3langid's model of byte n-grams.

    Raises ValueError when the model does not know one of them.
    """
    identifier = _identifier()
    identifier.set_languages(sorted(among))
    return str(identifier.classify(text)[0])


@cache
def _identifier() -> Any:
    """Loaded once: that takes most of a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    return LanguageIdentifier.from_model_file(MODEL_FILE)
