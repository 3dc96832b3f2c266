"""Runs as processes of their own: they go on whatever becomes of the program that started them.

Keys come from the environment, and are written nowhere.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sociable.api.series import is_series
from sociable.api.watching import change_limit, find_status
from sociable.core.errors import RunFolderError, StorageFailure
from sociable.core.run_folder import STATUS_FILE, is_in_use, write_atomically
from sociable.engine.opening import begin_run
from sociable.engine.settings import RunSettings
from sociable.engine.status import State

LOG_FILE = "run.log"
"""What a process that was started here printed, in the folder that it works in."""

_LONGEST_TAIL_BYTES = 20_000

_started: dict[Path, datetime] = {}
"""When the last process was started that works in a folder, while it is there still."""


def begin(settings: RunSettings, folder: str | Path, *, arguments: Sequence[str] = ()) -> int:
    """Begins a run in a new folder, and carries it out in a process of its own. Returns the process's id.

    Settings and data are checked here; no model is built: a key or a price that is missing is told by the process. More
    ``arguments`` are those of ``sociable resume``. Raises InputError before anything is spent, and RunFolderError.
    """
    locked, _ = begin_run(settings, Path(folder), build=())
    locked.close()
    return go_on(folder, arguments=arguments)


def go_on(folder: str | Path, *, max_cost: float | None = None, arguments: Sequence[str] = ()) -> int:
    """Goes on with the run, audit or series in a folder, in a process of its own. Returns the process's id.

    ``max_cost`` takes the place of the limit so far, in US dollars. Raises RunFolderError where somebody is at work already, or
    nothing was begun.
    """
    path = Path(folder)
    status = find_status(path)
    if status.state is State.NO_RUN:
        raise RunFolderError(f"{path} is not a run folder: there is nothing to go on with.")
    if status.state.is_at_work or is_starting(path):
        raise RunFolderError(f"{path} is in use by another process. Wait until it is done, or stop it: sociable stop {path}")
    limit = [] if max_cost is None else ["--max-cost", repr(max_cost)]
    return start(path, "resume", str(path.resolve()), *limit, *arguments)


def raise_limit(folder: str | Path, max_cost: float) -> int | None:
    """Has a run go on with another limit: it is told, if it is at work; else a process is started, whose id is returned.

    Raises as ``change_limit`` and ``go_on`` do.
    """
    if find_status(folder).state.is_at_work:
        change_limit(folder, max_cost)
        return None
    return go_on(folder, max_cost=max_cost)


def is_starting(folder: str | Path) -> bool:
    """Whether a process that was started here for a folder has not said anything yet."""
    started = _started.get(Path(folder).resolve())
    return started is not None and not _has_said_something(Path(folder), started)


def _has_said_something(folder: Path, begun: datetime) -> bool:
    """Whether somebody who was started after this moment has. Ids of processes are no sign: they come again."""
    status = find_status(folder)
    # The runs of a series say nothing between one and the next. What was said in the second of the beginning was said before.
    return any(at is not None and at > begun for at in (status.begun, status.updated))


def start(folder: Path, *arguments: str) -> int:
    """Starts ``sociable`` with these arguments as a process in a session of its own. Returns its id.

    What it prints is appended to ``run.log`` in the folder. A process that fails before it has said so in ``status.json`` is
    told there by this one. Raises StorageFailure.
    """
    log, begun = folder / LOG_FILE, datetime.now(UTC)
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603  # no shell, and no program but this one
                [sys.executable, "-m", "sociable", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise StorageFailure.at(log, error) from error
    _started[folder.resolve()] = begun
    waiting = threading.Thread(target=_wait, args=(process, folder, begun), daemon=True, name=f"waits for {process.pid}")
    waiting.start()
    return process.pid


def _wait(process: subprocess.Popen[bytes], folder: Path, begun: datetime) -> None:
    """Takes leave of a process, which would stay in the list of processes, and tells its failure if it could not."""
    code = process.wait()
    if _started.get(folder.resolve()) == begun:  # else another was started meanwhile
        del _started[folder.resolve()]
    # Written since, or by somebody else who has begun meanwhile: then they have the word. So have the runs of a series.
    if code == 0 or _has_said_something(folder, begun) or is_in_use(folder) or is_series(folder):
        return
    status = find_status(folder)
    lines = read_log(folder).strip().splitlines()
    reason = lines[-1].removeprefix("sociable: ") if lines else f"The process ended with code {code} and said nothing."
    failed = status.model_copy(update={"state": State.FAILED, "reason": reason, "updated": datetime.now(UTC)})
    with contextlib.suppress(StorageFailure):
        write_atomically(folder / STATUS_FILE, failed.model_dump_json() + "\n")


def read_log(folder: str | Path) -> str:
    """The end of what the processes started in a folder printed; empty where none was."""
    try:
        with (Path(folder) / LOG_FILE).open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - _LONGEST_TAIL_BYTES))
            return log.read().decode("utf-8", "replace")
    except OSError:
        return ""
