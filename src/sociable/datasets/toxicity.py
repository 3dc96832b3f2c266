"""Toxic texts fall out of what data sets are made of: by a list of words, or by a classifier.

Both are a Detector: texts in, of each how toxic it is and because of what. The list is small and English. It finds who
insults, not what is insulting without a listed word; it is for the worst of it, and where more is at stake a classifier
is the better one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module, resources
from itertools import islice
from typing import Any, Protocol

from sociable.core.errors import InputError

LIMIT = 0.5
"""A text of this toxicity or more falls out."""

PASSAGE_WORDS = 200
"""A text is as toxic as its worst passage of so many words: harm does not get less for what stands around it."""


class Kind(StrEnum):
    """Of the listed words."""

    SLURS = "slurs"
    ABUSE = "abuse"
    SUBJECTS = "subjects"


WEIGHTS: Mapping[Kind, float] = {Kind.SLURS: 1.0, Kind.ABUSE: 0.4, Kind.SUBJECTS: 0.05}
MOST_OF_SUBJECTS = 0.3
"""News reports on murder, and uses the word for it: a passage with nothing but such words never falls out, however many.
With one word of abuse in their midst, six do."""


@dataclass(frozen=True, slots=True)
class Toxicity:
    score: float
    """In [0, 1]."""
    because: tuple[str, ...] = ()
    """The listed words of the worst passage, or the classifier's label; for people to look at."""


class Detector(Protocol):
    def __call__(self, texts: Sequence[str]) -> list[Toxicity]:
        """The toxicity of every text, in their order."""


@dataclass(frozen=True, slots=True)
class Measured:
    id: str
    toxicity: Toxicity
    is_harmless: bool


def measure_toxicity(
    texts: Iterable[tuple[str, str]], detector: Detector | None = None, limit: float = LIMIT
) -> Iterator[Measured]:
    """Of every (id, text), in their order and as they are read: how toxic it is, and whether it may stay.

    ``detector``: the bundled list of words, unless another is given. Raises InputError for a limit outside (0, 1].
    """
    if not 0 < limit <= 1:
        raise InputError(f"The limit of toxicity is above 0 and up to 1, not {limit}.")
    return _measured(iter(texts), detector or listed_words(), limit)


def _measured(texts: Iterator[tuple[str, str]], detector: Detector, limit: float) -> Iterator[Measured]:
    while batch := list(islice(texts, 64)):
        for (name, _), found in zip(batch, detector([text for _, text in batch]), strict=True):
            yield Measured(name, found, found.score < limit)


# By a list of words.


def listed_words(words: Mapping[str, Kind] | None = None) -> Detector:
    """Toxicity by words, whole ones and in any case; a word of several is a phrase. The bundled list by default.

    1 − exp(−s), where s is the sum over a passage of what its words count: a slur 1, abuse 0.4, a subject 0.05 but all
    subjects together MOST_OF_SUBJECTS. So one slur or two words of abuse make a passage fall out (0.63, 0.55).

    Words of four letters or more are also known with digits and signs for letters but the last (sh1t, a$$hole), letters
    drawn out (shiiit), spaced (s h i t, s.h.i.t), starred between the first and the last (sh*t), with accents, with
    invisible characters between and with Cyrillic letters for Latin ones. Raises InputError for a word without a letter.
    """
    entries = _bundled_words() if words is None else dict(words)
    return _Listed(entries)


@cache
def _bundled_words() -> Mapping[str, Kind]:
    text = resources.files("sociable.datasets").joinpath("harmful_words.txt").read_text(encoding="utf-8")
    found: dict[str, Kind] = {}
    kind = Kind.SLURS
    for line in text.splitlines():
        if line.startswith("["):
            kind = Kind(line.strip("[]"))
        elif not line.startswith("#"):
            found |= {word.replace("_", " "): kind for word in line.split()}
    return found


_FEWEST_LETTERS = 4
"""Shorter words are matched only as they stand: three letters are also initials, and A55 is a road."""

_SIGNS = "013457@$!|+€"
_LETTERS = (str.maketrans(_SIGNS, "oieastasiite"), str.maketrans(_SIGNS, "oleastaslite"))
"""A 1, and what looks like it, is an i or an l."""

