"""Clusters by density: DBSCAN on the distances of a few thousand texts, with a radius that is read off the data.

Texts are near that are nearer than by chance, so nothing is set to find any number of clusters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from sociable.core.names import find_words
from sociable.statistics.intervals import Floats

SMALLEST_CLUSTER = 3
"""Two texts alike are a pair."""

NEAR = 0.01
"""Texts are near when only this share of texts with words dealt at random has as many neighbours so close."""

CHANCE_SIZE = 4000
"""Words are dealt until there are so many texts of dealt words to compare with, but at most MOST_DEALS times."""

MOST_DEALS = 100

WIDESPREAD = 0.5
"""Words in a larger share of the texts tell nothing apart. This takes no list of stop words, hence fits any language."""

LARGEST_BLOCK = 2**20
"""Random numbers held at a time."""

SEED = 0
UNCLUSTERED = -1


@dataclass(frozen=True, slots=True)
class Chance:
    """Means, over the deals, of what the same rule finds in texts whose words were dealt at random."""

    clusters: float
    clustered: float
    """Share of texts."""


@dataclass(frozen=True, slots=True)
class DensityClusters:
    """DBSCAN's clusters of texts by cosine distance."""

    labels: tuple[int, ...]
    """The cluster of each text, numbered from 0 by falling counts, or UNCLUSTERED."""
    distances: Floats
    """[texts, texts], cosine."""
    radius: float
    """DBSCAN's eps."""
    neighbours: int
    """DBSCAN's min_samples: so many texts within the radius, itself included, make one the core of a cluster."""
    chance: Chance | None
    """The result by chance; None where words were not dealt."""


def cluster_by_density(rows: Any, counts: Sequence[int], *, dealt: bool, seed: int = SEED) -> DensityClusters:
    """Finds clusters of the texts that ``rows``, [texts, features], stand for; ``counts`` says what each text counts for.

    The core of a cluster has ln(n) neighbours, as in Birant and Kut (2007), but at least SMALLEST_CLUSTER. Its radius is read
    off the data: for weights of words, which can be ``dealt`` at random, as in ``find_chance_radius``; else it is the knee of
    the curve of distances, as in ``find_knee``.
    """
    distances = measure_distances(rows)
    neighbours = max(SMALLEST_CLUSTER, round(math.log(rows.shape[0])))
    chance = None
    if dealt:
        radius, chance = find_chance_radius(rows, neighbours, seed)
    else:
        radius = find_knee(measure_core_distances(distances, neighbours))
    return DensityClusters(
        number_by_size(find_clusters(distances, radius, neighbours), counts), distances, radius, neighbours, chance
    )


def list_telling_words(text: str) -> list[str]:
    """The words of a text that can tell it from others: lower case, of at least two letters and nothing but letters."""
    return [word for word in find_words(text) if len(word) > 1 and word.isalpha()]


def measure_distances(rows: Any) -> Floats:
    """[rows, rows]: 1 − cosine of the angle between each two rows, in [0, 2]; 1 from a row of zeros."""
    from sklearn.metrics import pairwise  # type: ignore[import-untyped]

    distances: Floats = pairwise.cosine_distances(rows)
    return distances


def find_chance_radius(weights: Any, neighbours: int, seed: int = SEED) -> tuple[float, Chance]:
    """The distance within which only NEAR of texts with words dealt at random have that many neighbours, themselves included.

    ``weights``, [texts, words], are sparse, with rows of length 1. Each word goes to as many texts as before, with the same
    weights, and a text gets it the likelier the more words it has. What is nearer than that is near because of its subject.
    """
    generator = np.random.default_rng(seed)
    deals = min(MOST_DEALS, math.ceil(CHANCE_SIZE / weights.shape[0]))
    tables = [measure_distances(deal_words(weights, generator)) for _ in range(deals)]
    radius = float(np.quantile(np.concatenate([measure_core_distances(distances, neighbours) for distances in tables]), NEAR))
    found = [find_clusters(distances, radius, neighbours) for distances in tables]
    return radius, Chance(
        clusters=fmean(len(set(labels) - {UNCLUSTERED}) for labels in found),
        clustered=fmean(label != UNCLUSTERED for labels in found for label in labels),
    )


def deal_words(weights: Any, generator: np.random.Generator) -> Any:
    """The table with every column's weights in other rows, drawn without replacement, in proportion to how many they had."""
    columns = weights.tocsc(copy=True)
    texts, terms = columns.shape
    # Who has waited least when each waits exponentially at its own rate is drawn in proportion to the rates.
    rates = np.maximum(np.diff(weights.tocsr().indptr), 1e-9)
    step = max(1, LARGEST_BLOCK // texts)
    for first in range(0, terms, step):
        bounds = columns.indptr[first : first + step + 1]
        order = np.argsort(generator.exponential(size=(len(bounds) - 1, texts)) / rates, axis=1)
        columns.indices[bounds[0] : bounds[-1]] = order[np.arange(texts) < np.diff(bounds)[:, np.newaxis]]
    columns.has_sorted_indices = False
    return columns.tocsr()


def measure_core_distances(distances: Floats, neighbours: int) -> Floats:
    """[texts]: the radius within which each text has so many neighbours, itself included."""
    found: Floats = np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1]
    return found


def find_knee(values: Floats) -> float:
    """The value at which the sorted curve turns up: farthest below the straight line between its ends.

    Ester et al. (1996) choose DBSCAN's eps there by eye; the distance from the line is Satopää et al.'s (2011) rule.
    """
    curve = np.sort(values)
    line = np.linspace(curve[0], curve[-1], len(curve))
    return float(curve[np.argmax(line - curve)])


def find_clusters(distances: Floats, radius: float, neighbours: int) -> list[int]:
    """The cluster of each text by DBSCAN, in no particular order, or UNCLUSTERED."""
    from sklearn.cluster import DBSCAN  # type: ignore[import-untyped]

    # Where texts are the same the radius is 0, which DBSCAN refuses, and their distances are 0 only to rounding.
    model = DBSCAN(eps=max(radius, 1e-9), min_samples=neighbours, metric="precomputed")
    return [int(label) for label in model.fit_predict(distances)]


def number_by_size(labels: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    """The labels renumbered from 0, the cluster with the most counts first; among equals the one that begins first."""
    sizes: Counter[int] = Counter()
    for label, count in zip(labels, counts, strict=True):
        sizes[label] += count
    del sizes[UNCLUSTERED]
    rank = {label: place for place, (label, _) in enumerate(sizes.most_common())} | {UNCLUSTERED: UNCLUSTERED}
    return tuple(rank[label] for label in labels)
