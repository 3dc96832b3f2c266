"""A small database in one file, which several threads and processes change at once and a kill does not tear."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self

from sociable.core.errors import RunFolderError, StorageFailure

_BUSY_SECONDS = 10.0


class Database(AbstractContextManager["Database"]):
    """One process's opened database, for a class of what is kept in it. Its methods may be called from several threads."""

    def __init__(self, path: Path, schema: str, remedy: str, *, outlives_power_cuts: bool = True) -> None:
        """Opens the file, and makes it by ``schema`` where there is none; ``remedy`` tells users what to do about a damaged one.

        Every change outlives a kill; with ``outlives_power_cuts`` one of the machine as well. Raises StorageFailure, and
        RunFolderError for a file that is no database.
        """
        self.path, self._remedy = path, remedy
        self._lock = threading.RLock()
        try:
            # Transactions are begun and ended here, not by the module.
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_BUSY_SECONDS)
        except sqlite3.Error as error:
            raise StorageFailure.at(path, error) from error
        try:
            commands = ("PRAGMA journal_mode=WAL", f"PRAGMA synchronous={'FULL' if outlives_power_cuts else 'NORMAL'}")
            for command in (*commands, *filter(str.strip, schema.split(";"))):
                self._execute(command)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _change(self) -> Iterator[None]:
        """All of what is done inside, or nothing of it; no other process changes the file meanwhile."""
        with self._lock:
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.rollback()
                raise
            self._execute("COMMIT")

    def _execute(self, command: str, *values: object) -> list[Any]:
        """The rows that one command gives. Raises StorageFailure and RunFolderError."""
        try:
            with self._lock:
                return self._database.execute(command, values).fetchall()
        except sqlite3.OperationalError as error:
            raise StorageFailure.at(self.path, error) from error
        except sqlite3.DatabaseError as error:
            raise RunFolderError(f"{self.path} cannot be read: {error}. {self._remedy}") from None
