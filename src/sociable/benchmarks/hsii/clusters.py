"""Clusters of dialogues on the same subject: their features, DBSCAN, and a plane to draw them in (HSII, section 6.2).

The paper takes features of the cases (BERT), clusters them (DBSCAN), reduces them to a plane to draw them (LSH), and
shows the share of cases in each cluster. Its seven clusters are a finding, not a parameter: no number of them is set here.

Differs from the paper:

* Dialogues are clustered and their cases counted. The cases of one dialogue are longer and longer beginnings of one
  conversation, each other's nearest neighbours by far: clusters of cases would be the dialogues over again. A dialogue
  is represented by its longest case.
* Features are TF-IDF weights unless embeddings are asked for. The full weights are clustered, without a truncated SVD:
  it brings all dialogues of a small data set near each other, and groups that are there run together.
* The plane is t-SNE's: two random hyperplanes would put every dialogue into one of four places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.core.errors import InputError
from sociable.models.embeddings import load_encoder
from sociable.statistics.density import (
    SEED,
    SMALLEST_CLUSTER,
    UNCLUSTERED,
    WIDESPREAD,
    DensityClusters,
    cluster_by_density,
    list_telling_words,
)
from sociable.statistics.intervals import Floats

FEATURES = ("tfidf", "embeddings")

EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""The sentence-transformers model that makes the embeddings."""

FEWEST_DIALOGUES = 2 * SMALLEST_CLUSTER
"""Fewer cannot make two clusters, and the distances of so few say nothing."""

TELLING_TERMS = 6


def find_longest_cases(cases: Sequence[Case]) -> list[Case]:
    """The case with the most turns of each dialogue, in the order in which dialogues first occur."""
    longest: dict[str, Case] = {}
    for case in cases:
        if len(case.messages) > len(longest.setdefault(case.dialogue, case).messages):
            longest[case.dialogue] = case
    return list(longest.values())


def list_passages(case: Case) -> list[str]:
    """Scene, relationships, conflicts and messages before the golden response, as the data have them."""
    background = case.background
    return [background.scene, *background.relationships, background.conflicts, *(m.content for m in case.messages)]


def list_nameless_passages(case: Case) -> list[str]:
    """The passages without the participants' names, which would make clusters of namesakes.

    The topic, with which clusters are compared, is none of them. A name's words, and those of aliases, are left out where
    they are not in lower case: "the Miller" leaves "the miller".
    """
    spellings = " ".join([ASSISTANT, *case.characters, *chain.from_iterable(case.aliases.values())])
    names = {word for word in re.findall(r"[^\W\d_]+", spellings) if not word.islower()}
    longest_first = sorted(names, key=lambda word: (-len(word), word))
    name = re.compile(rf"\b(?:{'|'.join(longest_first)})(?:['’]s)?\b")
    return [without for passage in list_passages(case) if (without := name.sub(" ", passage)).strip()]


@dataclass(frozen=True, slots=True)
class Terms:
    """TF-IDF weights of the words of dialogues."""

    weights: Any
    """Sparse, [dialogues, words]; rows of length 1."""
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of dialogues, the one with the most cases first."""

    dialogues: tuple[Case, ...]
    """Each by its longest case."""
    density: DensityClusters
    terms: Terms | None

    @property
    def labels(self) -> tuple[int, ...]:
        return self.density.labels

    @property
    def count(self) -> int:
        return max(self.labels) + 1

    def list_members(self, label: int) -> list[Case]:
        return [case for case, own in zip(self.dialogues, self.labels, strict=True) if own == label]


def cluster_dialogues(cases: Sequence[Case], features: str = "tfidf") -> Clustering | None:
    """The clusters of the dialogues; None for fewer than FEWEST_DIALOGUES, or when they have no telling words in common."""
    if features not in FEATURES:
        raise InputError(f"There are no features '{features}'. Choose {' or '.join(repr(name) for name in FEATURES)}.")
    dialogues = find_longest_cases(cases)
    encode = load_encoder(EMBEDDING_MODEL) if features == "embeddings" else None
    if len(dialogues) < FEWEST_DIALOGUES:
        return None
    passages = [list_nameless_passages(case) for case in dialogues]
    terms = weigh_terms(["\n".join(own) for own in passages])
    if encode:
        # Passage by passage: a model reads no further than some hundred words, a dialogue's scene.
        rows = np.array([encode(own).mean(axis=0) for own in passages])
    elif terms:
        rows = terms.weights
    else:
        return None
    sizes = Counter(case.dialogue for case in cases)
    found = cluster_by_density(rows, [sizes[case.dialogue] for case in dialogues], dealt=encode is None)
    return Clustering(tuple(dialogues), found, terms)


def weigh_terms(texts: Sequence[str]) -> Terms | None:
    """(1 + ln tf) · idf of words in at least two texts and at most WIDESPREAD of them; None if there is no such word."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

    vectorizer = TfidfVectorizer(analyzer=list_telling_words, min_df=2, max_df=WIDESPREAD, sublinear_tf=True)
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:  # all that is wrong with texts as such: no word is left
        return None
    return Terms(weights, tuple(vectorizer.get_feature_names_out()))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Adjusted Rand indices of clusters and topics: 1 when they are the same, 0 on average by chance."""

    clustered: float
    """The index over the dialogues in a cluster."""
    every: float
    """The index over all dialogues, each that is in no cluster being one of its own."""


def measure_agreement(clustering: Clustering) -> Agreement | None:
    """The agreement of clusters and topics; None for fewer than two clusters, which tell no topics apart."""
    from sklearn.metrics import adjusted_rand_score  # type: ignore[import-untyped]

    if clustering.count < 2:
        return None
    topics = [case.topic for case in clustering.dialogues]
    inside = [place for place, label in enumerate(clustering.labels) if label != UNCLUSTERED]
    alone = [label if label != UNCLUSTERED else -1 - place for place, label in enumerate(clustering.labels)]
    return Agreement(
        clustered=float(adjusted_rand_score([topics[place] for place in inside], [clustering.labels[place] for place in inside])),
        every=float(adjusted_rand_score(topics, alone)),
    )


def find_telling_terms(clustering: Clustering, label: int) -> list[str]:
    """The words whose mean weight in the cluster is most above that in all other dialogues."""
    if clustering.terms is None:
        return []
    inside = np.array([own == label for own in clustering.labels])
    weights = clustering.terms.weights
    lead = np.asarray(weights[inside].mean(axis=0)).ravel()
    if not inside.all():
        lead = lead - np.asarray(weights[~inside].mean(axis=0)).ravel()
    return [clustering.terms.names[place] for place in np.argsort(-lead, kind="stable")[:TELLING_TERMS] if lead[place] > 0]


def place_in_plane(distances: Floats) -> Floats:
    """[dialogues, 2]: t-SNE of the distances. The same distances give the same plane."""
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    # Its usual perplexity of 30 looks at 90 neighbours, which is more than there are in a small data set.
    perplexity = min(30.0, (len(distances) - 1) / 3)
    model = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=SEED)
    # Threads add in changing order, and on a busy machine wait for each other in every one of a thousand small steps.
    with threadpool_limits(limits=1):
        found: Floats = model.fit_transform(distances).astype(np.float64)
    return found
