"""News articles: read from JSON Lines, CSV or a folder of plain text, and chosen.

Chosen are those that a search finds, no two nearly the same, none toxic, evenly over what they are about.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path

from sociable.core.data_files import RawRecord, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.names import find_words
from sociable.core.records import make_storable
from sociable.core.spreading import Spread, spread_texts
from sociable.core.spreadsheets import read_rows
from sociable.datasets.clusters import cluster_texts, draw_over_clusters
from sociable.datasets.duplicates import find_near_duplicates, import_rensa
from sociable.datasets.retrieval import build_query, open_index
from sociable.datasets.sources import is_about, make_slug, read_items, read_text
from sociable.datasets.stages import Item, Rejected, SpreadStage, WholeStage
from sociable.datasets.toxicity import Detector, Toxicity, WordDetector, load_classifier

_EXPECTED = "Expected articles as .jsonl, .json or .csv with title and text (and date, url), or a folder of .txt files."

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


class Article(Item):
    title: str = ""
    text: str
    date: str = ""
    url: str = ""


def read_articles(source: Path) -> list[Article]:
    """Articles in the order of their files, with the id they have or one made of what they say.

    Raises DataError naming file, line and field, and InputError where there is none.
    """
    return read_items(source, _read_all, "article", _EXPECTED)


def _read_all(source: Path) -> Iterator[tuple[Article, str]]:
    """Every article with its place. Two that say the same have ids of their own where none are given, until one is dropped."""
    made: dict[str, list[Article]] = {}
    for raw in _read_records(source):
        article, is_made = _make_article(raw)
        if is_made:
            alike = made.setdefault(article.id, [])
            if article not in alike:
                alike.append(article)
            if number := alike.index(article):
                article = article.model_copy(update={"id": f"{article.id}-{number + 1}"})
        yield article, raw.place


def _read_records(source: Path) -> Iterator[RawRecord]:
    if source.is_dir():
        texts = sorted(path for path in source.rglob("*.txt") if path.is_file() and not is_about(path))
        tables = sorted(path for path in source.iterdir() if path.suffix in (".csv", ".json", ".jsonl"))
        return chain((_read_plain(path, source) for path in texts if path.stat().st_size), *(map(_read_records, tables)))
    if source.suffix == ".csv":
        return _read_rows(source)
    if source.suffix == ".txt":
        return iter([_read_plain(source, source.parent)])
    if source.suffix in (".json", ".jsonl"):
        return read_records(source, None)
    raise InputError(f"{source}: not a kind of file that is read. {_EXPECTED}")


def _read_plain(path: Path, folder: Path) -> RawRecord:
    """An article as plain text, whose first line is the title."""
    text = read_text(path).strip()
    title, _, rest = text.partition("\n")
    identifier = str(path.relative_to(folder).with_suffix(""))
    return RawRecord(str(path), identifier, {"id": identifier, "title": title.strip(), "text": rest.strip() or title})


def _read_rows(path: Path) -> Iterator[RawRecord]:
    for place, row in read_rows(path, ()):
        values = {name.strip().lower(): value for name, value in row.items()}
        if not values.keys() & {"text", *_TEXT_TOO}:
            raise DataError(f"{path}, row 1", "", "no column 'text'; expected the columns title, text, date and url")
        yield RawRecord(place, "", values)


_TEXT_TOO = ("content", "body")
"""Other names under which an article's text is found."""


def _make_article(raw: RawRecord) -> tuple[Article, bool]:
    """The article, and whether its id was made of what it says."""
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with title and text, found {type(raw.value).__name__}")
    values = {name: make_storable(str(raw.value.get(name) or "")).strip() for name in Article.model_fields}
    said = (make_storable(str(raw.value.get(name) or "")).strip() for name in _TEXT_TOO)
    values["text"] = values["text"] or next(filter(None, said), "")
    if not values["text"]:
        raise DataError(raw.place, "text", "is missing or empty; an article has a text")
    # The same article has the same id in whatever file it stands.
    digest = hashlib.sha256(f"{values['title']}\x00{values['text']}".encode()).hexdigest()[:16]
    is_made = not values["id"]
    values["id"] = values["id"] or "-".join(filter(None, (make_slug(values["title"]), digest)))
    return validate_record(Article, values, raw.place), is_made


# The choice.


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


def drop_duplicates(seed: int) -> SpreadStage[Article]:
    """Keeps the first of several that are nearly the same, by MinHash. Raises InputError where the extra for it is missing."""
    # Before anything is paid for.
    import_rensa()

    def reject(items: Sequence[Article], spread: Spread) -> Mapping[str, Rejected]:
        kinships = find_near_duplicates(((item.id, _join_text(item)) for item in items), seed=seed, spread=spread)
        said = "nearly the same as another"
        return {kin.id: Rejected(said, f"{kin.kept}, {kin.similarity:.2f}") for kin in kinships if not kin.is_kept}

    return SpreadStage("distinct", "no two articles that are nearly the same", Article, reject)


def drop_toxic(classifier: str | None) -> SpreadStage[Article]:
    """Keeps what is harmless, by a list of words or by a classifier. Raises InputError where that cannot be loaded."""
    # Before anything is paid for.
    _load_detector(classifier)

    def reject(items: Sequence[Article], spread: Spread) -> Mapping[str, Rejected]:
        measure, texts = partial(_measure_toxicity, classifier), map(_join_text, items)
        measured = spread_texts(spread, measure, texts, on_gpu=classifier is not None)
        return {
            item.id: Rejected("toxic", f"{found.score:.2f}: {found.because}")
            for item, found in zip(items, measured, strict=True)
            if not found.is_harmless
        }

    return SpreadStage("harmless", "articles without what nobody should have to read", Article, reject)


@cache
def _load_detector(classifier: str | None) -> Detector:
    return load_classifier(classifier) if classifier else WordDetector()


def _measure_toxicity(classifier: str | None, texts: Sequence[str]) -> list[Toxicity]:
    return _load_detector(classifier)(texts)


def spread_articles(count: int, seed: int) -> SpreadStage[Article]:
    """Keeps ``count`` articles, evenly over clusters: first those of each cluster that tell most of people at odds."""

    def reject(items: Sequence[Article], spread: Spread) -> Mapping[str, Rejected]:
        if len(items) <= count:
            return {}
        # Not by density: of 280 articles of news it leaves 47 unclustered and puts the others into two clusters. K-means covers
        # more: to the nearest of 20 drawn all have a mean cosine of 0.20 (by density 0.17), and those tell of more conflict.
        labels = cluster_texts(map(_join_text, items), min(CLUSTERS, max(2, count)), seed, spread)
        conflicts = list(spread_texts(spread, _measure_conflicts, map(_join_text, items)))
        kept = set(draw_over_clusters(labels, conflicts, count))
        return {item.id: Rejected("others of its cluster came first") for place, item in enumerate(items) if place not in kept}

    meaning = "articles drawn evenly over what they are about, those with most words of conflict first"
    return SpreadStage("spread", meaning, Article, reject)


def _measure_conflicts(texts: Sequence[str]) -> list[float]:
    """Of each text the number of words, of a hundred, that tell of a conflict."""
    found = map(find_words, texts)
    return [100 * sum(map(_is_of_conflict, said)) / max(1, len(said)) for said in found]


@lru_cache(2**16)
def _is_of_conflict(word: str) -> bool:
    return _CLASHES.fullmatch(word) is not None
