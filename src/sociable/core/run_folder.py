"""The run folder: everything a run needs to be resumed, judged again, reported again.

    manifest.json  calls.sqlite  references.jsonl  episodes.jsonl  judgments.jsonl  scores.json  report.html  inputs/

Records are appended to JSON Lines files as they are made and flushed at once, so a killed process loses at most the
line it was writing, which is dropped on the next opening. When a phase is done its file is put in scenario order.
One process at a time works in a folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import filelock
from pydantic import BaseModel

from sociable.core.errors import RunFolderError, StorageFailure

FORMAT = 1
"""The folder's layout, counted; raised when an older folder can no longer be read."""

LARGEST_INPUT_BYTES = 64 * 1024 * 1024
"""Larger inputs are read where they are."""

SERIES_FILE = "series.json"
"""The list of run folders that belong together, beside them."""

AUDIT_FILE = "audit.json"
"""What an audit of judges asked of whom; a folder that holds it holds no run."""

STATUS_FILE = "status.json"
"""How far the process at work in a folder is, or how the last one ended."""

CONTROL_FILE = "control.json"
"""A word to the process at work in a folder, which removes it."""

PATIENCE_SECONDS = 0.3
"""The time for which a lock is tried: whoever looks whether a folder is in use holds it for a moment."""

REPLAYED = "Remove that line and resume: its episode will be replayed from the journal at no cost."
"""The remedy for a record of a run that cannot be read."""

R = TypeVar("R", bound=BaseModel)


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Replaces ``path`` in one step, so that a reader or a crash sees the old file or the new one. Raises StorageFailure.

    What is not ``durable`` costs less, and a power cut may lose it.
    """
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    with _replace_or_clean_up(path, part):
        # "x" gives the permissions of any new file, as the user's umask has them.
        with part.open("x", encoding="utf-8", errors="replace", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.replace(part, path)


@contextlib.contextmanager
def _replace_or_clean_up(path: Path, part: Path) -> Iterator[None]:
    """Removes ``part``, which was to replace ``path``, if anything goes wrong. Raises StorageFailure for an OSError."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise StorageFailure.at(path, error) from error
        raise


class RunFolder(contextlib.AbstractContextManager["RunFolder"]):
    """An opened run folder. Use ``create`` or ``open``, then close it (it is a context manager)."""

    def __init__(self, path: Path, lock: filelock.BaseFileLock | None) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls, path: Path) -> RunFolder:
        """Makes the folder and locks it. Raises RunFolderError if it holds a run already, StorageFailure if it cannot be made."""
        make_folder(path)
        if (path / AUDIT_FILE).exists():
            raise RunFolderError(f"{path} holds an audit of judges. Choose another --out.")
        folder = cls(path, _acquire_lock(path))
        if (path / "manifest.json").exists():
            folder.close()
            raise RunFolderError(f"{path} holds a run already. Go on with: sociable resume {path}, or choose another --out.")
        return folder

    @classmethod
    def open(cls, path: Path, *, lock: bool = True) -> RunFolder:
        """Opens an existing run; without ``lock`` for reading only."""
        try:
            found = (path / "manifest.json").is_file()
        except OSError as error:
            raise _make_read_error(path, error) from None
        if not found:
            if (path / SERIES_FILE).exists():
                inside = ", ".join(str(each.parent) for each in sorted(path.glob("*/manifest.json"))) or "none that was begun"
                raise RunFolderError(f"{path} holds several runs; name one of them: {inside}.")
            if (path / AUDIT_FILE).exists():
                remedy = f"Its page: sociable report {path}; to go on: sociable resume {path}"
                raise RunFolderError(f"{path} holds an audit of judges, and no run. {remedy}")
            raise RunFolderError(f"{path} is not a run folder: it has no manifest.json. Name a folder that `sociable run` made.")
        return cls(path, _acquire_lock(path) if lock else None)

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        self.write("manifest.json", json.dumps({"format": FORMAT, **manifest}, indent=2, ensure_ascii=False) + "\n")

    def read_manifest(self) -> dict[str, Any]:
        """The manifest. Raises RunFolderError when it is damaged or was made by a version with another layout."""
        path = self.path / "manifest.json"
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            made_as = manifest["format"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunFolderError(f"{path} cannot be read: {error!r}. Restore it from a copy, or start a new run.") from None
        if made_as != FORMAT:
            packages = manifest.get("packages")
            version = packages.get("sociable") if isinstance(packages, dict) else None
            raise RunFolderError(
                f"{self.path} was written by sociable {version or 'of another version'} "
                f"(folder format {made_as}; this version reads format {FORMAT}). Use that version, or start a new run."
            )
        return dict(manifest)

    def write(self, name: str, text: str) -> None:
        write_atomically(self.path / name, text)

    def keep_input(self, name: str, source: Path) -> str | None:
        """A copy of a file or folder that the run reads, as a path inside this folder; None where it is too large to keep.

        What lies in this folder already stays as it is. Raises StorageFailure.
        """
        if source.is_relative_to(self.path.resolve()):
            return source.relative_to(self.path.resolve()).as_posix()
        files = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]
        if sum(file.stat().st_size for file in files) > LARGEST_INPUT_BYTES:
            return None
        kept = self.path / "inputs" / f"{name}{source.suffix if source.is_file() else ''}"
        try:
            kept.parent.mkdir(exist_ok=True)
            shutil.copy2(source, kept) if source.is_file() else shutil.copytree(source, kept, dirs_exist_ok=True)
        except (OSError, shutil.Error) as error:
            raise StorageFailure.at(kept, error) from error
        return kept.relative_to(self.path).as_posix()


