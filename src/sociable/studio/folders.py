"""The run folders below the studio's folder, and the one that an address names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

DEEPEST = 4
"""Levels of folders below the studio's in which runs are looked for."""


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
    folder: Path = request.app.state.studio.folder
    name = request.query_params.get(parameter, "")
    path = (folder / name).resolve() if "\0" not in name else folder.parent
    if not path.is_relative_to(folder) or not (path / "manifest.json").is_file():
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is no run '{name}' here. The page Runs lists those there are.")
    return path


def stamp_file(path: Path) -> list[int] | None:
    """What changes when a file does; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns]
