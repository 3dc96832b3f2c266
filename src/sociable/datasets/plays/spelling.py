"""Spellings of names: in full, word by word, and in the ways in which the heading of a speech shortens them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sociable.datasets.plays.wordlists import ABBREVIATED_TITLES, ARTICLES, ORDINALS, PEERESSES, PEERS, SMALL, TITLES

_WORD = re.compile(r"\d+(?:st|nd|rd|th|d)?(?![^\W\d_])|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*(?:(?<=s)['’](?!\w))?", re.I)
_EXACT = frozenset(ORDINALS.values()) | {"mr", "mrs"}
_LEAST_CONTRACTED, _LEAST_END = 2, 3
_VOICE = re.compile(r"(?<=\w)['’]s voice\.?$", re.I)
_INITIAL_A = re.compile(r"\bA\.", re.I)
_TITLES_IN_FULL = {"ld": "lord", "dr": "doctor"}
_OLD = {"jno": "john", "jn": "john", "xtopher": "christopher", "wm": "william"}
_FOND = re.compile(r"(.)\1?(?:y|ie|ey|e)$")
_ROMAN = re.compile(r"^(?:I{1,3}|IV|VI{0,3}|IX|XI{0,3})$")


def to_full_form(label: str) -> str:
    """A heading as a name: no stop or colon behind, nobody's voice, no shouting ("THE FLOWER GIRL" is The Flower Girl)."""
    text = _VOICE.sub("", " ".join(label.replace("_", "").replace("*", "").split()).rstrip(":;,—- "))
    if text.endswith(".") and text.split()[-1].casefold().rstrip(".") not in ABBREVIATED_TITLES:
        text = text.rstrip(".")
    if is_capitals(text) and len(text) > 1:
        return " ".join(_lower(word, index) if word.isupper() else word for index, word in enumerate(text.split(" ")))
    return text


def is_capitals(name: str) -> bool:
    """Whether a name is printed in capitals; its titles need not be ("Sir ANTHONY"), nor what joins two."""
    words = name.split()
    bare = [word for word in words if word.casefold().strip(".,") not in TITLES and word != "and"]
    return name.isupper() or (len(bare) < len(words) and " ".join(bare).isupper() and len(bare[0].strip(".")) > 1)


def _lower(word: str, index: int) -> str:
    if _ROMAN.match(word) and (index or len(word) > 1):
        return word
    if word.lower() in SMALL and index:
        return word.lower()
    # A capital after a hyphen or after O', none after the apostrophe of a possessive.
    return re.sub(r"(?<![^\W_])(?<!\w\w['’])[^\W\d_]", lambda found: found[0].upper(), word.lower())


def join_names(speakers: Sequence[str]) -> str:
    """ "Jack and Algernon"; "Jack, Lane and Algernon"."""
    return " and ".join([", ".join(speakers[:-1]), speakers[-1]]) if len(speakers) > 1 else speakers[0]


def split_words(name: str) -> list[str]:
    """The words of a name in small letters. Of several people of one name their number comes first, as a word: "Robot 2", "2nd
    Robot" and "II. Robot" are all second robot."""
    found = [word.casefold().replace("’", "'") for word in _WORD.findall(name)]
    numbers = {word: _find_number(word) for word in found if len(found) > 1 or word[0].isdigit()}
    rest = [_TITLES_IN_FULL.get(word, word) for word in found if not numbers.get(word)]
    return [numbers[word] for word in found if numbers.get(word)] + rest


def _find_number(word: str) -> str:
    return word if word in ORDINALS.values() else ORDINALS.get(re.sub(r"(?<=\d)(?:st|nd|rd|th|d)$", "", word), "")


@lru_cache(10_000)
def pick_words(name: str) -> tuple[str, ...]:
    """The words of a name without articles; but "A.M." has an initial."""
    words = tuple(split_words(name))
    return tuple(word for word in words if word not in ARTICLES or (word == "a" and _INITIAL_A.search(name))) or words