def make_folder(path: Path) -> None:
    """Makes the folder where there is none. Raises StorageFailure if it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailure(f"Cannot make {path}: {error}. Choose another folder with --out.") from error


def _make_read_error(path: Path, error: OSError) -> RunFolderError:
    return RunFolderError(f"{path} cannot be read: {error}. Ask its owner, or copy it to a place of your own.")


@contextlib.contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Keeps other processes out of a folder. Raises RunFolderError where one is in it, and StorageFailure."""
    lock = _acquire_lock(path)
    try:
        yield
    finally:
        lock.release()


def _acquire_lock(path: Path) -> filelock.BaseFileLock:
    lock = filelock.FileLock(path / ".lock")
    try:
        lock.acquire(timeout=PATIENCE_SECONDS)
    except filelock.Timeout:
        raise RunFolderError(
            f"{path} is in use by another process. Wait until it is done, or end that process; then try again."
        ) from None
    except OSError as error:
        raise StorageFailure(f"Cannot lock {path}: {error}. The folder must be writable; nothing in it was changed.") from error
    with contextlib.suppress(OSError):  # a word to an earlier process is not for this one
        (path / CONTROL_FILE).unlink()
    return lock


def is_in_use(path: Path) -> bool | None:
    """Whether a process is at work in a folder; None where that cannot be told, in a folder of another user's say."""
    file = path / ".lock"
    try:
        if not file.exists():
            return False
        with filelock.FileLock(file).acquire(timeout=0):
            return False
    except filelock.Timeout:
        return True
    except OSError:
        return None


_ID = re.compile(rb'\{"id":("(?:[^"\\]|\\.)*")')


def _identify(record: BaseModel) -> str:
    return str(record.id)  # type: ignore[attr-defined]


