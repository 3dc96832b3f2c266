"""Documents found by one or two keywords (HSII, section 5.1), in an index on disk.

The index is sqlite's full-text search, which Python brings along: it is built as a stream in a few megabytes whatever the
number of documents (bm25s holds them all, and took three times as long).
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sociable.core.errors import InputError, StorageFailure
from sociable.core.records import make_storable

# Without content: what was indexed is not held a second time.
_SCHEMA = """
CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT);
CREATE VIRTUAL TABLE words USING fts5(title, text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""

# Scores are rounded, so that the last digit of a machine's logarithm cannot put one document before another.
_SEARCH = """
SELECT ids.id, CAST(printf('%.9g', -bm25(words)) AS REAL) AS score FROM words JOIN ids ON ids.number = words.rowid
WHERE words MATCH ? ORDER BY score DESC, ids.id LIMIT ?
"""

_WORD = re.compile(r"[^\W_]")
_UNSPEAKABLE = re.compile('[\x00"\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float
    """BM25 over title and text, k1 = 1.2, b = 0.75; above 0, the higher the better. Comparable within one search."""


Search = Callable[[Sequence[str], int], list[Hit]]
"""Keywords, and how many documents at the most → the documents that fit best, best first, equals by id.

Every keyword must occur, in title or text, whatever its case, accents and English ending (strike, strikes). A keyword of
several words ("climate change") is a phrase. Nothing in a keyword is an operator. Raises InputError as ``build_query`` does.
"""


@contextlib.contextmanager
def open_index(documents: Iterable[tuple[str, str, str]]) -> Iterator[Search]:
    """A search over documents (id, title, text), which are read once, as a stream, into a file that is gone at the end.

    Raises StorageFailure where the file cannot be written.
    """
    # A database without a name is a temporary file that nobody else sees.
    with contextlib.closing(sqlite3.connect("", isolation_level=None)) as connection:
        try:
            _fill_index(connection, documents)
        except sqlite3.OperationalError as error:
            raise StorageFailure.at(Path(tempfile.gettempdir()) / "search index", error) from error
        yield lambda keywords, most: [Hit(*row) for row in connection.execute(_SEARCH, (build_query(keywords), most))]


def _fill_index(connection: sqlite3.Connection, documents: Iterable[tuple[str, str, str]]) -> None:
    # What is half built is thrown away, so it needs no journal.
    connection.execute("PRAGMA journal_mode = OFF")
    try:
        connection.executescript(_SCHEMA)
    except sqlite3.OperationalError as error:
        raise InputError(f"This Python's sqlite has no full-text search ({error}). Use one built with FTS5.") from None
    connection.execute("BEGIN")
    for number, (identifier, title, text) in enumerate(documents):
        connection.execute("INSERT INTO ids VALUES (?, ?)", (number, identifier))
        words = (number, make_storable(title), make_storable(text))
        connection.execute("INSERT INTO words(rowid, title, text) VALUES (?, ?, ?)", words)
    connection.execute("INSERT INTO words(words) VALUES ('optimize')")
    connection.execute("COMMIT")


def build_query(keywords: Sequence[str]) -> str:
    """The keywords as the index understands them. Raises InputError for none, and for one without a letter or digit."""
    if isinstance(keywords, str) or not keywords:
        raise InputError(f"Search for a list of at least one keyword, not {keywords!r}.")
    quoted = []
    for keyword in keywords:
        found = _UNSPEAKABLE.sub(" ", keyword)
        if not _WORD.search(found):
            raise InputError(f"The keyword {keyword!r} has no letter or digit in it, so it can be found nowhere.")
        # Not casefold, which the index does not know: it keeps Straße apart from Strasse.
        quoted.append(f'"{" ".join(found.lower().split())}"')
    # A word asked for twice does not count twice.
    return " AND ".join(dict.fromkeys(quoted))