def list_forms(name: str) -> list[tuple[str, ...]]:
    """A name's words in all forms that a heading may shorten: as printed, peers as lords, without small words, without titles."""
    words = pick_words(name)
    ranked = ("lord" if words[0] in PEERS else "lady" if words[0] in PEERESSES else words[0], *words[1:])
    large = tuple(word for word in ranked if word not in SMALL)
    bare = tuple(word for word in large if word not in TITLES)
    return [form for form in dict.fromkeys((words, ranked, large, bare)) if form]


def can_begin(token: str, word: str) -> bool:
    """ "Mr" is not short for "Mrs", nor one number for another."""
    return word == token if token in _EXACT else word.startswith(token)


def can_begin_words(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Every token begins a word, in order: "Lady Brack." is Lady Bracknell. "Helmer's three children" is nobody called Helmer."""
    own = iter(word for word in words if not word.endswith(("'s", "s'")))
    return all(any(can_begin(token, word) for word in own) for token in tokens)


def can_run_over(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """The tokens are beginnings of all the words, run together: "LG" is Lord Goring, "LCAV" Lord Caversham."""
    if not tokens or not words:
        return not tokens and not words
    (token, *others), (word, *more) = tokens, words
    if token in _EXACT:
        return token == word and can_run_over(others, more)
    lengths = [length for length in range(1, len(token) + 1) if word.startswith(token[:length])]
    return any(can_run_over([*filter(None, [token[length:]]), *others], more) for length in lengths)


def can_contract(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Every token leaves letters of a word out (``_can_contract_word``); or all of them do so to one: "H. Maid" is Housemaid."""
    own = iter(words)
    is_one = len(tokens) > 1 and any(_can_join("".join(tokens), word) for word in words)
    return is_one or all(any(_can_contract_word(token, word) for word in own) for token in tokens)


def _can_contract_word(token: str, word: str) -> bool:
    """ "Jas." is James, its beginning and end; "Hlm." Helmer and "Bos'n" Boatswain, the beginning and consonants after it; and
    "Jno." John."""
    token = token.replace("'", "")
    if can_begin(token, word) or _OLD.get(token) == word:
        return True
    if len(token) < _LEAST_CONTRACTED or token in _EXACT or token[0] != word[0]:
        return False
    begin = next((at for at, (one, other) in enumerate(zip(token, word, strict=False)) if one != other), len(token))
    left = iter(word[begin:])
    has_consonants = not set(token[begin:]) & set("aeiou") and all(letter in left for letter in token[begin:])
    return has_consonants or _can_join(token, word)


def _can_join(token: str, word: str) -> bool:
    """The beginning of a word and its end, neither of them by chance."""
    return len(token) < len(word) and any(
        word.startswith(token[:begin]) and word.endswith(token[begin:]) and (begin > 1 or len(token) - begin != 2)
        for begin in range(1, len(token))
    )


def is_familiar(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """ "Algy" is Algernon, with another end, and "Maid" Housemaid or "Liza" Eliza, without the beginning."""
    if len(tokens) != 1:
        return False
    fond = _FOND.sub(r"\1", tokens[0])
    is_fond, is_end = fond != tokens[0] and len(fond) > 1, len(tokens[0]) > _LEAST_END
    return any((is_fond and word.startswith(fond)) or (is_end and word.endswith(tokens[0])) for word in words)


def can_stand_for(code: str, name: str) -> bool:
    """Whether a list that has ``code`` beside ``name`` says how headings shorten it: letters in order, the first a word's."""
    letters = "".join(split_words(code)) if not code.isdigit() else ""
    tails = [form[first:] for form in list_forms(name) for first in range(len(form))]
    if len(letters) >= _LEAST_END and any(letters in tail[0] for tail in tails):
        return True
    spelled = [iter("".join(tail)) for tail in tails if tail[0][0] == letters[:1]]
    return any(all(letter in left for letter in letters) for left in spelled)
