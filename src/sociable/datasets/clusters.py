"""Coverage: which texts are about the same, and a choice that takes evenly from all that they are about.

Words are hashed into columns, so that no vocabulary is held, and weighed by TF-IDF. A few thousand texts are clustered
by density (see ``density``); more by mini-batch k-means, in fewer dimensions, learnt from a sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sociable.core.errors import InputError
from sociable.core.seeding import derive_seed
from sociable.statistics.density import (
    SMALLEST_CLUSTER,
    UNCLUSTERED,
    WIDESPREAD,
    cluster_by_density,
    list_telling_words,
    number_by_size,
)

LARGEST_FOR_DENSITY = 8000
"""DBSCAN's radius is read off all distances, whose number grows with the square: of 8,000 headlines in 9 s and 1.3 GB, of
four times as many in two minutes and 20 GB."""

CLUSTERS = 100
"""Of k-means: more than a choice is large are of no use to it."""

COLUMNS = 2**18
"""Words share a column by chance; of 40,000 different words one in seven."""

SAMPLE = 50_000
"""What is learnt from so many texts, drawn by the seed, holds for the others; and its time does not grow with them."""

DIMENSIONS = 100
"""Without fewer dimensions a headline of ten words has none in common with most others of its topic, and k-means takes
almost all for one cluster: of 100 planted topics it found 0.06 (adjusted Rand index), with them 0.8."""

_ROUNDS = 5
_STARTS = 5
_BATCH = 4096
_ROWS = 50_000


class Method(StrEnum):
    DENSITY = "dbscan"
    MEANS = "mini-batch k-means"


@dataclass(frozen=True, slots=True)
class TextClusters:
    """Which texts belong together."""

    labels: NDArray[np.int64]
    """[texts]: the cluster of each, numbered from 0 by falling size, or UNCLUSTERED."""
    method: Method

    @property
    def count(self) -> int:
        return int(self.labels.max(initial=UNCLUSTERED)) + 1


def cluster_texts(
    texts: Iterable[str], *, clusters: int = CLUSTERS, seed: int = 0, largest_for_density: int = LARGEST_FOR_DENSITY
) -> TextClusters:
    """The clusters of the texts: DBSCAN's up to ``largest_for_density`` of them, beyond that ``clusters`` of k-means.

    DBSCAN finds how many there are, and leaves whatever is near to nothing unclustered: of headlines, most. K-means puts
    every text into one, but for those without a telling word, which are UNCLUSTERED.

    Texts are read once and not held: of each different word in each of them 8 bytes are. The same texts with the same seed
    give the same labels, as far as the arithmetic of the machine's processor does.

    Raises InputError for fewer than 2 clusters.
    """
    if clusters < 2:
        raise InputError(f"Texts are to be sorted into at least 2 clusters, not {clusters}.")
    counts = _hashed(texts)
    size = counts.shape[0]
    if size <= largest_for_density:
        labels = _by_density(_weighed(counts, WIDESPREAD), derive_seed(seed, "density") % 2**32)
        method = Method.DENSITY
    else:
        # Whatever is in more texts than two clusters of average size hold cannot tell them apart.
        labels = _by_means(_weighed(counts, min(WIDESPREAD, 2 / clusters)), clusters, derive_seed(seed, "means") % 2**32)
        method = Method.MEANS
    return TextClusters(np.array(number_by_size(labels, [1] * size), dtype=np.int64), method)


def drawn_over_clusters(labels: Sequence[int] | NDArray[np.int64], scores: Sequence[float], count: int) -> list[int]:
    """The places of ``count`` texts (all, if there are fewer), the best scored of every cluster first, then the second best.

    Whom the last round does not reach is decided by score, too; equals by their place. UNCLUSTERED texts are drawn from as
    if they were one more cluster. Raises ValueError unless there is a score for every label, each a number.
    """
    own_labels, own_scores = np.asarray(labels, dtype=np.int64), np.asarray(scores, dtype=np.float64)
    if own_labels.shape != own_scores.shape or np.isnan(own_scores).any():
        raise ValueError("every text needs one label and one score that is a number")
    by_cluster = np.lexsort((-own_scores, own_labels))
    sorted_labels = own_labels[by_cluster]
    rounds = np.empty_like(own_labels)
    # How many of the same cluster are better: the distance from where the cluster begins.
    rounds[by_cluster] = np.arange(len(own_labels)) - np.searchsorted(sorted_labels, sorted_labels)
    order = np.lexsort((-own_scores, rounds))
    return [int(place) for place in order[: max(count, 0)]]


def _hashed(texts: Iterable[str]) -> Any:
    """How often each word is in each text: sparse, [texts, COLUMNS]."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
    from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]

    read = iter(texts)
    first = next(read, None)
    if first is None:
        return csr_matrix((0, COLUMNS), dtype=np.float32)
    vectorizer = HashingVectorizer(
        analyzer=list_telling_words, n_features=COLUMNS, norm=None, alternate_sign=False, dtype=np.float32
    )
    return vectorizer.transform(_chained(first, read))


