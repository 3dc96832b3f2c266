"""Articles that are worked on: those that a search finds, no two nearly the same, evenly over what they are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sociable.core.errors import InputError
from sociable.core.names import words
from sociable.datasets.articles import Article
from sociable.datasets.clusters import cluster_texts, draw_over_clusters
from sociable.datasets.duplicates import find_near_duplicates, load_rensa
from sociable.datasets.retrieval import build_query, open_index
from sociable.datasets.stages import Rejected, WholeStage
from sociable.datasets.toxicity import WordDetector, load_classifier, measure_toxicity

KEYWORDS = 2
"""Keywords of one search, at the most (section 5.1)."""
FOUND = 100
"""Articles that one search gives at the most, unless it is said otherwise."""
CLUSTERS = 100
"""Clusters at the most: more than a choice is large are of no use to it."""
_CLASHES = re.compile(
    "(?:accus|against|anger|appeal|arrest|bann?|blam|boycott|charg|clash|claim|conflict|court|critici[sz]|deadline|demand|den[iy]|"
    "disput|divid|evict|fear|fight|fir|lawsuit|oppos|petition|protest|quit|refus|reject|resign|rival|row|sack|strik|sue|"
    "threat(?:en)?|union|vot|warn)(?:e|d|ed|es|s|ing|er|ers|ism|ition|al|als)?"
)
"""Words of people who do not all want the same."""


def _join_text(article: Article) -> str:
    return f"{article.title}\n{article.text}"


def retrieve_articles(searches: Sequence[Sequence[str]], most: int) -> WholeStage[Article]:
    """Keeps articles that any of several searches finds, each by one or two keywords (section 5.1 of HSII).

    Raises InputError for other searches.
    """
    for keywords in searches:
        build_query(keywords)
        if len(keywords) > KEYWORDS:
            raise InputError(
                f"A search has one or two keywords, not {len(keywords)}: {', '.join(keywords)}. Give several searches."
            )

    def reject(items: Sequence[Article]) -> Mapping[str, Rejected]:
        with open_index((item.id, item.title, item.text) for item in items) as search:
            found = {hit.id for keywords in searches for hit in search(keywords, most)}
        return {item.id: Rejected(f"not among the first {most} of any search") for item in items if item.id not in found}

    return WholeStage("retrieved", "articles that a search by keywords finds", Article, reject)


def drop_duplicates(seed: int) -> WholeStage[Article]:
    """Keeps the first of each kin, by MinHash (``duplicates.py``). Raises InputError where the extra for that is missing."""
    # Before anything is paid for.
    load_rensa()

    def reject(items: Sequence[Article]) -> Mapping[str, Rejected]:
        kinships = find_near_duplicates(((item.id, _join_text(item)) for item in items), seed=seed)
        said = "nearly the same as another"
        return {kin.id: Rejected(said, f"{kin.kept}, {kin.similarity:.2f}") for kin in kinships if not kin.is_kept}

    return WholeStage("distinct", "no two articles that are nearly the same", Article, reject)


def drop_toxic(classifier: str | None) -> WholeStage[Article]:
    """Keeps what is harmless, by a list of words or by a classifier. Raises InputError where that cannot be loaded."""
    detector = load_classifier(classifier) if classifier else WordDetector()

    def reject(items: Sequence[Article]) -> Mapping[str, Rejected]:
        measured = zip(items, measure_toxicity(map(_join_text, items), detector), strict=True)
        return {
            item.id: Rejected("toxic", f"{found.score:.2f}: {found.because}") for item, found in measured if not found.is_harmless
        }

    return WholeStage("harmless", "articles without what nobody should have to read", Article, reject)


def spread_articles(count: int, seed: int) -> WholeStage[Article]:
    """Keeps so many, evenly over clusters, and of each cluster first those that tell most of people at odds."""

    def reject(items: Sequence[Article]) -> Mapping[str, Rejected]:
        if len(items) <= count:
            return {}
        texts = [_join_text(item) for item in items]
        # Not by density: of 280 articles of news it leaves 47 unclustered and puts the others into two clusters. K-means covers
        # more: to the nearest of 20 drawn all have a mean cosine of 0.20 (by density 0.17), and those tell of more conflict.
        labels = cluster_texts(texts, min(CLUSTERS, max(2, count)), seed)
        kept = set(draw_over_clusters(labels, [_measure_conflict(text) for text in texts], count))
        return {item.id: Rejected("others of its cluster came first") for place, item in enumerate(items) if place not in kept}

    meaning = "articles drawn evenly over what they are about, those with most words of conflict first"
    return WholeStage("spread", meaning, Article, reject)


def _measure_conflict(text: str) -> float:
    """The number of words, of a hundred, that tell of a conflict."""
    said = words(text)
    return 100 * sum(bool(_CLASHES.fullmatch(word)) for word in said) / max(1, len(said))
