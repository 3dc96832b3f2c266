"""Texts that are nearly the same, found by MinHash and locality-sensitive hashing in time linear in their number.

A text is the set of its shingles, runs of a few words, and two texts are as alike as the share of their shingles they
have in common (Jaccard's index). MinHash estimates that share from a signature of fixed size (Broder, 1997), and banded
hash tables bring together only those whose signatures may agree.

The signatures and tables are rensa's: over 50,000 headlines they took a seventh of datasketch's time and a third of its memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sociable.core.extras import import_extra
from sociable.core.names import find_words
from sociable.core.seeding import derive_seed
from sociable.core.spreading import Spread, spread_texts, work_here

SIMILARITY = 0.8
WORDS_PER_SHINGLE = 2
HASHES = 128
"""Hashes of a signature: an estimate of similarity s is off by sqrt(s (1 − s) / 128), 0.035 at 0.8."""

MISSED = 0.1
"""The largest share of pairs just similar enough that are never compared; far fewer of the more similar ones are missed."""

MOST_COMPARED = 100
"""A text that may be like more kept ones is kept, but not compared with afterwards: a million headlines from one mould
that are nearly near-duplicates would otherwise each be compared with all."""


@dataclass(frozen=True, slots=True)
class Kinship:
    """The text that stands for a text: itself, or one that is nearly the same."""

    id: str
    kept: str
    """Its own id where it is kept itself."""
    similarity: float
    """Estimated Jaccard index of the two, in [0, 1]; 1 where it is kept itself."""

    @property
    def is_kept(self) -> bool:
        return self.id == self.kept


def import_rensa() -> Any:
    """The library of signatures. Raises InputError where the extra is not installed."""
    return import_extra("rensa", "datasets", "Finding near-duplicates")


def find_near_duplicates(
    texts: Iterable[tuple[str, str]],
    similarity: float = SIMILARITY,
    *,
    words_per_shingle: int = WORDS_PER_SHINGLE,
    hashes: int = HASHES,
    seed: int = 0,
    spread: Spread = work_here,
) -> Iterator[Kinship]:
    """Yields for every (id, text), in order and as it is read, the most similar text kept before, or the text itself.

    A text falls out when its estimated similarity to one that was kept before is at least ``similarity``; so of a group
    the first is kept, and nothing falls out for being like something that itself fell out. Case and punctuation do not
    matter. A text shorter than a shingle is one shingle; one without words is kept.

    The signatures of kept texts are held, some 3 KB each whatever their length; of the others nothing. The same texts,
    in the same order and with the same seed, give the same result everywhere. Signatures, which take nearly all of the time,
    are made wherever ``spread`` has a processor; the tables are here.

    ``words_per_shingle``: 1 for headlines, of which one word in ten is two shingles in nine; 2 or more for articles.

    Raises InputError where the extra is not installed.
    """
    rensa = import_rensa()
    table = rensa.RMinHashLSH(similarity, hashes, count_bands(hashes, similarity))
    kept: list[tuple[str, Any]] = []
    names = deque[str]()

    def read_texts() -> Iterator[str]:
        for name, text in texts:
            names.append(name)
            yield text

    sign = partial(_sign_texts, words_per_shingle, hashes, derive_seed(seed, "near-duplicates"))
    for signature in spread_texts(spread, sign, read_texts()):
        name = names.popleft()
        candidates = sorted(table.query(signature)) if signature is not None else []
        alike = [(signature.jaccard(kept[number][1]), -number) for number in candidates[:MOST_COMPARED]]
        # Among those equally alike, the first.
        nearest, place = max(alike, default=(0.0, 0))
        if nearest >= similarity:
            yield Kinship(name, kept[-place][0], nearest)
            continue
        if signature is not None and len(candidates) < MOST_COMPARED:
            table.insert(len(kept), signature)
            kept.append((name, signature))
        yield Kinship(name, name, 1.0)


def _sign_texts(words_per_shingle: int, hashes: int, seed: int, texts: Sequence[str]) -> list[Any]:
    """The signature of each text; None for one without words."""
    shingles = [cut_shingles(text, words_per_shingle) for text in texts]
    signatures = import_rensa().RMinHash.from_token_sets(shingles, hashes, seed)
    return [signature if own else None for own, signature in zip(shingles, signatures, strict=True)]


def cut_shingles(text: str, words_per_shingle: int) -> list[str]:
    """Every run of so many words, in order; a shorter text as one."""
    # Halves of surrogate pairs cannot be hashed; as they are no letters either, they are in no word.
    found = find_words(text)
    if words_per_shingle == 1 or not found:
        return found
    last = max(len(found) - words_per_shingle, 0)
    return [" ".join(found[first : first + words_per_shingle]) for first in range(last + 1)]


def count_bands(hashes: int, similarity: float) -> int:
    """The fewest bands in which a pair that is just similar enough agrees in one with a probability of 1 − MISSED.

    1 − (1 − s^r)^b, for b bands of r hashes. What is compared in vain costs little, what is never compared is lost.
    """
    for bands in (bands for bands in range(1, hashes + 1) if hashes % bands == 0):
        if 1 - (1 - similarity ** (hashes / bands)) ** bands >= 1 - MISSED:
            return bands
    return hashes
