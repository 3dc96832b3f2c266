"""Several runs of one benchmark that belong together, in one folder, such as pairs of models.

The benchmark plans which. ``series.json`` says it; each run has a folder of its own beside it, and is a run like any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.api.runs import make_settings, resume, run_settings
from sociable.core.errors import InputError, RunFolderError, StorageFailure
from sociable.core.form import PeopleAt
from sociable.core.run_folder import SERIES_FILE, write_atomically
from sociable.engine.benchmark import Benchmark
from sociable.engine.opening import Watch, make_paths_absolute, open_study
from sociable.engine.result import RunResult
from sociable.engine.settings import RunSettings


def plan_series(
    benchmark: Benchmark, options: Mapping[str, Any], config: str | Path | None = None, /, **given: Any
) -> tuple[dict[str, RunSettings], str]:
    """(the runs that a benchmark's ``options`` of a series ask for, by folder name; the name of the whole).

    ``given`` are settings of all these runs. Raises InputError.
    """
    kind = benchmark.load_series_type()
    if kind is None:
        raise InputError(f"{benchmark.name} makes no series of runs.")

    def make_own_settings(*, elsewhere: Sequence[str] = (), **own: str) -> RunSettings:
        if any(given.get(name) for name in own):
            said, left = (" and ".join(f"--{name}" for name in names) for names in (options, own))
            raise InputError(f"{said} say who plays in each run: leave {left} out.")
        return make_settings(benchmark.name, config, elsewhere=elsewhere, **{**given, **own})

    planned: tuple[dict[str, RunSettings], str] = kind.model_validate(options).plan(make_own_settings)  # type: ignore[attr-defined]
    return planned


def write_new_series(folder: Path, runs: Mapping[str, RunSettings]) -> None:
    """Checks every run as it would be checked on its own, then notes which there are. Raises InputError."""
    if is_series(folder):
        raise InputError(f"{folder} holds a series of runs already. Go on with it: sociable resume {folder}")
    described = {}
    for name, settings in runs.items():
        settings = make_paths_absolute(settings)
        open_study(settings)
        described[name] = settings.model_dump(mode="json")
    make_folder(folder)
    write_series(folder, described)


def make_folder(folder: Path) -> None:
    """Makes the folder of a series, if it is not there. Raises StorageFailure."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailure(f"Cannot make {folder}: {error}. Choose another folder with --out.") from error


def write_series(folder: Path, runs: Mapping[str, Any], **noted: Any) -> None:
    """Notes which runs there are, described as JSON, and what else is ``noted`` of them. Raises StorageFailure."""
    write_atomically(folder / SERIES_FILE, json.dumps({**noted, "runs": runs}, indent=1, ensure_ascii=False) + "\n")


def resume_series(folder: Path, watch: Watch | None = None, people_at: PeopleAt = PeopleAt.TERMINAL) -> list[RunResult]:
    """Goes on with every run of a series, one after the other. Raises RunStopped where one is stopped."""
    return [
        resume(folder / name, watch=watch, people_at=people_at)
        if (folder / name / "manifest.json").exists()
        else run_settings(settings, folder / name, watch=watch, people_at=people_at)
        for name, settings in read_series(folder)[0].items()
    ]


def is_series(folder: Path) -> bool:
    return (folder / SERIES_FILE).exists()


def list_folders(path: Path) -> list[Path]:
    """The run folders of a series; of anything else, itself."""
    return [path / name for name in read_series(path)[0]] if is_series(path) else [path]


def has_person(folder: Path) -> bool:
    """Whether people take part in a run of the series."""
    return any(settings.has_people for settings in read_series(folder)[0].values())


def read_series(folder: Path) -> tuple[dict[str, RunSettings], dict[str, Any]]:
    """(the settings of every run by the name of its folder, what else is noted of them). Raises RunFolderError."""
    file = folder / SERIES_FILE
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
        described = noted.pop("runs")
        if not all(isinstance(value, dict) for value in noted.values()):
            raise TypeError("what is noted of its runs is no object")
        return {Path(name).name: RunSettings.model_validate(settings) for name, settings in described.items()}, noted
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{file}: cannot be read ({str(error).splitlines()[0]}). Report its runs one by one.") from None
