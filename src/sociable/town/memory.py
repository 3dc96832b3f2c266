"""A memory stream: what a resident has seen, heard and thought, and which of it comes to mind (Park et al. 2023, section 4.1).

No model inside. A ``Relevance`` tells how alike two texts are: by default the words they share (``HashedWords``), or sentence
embeddings (``Embedded``).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sociable.models.embeddings import Encoder

MemoryKind = Literal["fact", "seen", "conversation", "plan", "thought", "told"]
"""The kinds of ``events.Remembered``."""

RECENCY_WEIGHT, RELEVANCE_WEIGHT, IMPORTANCE_WEIGHT = 0.5, 3.0, 2.0
"""The weights in the authors' town."""
DECAY_PER_HOUR = 0.995
"""The factor of recency for every hour since a memory was last used (Park et al., section 4.1)."""
UNRATED_COUNTS_AS = 1.0
"""The lowest importance: a memory that nobody has rated yet is taken for everyday."""


@dataclass(frozen=True, slots=True)
class Memory:
    number: int
    """Its place in the stream, from 0."""
    minute: int
    kind: MemoryKind
    text: str
    importance: float = 0.0
    """The importance from 1 to 10; 0 where nobody has rated it."""


class Relevance(Protocol):
    """Tells how alike texts are."""

    def compare(self, query: str, added: Sequence[str]) -> NDArray[np.float64]:
        """Takes in ``added``. Returns the likeness of every text taken in so far, in their order; the more alike the higher."""


class MemoryStream:
    def __init__(self, relevance: Relevance | None = None) -> None:
        self._relevance = relevance or HashedWords()
        self.memories: list[Memory] = []
        """All memories, in the order in which they were added."""
        self._unrated: dict[int, Memory] = {}
        self._last_used, self._importance = array("d"), array("d")
        self._compared = 0
        """The number of memories whose texts ``_relevance`` has taken in."""

    def add(self, minute: int, kind: MemoryKind, text: str, importance: float = 0.0) -> Memory:
        memory = Memory(len(self.memories), minute, kind, text, importance)
        self.memories.append(memory)
        self._last_used.append(minute)
        self._importance.append(importance or UNRATED_COUNTS_AS)
        if not importance:
            self._unrated[memory.number] = memory
        return memory

    @property
    def unrated(self) -> Sequence[Memory]:
        """The memories that nobody has rated, oldest first."""
        return list(self._unrated.values())

    def rate(self, number: int, importance: float) -> None:
        assert 1 <= importance <= 10, "importance is from 1 to 10"
        self.memories[number] = replace(self.memories[number], importance=importance)
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
            candidates = np.arange(len(self.memories))
        else:
            candidates = np.array([memory.number for memory in self.memories if memory.kind in kinds], np.intp)
        if not len(candidates) or count <= 0:
            return []
        likeness = self._relevance.compare(query, [memory.text for memory in self.memories[self._compared :]])
        self._compared = len(self.memories)
        last_used = np.asarray(self._last_used)
        recency = DECAY_PER_HOUR ** ((minute - last_used[candidates]) / 60)
        score = (
            RECENCY_WEIGHT * _scale(recency)
            + RELEVANCE_WEIGHT * _scale(likeness[candidates])
            + IMPORTANCE_WEIGHT * _scale(np.asarray(self._importance)[candidates])
        )
        # Rounded, so that the last bit, which differs among processors, decides nothing.
        best = candidates[np.lexsort((-candidates, -np.round(score, 9)))[:count]]
        if noting_use:
            last_used[best] = minute
        return [self.memories[number] for number in best.tolist()]


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(x - min) / (max - min): from 0 to 1; all 0 where all are alike."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


_BUCKETS = 2**16
_WORD = re.compile(r"\w\w+")
_STEM_LETTERS = 6
"""Words are compared by so many first letters: exercise and exercising are one."""


class HashedWords:
    """Texts are alike as far as they share words (cosine of counts); very common English words do not count.

    Stateless but for the texts, so that what was added before changes no likeness.
    """

    def __init__(self) -> None:
        # By word of all texts, one text after the other: its bucket, its weight, and the number of its text.
        self._bucket, self._weight, self._owner = array("i"), array("f"), array("i")
        self._texts = 0

    def compare(self, query: str, added: Sequence[str]) -> NDArray[np.float64]:
        hasher, common = _load_hasher()
        found = (_WORD.findall(text.lower()) for text in (query, *added))
        rows = hasher.transform([word[:_STEM_LETTERS] for word in words if word not in common] for words in found)
        lengths = np.diff(rows.indptr)
        row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        rows.data /= np.sqrt(np.bincount(row, weights=rows.data * rows.data, minlength=len(lengths)))[row]
        asked, first = np.zeros(_BUCKETS, np.float32), lengths[0]
        asked[rows.indices[:first]] = rows.data[:first]
        self._bucket.frombytes(rows.indices[first:].tobytes())
        self._weight.frombytes(rows.data[first:].tobytes())
        self._owner.frombytes((row[first:] + np.int32(self._texts - 1)).tobytes())
        self._texts += len(added)
        shared = asked[np.asarray(self._bucket)] * np.asarray(self._weight)
        return np.bincount(np.asarray(self._owner), weights=shared, minlength=self._texts).astype(np.float64, copy=False)


@cache
def _load_hasher() -> tuple[Any, frozenset[str]]:
    """A hasher of words, and the very common ones; scikit-learn takes a while to load."""
    library: Any = import_module("sklearn.feature_extraction")
    # The inside of HashingVectorizer, without its checks, which cost more than the work.
    hasher = library.FeatureHasher(n_features=_BUCKETS, input_type="string", alternate_sign=False, dtype=np.float32)
    return hasher, library.text.ENGLISH_STOP_WORDS


class Embedded:
    """Texts are alike as their vectors are (cosine). ``encode`` makes of n texts an array of n rows."""

    def __init__(self, encode: Encoder) -> None:
        self._encode = encode
        self._rows = array("f")

    def compare(self, query: str, added: Sequence[str]) -> NDArray[np.float64]:
        rows = np.asarray(self._encode([query, *added]), np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        self._rows.frombytes(rows[1:].tobytes())
        likeness: NDArray[np.float32] = np.asarray(self._rows).reshape(-1, rows.shape[1]) @ rows[0]
        return likeness.astype(np.float64)