def _chained(first: str, others: Iterable[str]) -> Iterable[str]:
    yield first
    yield from others


def _weighed(counts: Any, widespread: float) -> Any:
    """(1 + ln tf) · idf, rows of length 1, of words in at least two texts and at most that share of them; in place."""
    from sklearn.feature_extraction.text import TfidfTransformer

    size = counts.shape[0]
    if not counts.nnz:
        return counts
    frequencies = np.bincount(counts.indices, minlength=COLUMNS)
    counts.data[((frequencies < 2) | (frequencies > widespread * size))[counts.indices]] = 0
    counts.eliminate_zeros()
    return TfidfTransformer(sublinear_tf=True).fit(counts).transform(counts, copy=False)


def _by_density(weights: Any, seed: int) -> list[int]:
    used = np.unique(weights.indices)
    if weights.shape[0] < 2 * SMALLEST_CLUSTER or not len(used):
        return [UNCLUSTERED] * weights.shape[0]
    weights = weights[:, used].astype(np.float64)
    return list(cluster_by_density(weights, [1] * weights.shape[0], dealt=True, seed=seed).labels)


def _by_means(weights: Any, clusters: int, seed: int) -> list[int]:
    """K-means on the directions of the texts in a truncated SVD's dimensions."""
    from sklearn.cluster import MiniBatchKMeans  # type: ignore[import-untyped]
    from sklearn.decomposition import TruncatedSVD  # type: ignore[import-untyped]
    from sklearn.preprocessing import normalize  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    labels = np.full(weights.shape[0], UNCLUSTERED)
    telling = np.flatnonzero(np.diff(weights.indptr))
    generator = np.random.default_rng(seed)
    sample = weights[np.sort(generator.choice(telling, min(SAMPLE, len(telling)), replace=False))]
    # Of all columns most are empty, and a singular value decomposition would carry them through its every step.
    used = np.unique(sample.indices)
    dimensions = min(DIMENSIONS, sample.shape[0] - 1, len(used) - 1)
    if dimensions < 1 or sample.shape[0] < clusters:
        return [int(label) for label in labels]
    # Several threads add in changing order, and then the same seed gives another result.
    with threadpool_limits(limits=1):
        reduction = TruncatedSVD(dimensions, n_iter=_ROUNDS, random_state=seed).fit(sample[:, used])
        model = MiniBatchKMeans(clusters, batch_size=_BATCH, n_init=_STARTS, random_state=seed)
        model.fit(normalize(reduction.transform(sample[:, used])))
        for rows in np.array_split(telling, math.ceil(len(telling) / _ROWS)):
            labels[rows] = model.predict(normalize(reduction.transform(weights[rows][:, used])))
    return [int(label) for label in labels]