_CYRILLIC = str.maketrans("асеорухіѕјкнт", "aceopyxisjkht")
_INNER = rf"[^\W_]+(?:[{re.escape(_SIGNS)}*]*[^\W_]+)*"
# Signs are taken from where a run of them begins, and never given back: a page of them must not take its square in time.
_TOKEN = re.compile(rf"{_INNER}|(?<![{re.escape(_SIGNS)}])[{re.escape(_SIGNS)}]++{_INNER}")
_SIGN = re.compile(r"[\W_]+")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")
_ONE = rf"[^\W_]|[{re.escape(_SIGNS)}]"
_SPACED = re.compile(rf"(?<![\w{re.escape(_SIGNS)}])(?:{_ONE})(?:[\s._*·-]{{1,3}}(?:{_ONE})){{3,}}(?![\w{re.escape(_SIGNS)}])")


@dataclass(frozen=True, slots=True)
class _Hit:
    position: int
    """Of its first word, in the text."""
    word: str
    kind: Kind


class _Listed:
    def __init__(self, entries: Mapping[str, Kind]) -> None:
        self._kinds: dict[str, Kind] = {}
        self._phrases: dict[str, list[list[str]]] = {}
        self._by_length: dict[int, list[str]] = {}
        for entry, kind in entries.items():
            parts = _plain(entry).split()
            if not parts or not all(part.isalnum() for part in parts):
                raise InputError(f"The listed word {entry!r} is not made of letters, so it would never be found.")
            word = " ".join(parts)
            self._kinds[word] = kind
            if len(parts) > 1:
                self._phrases.setdefault(parts[0], []).append(parts)
            elif len(word) >= _FEWEST_LETTERS:
                self._by_length.setdefault(len(word), []).append(word)
        self._longest = max(self._by_length, default=0)

    def __call__(self, texts: Sequence[str]) -> list[Toxicity]:
        return [_worst_passage(self._hits(_plain(text))) for text in texts]

    def _hits(self, text: str) -> list[_Hit]:
        matches = list(_TOKEN.finditer(text))
        tokens = [match.group() for match in matches]
        found = [_Hit(place, word, self._kinds[word]) for place, token in enumerate(tokens) if (word := self._listed(token))]
        found += [
            _Hit(place, word, self._kinds[word])
            for place, token in enumerate(tokens)
            for phrase in self._phrases.get(token, ())
            if tokens[place : place + len(phrase)] == phrase and (word := " ".join(phrase))
        ]
        starts = [match.start() for match in matches]
        for run in _SPACED.finditer(text):
            place = bisect_left(starts, run.start())
            found += [_Hit(place, word, self._kinds[word]) for word in self._spelled(run.group())]
        return sorted(found, key=lambda hit: hit.position)

    def _listed(self, token: str) -> str | None:
        """The listed word that a token is, as it stands or in disguise."""
        if token in self._kinds:
            return token
        if len(token) < _FEWEST_LETTERS or not any(character.isalpha() for character in token):
            return None
        parts = _SIGN.split(token)
        if len(parts) > 1 and (word := next((part for part in parts if part in self._kinds), None)):
            return word
        if "*" in token:
            candidates = self._by_length.get(len(token), ())
            return next(
                (word for word in candidates if all(one in ("*", other) for one, other in zip(token, word, strict=True))), None
            )
        return next((form for form in _disguised(token) if len(form) >= _FEWEST_LETTERS and form in self._kinds), None)

    def _spelled(self, run: str) -> Iterator[str]:
        """Listed words among letters that stand alone, the longest at every place."""
        letters = re.sub(r"[\s._*·-]", "", run).translate(_LETTERS[0])
        place = 0
        while place < len(letters):
            ends = range(min(len(letters), place + self._longest), place + _FEWEST_LETTERS - 1, -1)
            word = next((letters[place:end] for end in ends if letters[place:end] in self._kinds), None)
            if word:
                yield word
            place += len(word or " ")