class RecordFile(Generic[R]):
    """A JSON Lines file of records, appended to as they are made and read as a stream.

    Only ids and byte offsets are held in memory. A record whose id is already there replaces it (an errored episode
    that was run again).
    """

    def __init__(self, path: Path, kind: type[R], remedy: str = REPLAYED, *, lenient: bool = False) -> None:
        """``kind`` of record has an ``id``; ``remedy`` tells users what to do about a line that cannot be read.

        A ``lenient`` file is for looking at: its records are checked when they are read, one at a time, and lines that are no
        records are passed over and listed in ``passed_over``. Raises RunFolderError.
        """
        self.path = path
        self.passed_over: list[str] = []
        self._kind = kind
        self._remedy = remedy
        self._lenient = lenient
        self._offsets: dict[str, int] = {}
        self._end = 0
        self._stream: Any = None
        try:
            self._index()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _make_read_error(path, error) from None

    def _index(self) -> None:
        """Notes where each record begins, and where the last whole one ends: a kill may have cut off the line after it."""
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._offsets[self._find_id(line)] = self._end
                except ValueError as error:
                    problem = self._make_damage_error(f"line {number}", error)
                    if not self._lenient:
                        raise problem from None
                    self.passed_over.append(str(problem))
                self._end += len(line)

    def _find_id(self, line: bytes) -> str:
        """The id of a record, which is checked unless the file is lenient. Raises ValueError for what is no record."""
        # A record is written with its id first.
        if self._lenient and (found := _ID.match(line)):
            return str(json.loads(found[1]))
        return _identify(self._parse(line))

    def _make_damage_error(self, place: str, error: ValueError) -> RunFolderError:
        problem = f"not a record this version understands ({str(error).splitlines()[0]})"
        return RunFolderError(f"{self.path}, {place}: {problem}. {self._remedy}")

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def _parse(self, line: bytes) -> R:
        # What this program wrote is read without the strictness that a record may have for what people write.
        return self._kind.model_validate_json(line, strict=False)

    def list_ids(self) -> list[str]:
        return list(self._offsets)

    def append(self, record: R) -> None:
        """Writes one record and flushes it. Raises StorageFailure; the file then still ends with a whole record."""
        line = record.model_dump_json().encode("utf-8", "replace") + b"\n"
        offset = None
        try:
            if self._stream is None:
                # Unbuffered: what is appended is with the operating system at once, and a kill cannot tear it.
                self._stream = open(self.path, "ab", buffering=0)  # noqa: SIM115
                # Only who writes may drop a torn line: a reader could be looking at one that is just being written.
                self._stream.truncate(self._end)
            offset = self._stream.seek(0, os.SEEK_END)
            if self._stream.write(line) != len(line):
                raise OSError("the record was written only in part")
        except OSError as error:
            if offset is not None:
                with contextlib.suppress(OSError):
                    os.truncate(self.path, offset)
            raise StorageFailure.at(self.path, error) from error
        self._offsets[_identify(record)] = offset
        self._end = offset + len(line)

    def read(self, identifier: str) -> R:
        """The record of this id. Raises KeyError if there is none, and RunFolderError if it is damaged."""
        with self.path.open("rb") as stream:
            stream.seek(self._offsets[identifier])
            try:
                return self._parse(stream.readline())
            except ValueError as error:
                raise self._make_damage_error(f"record '{identifier}'", error) from None

    def find(self, identifier: str) -> R | None:
        """The record of this id; None where there is none."""
        return self.read(identifier) if identifier in self._offsets else None

    def __iter__(self) -> Iterator[R]:
        """The current records, one at a time, in the order of the file."""
        if not self._offsets:
            return
        with self.path.open("rb") as stream:
            for offset in sorted(self._offsets.values()):
                stream.seek(offset)
                yield self._parse(stream.readline())

    def leave_out(self, identifiers: Iterable[str]) -> None:
        """Reads on as if these records were not there; the file keeps them."""
        for identifier in identifiers:
            self._offsets.pop(identifier, None)

    def arrange(self, order: list[str], *, only: bool = False) -> None:
        """Rewrites the file in the order given, without replaced records, so that equal runs give equal files.

        Records that ``order`` does not name come last; with ``only`` they fall away.
        """
        self.close()
        if not self._offsets:
            return
        wanted = [identifier for identifier in order if identifier in self._offsets]
        wanted += [] if only else sorted(self._offsets.keys() - set(wanted))
        part = self.path.with_name(f".{self.path.name}.part")
        offsets, end = {}, 0
        with _replace_or_clean_up(self.path, part):
            with self.path.open("rb") as source, part.open("wb") as target:
                for identifier in wanted:
                    source.seek(self._offsets[identifier])
                    offsets[identifier] = end
                    end += target.write(source.readline())
            os.replace(part, self.path)
        self._offsets, self._end = offsets, end

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
