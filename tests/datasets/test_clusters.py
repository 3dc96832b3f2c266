"""Clusters of texts, and choices over them: planted topics, real articles, cases by hand."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from sociable.core.errors import InputError
from sociable.datasets.clusters import COLUMNS, _hash_words, _weigh_words, cluster_texts, draw_over_clusters
from sociable.statistics.density import UNCLUSTERED, list_telling_words

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
NEWS, GUM = DATA / "news_wikinews", DATA / "gum" / "dialogues_interview_court.jsonl"
needs_news = pytest.mark.skipif(not NEWS.is_dir(), reason="needs Wikinews in ../shared/data/news_wikinews")
needs_gum = pytest.mark.skipif(not GUM.is_file(), reason="needs GUM in ../shared/data/gum")


def word(generator: random.Random, of: str, many: int) -> str:
    number = int(many ** generator.random())
    return of + "".join("abcdefghij"[int(digit)] for digit in str(number))


def planted(count: int, topics: int, seed: int = 0) -> tuple[list[str], list[int]]:
    """Texts of twenty words, half of them of one topic; and the topics."""
    generator = random.Random(seed)
    texts, truth = [], []
    for _ in range(count):
        topic = generator.randrange(topics)
        own = [word(generator, f"topic{'klmnopqrst'[topic]}", 40) for _ in range(10)]
        texts.append(" ".join([*own, *(word(generator, "any", 500) for _ in range(10))]))
        truth.append(topic)
    return texts, truth


def test_planted_topics_are_found() -> None:
    texts, truth = planted(600, 8)
    labels = cluster_texts(iter(texts), 8)
    inside = labels != UNCLUSTERED
    assert inside.mean() > 0.8
    assert adjusted_rand_score(np.array(truth)[inside], labels[inside]) > 0.9
    assert set(labels[inside].tolist()) == set(range(8))


def test_the_same_seed_gives_the_same_labels_and_another_gives_others() -> None:
    texts, _ = planted(300, 5)
    first, again, other = (cluster_texts(texts, 30, seed) for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


def test_hashed_weights_are_those_of_a_vocabulary() -> None:
    """Few words, so that none share a column."""
    texts, _ = planted(200, 4)
    weights = TfidfVectorizer(analyzer=list_telling_words, min_df=2, max_df=0.5, sublinear_tf=True).fit_transform(texts)
    hashed = _weigh_words(_hash_words(iter(texts)), 0.5)
    assert hashed.shape == (200, COLUMNS)
    assert (hashed @ hashed.T).toarray() == pytest.approx((weights @ weights.T).toarray(), abs=1e-5)


def test_texts_that_say_nothing_are_unclustered() -> None:
    texts, _ = planted(100, 2)
    labels = cluster_texts([*texts, "", "12 34 !", "lonely"], 2)
    assert list(labels[-3:]) == [UNCLUSTERED] * 3
    assert (labels[:-3] != UNCLUSTERED).all()


@pytest.mark.parametrize("texts", [[], ["one"], ["one"] * 5, ["", "", ""], ["same words here"] * 20])
def test_few_texts_and_equal_ones_do_no_harm(texts: list[str]) -> None:
    labels = cluster_texts(texts, 3)
    assert len(labels) == len(texts)
    assert set(labels.tolist()) <= {UNCLUSTERED, 0, 1, 2}


def test_texts_are_read_once_and_fewer_than_two_clusters_refused() -> None:
    def read() -> Iterator[str]:
        yield from planted(20, 2)[0]

    assert len(cluster_texts(read(), 3)) == 20
    with pytest.raises(InputError, match="at least 2"):
        cluster_texts(read(), 1)


# Choices


def test_the_best_of_every_cluster_comes_first() -> None:
    labels = [0, 0, 0, 1, 1, 2]
    scores = [0.9, 0.8, 0.7, 0.2, 0.1, 0.5]
    assert draw_over_clusters(labels, scores, 3) == [0, 5, 3]
    assert draw_over_clusters(labels, scores, 4) == [0, 5, 3, 1]
    assert draw_over_clusters(labels, scores, 99) == [0, 5, 3, 1, 4, 2]
    assert draw_over_clusters(labels, scores, 2) == [0, 5]


def test_the_unclustered_are_drawn_from_like_one_cluster_and_equals_by_place() -> None:
    assert draw_over_clusters([-1, -1, -1, 0, 0], [1, 1, 1, 1, 1], 4) == [0, 3, 1, 4]
    assert draw_over_clusters([], [], 3) == []
    assert draw_over_clusters([0], [1], 0) == []


@given(st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=30), st.integers(0, 35))
def test_choices_are_even_and_of_the_best(items: list[tuple[int, float]], count: int) -> None:
    labels, scores = [label for label, _ in items], [score for _, score in items]
    drawn = draw_over_clusters(labels, scores, count)
    assert len(drawn) == len(set(drawn)) == min(count, len(items))
    sizes, taken = Counter(labels), Counter(labels[place] for place in drawn)
    for label in sizes:
        # Nobody has two more than another who still has some.
        assert all(taken[label] == sizes[label] or taken[label] >= taken[other] - 1 for other in sizes)
        left = [scores[place] for place, own in enumerate(labels) if own == label and place not in drawn]
        assert not left or max(left) <= min((scores[place] for place in drawn if labels[place] == label), default=1)


@pytest.mark.parametrize(("labels", "scores"), [([0], []), ([0], [float("nan")])])
def test_a_score_must_be_there_for_every_text(labels: Sequence[int], scores: Sequence[float]) -> None:
    with pytest.raises(ValueError, match="one score"):
        draw_over_clusters(labels, scores, 1)


@needs_news
@needs_gum
def test_real_conversations_come_together_among_real_news() -> None:
    csv.field_size_limit(10**6)
    news = []
    for file in sorted(NEWS.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            news += [row["text"] for row in csv.DictReader(opened)]
    dialogues = map(json.loads, GUM.read_text(encoding="utf-8").splitlines())
    conversations = [" ".join(turn["text"] for turn in dialogue["turns"]) for dialogue in dialogues]
    labels = cluster_texts([*news, *conversations], 4)
    ((label, many),) = Counter(labels[len(news) :].tolist()).most_common(1)
    assert label != UNCLUSTERED
    assert many >= 0.85 * len(conversations)
    assert (labels[: len(news)] == label).mean() <= 0.35
