"""Runs as they are: how far each is, wherever it is run, and a word to those at work.

>>> from sociable.api.watching import find_status
>>> find_status("runs/hsii-qwen").state
<State.RUNNING: 'running'>
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sociable.api.folders import list_run_folders
from sociable.api.judges import is_judge_audit
from sociable.api.series import is_series, read_series
from sociable.core.errors import InputError, RunFolderError
from sociable.core.records import Usage
from sociable.core.run_folder import CONTROL_FILE, RunFolder, is_in_use, write_atomically
from sociable.engine.status import SECONDS_BETWEEN_SIGNS, Control, State, Status, read_status

RUNS = "runs"
"""The name of the phase of a folder of several runs: its items are its runs."""

DEEPEST = 4
"""Levels of folders that are looked into for runs."""

_LONGEST_SILENCE = timedelta(seconds=6 * SECONDS_BETWEEN_SIGNS)
"""The age of the last sign after which a run of another host counts as gone."""


def find_status(folder: str | Path) -> Status:
    """How far the run, audit or series of runs in a folder is; ``State.NO_RUN`` where there is none. Takes no lock.

    A run whose process is gone is ``State.KILLED``, whatever it wrote last. What was made by a version that wrote no status is
    finished or unfinished.
    """
    path = Path(folder)
    status = read_status(path)
    if status is None:
        return _sum_up(path) if is_series(path) else _infer(path)
    if status.state.is_at_work and not _is_alive(path, status):
        reason = f"Its process ({status.pid} on {status.host}) is gone."
        gone = {"reason": reason, "under_way": 0, "calls_a_minute": 0.0, "seconds_left": None}
        return status.model_copy(update={"state": State.KILLED, **gone})
    return status


def _is_alive(path: Path, status: Status) -> bool:
    """Whether the process that wrote a status is still at work: then it has the folder's lock."""
    # A lock of another host need not be seen here.
    in_use = is_in_use(path) if status.host == socket.gethostname() else None
    if in_use is None:
        return status.updated is not None and datetime.now(UTC) - status.updated < _LONGEST_SILENCE
    return in_use


def _infer(path: Path) -> Status:
    """The status of a folder whose process says nothing, from what lies in it."""
    is_audit = is_judge_audit(path)
    if not is_audit and not (path / "manifest.json").exists():
        return Status(state=State.NO_RUN)
    total = 0
    if not is_audit:
        with contextlib.suppress(RunFolderError):
            episodes = RunFolder.open(path, lock=False).read_manifest().get("episodes")
            total = episodes if isinstance(episodes, int) else 0
    if is_in_use(path):
        return Status(state=State.RUNNING, total=total)
    if any(path.glob("judge-card*.json")) if is_audit else (path / "scores.json").exists():
        return Status(state=State.FINISHED, phase="" if is_audit else "episodes", done=total, total=total)
    return Status(state=State.UNFINISHED, total=total)


def _sum_up(path: Path) -> Status:
    """The status of a series whose runs are carried out one by one: theirs in one."""
    runs = [find_status(each) for each in _list_runs(path)]
    begun = [each for each in runs if each.state is not State.NO_RUN]
    finished = [each for each in runs if each.state is State.FINISHED]
    others = [each for each in begun if each.state is not State.FINISHED]
    shown = next((each for each in others if each.state.is_at_work), others[-1] if others else None)
    state = shown.state if shown else State.FINISHED if len(finished) == len(runs) else State.UNFINISHED
    at_work = shown if shown and shown.state.is_at_work else None
    return Status(
        state=state,
        reason=shown.reason if shown else "",
        phase=RUNS,
        done=len(finished),
        total=len(runs),
        errored=sum(bool(each.errored) for each in begun),
        under_way=sum(each.state.is_at_work for each in begun),
        usage=sum((each.usage for each in begun), Usage()),
        spend=sum(each.spend for each in begun),
        limit=_find_limit(path),
        calls_a_minute=sum(each.calls_a_minute for each in begun),
        failures=at_work.failures if at_work else {},
        pid=at_work.pid if at_work else 0,
        host=at_work.host if at_work else "",
        begun=min((each.begun for each in begun if each.begun), default=None),
        updated=max((each.updated for each in begun if each.updated), default=None),
    )


