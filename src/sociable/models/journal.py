"""The call journal: every reply is durable before anyone uses it, and bought once.

``calls.sqlite`` holds each call under a key made of scope, request and how often that scope has asked the same before.
Replies that arrive together are committed together, on a thread of their own, and only then handed on. The database
uses a write-ahead log with ``synchronous=NORMAL``: what is committed survives the death of the process at any moment;
a power cut can cost the last moments before it, never the file.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from sociable.core.errors import RunFailure, RunFolderError, StorageFailure
from sociable.core.records import Usage
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.limits import Budget
from sociable.models.protocol import FinishReason, Model, Reply, Request, Timing

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB PRIMARY KEY, item TEXT NOT NULL, role TEXT NOT NULL, participant TEXT NOT NULL, model TEXT NOT NULL,
    request TEXT NOT NULL, reply TEXT NOT NULL, thinking TEXT NOT NULL, finish TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, seconds REAL NOT NULL, first_token_seconds REAL,
    bought_by TEXT
)
"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_by_item ON calls (item)"
"""The calls of one episode are found among millions."""
_LATER_COLUMNS = {"first_token_seconds": "REAL", "bought_by": "TEXT"}
"""Columns that older journals lack. ``bought_by`` names the run of a study that paid for the reply, where it was another."""
_COLUMNS = (
    "key, item, role, participant, model, request, reply, thinking, finish, input_tokens, output_tokens, seconds, "
    "first_token_seconds, bought_by"
)
_INSERT = f"INSERT OR REPLACE INTO calls ({_COLUMNS}) VALUES ({', '.join('?' * 14)})"  # noqa: S608
_OF_A_REPLY = "reply, thinking, finish, input_tokens, output_tokens"

_Row = tuple[bytes, str, str, str, str, str, str, str, str, int, int, float, float | None, str | None]


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was made."""

    item: str
    role: str
    participant: str
    model: str
    request: dict[str, object]
    reply: Reply
    seconds: float


