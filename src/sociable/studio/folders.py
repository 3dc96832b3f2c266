"""The run folders below the studio's folder, and the one that an address names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sociable.api.processes import is_starting
from sociable.api.watching import DEEPEST, find_status, list_statuses
from sociable.engine.status import State, Status


def find_run_folders(folder: Path) -> Iterator[Path]:
    """All run folders below ``folder``, or ``folder`` itself, by path. Hidden folders, and any in a run, are passed over."""
    for path, folders, files in os.walk(folder):
        here = Path(path)
        is_run = "manifest.json" in files
        if is_run:
            yield here
        is_deep = len(here.relative_to(folder).parts) >= DEEPEST
        folders[:] = [] if is_run or is_deep else sorted(each for each in folders if not each.startswith("."))


def name_run(folder: Path, run: Path) -> str:
    """The name of a run in addresses and tables: its path below the studio's folder."""
    return run.relative_to(folder).as_posix()


def find_folder(request: Request, parameter: str = "run") -> Path:
    """The run folder that an address names. Raises HTTPException: 404 where there is none below the studio's folder."""
    path = _find_below(request, parameter)
    if path is None or not (path / "manifest.json").is_file():
        raise _make_not_found(request, parameter)
    return path


def find_work(request: Request, parameter: str = "run") -> Path:
    """The folder of a run, an audit or several runs that an address names. Raises HTTPException as ``find_folder`` does."""
    path = _find_below(request, parameter)
    if path is None or (find_status(path).state is State.NO_RUN and not is_starting(path)):
        raise _make_not_found(request, parameter)
    return path


def list_works(folder: Path) -> list[tuple[Path, Status]]:
    """All runs and audits below ``folder`` that stand alone, and all folders of several runs, with how far they are."""
    found = dict(list_statuses([folder]))
    return [(path, status) for path, status in found.items() if path == folder or path.parent not in found]


def _find_below(request: Request, parameter: str) -> Path | None:
    folder: Path = request.app.state.studio.folder
    name = request.query_params.get(parameter, "")
    try:
        path = (folder / name).resolve()
        path.exists()
    except (OSError, ValueError, RuntimeError):
        return None  # no name of a file, or a link that leads to itself
    return path if path.is_relative_to(folder) else None


def _make_not_found(request: Request, parameter: str) -> HTTPException:
    name = request.query_params.get(parameter, "")
    return HTTPException(HTTPStatus.NOT_FOUND, f"There is no run '{name}' here. The page Runs lists those there are.")


def stamp_file(path: Path) -> list[int] | None:
    """What changes when a file does; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