def _find_limit(path: Path) -> float | None:
    """The limit in US dollars that the runs of a series share, if there is one."""
    with contextlib.suppress(RunFolderError):
        shared = read_series(path)[1].get("tournament")
        limit = shared.get("max_cost") if isinstance(shared, dict) else None
        return limit if isinstance(limit, int | float) else None
    return None


def _list_runs(path: Path) -> list[Path]:
    """The folders of the runs of a series; those that are there, where ``series.json`` cannot be read."""
    try:
        return [path / name for name in read_series(path)[0]]
    except RunFolderError:
        return list_run_folders(path)


def list_statuses(folders: Sequence[str | Path]) -> Iterator[tuple[Path, Status]]:
    """The status of every run, audit and series in the folders and up to ``DEEPEST`` below; a series comes before its runs.

    Raises InputError for a folder that is not there.
    """
    for path in map(Path, folders):
        if not path.is_dir():
            raise InputError(f"{path}: no such folder. Name a run folder, or a folder with runs in it.")
        yield from _walk(path, DEEPEST)


def _walk(path: Path, depth: int) -> Iterator[tuple[Path, Status]]:
    if not os.access(path, os.R_OK | os.X_OK):
        return
    status = find_status(path)
    if status.state is not State.NO_RUN:
        yield path, status
        if is_series(path):
            yield from ((each, find_status(each)) for each in _list_runs(path) if each.is_dir())
    elif depth:
        for each in sorted(each for each in path.iterdir() if each.is_dir() and not each.is_symlink() and each.name[0] != "."):
            yield from _walk(each, depth - 1)


def stop(folder: str | Path) -> None:
    """Has whoever is at work in a folder stop, as the first Ctrl-C does: calls under way end and are kept.

    Returns at once; ``find_status`` tells when it has stopped. Raises RunFolderError where nobody is at work.
    """
    for path in _find_at_work(Path(folder)):
        _tell(path, stop=True)


def change_limit(folder: str | Path, max_cost: float) -> None:
    """Changes what the run at work in a folder may cost altogether, in US dollars.

    Whether it could be done stands in its ``Status.remark``. Raises RunFolderError where nobody is at work or it is stopping,
    and for several runs, InputError for a limit that is none.
    """
    path = Path(folder)
    if not 0 < max_cost < float("inf"):
        raise InputError("The limit must be a number of US dollars above 0.")
    at_work = _find_at_work(path)
    if at_work != [path]:
        raise RunFolderError(
            f"{path} holds several runs, which share one limit. Stop them, then: sociable resume {path} --max-cost {max_cost:g}"
        )
    if find_status(path).state is State.STOPPING:
        raise RunFolderError(
            f"{path} is stopping: its calls under way end. Wait a moment, then: sociable resume {path} --max-cost {max_cost:g}"
        )
    _tell(path, max_cost=max_cost)


def _find_at_work(path: Path) -> list[Path]:
    """The folders in which somebody listens: this one, or those of its runs. Raises RunFolderError where nobody does."""
    status = find_status(path)
    if not status.state.is_at_work:
        if status.state is State.NO_RUN:
            raise RunFolderError(f"{path} is not a run folder. `sociable status` lists the runs below a folder.")
        raise RunFolderError(f"Nobody is at work in {path}: it is {status.state}. Go on with: sociable resume {path}")
    if read_status(path) or not is_series(path):
        return [path]
    return [each for each in _list_runs(path) if find_status(each).state.is_at_work]


def _tell(path: Path, **said: Any) -> None:
    """Adds to what a process has been told and has not read yet."""
    before = Control()
    # What makes no sense would be ignored as a whole, and what is said now with it.
    with contextlib.suppress(OSError, ValidationError):
        before = Control.model_validate_json((path / CONTROL_FILE).read_bytes())
    control = before.model_copy(update=said)
    write_atomically(path / CONTROL_FILE, control.model_dump_json(exclude_defaults=True) + "\n")
