"""Leaderboards: runs of several models, benchmarks, conditions and seeds in one table, with the ranks that the data allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sociable.api.reports import write_document
from sociable.api.results import load_result
from sociable.api.series import is_series, make_folder, read_series
from sociable.api.tournaments import is_tournament
from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.core.view import Document
from sociable.engine.registry import find_benchmark
from sociable.engine.settings import strip_endpoint
from sociable.reports.leaderboard import make_leaderboard, make_leaderboard_csv
from sociable.reports.standings import Listed, Standings, arrange_runs

NAME = "leaderboard"


def leaderboard(*folders: str | Path, out: str | Path | None = None) -> Document:
    """Writes ``leaderboard.html``, ``.csv`` and ``.md`` over run folders, and folders of several runs.

    They go into the folder ``out``; by default into the folder of several runs that was named first, else beside the first run.
    Calls no model. Raises InputError and RunFolderError where a folder holds nothing that can be ranked.
    """
    paths = [Path(folder) for folder in folders]
    return write_leaderboard(paths, Path(out) if out else choose_folder(paths))


def choose_folder(folders: Sequence[Path]) -> Path:
    """The folder to which the leaderboard goes unless the user names another. Raises InputError where there is none."""
    if not folders:
        raise InputError("Name at least one run folder, or a folder of several runs.")
    return next((each for each in folders if is_series(each)), folders[0].absolute().parent)


def write_leaderboard(folders: Sequence[Path], out: Path) -> Document:
    """Writes the leaderboard of these folders into the folder ``out``."""
    from sociable.render.markdown import render_markdown

    standings = load_standings(folders)
    document = make_leaderboard(standings)
    make_folder(out)
    write_atomically(out / f"{NAME}.csv", make_leaderboard_csv(standings))
    write_atomically(out / f"{NAME}.md", render_markdown(document))
    return write_document(document, out / f"{NAME}.html")


def load_standings(folders: Sequence[Path]) -> Standings:
    """The runs in these folders; each once, however often it is named."""
    # Of a run that is named beside its study, the study knows the condition.
    found = sorted(_list_runs(folders), key=lambda each: each[1].condition)
    return arrange_runs(list({folder.resolve(): listed for folder, listed in found}.values()))


def _list_runs(folders: Sequence[Path]) -> Iterator[tuple[Path, Listed]]:
    for path in folders:
        if not is_series(path):
            yield path, _read(path)
            continue
        if is_tournament(path):
            raise InputError(f"{path} holds a tournament, which rates its models itself: sociable report {path}")
        runs, noted = read_series(path)
        conditions = noted.get("study", {}).get("conditions", {})
        for name, settings in runs.items():
            if (path / name / "manifest.json").exists():
                yield path / name, _read(path / name, conditions.get(name, ""))
            else:
                model = strip_endpoint(settings.model)
                yield path / name, Listed(find_benchmark(settings.benchmark), model, None, conditions.get(name, ""))


def _read(folder: Path, condition: str = "") -> Listed:
    run = load_result(folder, scored=(folder / "scores.json").exists())
    return Listed(find_benchmark(run.manifest["benchmark"]), run.manifest["models"]["subject"], run, condition)
