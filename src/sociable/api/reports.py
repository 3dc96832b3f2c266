"""Reports on runs, and what two runs show beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from sociable.api.results import Runs, load_results
from sociable.core.errors import InputError
from sociable.core.view import Document
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.reports.comparison import compare_runs, compare_several, find_differences
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


def compare(*runs: str | Path | RunResult, anyway: bool = False, out: str | Path | None = None) -> Document:
    """Compares two or more runs, paired, on the cases both reached, metric by metric. Of two it shows the cases one wins.

    Of more than two every pair is compared, and p-values are corrected for all metrics of all pairs. ``out`` is where it is
    written as HTML, with the cases that two runs differ in, in full.
    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    if len(runs) < 2:
        raise InputError("A comparison needs two runs or more: name their folders.")
    results = load_results(runs)
    different: dict[str, None] = {}
    for one, other in combinations(results, 2):
        found = find_differences(one, other)
        if found and not anyway:
            raise InputError(
                f"{one.folder} and {other.folder} are not comparable. They differ in: {'; '.join(found)}. "
                "Run one again with the settings of the other, or say --anyway."
            )
        different |= dict.fromkeys(found)
    if len(results) > 2:
        return write_document(compare_several(results, [*different]), out)
    first, second = results
    contrast = find_benchmark(first.manifest["benchmark"]).load_views().contrast(first, second)
    return write_document(compare_runs(first, second, [*different], contrast), out)


def write_document(document: Document, out: str | Path | None) -> Document:
    """``document``, written as HTML where ``out`` says so."""
    from sociable.render.html import write_html

    if out:
        write_html(document, Path(out))
    return document
