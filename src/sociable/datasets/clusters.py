"""Coverage: clusters of texts that are about the same, and a choice that takes evenly from all that they are about.

Words are hashed into columns, so that no vocabulary is held, and weighed by TF-IDF. Texts are clustered by mini-batch k-means
in fewer dimensions, which are learnt from a sample. (For clusters by density see ``statistics.density``.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sociable.core.errors import InputError
from sociable.core.seeding import derive_seed
from sociable.core.spreading import Spread, cut_batches, work_here
from sociable.statistics.density import UNCLUSTERED, WIDESPREAD, list_telling_words

COLUMNS = 2**18
"""Words share a column by chance; of 40,000 different words one in seven."""

SAMPLE = 50_000
"""Texts that are learnt from, drawn by the seed: what they teach holds for the others."""

DIMENSIONS = 100
"""Dimensions in which texts are clustered. With more a headline of ten words has none in common with most others of its topic,
and k-means takes almost all for one cluster: of 100 planted topics it found 0.06 (adjusted Rand index), with these 0.8."""

_ROUNDS = 5
_STARTS = 5
_BATCH = 4096
_ROWS = 50_000

Labels = NDArray[np.int64]


def cluster_texts(texts: Iterable[str], clusters: int, seed: int = 0, spread: Spread = work_here) -> Labels:
    """[texts]: the cluster of each text, from 0; UNCLUSTERED where it has no telling word, or there are too few texts.

    Texts are read once and not held: 8 bytes are, of each different word in each of them, and twice that while they are put
    together. The same texts with the same seed give the same labels, as far as the arithmetic of the machine's processor does.
    Words are counted wherever ``spread`` has a processor.

    Raises InputError for fewer than 2 clusters.
    """
    from sklearn.cluster import MiniBatchKMeans  # type: ignore[import-untyped]
    from sklearn.decomposition import TruncatedSVD  # type: ignore[import-untyped]
    from sklearn.preprocessing import normalize  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if clusters < 2:
        raise InputError(f"Texts are to be sorted into at least 2 clusters, not {clusters}.")
    # Words in more texts than two clusters of average size hold cannot tell clusters apart.
    weights = _weigh_words(_count_words(texts, spread), min(WIDESPREAD, 2 / clusters))
    own_seed = derive_seed(seed, "means") % 2**32
    labels = np.full(weights.shape[0], UNCLUSTERED)
    telling = np.flatnonzero(np.diff(weights.indptr))
    generator = np.random.default_rng(own_seed)
    sample = weights[np.sort(generator.choice(telling, min(SAMPLE, len(telling)), replace=False))]
    # Most columns are empty, and a singular value decomposition would carry them through every step.
    used = np.unique(sample.indices)
    dimensions = min(DIMENSIONS, sample.shape[0] - 1, len(used) - 1)
    if dimensions < 1 or sample.shape[0] < clusters:
        return labels
    # Several threads add in changing order, and then the same seed gives another result.
    with threadpool_limits(limits=1):
        reduction = TruncatedSVD(dimensions, n_iter=_ROUNDS, random_state=own_seed).fit(sample[:, used])
        model = MiniBatchKMeans(clusters, batch_size=_BATCH, n_init=_STARTS, random_state=own_seed)
        model.fit(normalize(reduction.transform(sample[:, used])))
        for rows in np.array_split(telling, math.ceil(len(telling) / _ROWS)):
            labels[rows] = model.predict(normalize(reduction.transform(weights[rows][:, used])))
    return labels


def draw_over_clusters(labels: Sequence[int] | Labels, scores: Sequence[float], count: int) -> list[int]:
    """The places of ``count`` texts (all, if there are fewer), the best scored of every cluster first, then the second best.

    Where the last round cannot take from every cluster, it takes the best scored; of equals it takes the first. UNCLUSTERED texts
    are drawn from as if they were one more cluster. Raises ValueError unless there is a score for every label, each a number.
    """
    import pandas as pd

    own_scores = pd.Series(scores, dtype=np.float64)
    if len(labels) != len(own_scores) or own_scores.isna().any():
        raise ValueError("every text needs one label and one score that is a number")
    rounds = own_scores.groupby(np.asarray(labels, dtype=np.int64)).rank(method="first", ascending=False)
    order = np.lexsort((-own_scores, rounds))
    return [int(place) for place in order[: max(count, 0)]]


def _count_words(texts: Iterable[str], spread: Spread) -> Any:
    """Counts of each word in each text: sparse, [texts, COLUMNS]."""
    from scipy.sparse import csr_matrix, vstack  # type: ignore[import-untyped]

    counted = list(spread(_hash_words, cut_batches(texts)))
    return vstack(counted, format="csr") if counted else csr_matrix((0, COLUMNS), dtype=np.float32)


def _hash_words(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]

    vectorizer = HashingVectorizer(
        analyzer=list_telling_words, n_features=COLUMNS, norm=None, alternate_sign=False, dtype=np.float32
    )
    return vectorizer.transform(texts)


def _weigh_words(counts: Any, widespread: float) -> Any:
    """(1 + ln tf) · idf, rows of length 1, of words in at least two texts and at most that share of them; in place."""
    from sklearn.feature_extraction.text import TfidfTransformer

    size = counts.shape[0]
    if not counts.nnz:
        return counts
    frequencies = np.bincount(counts.indices, minlength=COLUMNS)
    counts.data[((frequencies < 2) | (frequencies > widespread * size))[counts.indices]] = 0
    counts.eliminate_zeros()
    return TfidfTransformer(sublinear_tf=True).fit(counts).transform(counts, copy=False)
