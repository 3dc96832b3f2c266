"""The index: one row an episode of all runs, beside the records, so that lists open and filters answer at once.

It is made from the record files by ``indexing`` and is never the truth: whatever is wrong with it, it is thrown away and made
anew. It lies in a hidden folder of the studio's, or in the user's cache where nothing can be written there. Several studios
may share it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from sociable.core.records import make_storable

VERSION = 2
"""The layout of the index, counted; one of another version is made anew."""

EPISODES_ON_PAGE = 50
LONGEST_TOPIC = 1000
"""Characters of a topic that is asked for: a database takes no pattern of any length."""
SECONDS_TO_WAIT = 30.0
"""The longest wait for another studio that writes."""

_SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, benchmark TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT '', planned INTEGER NOT NULL DEFAULT 0, estimates TEXT NOT NULL DEFAULT '[]',
    metrics TEXT NOT NULL DEFAULT '[]', problems TEXT NOT NULL DEFAULT '{}', state TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, episode TEXT NOT NULL, scenario TEXT NOT NULL, cluster TEXT NOT NULL,
    topic TEXT NOT NULL DEFAULT '', turns INTEGER NOT NULL, agent_failure TEXT NOT NULL, instrument_failure TEXT NOT NULL,
    unscored TEXT NOT NULL DEFAULT '', run_failure TEXT NOT NULL, judges_differ REAL, orders_differ REAL,
    scores TEXT NOT NULL DEFAULT '[]', UNIQUE (run, episode)
);
CREATE INDEX episodes_by_run ON episodes (run, run_failure != '');
CREATE TABLE measured (metric TEXT, episode INTEGER, value REAL NOT NULL, PRIMARY KEY (metric, episode)) WITHOUT ROWID;
CREATE INDEX measured_by_episode ON measured (episode);
CREATE TABLE topics (data TEXT, scenario TEXT, topic TEXT NOT NULL, PRIMARY KEY (data, scenario)) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5(text);
CREATE TRIGGER forget_episode AFTER DELETE ON episodes BEGIN
    DELETE FROM texts WHERE rowid = old.id;
    DELETE FROM measured WHERE episode = old.id;
END;
CREATE TRIGGER forget_run AFTER DELETE ON runs BEGIN DELETE FROM episodes WHERE run = old.id; END;
"""


class Failure(StrEnum):
    """Who failed in an episode; the three are never mixed."""

    ANY = "any"
    AGENT = "agent"
    INSTRUMENT = "instrument"
    RUN = "run"


class Disagreement(StrEnum):
    """What judges of an episode disagree on."""

    JUDGES = "judges"
    ORDERS = "orders"


_FAILED: Mapping[Failure, str] = {
    Failure.AGENT: "agent_failure != ''",
    Failure.INSTRUMENT: "(instrument_failure != '' OR unscored != '')",
    Failure.RUN: "run_failure != ''",
}

_DISAGREEING: Mapping[Disagreement, str] = {Disagreement.JUDGES: "judges_differ > 0", Disagreement.ORDERS: "orders_differ > 0"}


@dataclass(frozen=True, slots=True)
class RunRow:
    """What the list of runs says of one."""

    name: str
    benchmark: str
    model: str
    created: str
    planned: int
    """The number of episodes that were planned."""
    done: int
    """The number of episodes there are, errored ones among them."""
    errored: int
    estimates: Sequence[tuple[str, float | None, float | None, float | None]]
    """Main estimates: metric, value, and the ends of its interval. Empty where the run is not scored yet."""
    metrics: Sequence[str]
    """The metrics by which its episodes can be filtered."""
    problems: Sequence[str]
    """Parts of its files that could not be read."""


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """One metric's value for one episode; ``value`` is None unless it is scored."""

    metric: str
    value: float | None
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """What the list of episodes says of one."""

    run: str
    benchmark: str
    model: str
    episode: str
    scenario: str
    cluster: str
    topic: str
    turns: int
    agent_failure: str
    """The reason why the agent under test failed somewhere in it; empty: it did not. So are the next two."""
    instrument_failure: str
    run_failure: str
    judges_differ: float | None
    """Share of criteria on which judges differ; None where fewer than two decided."""
    orders_differ: float | None
    """Share of judged pairs whose two orders differ; None where none was judged."""
    scores: Sequence[ScoreCell]


@dataclass(frozen=True, slots=True)
class Filters:
    """The episodes that are asked for; empty: all."""

    run: str = ""
    benchmark: str = ""
    topic: str = ""
    """The topic or the cluster, or part of one."""
    metric: str = ""
    """The metric that ``low`` and ``high`` are about; without it they mean nothing."""
    low: float | None = None
    high: float | None = None
    failure: Failure | None = None
    judges: Disagreement | None = None
    text: str = ""
    """Words that must all occur, in any order; the last letters of each may be missing."""


