"""A memory stream: what a resident has seen, heard and thought, and which of it comes to mind (Park et al. 2023, section 4.1).

No model inside. How alike two texts are is somebody else's to say: by default the words they share (``HashedWords``), or
sentence embeddings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sociable.models.embeddings import Encoder, load_encoder

MemoryKind = Literal["fact", "seen", "conversation", "plan", "thought", "told"]
"""As in ``events.Remembered``."""

RECENCY_WEIGHT, RELEVANCE_WEIGHT, IMPORTANCE_WEIGHT = 0.5, 3.0, 2.0
"""Of the authors' town."""
DECAY_PER_HOUR = 0.995
"""Of recency, since a memory was last used (Park et al., section 4.1)."""
UNRATED_COUNTS_AS = 1.0
"""The lowest importance: what nobody has rated yet is taken for everyday."""


@dataclass(frozen=True, slots=True)
class Memory:
    number: int
    """Its place in the stream, from 0."""
    minute: int
    kind: MemoryKind
    text: str
    importance: float = 0.0
    """From 1 to 10; 0 where nobody has rated it."""


class Relevance(Protocol):
    """Tells how alike texts are."""

    def add(self, text: str) -> None: ...

    def to(self, query: str) -> NDArray[np.float64]:
        """The likeness of every text added, in their order; the more alike the higher."""


