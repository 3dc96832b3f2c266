"""Articles, however they are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sociable.core.errors import DataError, InputError
from sociable.datasets.articles import read_articles

NEWS = Path(__file__).resolve().parents[3] / "shared" / "data" / "news_wikinews"
GUM = NEWS.parent / "gum" / "news.jsonl"


def test_the_same_article_has_the_same_id_in_every_layout(tmp_path: Path) -> None:
    article = {"title": "Strike, at the docks!", "text": "Nobody works.\nNot today.", "date": "2020-01-02", "url": ""}
    (tmp_path / "a.jsonl").write_text(json.dumps(article) + "\n" + json.dumps(article))
    (tmp_path / "a.csv").write_text('Title,text,date\n"Strike, at the docks!","Nobody works.\nNot today.",2020-01-02\n')
    (tmp_path / "a.txt").write_text("Strike, at the docks!\n\nNobody works.\nNot today.\n")
    # Said twice, it is one article.
    (one,), (other,), (plain,) = (read_articles(tmp_path / f"a.{kind}") for kind in ("jsonl", "csv", "txt"))
    assert one == other
    assert one.id.startswith("strike-at-the-docks-")
    assert (plain.id, plain.title, plain.text) == ("a", one.title, one.text)
    (tmp_path / "b.csv").write_bytes((tmp_path / "a.csv").read_bytes().replace(b"\n", b"\r\n"))
    assert [*read_articles(tmp_path / "b.csv")] == [one]


def test_what_says_the_same_elsewhere_is_left_to_the_stage_for_it(tmp_path: Path) -> None:
    lines = [{"title": "Strike", "text": "Nobody works.", "url": f"https://example.org/{n}"} for n in (1, 2, 2)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    first, second = read_articles(tmp_path / "a.jsonl")
    assert second.id == f"{first.id}-2" and second.text == first.text
    (tmp_path / "b.csv").write_text("title,content\nStrike,Nobody works.\n")
    (tmp_path / "c.jsonl").write_text('{"title": "Strike", "body": "Nobody works."}')
    assert [read_articles(tmp_path / name)[0].text for name in ("b.csv", "c.jsonl")] == ["Nobody works."] * 2


def test_the_sign_between_columns_is_not_looked_for_in_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('Title,"Place; street; town",text\nFlood,"a; b; c",The river rose.\n')
    (tmp_path / "b.csv").write_text("Title;text\nFlood;The river, again, rose.\n")
    assert [article.text for name in "ab" for article in read_articles(tmp_path / f"{name}.csv")] == [
        "The river rose.",
        "The river, again, rose.",
    ]


def test_a_folder_of_texts_or_of_tables(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b", "deep/a"):
        (tmp_path / f"{name}.txt").write_text(f"Title {name}\nText.")
    assert [each.id for each in read_articles(tmp_path)] == ["b", "deep/a"]
    (tmp_path / "t.jsonl").write_text('{"id": "x", "text": "T."}\n')
    (tmp_path / "README.txt").write_text("What is in here.")
    assert [each.id for each in read_articles(tmp_path)] == ["b", "deep/a", "x"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"title": "x"}', "line 1: field 'text': is missing"),
        ("a.jsonl", "[1]", "expected an object with title and text, found list"),
        ("a.jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', "line 2: field 'id': 'a' is used already"),
        ("a.csv", "title,words\nx,y\n", "no column 'text'"),
        ("a.pdf", "x", "not a kind of file that is read"),
        ("a.jsonl", "", "no article in it"),
    ],
)
def test_what_is_no_article_is_said_with_its_place(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read_articles(tmp_path / name)
    assert said in str(error.value)


def test_what_is_hostile_is_only_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"title": "\\ud83d", "text": "a\\u0000b"}')
    (article,) = read_articles(tmp_path / "a.jsonl")
    assert article.title == "?"
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_articles(tmp_path / "b.txt")
    with pytest.raises(InputError, match="no such file"):
        read_articles(tmp_path / "nowhere")


@pytest.mark.skipif(not NEWS.is_dir(), reason="needs ../shared/data/news_wikinews")
def test_real_articles_are_read() -> None:
    assert len(read_articles(NEWS / "wikinews_2019.csv")) == 171
    assert len(read_articles(NEWS)) == 171 + 124
    assert len(read_articles(GUM)) == 24


def test_an_error_in_a_table_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text\n"x\n')
    assert read_articles(tmp_path / "a.csv")[0].text == "x"
    (tmp_path / "b.jsonl").write_text("{")
    with pytest.raises(DataError, match="line 1"):
        read_articles(tmp_path / "b.jsonl")
