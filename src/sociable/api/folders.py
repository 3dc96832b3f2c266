"""Run folders: how they are named, and which of them are there."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sociable.core.errors import RunFolderError
from sociable.core.run_folder import RunFolder
from sociable.engine.opening import make_paths_absolute, open_study, read_settings
from sociable.engine.settings import RunSettings, make_folder_name


def name_new_folder(benchmark: str, model: str) -> Path:
    """``runs/<benchmark>-<model>-<time>``, which does not exist yet."""
    return Path("runs") / f"{benchmark}-{make_folder_name(model)}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"


def has_person(folder: str | Path) -> bool:
    """Whether people take part in a run."""
    return read_settings(RunFolder.open(Path(folder), lock=False).read_manifest(), Path(folder)).has_people


def list_run_folders(path: Path) -> list[Path]:
    """The run folder itself, or those in it."""
    if (path / "manifest.json").exists():
        return [path]
    return sorted(each.parent for each in path.glob("*/manifest.json"))


def find_same_run(settings: RunSettings, parent: Path = Path("runs")) -> Path | None:
    """The newest run folder in ``parent`` of a run with the same settings, data and prompts; None where there is none."""
    if not parent.is_dir():
        return None
    opened = open_study(make_paths_absolute(settings), build=())
    if all(name.startswith("reference/") for _, name in opened.settings.list_models()):
        return None  # nothing would be bought
    benchmark, study = opened.benchmark, opened.study
    wanted = _strip_limits(opened.settings.model_copy(update=dict(study.resolved)).model_dump(mode="json"))
    for path in sorted(parent.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        with contextlib.suppress(RunFolderError, KeyError):
            manifest = RunFolder.open(path.parent, lock=False).read_manifest()
            is_same = (manifest["benchmark"], manifest["version"], manifest["digests"]) == (
                benchmark.name,
                benchmark.version,
                dict(study.digests),
            )
            if is_same and _strip_limits(manifest["settings"]) == wanted:
                return path.parent
    return None


def _strip_limits(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings on which no reply depends left out."""
    return {name: value for name, value in settings.items() if name not in ("max_connections", "max_cost", "prices")}
