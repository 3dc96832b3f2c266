"""The command for leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.output import print_summary, print_tables, say, tell_if_long


def leaderboard(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders, and folders of several runs.")],
    out: Annotated[
        Path | None,
        shared.declare_option(
            "--out", "FOLDER", "The folder to write to; by default that of several runs, or the first run's parent."
        ),
    ] = None,
) -> None:
    """Show models and benchmarks in one table, with the ranks that the data allow. Calls no model."""
    target = out or api.leaderboard.choose_folder(folders)
    with tell_if_long("Comparing every two models"):
        document = api.leaderboard.write_leaderboard(folders, target)
    print_summary(document)
    print_tables(section for section in document.sections if section.title == "Ranks")
    say(f"Leaderboard: {target / 'leaderboard.html'}, and .csv and .md beside it")
