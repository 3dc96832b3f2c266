"""Documents found by one or two keywords (HSII, section 5.1), in an index on disk.

The index is sqlite's full-text search, which Python brings along: it is built as a stream in a few megabytes whatever the
number of documents (bm25s holds them all, and took three times as long).
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sociable.core.errors import InputError, StorageFailure

_SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, title TEXT, text TEXT, date TEXT);
CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT UNIQUE);
CREATE VIRTUAL TABLE words USING fts5(
    title, text, content='documents', content_rowid='number', tokenize='porter unicode61 remove_diacritics 2'
);
"""

# Scores are rounded, so that the last digit of a machine's logarithm cannot put one document before another. Ids are in
# a narrow table of their own because a frequent word's ties need them all, and the texts of none.
_SEARCH = """
SELECT ids.number, ids.id, CAST(printf('%.9g', -bm25(words)) AS REAL) AS score FROM words JOIN ids ON ids.number = words.rowid
WHERE words MATCH ? ORDER BY score DESC, ids.id LIMIT ?
"""

_WORD = re.compile(r"[^\W_]")
_UNSPEAKABLE = re.compile('[\x00"\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str
    date: str = ""
    """As its source writes it."""


@dataclass(frozen=True, slots=True)
class Hit:
    document: Document
    score: float
    """BM25 over title and text, k1 = 1.2, b = 0.75; above 0, the higher the better. Comparable within one search."""


class Index:
    """Documents searched by keywords. They are read once, as a stream, into a file that is gone when the index is closed.

    A context manager; belongs to the thread that made it. Raises InputError for two documents of one id, or an id that is no
    text, and StorageFailure where the file cannot be written.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        # A database without a name is a temporary file that nobody else sees.
        self._connection = sqlite3.connect("", isolation_level=None)
        try:
            self._build(documents)
        except sqlite3.OperationalError as error:
            self.close()
            raise StorageFailure.at(Path(tempfile.gettempdir()) / "search index", error) from error
        except BaseException:
            self.close()
            raise

    def _build(self, documents: Iterable[Document]) -> None:
        # What is half built is thrown away, so it needs no journal.
        self._connection.execute("PRAGMA journal_mode = OFF")
        try:
            self._connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            raise InputError(f"This Python's sqlite has no full-text search ({error}). Use one built with FTS5.") from None
        self._connection.execute("BEGIN")
        for number, document in enumerate(documents):
            title, text, date = (_encodable(part) for part in (document.title, document.text, document.date))
            try:
                self._connection.execute("INSERT INTO ids VALUES (?, ?)", (number, document.id))
            except sqlite3.IntegrityError:
                raise InputError(f"Two documents have the id {document.id!r}; ids must be unique.") from None
            except UnicodeEncodeError:
                raise InputError(f"The id {document.id!r} is not text that can be written.") from None
            self._connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (number, title, text, date))
        self._connection.execute("INSERT INTO words(words) VALUES ('rebuild')")
        self._connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        self._connection.execute("COMMIT")

    def __len__(self) -> int:
        (count,) = self._connection.execute("SELECT count(*) FROM ids").fetchone()
        return int(count)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def search(self, keywords: Sequence[str], most: int) -> list[Hit]:
        """The ``most`` documents that fit best, best first, equals by id: the same on every machine.

        Every keyword must occur, in title or text, whatever its case, accents and English ending (strike, strikes). A
        keyword of several words ("climate change") is a phrase. Nothing in a keyword is an operator.

        Raises InputError for no keyword, for one without a letter or digit, and for ``most`` below 1.
        """
        if most < 1:
            raise InputError(f"At least 1 document must be asked for, not {most}.")
        found = self._connection.execute(_SEARCH, (query_of(keywords), most)).fetchall()
        return [Hit(self._document(number, name), score) for number, name, score in found]

    def _document(self, number: int, name: str) -> Document:
        row = self._connection.execute("SELECT title, text, date FROM documents WHERE number = ?", (number,)).fetchone()
        return Document(name, *row)


def query_of(keywords: Sequence[str]) -> str:
    """As the index understands it. Raises InputError as ``Index.search`` does."""
    if isinstance(keywords, str) or not keywords:
        raise InputError(f"Search for a list of at least one keyword, not {keywords!r}.")
    # Whoever asks for a word twice does not mean it twice as much.
    return " AND ".join(dict.fromkeys(f'"{_spoken(keyword)}"' for keyword in keywords))


def _spoken(keyword: str) -> str:
    """Without what would end a quoted string of a query."""
    spoken = _UNSPEAKABLE.sub(" ", keyword)
    if not _WORD.search(spoken):
        raise InputError(f"The keyword {keyword!r} has no letter or digit in it, so it can be found nowhere.")
    # Not casefold, which the index does not know: it keeps Straße apart from Strasse.
    return " ".join(spoken.lower().split())


def _encodable(text: str) -> str:
    """Halves of surrogate pairs, which JSON can spell and no file can hold, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
