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
from sociable.datasets.retrieval import Document, Index

NEWS = Path(__file__).resolve().parents[3] / "shared" / "data" / "news_wikinews"
needs_news = pytest.mark.skipif(not NEWS.is_dir(), reason="needs Wikinews in ../shared/data/news_wikinews")

DOCUMENTS = [
    Document("d", "Harbour strike ends", "Dock workers agreed with the port.", "2020-03-01"),
    Document("b", "Bakers on strike", "The bakers' union calls for shorter nights.", "2020-03-02"),
    Document("a", "Bakers on strike", "The bakers' union calls for shorter nights.", "2020-03-03"),
    Document("c", "A new bridge", "Climate talks and bridges: the café's owners are not amused."),
    Document("e", "Change of climate", "Ministers talk."),
    *(Document(f"f{number}", "Something else", f"Text number {number} about nothing.") for number in range(20)),
]


@pytest.fixture
def index() -> Iterator[Index]:
    with Index(DOCUMENTS) as opened:
        yield opened


def ids(index: Index, *keywords: str, most: int = 10) -> list[str]:
    return [hit.document.id for hit in index.search(keywords, most)]


def test_every_keyword_must_occur_in_title_or_text(index: Index) -> None:
    assert ids(index, "strike", "port") == ["d"]
    assert ids(index, "strike", "bridge") == []


def test_equals_come_by_id_whatever_the_order_of_the_input(index: Index, tmp_path: Path) -> None:
    assert ids(index, "bakers") == ["a", "b"]
    assert ids(index, "bakers", most=1) == ["a"]
    with Index(reversed(DOCUMENTS)) as other:
        for keyword in ("bakers", "strike", "number", "climate"):
            assert other.search([keyword], 8) == index.search([keyword], 8)


def test_case_accents_and_endings_do_not_matter_and_words_are_whole(index: Index) -> None:
    assert ids(index, "STRIKES") == ids(index, "strike") != []
    assert ids(index, "cafe") == ids(index, "CAFÉ") == ["c"]
    assert ids(index, "ridge") == []


def test_a_keyword_of_several_words_is_a_phrase(index: Index) -> None:
    assert ids(index, "climate talks") == ["c"]
    assert sorted(ids(index, "climate", "talks")) == ["c", "e"]


def test_a_keyword_asked_for_twice_counts_once(index: Index) -> None:
    assert index.search(["strike", "Strike"], 5) == index.search(["strike"], 5)


def test_a_hit_brings_the_whole_document(index: Index) -> None:
    (hit,) = index.search(["dock"], 3)
    assert hit.document == DOCUMENTS[0]
    assert len(index) == len(DOCUMENTS)


def test_scores_are_bm25(tmp_path: Path) -> None:
    # One word, in 2 of 5 documents: idf = ln((5 - 2 + 0.5) / (2 + 0.5)) = ln 1.4. Lengths 2, 6, 4, 4, 4, on average 4.
    # a: tf 1, length 2: 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 4)) = 2.2 / 1.75
    # b: tf 3, length 6: 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 6 / 4)) = 6.6 / 4.65
    texts = {"a": "owl tree", "b": "owl owl owl moon sun star", **dict.fromkeys("cde", "sun moon star tree")}
    with Index((Document(name, "", text) for name, text in texts.items())) as index:
        hits = index.search(["owl"], 5)
    assert [hit.document.id for hit in hits] == ["b", "a"]
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
def test_nothing_in_a_keyword_is_an_operator(index: Index, keyword: str) -> None:
    try:
        hits = index.search([keyword, "strike"], 50)
    except InputError as error:
        assert "no letter or digit" in str(error)
    else:
        assert {hit.document.id for hit in hits} <= {"a", "b", "d"}
    assert len(index) == len(DOCUMENTS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=2))
def test_any_keyword_is_answered_or_refused(index: Index, keywords: list[str]) -> None:
    try:
        hits = index.search(keywords, 5)
    except InputError:
        assert any(not re.search(r"[^\W_]", keyword) for keyword in keywords)
    else:
        assert len(hits) <= 5


def test_a_letter_the_index_does_not_know_is_found_nowhere(index: Index) -> None:
    assert ids(index, "\U0001e900") == ids(index, "strike", "\U0001e900") == []


@pytest.mark.parametrize(
    ("keywords", "most", "said"), [([], 1, "keyword"), ("strike", 1, "list"), (["..."], 1, "letter"), (["a"], 0, "1")]
)
def test_what_cannot_be_searched_for_is_refused(index: Index, keywords: list[str], most: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        index.search(keywords, most)


def test_ids_must_be_unique_and_writable_texts_may_be_anything(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Two documents have the id 'd'"):
        Index([*DOCUMENTS, DOCUMENTS[0]])
    with pytest.raises(InputError, match="not text"):
        Index([Document("\ud83d", "", "")])
    with Index([Document("a", "half \ud83d pair", "nul \x00 owl", "")]) as index:
        (hit,) = index.search(["owl"], 1)
    assert hit.document.title == "half ? pair"


def test_where_nothing_can_be_written_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than the disk holds: sqlite's own limit of pages stands for a full one.
    monkeypatch.setattr(retrieval, "_SCHEMA", "PRAGMA max_page_count = 20;" + retrieval._SCHEMA)
    with pytest.raises(StorageFailure, match="Cannot write"):
        Index(Document(f"{number}", "", "word " * 900) for number in range(200))


def test_what_breaks_while_reading_goes_on_up() -> None:
    def breaking() -> Iterator[Document]:
        yield DOCUMENTS[0]
        raise OSError("the input went away")

    with pytest.raises(OSError, match="went away"):
        Index(breaking())


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

    documents = (Document(f"{number}", "", Counted(f"word {number}")) for number in range(2000))
    Index(documents).close()
    assert most < 10


@needs_news
def test_real_news_are_found_as_a_reading_of_them_all_finds_them(tmp_path: Path) -> None:
    csv.field_size_limit(10**6)
    documents = []
    for file in sorted(NEWS.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            documents += [Document(row["url"], row["title"], row["text"], row["date"]) for row in csv.DictReader(opened)]
    with Index(documents) as index:
        for keywords in (["parliament"], ["president", "election"], ["coronavirus", "hospital"]):
            expected = {
                document.id
                for document in documents
                if all(re.search(rf"(?i)\b{word}('?s)?\b", f"{document.title}\n{document.text}") for word in keywords)
            }
            assert len(expected) > 3
            found = {hit.document.id for hit in index.search(keywords, 1000)}
            # Stems bring a few more: presidential, presidency.
            assert expected <= found
            assert len(found) <= 1.5 * len(expected)
        (best, *_) = index.search(["Magnitogorsk", "gas"], 3)
    assert best.document.title == "Magnitogorsk apartment building collapses after explosion, dozens dead"