def _plain(text: str) -> str:
    """Lower case, without accents, apostrophes and what is not seen."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in decomposed if unicodedata.category(character) not in ("Mn", "Cf"))
    return re.sub("['’ʼ`´](?:s\\b)?", "", text.casefold())


def _disguised(token: str) -> Iterator[str]:
    latin = token
    if not token.isascii() and re.search("[a-z]", token):
        latin = token.translate(_CYRILLIC)
    for letters in (latin, *(latin.translate(table) for table in _LETTERS)):
        yield letters
        if _DRAWN_OUT.search(letters):
            yield _DRAWN_OUT.sub(r"\1", letters)
            yield _DRAWN_OUT.sub(r"\1\1", letters)


def _worst_passage(hits: Sequence[_Hit]) -> Toxicity:
    """Of the passages that begin at a hit, since no other is worse than one of them."""
    worst = Toxicity(0.0)
    sums = dict.fromkeys(Kind, 0.0)
    end = 0
    for begin, first in enumerate(hits):
        while end < len(hits) and hits[end].position < first.position + PASSAGE_WORDS:
            sums[hits[end].kind] += WEIGHTS[hits[end].kind]
            end += 1
        strength = sums[Kind.SLURS] + sums[Kind.ABUSE] + min(sums[Kind.SUBJECTS], MOST_OF_SUBJECTS)
        score = 1 - math.exp(-strength)
        if score > worst.score + 1e-12:
            worst = Toxicity(score, tuple(dict.fromkeys(hit.word for hit in hits[begin:end])))
        sums[first.kind] -= WEIGHTS[first.kind]
    return worst


# By a classifier.

_HARMLESS_LABELS = frozenset(
    {"nontoxic", "nottoxic", "neutral", "nothate", "nonhate", "nohate", "clean", "safe", "ok", "benign", "normal", "acceptable"}
    | {"notoffensive", "nonoffensive", "harmless"}
)


def classifier(
    model: str, harmful_labels: Collection[str] | None = None, *, revision: str | None = None, batch_size: int = 16
) -> Detector:
    """Toxicity by a text classifier of the Hugging Face hub, or of a folder: its highest score of a harmful label.

    ``harmful_labels``: all whose names do not say the contrary (non-toxic, neutral, …), unless they are given. A long text
    is read passage by passage, and is as toxic as its worst.

    Raises InputError where the extra is not installed, the model cannot be loaded, it has none of those labels, or its
    labels are nothing but numbers and none is given.
    """
    try:
        library: Any = import_module("transformers")
    except ImportError as error:
        raise InputError(f"A classifier of toxicity needs an extra: pip install 'sociable[toxicity]' ({error}).") from None
    try:
        classify = library.pipeline("text-classification", model=model, revision=revision, top_k=None)
    except Exception as error:  # its own, the hub's, the network's and torch's have no base in common
        raise InputError(f"The classifier '{model}' cannot be loaded: {error}. Name one that is installed.") from error
    return _Classifier(classify, _harmful(model, list(classify.model.config.id2label.values()), harmful_labels), batch_size)


def _harmful(model: str, labels: Sequence[str], wanted: Collection[str] | None) -> frozenset[str]:
    known = ", ".join(labels)
    if wanted is not None:
        if missing := sorted(set(wanted) - set(labels)) or not wanted:
            raise InputError(f"The classifier '{model}' has no label {missing}. Its labels are: {known}.")
        return frozenset(wanted)
    if any(re.fullmatch(r"(?i)label_?\d+|\d+", label) for label in labels):
        raise InputError(f"The labels of '{model}' do not say which of them is harmful: {known}. Name those that are.")
    found = frozenset(label for label in labels if re.sub(r"[^a-z]", "", label.lower()) not in _HARMLESS_LABELS)
    if not found:
        raise InputError(f"The classifier '{model}' has no harmful label. Its labels are: {known}.")
    return found


class _Classifier:
    def __init__(self, classify: Any, harmful: frozenset[str], batch_size: int) -> None:
        self._classify = classify
        self._harmful = harmful
        self._batch_size = batch_size

    def __call__(self, texts: Sequence[str]) -> list[Toxicity]:
        passages = [(place, passage) for place, text in enumerate(texts) for passage in _passages(text)]
        worst = [Toxicity(0.0)] * len(texts)
        if not passages:
            return worst
        # Words of many tokens may still make a passage longer than the model reads.
        answers = self._classify([passage for _, passage in passages], batch_size=self._batch_size, truncation=True)
        for (place, _), labels in zip(passages, answers, strict=True):
            for answer in labels:
                if answer["label"] in self._harmful and answer["score"] > worst[place].score:
                    worst[place] = Toxicity(float(answer["score"]), (answer["label"],))
        return worst


def _passages(text: str) -> list[str]:
    found = text.split()
    return [" ".join(found[first : first + PASSAGE_WORDS]) for first in range(0, len(found), PASSAGE_WORDS)]
