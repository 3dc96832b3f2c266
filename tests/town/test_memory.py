"""A memory stream: what comes to mind, in which order, and how fast."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sociable.core.errors import InputError
from sociable.models.embeddings import load_encoder
from sociable.town.memory import Embedded, HashedWords, Memory, MemoryStream


class Given:
    """Likenesses as a test wants them."""

    def __init__(self, likeness: Sequence[float]) -> None:
        self._likeness = likeness

    def compare(self, query: str, added: Sequence[str]) -> NDArray[np.float64]:
        return np.array(self._likeness, np.float64)


def texts(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def test_the_three_measures_are_scaled_and_weighted() -> None:
    stream = MemoryStream(Given([0.0, 0.5, 0.1, 0.2]))
    # Scaled over all four: relevance 0, 1, .2, .4; importance 1, 0, .5, 0; recency 0, a, b, 1 with a < b near .33 and .66.
    for minute, text, importance in ((0, "a", 9), (60, "b", 1), (120, "c", 5), (180, "d", 1)):
        stream.add(minute, "seen", text, importance)
    # a: 0 + 0 + 2 = 2; b: .17 + 3 + 0 = 3.17; c: .33 + .6 + 1 = 1.93; d: .5 + 1.2 + 0 = 1.7
    assert texts(stream.retrieve("?", 180, 4)) == ["b", "a", "c", "d"]


def test_recency_decides_between_equals_and_ends_with_use() -> None:
    stream = MemoryStream(Given([0.0, 0.0, 0.0]))
    for minute, text in ((0, "old"), (60, "newer"), (120, "newest")):
        stream.add(minute, "seen", text)
    assert texts(stream.retrieve("?", 200, 3, noting_use=False)) == ["newest", "newer", "old"]
    assert texts(stream.retrieve("?", 200, 3, noting_use=False)) == ["newest", "newer", "old"]
    assert texts(stream.retrieve("?", 180, 1)) == ["newest"]
    stream.add(190, "seen", "last")
    stream._relevance = Given([1.0, 0.0, 0.0, 0.0])
    assert texts(stream.retrieve("?", 200, 1)) == ["old"]
    stream._relevance = Given([0.0, 0.0, 0.0, 0.0])
    assert texts(stream.retrieve("?", 210, 4)) == ["old", "last", "newest", "newer"]


def test_of_equals_the_latest_comes_first() -> None:
    stream = MemoryStream(Given([0.3] * 5))
    for text in "abcde":
        stream.add(7, "seen", text, 3)
    assert texts(stream.retrieve("?", 9, 3)) == ["e", "d", "c"]


def test_what_nobody_rated_is_everyday_until_it_is_rated() -> None:
    stream = MemoryStream(Given([0.0, 0.0]))
    stream.add(0, "seen", "unrated")
    stream.add(0, "seen", "rated", 2)
    assert texts(stream.retrieve("?", 0, 2)) == ["rated", "unrated"]
    assert texts(stream.unrated) == ["unrated"]
    stream.rate(0, 8)
    assert texts(stream.retrieve("?", 0, 2)) == ["unrated", "rated"]
    assert (texts(stream.unrated), stream.memories[0].importance) == ([], 8)


def test_only_candidates_are_scaled() -> None:
    stream = MemoryStream(Given([1.0, 0.2, 0.1]))
    stream.add(0, "seen", "sighting", 1)
    stream.add(0, "told", "news", 1)
    stream.add(0, "told", "grave news", 9)
    # Among the two told: news 3 + 0, grave news 0 + 2. Over all three it would be .33 + 0 against 0 + 2.
    assert texts(stream.retrieve("?", 0, 3, kinds={"told"})) == ["news", "grave news"]


def test_nothing_comes_to_an_empty_mind() -> None:
    stream = MemoryStream()
    assert stream.retrieve("anything", 0, 5) == []
    stream.add(0, "seen", "something")
    assert stream.retrieve("anything", 0, 5, kinds={"fact"}) == []


def test_words_shared_make_texts_alike() -> None:
    words = HashedWords()
    texts = ["Ann exercises in the park", "Ben is baking bread", "the and of it"]
    likeness = words.compare("exercising at the park with Ann", texts)
    # exerci, park, ann in both: 3 / sqrt(3 * 3); common words do not count.
    assert likeness == pytest.approx([1.0, 0.0, 0.0])
    assert words.compare("", []) == pytest.approx([0.0, 0.0, 0.0])
    assert words.compare("bread and the park", []) == pytest.approx([1 / 6**0.5, 1 / 6**0.5, 0.0])


def test_what_was_asked_before_changes_no_likeness() -> None:
    once, often = HashedWords(), HashedWords()
    texts = ["red kite", "blue kite", "green boat"]
    for text in texts:
        often.compare("kite", [text])
    assert np.array_equal(once.compare("a blue boat", texts), often.compare("a blue boat", []))


def test_embeddings_take_the_place_of_words() -> None:
    rows = {"north": [0.0, 2.0], "east": [3.0, 0.0], "north-east": [1.0, 1.0]}

    def encode(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([rows[text] for text in texts])

    embedded = Embedded(encode)
    assert embedded.compare("north-east", ["north", "east"]) == pytest.approx([0.5**0.5, 0.5**0.5])
    stream = MemoryStream(Embedded(encode))
    stream.add(0, "fact", "north")
    stream.add(0, "fact", "east")
    assert texts(stream.retrieve("north", 0, 1)) == ["north"]
    for _ in range(100):
        stream.add(0, "fact", "east")
    assert texts(stream.retrieve("north", 0, 1)) == ["north"]


def test_embeddings_that_are_not_installed_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("sociable.models.embeddings.import_module", absent)
    with pytest.raises(InputError, match=r"sociable\[embeddings\]"):
        load_encoder("a model nobody has loaded")


def test_a_long_stream_is_fast() -> None:
    draw = random.Random(0)
    words = [f"word{number}" for number in range(3000)]
    stream = MemoryStream()
    for minute in range(2000):
        stream.add(minute, "seen", " ".join(draw.choices(words, k=14)), draw.randrange(10))
    stream.retrieve("word1", 2000, 8)
    best = float("inf")
    for _ in range(20):
        begin = time.perf_counter()
        stream.retrieve(" ".join(draw.choices(words, k=8)), 2000, 8)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.001
