"""Toxic texts fall out of what data sets are made of: by a list of words, or by a classifier.

Both are a Detector: a function from texts to how toxic each is, and why. The list is small and English. It finds insults in
listed words and no others: it is for the worst of them, and where more is at stake a classifier is better.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources

from sociable.core.errors import InputError
from sociable.core.extras import import_extra

LIMIT = 0.5
"""A text of this toxicity or more falls out."""

PASSAGE_WORDS = 200
"""A text is as toxic as its worst passage of so many words: harm does not get less for what stands around it."""


class Kind(StrEnum):
    """A kind of listed words."""

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
    """The score in [0, 1]."""
    because: tuple[str, ...] = ()
    """The listed words of the worst passage, or the classifier's label; for people to look at."""

    @property
    def is_harmless(self) -> bool:
        return self.score < LIMIT


Detector = Callable[[Sequence[str]], list[Toxicity]]
"""Texts → the toxicity of every text, in their order."""


# By a list of words.


KEPT_WORDS = 2**16
"""Words of which it is kept whether they are listed ones."""
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


class WordDetector:
    """Toxicity by listed words, whole ones and in any case; an entry of several words is a phrase. The bundled list by default.

    1 − exp(−s), where s is the sum over a passage of what its words count: a slur 1, abuse 0.4, a subject 0.05 and all
    subjects together at most MOST_OF_SUBJECTS. So one slur or two words of abuse make a passage fall out (0.63, 0.55).

    Words of four letters or more are also known with digits and signs for letters but the last (sh1t, a$$hole), letters
    drawn out (shiiit), spaced (s h i t, s.h.i.t), starred between the first and the last (sh*t), with accents, with
    invisible characters between and with Cyrillic letters for Latin ones. Raises InputError for a word without a letter.
    """

    def __init__(self, entries: Mapping[str, Kind] | None = None) -> None:
        self._kinds: dict[str, Kind] = {}
        self._phrases: dict[str, list[list[str]]] = {}
        for entry, kind in (_load_bundled_words() if entries is None else entries).items():
            parts = _make_plain(entry).split()
            if not parts or not all(part.isalnum() for part in parts):
                raise InputError(f"The listed word {entry!r} is not made of letters, so it would never be found.")
            self._kinds[" ".join(parts)] = kind
            if len(parts) > 1:
                self._phrases.setdefault(parts[0], []).append(parts)
        self._long = [word for word in self._kinds if " " not in word and len(word) >= _FEWEST_LETTERS]
        # The longest first; where there is none, nothing is found.
        self._any_long = re.compile("|".join(sorted(self._long, key=len, reverse=True)) or "(?!)")
        # Most of what is written are the same few thousand words.
        self._find_kept = lru_cache(KEPT_WORDS)(self._find_word)

    def __call__(self, texts: Sequence[str]) -> list[Toxicity]:
        return [self._measure_worst_passage(self._find_words(_make_plain(text))) for text in texts]

    def _find_words(self, text: str) -> list[tuple[int, str]]:
        """Listed words with the places, in words of the text, at which they begin."""
        matches = list(_TOKEN.finditer(text))
        tokens = [match.group() for match in matches]
        found = [(place, word) for place, token in enumerate(tokens) if (word := self._find_kept(token))]
        for place, token in enumerate(tokens):
            phrases = self._phrases.get(token, ())
            found += [(place, " ".join(parts)) for parts in phrases if tokens[place : place + len(parts)] == parts]
        starts = [match.start() for match in matches]
        for run in _SPACED.finditer(text):
            place = bisect_left(starts, run.start())
            letters = re.sub(r"[\s._*·-]", "", run.group()).translate(_LETTERS[0])
            found += [(place, word) for word in self._any_long.findall(letters)]
        return sorted(found, key=lambda hit: hit[0])

    def _find_word(self, token: str) -> str | None:
        """The listed word that a token is, as it stands or in disguise."""
        if token in self._kinds:
            return token
        if len(token) < _FEWEST_LETTERS or not any(character.isalpha() for character in token):
            return None
        if word := next((part for part in _SIGN.split(token) if part in self._kinds), None):
            return word
        if "*" in token:
            starred = re.compile(re.escape(token).replace(r"\*", "."))
            return next(filter(starred.fullmatch, self._long), None)
        return next((form for form in _find_disguised(token) if len(form) >= _FEWEST_LETTERS and form in self._kinds), None)

    def _measure_worst_passage(self, hits: Sequence[tuple[int, str]]) -> Toxicity:
        """The toxicity of the worst passage that begins at a listed word, since no other is worse than one of these."""
        worst = Toxicity(0.0)
        sums = dict.fromkeys(Kind, 0.0)
        end = 0
        for begin, (position, first) in enumerate(hits):
            while end < len(hits) and hits[end][0] < position + PASSAGE_WORDS:
                kind = self._kinds[hits[end][1]]
                sums[kind] += WEIGHTS[kind]
                end += 1
            score = 1 - math.exp(-(sums[Kind.SLURS] + sums[Kind.ABUSE] + min(sums[Kind.SUBJECTS], MOST_OF_SUBJECTS)))
            if score > worst.score + 1e-12:
                worst = Toxicity(score, tuple(dict.fromkeys(word for _, word in hits[begin:end])))
            sums[self._kinds[first]] -= WEIGHTS[self._kinds[first]]
        return worst


