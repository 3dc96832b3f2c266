"""Reports on runs, and what two runs show beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.api.results import Runs, load_results
from sociable.core.errors import InputError
from sociable.core.view import Document
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.reports.comparison import compare_runs, find_differences
from sociable.reports.documents import make_run_document


def report(runs: Runs, out: str | Path | None = None) -> Path:
    """Writes the HTML report of one or several runs of one benchmark; by default into the first folder, beside its own."""
    results = load_results(runs)
    path = Path(out) if out else name_report(results)
    write_document(make_report_document(results), path)
    return path


def name_report(results: Sequence[RunResult]) -> Path:
    """The file to which the report on these runs goes unless the user names another."""
    return Path(results[0].folder) / ("report.html" if len(results) == 1 else "joint-report.html")


def make_report_document(runs: Runs) -> Document:
    """The report as plain view records. Raises InputError when the runs are of different benchmarks."""
    results = load_results(runs)
    names = {run.manifest["benchmark"] for run in results}
    if not names:
        raise InputError("There is no run to report.")
    if len(names) != 1:
        raise InputError(f"One report shows runs of one benchmark; these are of {', '.join(sorted(names))}.")
    return make_run_document(find_benchmark(names.pop()), results)


def compare(
    first: str | Path | RunResult, second: str | Path | RunResult, *, anyway: bool = False, out: str | Path | None = None
) -> Document:
    """Compares two runs, paired, on the cases both reached, metric by metric. Shows the cases that one wins and the other loses.

    ``out`` is where it is written as HTML, with those cases in full.
    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    one, other = load_results([first, second])
    different = find_differences(one, other)
    if different and not anyway:
        raise InputError(
            f"{one.folder} and {other.folder} are not comparable. They differ in: {'; '.join(different)}. "
            "Run one again with the settings of the other, or say --anyway."
        )
    contrast = find_benchmark(one.manifest["benchmark"]).load_views().contrast(one, other)
    return write_document(compare_runs(one, other, different, contrast), out)


def write_document(document: Document, out: str | Path | None) -> Document:
    """``document``, written as HTML where ``out`` says so."""
    from sociable.render.html import write_html

    if out:
        write_html(document, Path(out))
    return document