class Journal(AbstractContextManager["Journal"]):
    """The journal of one run folder. ``replay_only`` refuses calls it does not hold (a recording played offline).

    Such a recording is only read and may lie where nothing can be written.
    """

    def __init__(self, path: Path, *, replay_only: bool = False) -> None:
        self.path = path
        self.replay_only = replay_only
        self._database, self._reader = _open_recording(path) if replay_only else _open(path)
        try:
            self._select("SELECT 1 FROM calls LIMIT 1")  # a damaged file is told before anything is bought
            self._columns = _list_columns(self._reader)
        except RunFolderError:
            self._disconnect()
            raise
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self._waiting: list[tuple[_Row, asyncio.Future[None]]] = []
        self._writing = False

    def find(self, key: bytes) -> Reply | None:
        """The reply bought earlier, if there is one."""
        rows = self._select(f"SELECT {_OF_A_REPLY} FROM calls WHERE key = ?", key)  # noqa: S608
        return _make_reply(*rows[0]) if rows else None

    async def store(
        self, key: bytes, request: Request, body: bytes, model: str, reply: Reply, seconds: float, bought_by: str | None = None
    ) -> None:
        """Returns when the reply is durable. ``seconds`` is the time it took where it does not say. Raises StorageFailure.

        ``bought_by`` names the other run of a study that paid for it.
        """
        scope, timing = request.scope, reply.timing or Timing(seconds)
        row = (
            key, scope.item, scope.role, scope.participant, model, body.decode(), reply.text, reply.thinking,
            reply.finish.value, reply.usage.input_tokens, reply.usage.output_tokens, timing.whole, timing.first_token, bought_by,
        )  # fmt: skip
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((row, done))
        if not self._writing:
            self._writing = True
            # Begun in the next round of the event loop, so that replies which came together go in together.
            loop.call_soon(self._begin_commit, loop)
        await done

    def _begin_commit(self, loop: asyncio.AbstractEventLoop) -> None:
        group, self._waiting = self._waiting, []
        if not group:
            # The journal was closed in between and has written them.
            self._writing = False
            return
        future = self._thread.submit(self._commit, [row for row, _ in group])
        future.add_done_callback(lambda finished: loop.call_soon_threadsafe(self._end_commit, loop, group, finished.exception()))

    def _end_commit(
        self, loop: asyncio.AbstractEventLoop, group: list[tuple[_Row, asyncio.Future[None]]], error: BaseException | None
    ) -> None:
        for done in (done for _, done in group if not done.done()):
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(StorageFailure.at(self.path, Exception(str(error))))
        if self._waiting:
            self._begin_commit(loop)
        else:
            self._writing = False

    def _commit(self, rows: list[_Row]) -> None:
        with self._database:
            self._database.executemany(_INSERT, rows)

    def sum_usage(self, *, shared: bool | None = None) -> Iterator[tuple[str, str, Usage]]:
        """(model, role, usage) of everything in the journal, added up; or of what another run bought, or did not."""
        condition = "" if shared is None else f"WHERE {self._is_shared} = {int(shared)}"
        sums = "SELECT model, role, COUNT(*), SUM(input_tokens), SUM(output_tokens) FROM calls"
        for model, role, calls, asked, answered in self._select(f"{sums} {condition} GROUP BY model, role"):
            yield model, role, Usage(calls=calls, input_tokens=asked, output_tokens=answered)

    def list_keys(self, roles: Collection[str]) -> Iterator[tuple[bytes, bool]]:
        """(key, whether another run had bought it) of all calls of these roles."""
        places = ", ".join("?" * len(roles))
        rows = self._select(f"SELECT key, {self._is_shared} FROM calls WHERE role IN ({places})", *roles)  # noqa: S608
        return ((key, bool(shared)) for key, shared in rows)

    @property
    def _is_shared(self) -> str:
        """The condition in SQL that another run had bought a call."""
        return "(bought_by IS NOT NULL)" if "bought_by" in self._columns else "0"

    def find_timed(self, key: bytes) -> Reply | None:
        """As ``find``, with the seconds that it took."""
        first_token = "first_token_seconds" if "first_token_seconds" in self._columns else "NULL"
        rows = self._select(f"SELECT {_OF_A_REPLY}, seconds, {first_token} FROM calls WHERE key = ?", key)  # noqa: S608
        return replace(_make_reply(*rows[0][:5]), timing=Timing(*rows[0][5:])) if rows else None

    def sum_seconds(self) -> Iterator[tuple[str, str, float]]:
        """(model, role, seconds of its calls together)."""
        yield from self._select("SELECT model, role, SUM(seconds) FROM calls GROUP BY model, role")

    def measure_seconds(self) -> dict[str, dict[str, float]]:
        """By role, seconds that its calls took: median, longest, median to the first token; and tokens a second after that.

        The last two are there if the models told when their first tokens came.
        """
        took: dict[str, list[tuple[float, float | None, int]]] = defaultdict(list)
        first_token = "first_token_seconds" if "first_token_seconds" in self._columns else "NULL"
        for role, *call in self._select(f"SELECT role, seconds, {first_token}, output_tokens FROM calls ORDER BY seconds"):  # noqa: S608
            took[role].append(tuple(call))
        return {role: _sum_up(calls) for role, calls in took.items()}

    def find_calls(self, item: str) -> Iterator[Call]:
        """The calls made for one episode, judgment or reference, shortest history first."""
        yield from self._read_calls("WHERE item = ? ORDER BY length(request)", item)

    def _read_calls(self, which: str, *values: object) -> Iterator[Call]:
        columns = f"item, role, participant, model, request, {_OF_A_REPLY}, seconds"
        rows = self._select(f"SELECT {columns} FROM calls {which}", *values)  # noqa: S608 - conditions are our own
        for item, role, participant, model, request, *reply, seconds in rows:
            yield Call(item, role, participant, model, json.loads(request), _make_reply(*reply), seconds)

    def count_calls(self, item: str) -> int:
        """The number of calls made for one episode, by everybody who took part in it or judged it."""
        return int(self._select("SELECT COUNT(*) FROM calls WHERE item = ?", item)[0][0])

    def list_calls(self, item: str, first: int, count: int) -> Iterator[Call]:
        """``count`` calls made for one episode, in the order in which their replies came, from the ``first``, counted from 0."""
        yield from self._read_calls("WHERE item = ? ORDER BY rowid LIMIT ? OFFSET ?", item, count, first)

    def stream(self, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """These columns of all calls, in the order in which their replies came, read one at a time.

        A column that an older journal lacks is None. Raises RunFolderError.
        """
        chosen = ", ".join(name if name in self._columns else "NULL" for name in columns)
        try:
            yield from self._reader.execute(f"SELECT {chosen} FROM calls ORDER BY rowid")  # noqa: S608 - columns are our own
        except sqlite3.DatabaseError as error:
            raise _make_unreadable_error(self.path, error) from None

    def _select(self, query: str, *values: object) -> list[Any]:
        try:
            return self._reader.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise _make_unreadable_error(self.path, error) from None

    def close(self) -> None:
        """Writes the replies that still wait: those who asked were cancelled, but they are paid for. Raises StorageFailure."""
        self._thread.shutdown(wait=True)
        group, self._waiting = self._waiting, []
        try:
            if group:
                self._commit([row for row, _ in group])
        except sqlite3.Error as error:
            raise StorageFailure.at(self.path, error) from error
        finally:
            self._disconnect()

    def _disconnect(self) -> None:
        self._reader.close()
        self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _sum_up(calls: Sequence[tuple[float, float | None, int]]) -> dict[str, float]:
    """Of calls by (seconds, seconds to the first token, tokens), the shortest first."""
    found = {"median": round(calls[len(calls) // 2][0], 2), "longest": round(calls[-1][0], 2)}
    streamed = [(first, whole - first, tokens) for whole, first, tokens in calls if first is not None]
    if (after := sum(rest for _, rest, _ in streamed)) > 0:
        found["first token"] = round(median(first for first, _, _ in streamed), 2)
        found["tokens a second"] = round(sum(tokens for _, _, tokens in streamed) / after, 1)
    return found


def copy_calls(source: Path, target: Path, item: str) -> None:
    """Copies the calls of one episode into the journal of a new run. Raises RunFolderError and StorageFailure."""
    database, reader = _open(target)
    with closing(database), closing(reader):
        try:
            database.execute("ATTACH DATABASE ? AS source", (str(source),))
            columns = ", ".join(sorted(_list_columns(database, "source")))
            with database:
                database.execute(f"INSERT INTO calls ({columns}) SELECT {columns} FROM source.calls WHERE item = ?", (item,))  # noqa: S608
        except sqlite3.DatabaseError as error:
            raise _make_unreadable_error(source, error) from None


def _list_columns(database: sqlite3.Connection, schema: str = "main") -> set[str]:
    return {row[1] for row in database.execute(f"PRAGMA {schema}.table_info(calls)")}


_connect = partial(sqlite3.connect, check_same_thread=False)


def _open(path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """A connection that writes and one that reads: reads never wait for a commit under way."""
    database = None
    try:
        database = _connect(path)
        for command in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", _SCHEMA, _INDEX):
            database.execute(command)
        for column in _LATER_COLUMNS.keys() - _list_columns(database):
            database.execute(f"ALTER TABLE calls ADD COLUMN {column} {_LATER_COLUMNS[column]}")
        return database, _connect(path)
    except sqlite3.DatabaseError as error:
        if database is not None:
            database.close()
        if isinstance(error, sqlite3.OperationalError):
            raise StorageFailure.at(path, error) from error
        raise _make_unreadable_error(path, error) from None


def _open_recording(path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """One connection that only reads, in place of both."""
    if not path.is_file():
        raise RunFolderError(f"{path}: no such file, so there is nothing to replay.")
    ways, log = ["mode=ro"], path.with_name(f"{path.name}-wal")
    if not log.exists() or log.stat().st_size == 0:
        # SQLite would make a write-ahead log, and leave it behind, or fail where it cannot: it must be told that none is needed.
        ways.insert(0, "mode=ro&immutable=1")
    for way in ways:
        database = _connect(f"{path.absolute().as_uri()}?{way}", uri=True)
        try:
            database.execute("SELECT 1 FROM calls LIMIT 1")
            return database, database
        except sqlite3.DatabaseError as error:
            database.close()
            problem = error
    raise _make_unreadable_error(path, problem)


def _make_unreadable_error(path: Path, error: sqlite3.DatabaseError) -> RunFolderError:
    return RunFolderError(f"{path} cannot be read: {error}. Restore it from a copy, or start a new run.")


def _make_reply(text: str, thinking: str, finish: str, input_tokens: int, output_tokens: int) -> Reply:
    usage = Usage(calls=1, input_tokens=input_tokens, output_tokens=output_tokens)
    return Reply(text, usage, FinishReason(finish), thinking)


SHARED_ROLES = frozenset({"partner", "judge", "reference"})
"""The roles whose calls two runs may have in common. The models under test, subject and opponent, speak for themselves."""


class SharedCalls:
    """The replies that several runs may have in common, found in the journals of all of them.

    Runs share a call that has the same key in each: the same request, of the same episode, role and participant.
    """

    def __init__(self) -> None:
        self._journals: dict[bytes, Path] = {}
        self._under_way: dict[bytes, asyncio.Event] = {}

    def add(self, path: Path) -> None:
        """Takes note of what a run's journal holds already. Raises RunFolderError."""
        with Journal(path, replay_only=True) as journal:
            for key, shared in journal.list_keys(SHARED_ROLES):
                # Of several that have it, the one that bought it.
                if not shared or key not in self._journals:
                    self._journals[key] = path

    def note(self, key: bytes, path: Path) -> None:
        self._journals[key] = path

    def find(self, key: bytes) -> tuple[Reply, str] | None:
        """(the reply that a run has bought, the name of that run's folder). Raises RunFolderError."""
        path = self._journals.get(key)
        if path is None:
            return None
        with Journal(path, replay_only=True) as journal:
            reply = journal.find_timed(key)
        return (reply, path.parent.name) if reply else None

    @asynccontextmanager
    async def hold(self, key: bytes) -> AsyncIterator[None]:
        """Only one run at a time asks for this call; the others wait, and find its reply."""
        while before := self._under_way.get(key):
            await before.wait()
        done = self._under_way[key] = asyncio.Event()
        try:
            yield
        finally:
            del self._under_way[key]
            done.set()


class JournalledModel:
    """A model whose replies are bought once and kept, within a budget.

    What the other runs of a study have bought already, or are buying, is taken from them where calls are ``shared``.
    """

    def __init__(self, model: Model, journal: Journal, budget: Budget, shared: SharedCalls | None = None) -> None:
        self.name = model.name
        self._model = model
        self._journal = journal
        self._budget = budget
        self._shared = shared
        self._run = str(journal.path)
        self.only_recorded = False
        """Whether nothing is bought: a call that the journal does not hold is then a RunFailure."""
        self._limit: AdaptiveLimit | None = getattr(model, "limit", None)
        if self._limit:
            budget.when_stopped.append(partial(self._limit.turn_away, run=self._run))

    @property
    def adaptations(self) -> list[str]:
        """The names of what the server turned out not to take, if it is one that can tell."""
        return list(getattr(self._model, "adaptations", ()))

    @property
    def calls_at_once(self) -> int:
        """The number of calls at once that its server was found to take."""
        return self._limit.level if self._limit else 1

    async def generate(self, request: Request) -> Reply:
        body = request.to_json(self.name)
        reply = await self.obtain(request, request.scope.make_key(body), body)
        request.scope.usage += reply.usage
        return reply

    async def obtain(self, request: Request, key: bytes, body: bytes) -> Reply:
        """The reply to a call whose key and JSON are known: the journal's, another run's, or one that is bought."""
        if (reply := self._journal.find(key)) is not None:
            return reply
        if self._journal.replay_only or self.only_recorded:
            raise RunFailure(f"The journal {self._journal.path} holds no reply to this call of {request.scope.name}.")
        if self._shared is not None and request.scope.role in SHARED_ROLES:
            return await self._share(self._shared, request, key, body)
        return await self._buy(request, key, body)

    async def _share(self, shared: SharedCalls, request: Request, key: bytes, body: bytes) -> Reply:
        """The reply that another run has, copied into this one's journal; or bought for all of them."""
        async with shared.hold(key):
            if (found := shared.find(key)) is None:
                reply = await self._buy(request, key, body)
                shared.note(key, self._journal.path)
                return reply
            reply, bought_by = found
            self._budget.check()
            await self._journal.store(key, request, body, self.name, reply, 0.0, bought_by)
            self._budget.book(self.name, request.scope.role, reply.usage, shared=True)
            return reply

    async def _buy(self, request: Request, key: bytes, body: bytes) -> Reply:
        reserve = await self._budget.admit(self.name, request)
        try:
            # The place is kept until the reply is durable: whenever the process dies, no more calls are lost than are made
            # at once, however slow the disk is.
            async with self._limit.take_place(request.scope.item, self._run) if self._limit else nullcontext():
                started = time.perf_counter()
                asking = self._model.generate(replace(request, key=key.hex()))
                abandonable = getattr(self._model, "abandonable", False)
                reply = await (self._budget.run_unless_stopped(asking) if abandonable else asking)
                self._budget.book(self.name, request.scope.role, reply.usage)
                await self._journal.store(key, request, body, self.name, reply, time.perf_counter() - started)
        except StorageFailure as error:
            # Replies that cannot be kept must not be bought.
            self._budget.stop(error)
            raise
        finally:
            self._budget.settle(reserve)
        return reply

    async def close(self) -> None:
        await self._model.close()
