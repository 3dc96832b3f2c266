"""Retrieval: what must be found, in which order, and that neither keywords nor crashes do harm."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sociable.core.errors import InputError, StorageFailure
from sociable.datasets import retrieval
from sociable.datasets.retrieval import Search, open_index

NEWS = Path(__file__).resolve().parents[3] / "shared" / "data" / "news_wikinews"
needs_news = pytest.mark.skipif(not NEWS.is_dir(), reason="needs Wikinews in ../shared/data/news_wikinews")

DOCUMENTS = [
    ("d", "Harbour strike ends", "Dock workers agreed with the port."),
    ("b", "Bakers on strike", "The bakers' union calls for shorter nights."),
    ("a", "Bakers on strike", "The bakers' union calls for shorter nights."),
    ("c", "A new bridge", "Climate talks and bridges: the café's owners are not amused."),
    ("e", "Change of climate", "Ministers talk."),
    *((f"f{number}", "Something else", f"Text number {number} about nothing.") for number in range(20)),
]


@pytest.fixture
def search() -> Iterator[Search]:
    with open_index(DOCUMENTS) as opened:
        yield opened


def ids(search: Search, *keywords: str, most: int = 10) -> list[str]:
    return [hit.id for hit in search(keywords, most)]


def test_every_keyword_must_occur_in_title_or_text(search: Search) -> None:
    assert ids(search, "strike", "port") == ["d"]
    assert ids(search, "strike", "bridge") == []


def test_equals_come_by_id_whatever_the_order_of_the_input(search: Search, tmp_path: Path) -> None:
    assert ids(search, "bakers") == ["a", "b"]
    assert ids(search, "bakers", most=1) == ["a"]
    with open_index(reversed(DOCUMENTS)) as other:
        for keyword in ("bakers", "strike", "number", "climate"):
            assert other([keyword], 8) == search([keyword], 8)


def test_case_accents_and_endings_do_not_matter_and_words_are_whole(search: Search) -> None:
    assert ids(search, "STRIKES") == ids(search, "strike") != []
    assert ids(search, "cafe") == ids(search, "CAFÉ") == ["c"]
    assert ids(search, "ridge") == []


def test_a_keyword_of_several_words_is_a_phrase(search: Search) -> None:
    assert ids(search, "climate talks") == ["c"]
    assert sorted(ids(search, "climate", "talks")) == ["c", "e"]


def test_a_keyword_asked_for_twice_counts_once(search: Search) -> None:
    assert search(["strike", "Strike"], 5) == search(["strike"], 5)


def test_scores_are_bm25(tmp_path: Path) -> None:
    # One word, in 2 of 5 documents: idf = ln((5 - 2 + 0.5) / (2 + 0.5)) = ln 1.4. Lengths 2, 6, 4, 4, 4, on average 4.
    # a: tf 1, length 2: 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 4)) = 2.2 / 1.75
    # b: tf 3, length 6: 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 6 / 4)) = 6.6 / 4.65
    texts = {"a": "owl tree", "b": "owl owl owl moon sun star", **dict.fromkeys("cde", "sun moon star tree")}
    with open_index(((name, "", text) for name, text in texts.items())) as search:
        hits = search(["owl"], 5)
    assert [hit.id for hit in hits] == ["b", "a"]
    assert [hit.score for hit in hits] == pytest.approx([math.log(1.4) * 6.6 / 4.65, math.log(1.4) * 2.2 / 1.75])


HOSTILE = [
    '"',
    '" OR "a',
    "a OR b",
    "NEAR(a b)",
    "title:a",
    "a*",
    "^a",
    "-a",
    "'; DROP TABLE ids; --",
    "a\x00b",
    "\ud83d a",
    "{a}:b",
]


@pytest.mark.parametrize("keyword", HOSTILE)
def test_nothing_in_a_keyword_is_an_operator(search: Search, keyword: str) -> None:
    try:
        hits = search([keyword, "strike"], 50)
    except InputError as error:
        assert "no letter or digit" in str(error)
    else:
        assert {hit.id for hit in hits} <= {"a", "b", "d"}
    assert len(search(["number"], 99)) == 20


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=2))
def test_any_keyword_is_answered_or_refused(search: Search, keywords: list[str]) -> None:
    try:
        hits = search(keywords, 5)
    except InputError:
        assert any(not re.search(r"[^\W_]", keyword) for keyword in keywords)
    else:
        assert len(hits) <= 5


def test_a_letter_the_index_does_not_know_is_found_nowhere(search: Search) -> None:
    assert ids(search, "\U0001e900") == ids(search, "strike", "\U0001e900") == []


@pytest.mark.parametrize(("keywords", "said"), [([], "keyword"), ("strike", "list"), (["..."], "letter")])
def test_what_cannot_be_searched_for_is_refused(search: Search, keywords: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        search(keywords, 1)


def test_texts_may_be_anything() -> None:
    with open_index([("a", "half \ud83d pair", "nul \x00 owl")]) as search:
        assert ids(search, "owl", "pair") == ["a"]


def test_where_nothing_can_be_written_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than the disk holds: sqlite's own limit of pages stands for a full one.
    monkeypatch.setattr(retrieval, "_SCHEMA", "PRAGMA max_page_count = 20;" + retrieval._SCHEMA)
    with pytest.raises(StorageFailure, match="Cannot write"):
        open_index((f"{number}", "", "word " * 900) for number in range(200)).__enter__()


def test_what_breaks_while_reading_goes_on_up() -> None:
    def breaking() -> Iterator[tuple[str, str, str]]:
        yield DOCUMENTS[0]
        raise OSError("the input went away")

    with pytest.raises(OSError, match="went away"):
        open_index(breaking()).__enter__()


def test_the_documents_are_not_held(tmp_path: Path) -> None:
    alive = 0
    most = 0

    class Counted(str):
        def __new__(cls, text: str) -> Counted:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)
            return super().__new__(cls, text)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    with open_index((f"{number}", "", Counted(f"word {number}")) for number in range(2000)):
        assert most < 10


@needs_news
def test_real_news_are_found_as_a_reading_of_them_all_finds_them(tmp_path: Path) -> None:
    csv.field_size_limit(10**6)
    documents = []
    for file in sorted(NEWS.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            documents += [(row["url"], row["title"], row["text"]) for row in csv.DictReader(opened)]
    with open_index(documents) as search:
        for keywords in (["parliament"], ["president", "election"], ["coronavirus", "hospital"]):
            expected = {
                name
                for name, title, text in documents
                if all(re.search(rf"(?i)\b{word}('?s)?\b", f"{title}\n{text}") for word in keywords)
            }
            assert len(expected) > 3
            found = {hit.id for hit in search(keywords, 1000)}
            # Stems bring a few more: presidential, presidency.
            assert expected <= found
            assert len(found) <= 1.5 * len(expected)
        (best, *_) = search(["Magnitogorsk", "gas"], 3)
    assert {name: title for name, title, _ in documents}[
        best.id
    ] == "Magnitogorsk apartment building collapses after explosion, dozens dead"
