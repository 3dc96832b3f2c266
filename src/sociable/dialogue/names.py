"""When two spellings name the same person.

Names match after case, punctuation, accents' composition, articles and titles are normalised, or through a listed
alias (HSII, section 6.3: the golden standard "covers all possible duplicated names"). Nothing is guessed: a text that
fits two people names neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"the", "a", "an"})
_TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "mx", "dr", "doctor", "prof", "professor", "sir", "madam", "madame"}
    | {"dame", "lord", "lady", "rev", "reverend", "fr", "father", "sr", "sister"}
)


def words(text: str) -> list[str]:
    """The words of ``text``, lower case, without punctuation; apostrophes join (``o'clock`` is one word)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(re.sub("['\u2019\u02bc`\u00b4]", "", folded))


def normalised_name(name: str) -> str:
    """``"Dr. Mary-Ann O'Neil"`` and ``"mary ann oneil"`` are the same; a name of titles only keeps them (``"Father"``)."""
    found = [word for word in words(name) if word not in _ARTICLES]
    untitled = [word for word in found if word not in _TITLES]
    return " ".join(untitled or found)


def who_is_named(text: str, characters: Sequence[str], aliases: Mapping[str, Iterable[str]]) -> str | None:
    """The one character ``text`` names, or None if it names nobody or more than one.

    First the whole text is compared with names and aliases. Otherwise the characters whose name or alias occurs in it
    as a run of whole words are counted; a name inside a longer one that matched (``Ann`` in ``Ann Lee``) does not count.
    """
    spellings = {name: {normalised_name(name), *map(normalised_name, aliases.get(name, ()))} - {""} for name in characters}
    whole = normalised_name(text)
    exact = [name for name in characters if whole in spellings[name]]
    if len(exact) == 1:
        return exact[0]
    if exact:
        return None
    padded = f" {whole} "
    found = [(name, spelling) for name in characters for spelling in spellings[name] if f" {spelling} " in padded]
    longest = [
        (name, spelling)
        for name, spelling in found
        if not any(f" {spelling} " in f" {other} " and spelling != other for _, other in found)
    ]
    named = {name for name, _ in longest}
    return named.pop() if len(named) == 1 else None
