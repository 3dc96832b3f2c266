"""Which articles are worked on: those that a search finds, no two nearly the same, evenly over what they are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sociable.core.errors import InputError
from sociable.core.names import words
from sociable.datasets.articles import Article
from sociable.datasets.clusters import CLUSTERS, cluster_texts, drawn_over_clusters
from sociable.datasets.duplicates import near_duplicates
from sociable.datasets.retrieval import Document, Index, query_of
from sociable.datasets.stages import Rejected, WholeStage
from sociable.datasets.toxicity import classifier, measure_toxicity

KEYWORDS = 2
"""Of one search, at the most (section 5.1)."""
FOUND = 100
"""Articles that one search gives at the most, unless it is said otherwise."""
_CLASHES = re.compile(
    "(?:accus|against|anger|appeal|arrest|bann?|blam|boycott|charg|clash|claim|conflict|court|critici[sz]|deadline|demand|den[iy]|"
    "disput|divid|evict|fear|fight|fir|lawsuit|oppos|petition|protest|quit|refus|reject|resign|rival|row|sack|strik|sue|"
    "threat(?:en)?|union|vot|warn)(?:e|d|ed|es|s|ing|er|ers|ism|ition|al|als)?"
)
"""Words of people who do not all want the same."""


class RetrieveArticles(WholeStage[Article, Article]):
    """Seeds of one or two keywords (section 5.1 of HSII): what any of them finds goes on. Raises InputError for others."""

    name = "retrieved"
    meaning = "articles that a search by keywords finds"
    makes = Article

    def __init__(self, searches: Sequence[Sequence[str]], most: int) -> None:
        for search in searches:
            query_of(search)
            if len(search) > KEYWORDS:
                raise InputError(
                    f"A search has one or two keywords, not {len(search)}: {', '.join(search)}. Give several searches."
                )
        self._searches = searches
        self._most = most

    def select(self, items: Sequence[Article]) -> Mapping[str, Sequence[Article] | Rejected]:
        documents = (Document(item.id, item.title, item.text, item.date) for item in items)
        with Index(documents) as index:
            found = {hit.document.id for search in self._searches for hit in index.search(search, self._most)}
        return {item.id: Rejected(f"not among the first {self._most} of any search") for item in items if item.id not in found}


class DropDuplicates(WholeStage[Article, Article]):
    """By MinHash, of each kin the first stays (``duplicates.py``)."""

    name = "distinct"
    meaning = "no two articles that are nearly the same"
    makes = Article

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def select(self, items: Sequence[Article]) -> Mapping[str, Sequence[Article] | Rejected]:
        texts = ((item.id, f"{item.title}\n{item.text}") for item in items)
        return {
            kin.id: Rejected("nearly the same as another", f"{kin.kept}, {kin.similarity:.2f}")
            for kin in near_duplicates(texts, seed=self._seed)
            if not kin.is_kept
        }


class DropToxic(WholeStage[Article, Article]):
    """By a list of words, or by a classifier of its name. Raises InputError where that cannot be loaded."""

    name = "harmless"
    meaning = "articles without what nobody should have to read"
    makes = Article

    def __init__(self, model: str | None) -> None:
        self._detector = classifier(model) if model else None

    def select(self, items: Sequence[Article]) -> Mapping[str, Sequence[Article] | Rejected]:
        texts = ((item.id, f"{item.title}\n{item.text}") for item in items)
        return {
            each.id: Rejected("toxic", f"{each.toxicity.score:.2f}: {each.toxicity.because}")
            for each in measure_toxicity(texts, self._detector)
            if not each.is_harmless
        }


def _at_odds(text: str) -> float:
    """How many of its words tell of a conflict, of a hundred."""
    said = words(text)
    return 100 * sum(bool(_CLASHES.fullmatch(word)) for word in said) / max(1, len(said))


class SpreadArticles(WholeStage[Article, Article]):
    """Evenly over clusters, and of each those first that tell most of people at odds."""

    name = "spread"
    meaning = "articles drawn evenly over what they are about, those with most words of conflict first"
    makes = Article

    def __init__(self, count: int, seed: int) -> None:
        self._count = count
        self._seed = seed

    def select(self, items: Sequence[Article]) -> Mapping[str, Sequence[Article] | Rejected]:
        if len(items) <= self._count:
            return {}
        texts = [f"{item.title}\n{item.text}" for item in items]
        scores = [_at_odds(text) for text in texts]
        # Not by density: of 280 articles of news it leaves 47 unclustered and puts the others into two clusters. K-means covers
        # more: to the nearest of 20 drawn all have a mean cosine of 0.20 (by density 0.17), and those tell of more conflict.
        found = cluster_texts(texts, clusters=min(CLUSTERS, max(2, self._count)), seed=self._seed, largest_for_density=0)
        kept = set(drawn_over_clusters(found.labels, scores, self._count))
        return {item.id: Rejected("others of its cluster came first") for place, item in enumerate(items) if place not in kept}
