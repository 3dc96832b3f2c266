"""``score``, ``report`` and ``compare``: what is computed from finished runs. No model is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.output import end_if_all_failed, print_summary, print_whole, say, show_report, tell_if_long
from sociable.cli.studies import show_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sociable.engine.result import RunResult


def score(folder: shared.RunPath) -> None:
    """Score a run again from what is on disk. Calls no model."""
    if api.tournaments.is_tournament(folder):
        api.tournaments.require_finished(folder)
    runs = api.series.list_folders(folder)
    if api.studies.is_study(folder):
        runs = [run for run in runs if api.results.is_finished(run)]
    with tell_if_long("Scoring"):
        scored = [api.runs.score(run) for run in runs]
    show_results(folder, scored)


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders of one benchmark.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; by default report.html in the folder, or joint-report.html in the first."),
    ] = None,
) -> None:
    """Write the HTML report of one or several runs. Calls no model."""
    if len(folders) == 1 and api.studies.is_study(folders[0]):
        show_study(folders[0], out=out)
        return
    if len(folders) == 1 and api.tournaments.is_tournament(folders[0]):
        show_tournament(folders[0], out)
        return
    if len(folders) == 1 and api.judges.is_judge_audit(folders[0]):
        print_summary(api.judges.report_cards(folders[0], out))
        say(f"Report: {out or folders[0] / 'report.html'}")
        return
    runs = [run for folder in folders for run in api.series.list_folders(folder)]
    file = out or folders[0] / ("report.html" if len(folders) == 1 else "joint-report.html")
    with tell_if_long("Writing the report"):
        document = api.reports.write_document(api.reports.make_report_document(runs), file)
    print_summary(document)
    say(f"Report: {file}")


def compare(
    folders: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Run folders of one benchmark, two or more.")],
    anyway: Annotated[bool, typer.Option("--anyway", help="Compare runs that are not comparable.")] = False,
    out: Annotated[Path | None, shared.declare_option("--out", "FILE", "Write it as HTML, with the cases that differ.")] = None,
) -> None:
    """Compare runs, every two on the cases both reached; of two, show the cases one wins and the other loses."""
    with tell_if_long("Comparing every two runs"):
        document = api.reports.compare(*folders, anyway=anyway, out=out)
    print_whole(document, out)


def show_results(folder: Path, results: Sequence[RunResult]) -> None:
    """Writes the report on a run, a series, a study or a tournament, in whose folder the ``results`` are."""
    if api.studies.is_study(folder):
        for each in results:
            api.reports.report(each)
        show_study(folder)
        return
    if not api.tournaments.is_tournament(folder):
        show_report(results, out=folder / "report.html")
        return
    for each in results:
        api.reports.report(each)
    show_tournament(folder)


def show_tournament(folder: Path, out: Path | None = None) -> None:
    """Writes the report on a tournament into ``out``, by default its folder, and prints the ratings."""
    with tell_if_long("Writing the report"):
        tournament = api.tournaments.load_tournament(folder)
        document, path = api.tournaments.report_tournament(tournament, folder, out)
    print_summary(document)
    say(f"Report: {path}")
    end_if_all_failed(tournament.runs, folder)
