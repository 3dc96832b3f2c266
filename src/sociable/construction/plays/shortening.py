"""The ways in which a speech heading shortens a name, each a question of a heading's words and a name's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociable.construction.plays.wordlists import ARTICLES, ORDINALS, PEERESSES, PEERS, SMALL, TITLES

_WORD = re.compile(r"\d+(?:st|nd|rd|th|d)?(?![^\W\d_])|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*", re.I)
_EXACT = frozenset(ORDINALS.values()) | {"mr", "mrs"}
_LEAST_CONTRACTED = 2


def words_in(name: str) -> list[str]:
    """The words of a name in small letters. Of several people of one name their number comes first, as a word: "Robot 2", "2nd
    Robot" and "II. Robot" are all second robot."""
    found = [word.casefold().replace("’", "'") for word in _WORD.findall(name)]
    told = [_number(word) if len(found) > 1 or word[0].isdigit() else "" for word in found]
    return [number for number in told if number] + [
        "lord" if word == "ld" else word for word, number in zip(found, told, strict=True) if not number
    ]


def _number(word: str) -> str:
    return word if word in ORDINALS.values() else ORDINALS.get(re.sub(r"(?<=\d)(?:st|nd|rd|th|d)$", "", word), "")


def significant(name: str) -> list[str]:
    """The words of a name without articles."""
    words = words_in(name)
    return [word for word in words if word not in ARTICLES] or words


def forms_of(name: str) -> list[list[str]]:
    """A name's words in all forms that a heading may shorten: as printed, peers as lords, without small words, without titles."""
    words = significant(name)
    rank = "lord" if words[0] in PEERS else "lady" if words[0] in PEERESSES else words[0]
    ranked = [rank, *words[1:]]
    large = [word for word in ranked if word not in SMALL]
    bare = [word for word in large if word not in TITLES]
    return [list(form) for form in dict.fromkeys(tuple(form) for form in (words, ranked, large, bare) if form)]


def begins(token: str, word: str) -> bool:
    """ "Mr" is not short for "Mrs", nor one number for another."""
    return word == token if token in _EXACT else word.startswith(token)


def begins_words(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Every token begins a word, in order: "Lady Brack." is Lady Bracknell. "Helmer's three children" is nobody called Helmer."""
    own = iter(word for word in words if not word.endswith("'s"))
    return all(any(begins(token, word) for word in own) for token in tokens)


def runs_over(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """The tokens are beginnings of all the words, run together: "LG" is Lord Goring, "LCAV" Lord Caversham."""
    if not tokens or not words:
        return not tokens and not words
    token, word = tokens[0], words[0]
    if token in _EXACT:
        return token == word and runs_over(tokens[1:], words[1:])
    lengths = [length for length in range(1, len(token) + 1) if word.startswith(token[:length])]
    return any(runs_over([rest, *tokens[1:]] if (rest := token[length:]) else tokens[1:], words[1:]) for length in lengths)


def contracts(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Every token leaves letters of a word out: some before the last ("Jas." is James) or its vowels ("Hlm." is Helmer)."""
    own = iter(words)
    return all(any(_contracts_word(token, word) for word in own) for token in tokens)


def _contracts_word(token: str, word: str) -> bool:
    if begins(token, word):
        return True
    if len(token) < _LEAST_CONTRACTED or token in _EXACT or token[0] != word[0]:
        return False
    return (word.startswith(token[:-1]) and word.endswith(token[-1])) or _without_vowels(word).startswith(token)


def _without_vowels(word: str) -> str:
    return word[0] + re.sub("[aeiou]", "", word[1:])
