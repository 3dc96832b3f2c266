"""Names: which spellings name the same person, and whom a text names.

Names match after case, punctuation, accents' composition, articles and titles are normalised, or through a listed
alias (HSII, section 6.3: the golden standard "covers all possible duplicated names"). Nothing is guessed: a text that
fits two people, or a group, names nobody.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Annotated

from pydantic import AfterValidator

from sociable.core.data_files import Text
from sociable.core.prompts import put_on_one_line

_WORD = re.compile(r"[^\W_]+")
_GENITIVE = re.compile("['\u2019\u02bc]s\\b", re.IGNORECASE)
_GENITIVE_WORD = re.compile("[^\\W_]+['\u2019\u02bc]s\\b", re.IGNORECASE)
_ARTICLES = frozenset({"the", "a", "an"})
_TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "mx", "dr", "doctor", "prof", "professor", "sir", "madam", "madame"}
    | {"dame", "lord", "lady", "rev", "reverend", "fr", "father", "sr", "sister"}
)
_PARTICLES = frozenset(
    {"and", "bin", "binti", "dal", "del", "della", "den", "der", "des", "dos", "for", "from", "ibn", "las", "los", "van", "von"}
)
_GROUP = frozenset({"all", "anybody", "anyone", "both", "each", "everybody", "everyone", "others", "together"})


def find_words(text: str) -> list[str]:
    """The words of ``text``, lower case, without punctuation; apostrophes join (``o'clock`` is one word)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(re.sub("['\u2019\u02bc`\u00b4]", "", folded))


def require_word(text: str) -> str:
    """The text. Raises ValueError where nothing can match it."""
    if not _WORD.search(text):
        raise ValueError(f"{text!r} has no letter or digit in it, so nothing can match it")
    return text


def _require_one_line(text: str) -> str:
    # Names stand in prompts as they are, outside what is quoted.
    if put_on_one_line(text) != text:
        raise ValueError(f"{text!r} must be on one line, without control characters or words of chat templates")
    return text


Name = Annotated[Text, AfterValidator(require_word), AfterValidator(_require_one_line)]
"""Somebody's name, as a field of a data file."""


def normalise_name(name: str) -> str:
    """``"Dr. Mary-Ann O'Neil"`` and ``"mary ann oneil"`` are the same; a name of titles only keeps them (``"Father"``)."""
    found = [word for word in find_words(name) if word not in _ARTICLES]
    untitled = [word for word in found if word not in _TITLES]
    return " ".join(untitled or found)


def find_person(text: str, characters: Sequence[str], aliases: Mapping[str, Iterable[str]]) -> str | None:
    """The one character ``text`` names, or None if it names nobody or more than one.

    First the whole text is compared with names and aliases, then without titles (so that ``Mr Lee`` and ``Mrs Lee`` can
    be two); otherwise it must name one character only, and no group (``everyone, especially Ann``). A word that stands in
    one name only names its bearer.
    """
    for spelled in (_make_run, normalise_name):
        whole = spelled(text)
        exact = {name for name in characters if whole and whole in map(spelled, (name, *aliases.get(name, ())))}
        if exact:
            break
    # Ann's mother is not Ann, and everyone is not Ann alone.
    if not exact and (_GENITIVE.search(text) or has_group_name(text, characters, aliases)):
        return None
    named = exact or find_people(text, characters, aliases) | _find_by_own_words(text, characters, aliases)
    return next(iter(named)) if len(named) == 1 else None


def _find_by_own_words(text: str, characters: Sequence[str], aliases: Mapping[str, Iterable[str]]) -> set[str]:
    """The characters of whose names a word occurs in ``text`` that stands in nobody else's: ``Mr Scarpati``, ``Haji``."""
    parts = {name: {word for each in (name, *aliases.get(name, ())) for word in _list_name_words(each)} for name in characters}
    counts = Counter(chain.from_iterable(parts.values()))
    said = {word for word in find_words(text) if counts[word] == 1}
    return {name for name, own in parts.items() if own & said}


def _list_name_words(name: str) -> list[str]:
    # The prosecutor's courier is not the prosecutor.
    words = find_words(_GENITIVE_WORD.sub(" ", name))
    return [word for word in words if len(word) > 2 and word not in _ARTICLES | _TITLES | _PARTICLES | _GROUP]


def strip_own_name(said: str, names: Iterable[str]) -> str:
    """Ann's words without her name: models copy the form in which others' turns reach them, ``Ann: Hello!``."""
    prefix = next((f"{name}:" for name in names if said.startswith(f"{name}:")), "")
    return said.removeprefix(prefix).lstrip() if prefix else said


def has_group_name(text: str, characters: Sequence[str], aliases: Mapping[str, Iterable[str]]) -> bool:
    """Whether a word for several people stands in ``text`` outside names and aliases (``All Saints``)."""
    rest = _make_run(text)
    for spelling in sorted(_make_runs((*characters, *chain.from_iterable(aliases.values()))), key=len, reverse=True):
        rest = rest.replace(spelling, "|")
    return not _GROUP.isdisjoint(rest.replace("|", " ").split())


def find_people(text: str, characters: Sequence[str], aliases: Mapping[str, Iterable[str]]) -> set[str]:
    """The characters whose name or alias occurs in ``text`` as a run of whole words, with or without title or genitive.

    A name inside a longer one (``Ann`` in ``Ann Lee``) does not count there.
    """
    said = _make_run(text)
    spellings = {name: _make_runs((name, *aliases.get(name, ()))) for name in characters}
    every = set().union(*spellings.values())

    def is_named(spelling: str) -> bool:
        if spelling not in said:
            return False
        rest = said
        for longer in every:
            if spelling in longer and spelling != longer:
                rest = rest.replace(longer, "|")
        return spelling in rest

    return {name for name, own in spellings.items() if any(map(is_named, own))}


def _make_runs(names: Iterable[str]) -> set[str]:
    return {run for name in names for run in (_make_run(name), _make_run(normalise_name(name))) if run}


def _make_run(text: str) -> str:
    """The words of ``text`` but articles, with a space on both sides of each: ``in`` and ``replace`` then find whole words."""
    return "".join(f" {word} " for word in find_words(_GENITIVE.sub("", text)) if word not in _ARTICLES)
