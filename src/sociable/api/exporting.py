"""Runs as tables for data frames and databases: ``sociable export``, as a function. No model is called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sociable.api.results import load_result
from sociable.api.series import list_folders
from sociable.core.errors import InputError
from sociable.core.run_folder import make_folder
from sociable.core.tables import TableFormat, list_columns, open_table
from sociable.engine.frames import TABLES, name_runs, read_rows


@dataclass(frozen=True)
class Exported:
    """The files that an export wrote, and the runs that it could not take."""

    files: dict[str, int] = field(default_factory=dict)
    """The number of rows, by file."""
    left_out: tuple[str, ...] = ()
    """The folders of runs without scores."""


def export(folders: str | Path | Sequence[str | Path], out: str | Path, format: str = "csv") -> Exported:  # noqa: A002
    """Writes the tables of runs, studies and tournaments into the folder ``out``, a file each: parquet, csv or jsonl.

    Files of an earlier export are replaced. Runs are read one after the other, and rows one at a time. Runs of a study that have
    no scores yet are left out. Raises InputError, RunFolderError, and StorageFailure where a file cannot be written.
    """
    kind = _find_format(format)
    named = [Path(each) for each in ([folders] if isinstance(folders, str | Path) else folders)]
    runs = _list_runs(named)
    ready = [run for run in runs if run in named or (run / "scores.json").exists()]
    if not ready:
        raise InputError(f"No run in {named[0]} has scores yet. Go on with: sociable resume {named[0]}")
    path = Path(out)
    make_folder(path)
    exported = Exported(left_out=tuple(str(run) for run in runs if run not in ready))
    with ExitStack() as opened:
        writers = {}
        for table, (rows, *_) in TABLES.items():
            file = path / f"{table}.{kind}"
            writers[table] = file, opened.enter_context(open_table(file, list_columns(rows), kind))
            exported.files[str(file)] = 0
        for run, name in name_runs(ready).items():
            result = load_result(run)
            for table, (file, write) in writers.items():
                for row in read_rows(result, table, name):
                    write(row)
                    exported.files[str(file)] += 1
    return exported


def _list_runs(folders: Sequence[Path]) -> list[Path]:
    """The runs in these folders, each once, by whichever paths it is named."""
    runs: dict[Path, Path] = {}
    for run in (run for folder in folders for run in list_folders(folder)):
        runs.setdefault(run.resolve(), run)
    return list(runs.values())


def _find_format(name: str) -> TableFormat:
    if name not in set(TableFormat):
        raise InputError(f"There is no format '{name}'; there are: {', '.join(TableFormat)}.")
    return TableFormat(name)