@cache
def _load_bundled_words() -> Mapping[str, Kind]:
    text = resources.files("sociable.datasets").joinpath("harmful_words.txt").read_text(encoding="utf-8")
    found: dict[str, Kind] = {}
    kind = Kind.SLURS
    for line in text.splitlines():
        if line.startswith("["):
            kind = Kind(line.strip("[]"))
        elif not line.startswith("#"):
            found |= {word.replace("_", " "): kind for word in line.split()}
    return found


def _make_plain(text: str) -> str:
    """Lower case, without accents, apostrophes and what is not seen."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in decomposed if unicodedata.category(character) not in ("Mn", "Cf"))
    return re.sub("['’ʼ`´](?:s\\b)?", "", text.casefold())


def _find_disguised(token: str) -> Iterator[str]:
    """The words that a token may stand for: with letters for look-alikes, and with drawn-out letters once and twice."""
    latin = token.translate(_CYRILLIC) if re.search("[a-z]", token) else token
    for letters in (latin, *(latin.translate(table) for table in _LETTERS)):
        yield letters
        if _DRAWN_OUT.search(letters):
            yield _DRAWN_OUT.sub(r"\1", letters)
            yield _DRAWN_OUT.sub(r"\1\1", letters)


# By a classifier.

BATCH_SIZE = 16
"""Passages that a classifier reads at once."""

_HARMLESS_LABELS = frozenset(
    {"nontoxic", "nottoxic", "neutral", "nothate", "nonhate", "nohate", "clean", "safe", "ok", "benign", "normal", "acceptable"}
    | {"notoffensive", "nonoffensive", "harmless"}
)


def load_classifier(model: str) -> Detector:
    """Toxicity by a text classifier of the Hugging Face hub, or of a folder: its highest score of a harmful label.

    A label is harmful unless it is one of those that say the opposite (non-toxic, neutral, …). Raises InputError where the
    extra is not installed, the model cannot be loaded, none of its labels is harmful, or its labels are nothing but numbers.
    """
    library = import_extra("transformers", "toxicity", "A classifier of toxicity")
    try:
        classify = library.pipeline("text-classification", model=model, top_k=None)
    except Exception as error:  # its own, the hub's, the network's and torch's have no base in common
        raise InputError(f"The classifier '{model}' cannot be loaded: {error}. Name one that is installed.") from error
    labels = list(classify.model.config.id2label.values())
    if any(re.fullmatch(r"(?i)label_?\d+|\d+", label) for label in labels):
        raise InputError(
            f"The labels of '{model}' do not say which of them is harmful: {', '.join(labels)}. Name another classifier."
        )
    harmful = {label for label in labels if re.sub(r"[^a-z]", "", label.lower()) not in _HARMLESS_LABELS}
    if not harmful:
        raise InputError(f"The classifier '{model}' has no harmful label. Its labels are: {', '.join(labels)}.")

    def detect(texts: Sequence[str]) -> list[Toxicity]:
        passages = [(place, passage) for place, text in enumerate(texts) for passage in _cut_passages(text)]
        worst = [Toxicity(0.0)] * len(texts)
        # Words of many tokens may still make a passage longer than the model reads.
        answers = classify([each for _, each in passages], batch_size=BATCH_SIZE, truncation=True) if passages else []
        for (place, _), scored in zip(passages, answers, strict=True):
            for answer in scored:
                if answer["label"] in harmful and answer["score"] > worst[place].score:
                    worst[place] = Toxicity(float(answer["score"]), (answer["label"],))
        return worst

    return detect


def _cut_passages(text: str) -> list[str]:
    found = text.split()
    return [" ".join(found[first : first + PASSAGE_WORDS]) for first in range(0, len(found), PASSAGE_WORDS)]