class MemoryStream:
    def __init__(self, relevance: Relevance | None = None) -> None:
        self._relevance = relevance or HashedWords()
        self._memories: list[Memory] = []
        self._unrated: dict[int, None] = {}
        self._last_used = np.empty(64)
        self._importance = np.empty(64)

    def __len__(self) -> int:
        return len(self._memories)

    @property
    def memories(self) -> Sequence[Memory]:
        """All, in the order in which they were added."""
        return self._memories

    def add(self, minute: int, kind: MemoryKind, text: str, importance: float = 0.0) -> Memory:
        number = len(self._memories)
        memory = Memory(number, minute, kind, text, importance)
        self._memories.append(memory)
        self._last_used = _with_room(self._last_used, number + 1)
        self._importance = _with_room(self._importance, number + 1)
        self._last_used[number] = minute
        self._importance[number] = importance or UNRATED_COUNTS_AS
        if not importance:
            self._unrated[number] = None
        self._relevance.add(text)
        return memory

    @property
    def unrated(self) -> Sequence[Memory]:
        """Those nobody has rated, oldest first."""
        return [self._memories[number] for number in self._unrated]

    def rate(self, number: int, importance: float) -> None:
        assert 1 <= importance <= 10, "importance is from 1 to 10"
        self._memories[number] = replace(self._memories[number], importance=importance)
        self._importance[number] = importance
        self._unrated.pop(number, None)

    def retrieve(
        self, query: str, minute: int, count: int, *, kinds: Collection[MemoryKind] | None = None, noting_use: bool = True
    ) -> list[Memory]:
        """The ``count`` memories that come to mind, best first; of equals the latest. Only those of ``kinds``, if given.

        Recency, relevance and importance are each scaled to 0..1 over the candidates, and added with their weights. What
        comes to mind was used, and is recent again, unless ``noting_use`` is off.
        """
        if kinds is None:
            candidates = np.arange(len(self._memories))
        else:
            candidates = np.array([memory.number for memory in self._memories if memory.kind in kinds], np.intp)
        if not len(candidates) or count <= 0:
            return []
        recency = DECAY_PER_HOUR ** ((minute - self._last_used[candidates]) / 60)
        score = (
            RECENCY_WEIGHT * _scaled(recency)
            + RELEVANCE_WEIGHT * _scaled(self._relevance.to(query)[candidates])
            + IMPORTANCE_WEIGHT * _scaled(self._importance[candidates])
        )
        # Rounded, so that the last bit, which differs among processors, decides nothing.
        best = candidates[np.lexsort((-candidates, -np.round(score, 9)))[:count]]
        if noting_use:
            self._last_used[best] = minute
        return [self._memories[number] for number in best.tolist()]


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(x - min) / (max - min): from 0 to 1; all 0 where all are alike."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    """``array``, or a copy of twice the length if it holds fewer than ``size`` rows."""
    if size <= len(array):
        return array
    grown = np.empty((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


_BUCKETS = 2**16
_WORD = re.compile(r"\w\w+")
_STEM_LETTERS = 6
"""Words are compared by so many first letters: exercise and exercising are one."""


class HashedWords:
    """Texts are alike as far as they share words (cosine of counts); very common English words do not count.

    Stateless but for the texts, so that what was added before changes no likeness.
    """

    def __init__(self) -> None:
        # Every word of every text in one row of columns: its bucket, its weight, and whose it is.
        self._bucket = np.empty(256, np.int32)
        self._weight = np.empty(256, np.float32)
        self._owner = np.empty(256, np.int32)
        self._size = 0
        self._texts = 0
        self._waiting: list[str] = []

    def add(self, text: str) -> None:
        self._waiting.append(text)

    def to(self, query: str) -> NDArray[np.float64]:
        # One call for the query and for what was added since the last.
        rows = _hasher().transform(_words(text) for text in (query, *self._waiting))
        lengths = np.diff(rows.indptr)
        rows.data /= np.repeat(_norms(rows.data, lengths), lengths)
        first = lengths[0]
        self._store(rows.indices[first:], rows.data[first:], lengths[1:])
        asked = np.zeros(_BUCKETS, np.float32)
        asked[rows.indices[:first]] = rows.data[:first]
        size = self._size
        return np.bincount(
            self._owner[:size], weights=asked[self._bucket[:size]] * self._weight[:size], minlength=self._texts
        ).astype(np.float64)

    def _store(self, buckets: NDArray[Any], weights: NDArray[Any], lengths: NDArray[Any]) -> None:
        start, end = self._size, self._size + len(buckets)
        self._bucket, self._weight, self._owner = (_with_room(array, end) for array in (self._bucket, self._weight, self._owner))
        self._bucket[start:end] = buckets
        self._weight[start:end] = weights
        self._owner[start:end] = np.repeat(np.arange(self._texts, self._texts + len(lengths)), lengths)
        self._size = end
        self._texts += len(lengths)
        self._waiting.clear()


def _norms(weights: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Of rows of so many weights each."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    norms: NDArray[Any] = np.sqrt(np.bincount(owner, weights=weights * weights, minlength=len(lengths)))
    return norms


def _words(text: str) -> list[str]:
    common = _common_words()
    return [word[:_STEM_LETTERS] for word in _WORD.findall(text.lower()) if word not in common]


@cache
def _common_words() -> frozenset[str]:
    words: frozenset[str] = import_module("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS
    return words


@cache
def _hasher() -> Any:
    # What HashingVectorizer has inside, without its checks, which cost more than the work.
    hasher: Any = import_module("sklearn.feature_extraction").FeatureHasher
    return hasher(n_features=_BUCKETS, input_type="string", alternate_sign=False, dtype=np.float32)


class Embedded:
    """Texts are alike as their vectors are (cosine). ``encode`` makes of n texts an array of n rows."""

    def __init__(self, encode: Encoder) -> None:
        self._encode = encode
        self._rows = np.empty((0, 0), np.float32)
        self._texts = 0
        self._waiting: list[str] = []

    def add(self, text: str) -> None:
        self._waiting.append(text)

    def to(self, query: str) -> NDArray[np.float64]:
        rows = np.asarray(self._encode([query, *self._waiting]), np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        end = self._texts + len(self._waiting)
        if not self._texts:
            self._rows = np.empty((64, rows.shape[1]), np.float32)
        self._rows = _with_room(self._rows, end)
        self._rows[self._texts : end] = rows[1:]
        self._texts = end
        self._waiting.clear()
        likeness: NDArray[np.float64] = (self._rows[:end] @ rows[0]).astype(np.float64)
        return likeness


def sentence_embeddings(model: str = "all-MiniLM-L6-v2") -> Embedded:
    """Likeness by meaning, from a local model of sentence-transformers. Raises InputError where that is not installed."""
    return Embedded(load_encoder(model))