@dataclass(frozen=True, slots=True)
class Found:
    """A page of the episodes that were found, and how many there are on all pages."""

    total: int
    rows: Sequence[EpisodeRow]


def choose_place(folder: Path) -> Path:
    """The file of the index of ``folder``: in it, or in the user's cache where nothing can be written there."""
    own = folder / ".studio"
    try:
        own.mkdir(exist_ok=True)
        (own / ".writable").touch()
        (own / ".writable").unlink(missing_ok=True)  # another studio may have been faster
    except OSError:
        own = user_cache_path("sociable") / "studio" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        own.mkdir(parents=True, exist_ok=True)
    return own / "index.sqlite"


class Index:
    """The index of one folder. Safe for several threads and processes: every question has a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """A connection to the index, which is made anew where it is missing, damaged or of another version."""
        with contextlib.closing(self._open()) as database:
            yield database

    def _open(self) -> sqlite3.Connection:
        for _ in range(2):
            database = sqlite3.connect(self.path, timeout=SECONDS_TO_WAIT, isolation_level=None)
            try:
                database.execute("PRAGMA synchronous=NORMAL")
                if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    _make_anew(database)
                return database
            except sqlite3.OperationalError:
                database.close()
                raise
            except sqlite3.DatabaseError:
                # No database at all. It is not the truth: away with it.
                database.close()
                self.throw_away()
        raise sqlite3.OperationalError(f"{self.path} is damaged as soon as it is made")

    def throw_away(self) -> None:
        """Whoever asks next makes it anew."""
        for end in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)

    def list_runs(self) -> list[RunRow]:
        """All runs, the newest first."""
        query = """
            SELECT name, benchmark, model, created, planned, COUNT(e.id), COALESCE(SUM(e.run_failure != ''), 0),
                estimates, metrics, problems
            FROM runs LEFT JOIN episodes e ON e.run = runs.id GROUP BY runs.id ORDER BY created DESC, name"""
        with self.connect() as database:
            return [_make_run_row(*row) for row in database.execute(query)]

    def find_run(self, name: str) -> RunRow | None:
        """What the index has of one run; None where it has not come to it yet."""
        return next((row for row in self.list_runs() if row.name == name), None)

    def find_episodes(self, filters: Filters, page: int = 1) -> Found:
        """The episodes that fit, newest run first, each run's in the order of its file; with a metric, the lowest first."""
        where, values = _make_conditions(filters)
        joined = "episodes e JOIN runs r ON r.id = e.run"
        order = "r.created DESC, r.name, e.id"
        if filters.metric:
            joined += " JOIN measured m ON m.episode = e.id AND m.metric = :metric"
            order = f"m.value, {order}"
        with self.connect() as database:
            # One reading of what was there at one moment.
            database.execute("BEGIN")
            total = database.execute(f"SELECT COUNT(*) FROM {joined} WHERE {where}", values).fetchone()[0]  # noqa: S608
            # All that fit are sorted by their ids alone; only those on the page are read.
            query = f"SELECT e.id FROM {joined} WHERE {where} ORDER BY {order} LIMIT :count OFFSET :first"  # noqa: S608
            at = {"count": EPISODES_ON_PAGE, "first": (page - 1) * EPISODES_ON_PAGE}
            chosen = [identifier for (identifier,) in database.execute(query, {**values, **at})]
            read = f"SELECT {_EPISODE} FROM episodes e JOIN runs r ON r.id = e.run WHERE e.id = ?"  # noqa: S608
            return Found(total, [_make_episode_row(*database.execute(read, (each,)).fetchone()) for each in chosen])

    def find_episode(self, run: str, episode: str) -> EpisodeRow | None:
        """What the index has of one episode; None where it has not come to it yet."""
        query = f"SELECT {_EPISODE} FROM episodes e JOIN runs r ON r.id = e.run WHERE r.name = ? AND e.episode = ?"  # noqa: S608
        with self.connect() as database:
            row = database.execute(query, (run, episode)).fetchone()
            return _make_episode_row(*row) if row else None

    def find_neighbours(self, run: str, episode: str) -> tuple[str, str]:
        """(the episode before, the episode after) in the order of the run's file; empty at its ends."""
        query = """
            SELECT (SELECT episode FROM episodes o WHERE o.run = e.run AND o.id < e.id ORDER BY o.id DESC LIMIT 1),
                (SELECT episode FROM episodes o WHERE o.run = e.run AND o.id > e.id ORDER BY o.id LIMIT 1)
            FROM episodes e JOIN runs r ON r.id = e.run WHERE r.name = ? AND e.episode = ?"""
        with self.connect() as database:
            before, after = database.execute(query, (run, episode)).fetchone() or ("", "")
            return before or "", after or ""

    def list_other_runs(self, run: str, episode: str) -> list[tuple[str, str]]:
        """(name, model) of the other runs of the benchmark that have an episode of this id."""
        query = """
            SELECT o.name, o.model FROM episodes e JOIN runs o ON o.id = e.run JOIN runs r ON r.benchmark = o.benchmark
            WHERE r.name = ? AND e.episode = ? AND o.id != r.id ORDER BY o.created DESC, o.name"""
        with self.connect() as database:
            return [(name, model) for name, model in database.execute(query, (run, episode))]

    def list_topics(self, filters: Filters) -> list[str]:
        """The topics of the episodes of a run or a benchmark, sorted."""
        where, values = _make_conditions(Filters(run=filters.run, benchmark=filters.benchmark))
        query = f"SELECT DISTINCT topic FROM episodes e JOIN runs r ON r.id = e.run WHERE {where} AND topic != '' ORDER BY topic"  # noqa: S608
        with self.connect() as database:
            return [row[0] for row in database.execute(query, values)]


def _make_anew(database: sqlite3.Connection) -> None:
    """Gives the index its tables. Another process that does the same is waited for."""
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("BEGIN IMMEDIATE")
    if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'texts\\__%' ESCAPE '\\'")
        for (name,) in names.fetchall():
            database.execute(f'DROP TABLE "{name}"')
        for command in _split_commands(_SCHEMA):
            database.execute(command)
        database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")


def _split_commands(script: str) -> Iterator[str]:
    command = ""
    for line in script.splitlines(keepends=True):
        command += line
        if sqlite3.complete_statement(command):
            yield command
            command = ""


_EPISODE = (
    "r.name, r.benchmark, r.model, e.episode, e.scenario, e.cluster, e.topic, e.turns, e.agent_failure, "
    "CASE WHEN e.instrument_failure != '' THEN e.instrument_failure ELSE e.unscored END, e.run_failure, e.judges_differ, "
    "e.orders_differ, e.scores"
)


def _make_conditions(filters: Filters) -> tuple[str, dict[str, Any]]:
    """(conditions on an episode ``e`` of a run ``r``, and on its value ``m``; the values in them)."""
    conditions, values = ["1"], {}
    for name, condition in (
        ("run", "r.name = :run"),
        ("benchmark", "r.benchmark = :benchmark"),
        ("metric", "1"),
        *((("low", "m.value >= :low"), ("high", "m.value <= :high")) if filters.metric else ()),
    ):
        if (value := getattr(filters, name)) not in ("", None):
            conditions.append(condition)
            values[name] = make_storable(value) if isinstance(value, str) else value
    if filters.topic:
        conditions.append("(e.topic LIKE :topic ESCAPE '\\' OR e.cluster LIKE :topic ESCAPE '\\')")
        quoted = make_storable(filters.topic[:LONGEST_TOPIC]).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values["topic"] = f"%{quoted}%"
    if filters.failure:
        asked = _FAILED.values() if filters.failure is Failure.ANY else [_FAILED[filters.failure]]
        conditions.append(f"({' OR '.join(asked)})")
    if filters.judges:
        conditions.append(_DISAGREEING[filters.judges])
    if words := _quote_words(filters.text):
        conditions.append("e.id IN (SELECT rowid FROM texts WHERE texts MATCH :text)")
        values["text"] = words
    return " AND ".join(conditions), values


def _quote_words(text: str) -> str:
    """A question to the index of texts in which no sign of the user's means anything."""
    return " ".join(f'"{word}"*' for word in make_storable(text).replace('"', " ").replace("\0", " ").split())


def _make_run_row(*values: Any) -> RunRow:
    *plain, estimates, metrics, problems = values
    # Damage to a file is met by all who read it.
    told = dict.fromkeys(problem for each in json.loads(problems).values() for problem in each)
    name, benchmark, model, created, planned, done, errored = plain
    intervals = [tuple(each) for each in json.loads(estimates)]
    return RunRow(name, benchmark, model, created, planned, done, errored, intervals, json.loads(metrics), [*told])


def _make_episode_row(*values: Any) -> EpisodeRow:
    return EpisodeRow(*values[:-1], [ScoreCell(*each) for each in json.loads(values[-1])])  # type: ignore[call-arg]
