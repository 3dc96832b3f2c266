"""The commands that look at runs from outside, and have a word with those at work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli.options import RunPath, declare_option
from sociable.cli.output import console, say
from sociable.core.errors import InputError


def status(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]...", help="Run folders, or folders with runs in them; by default runs.")
    ] = None,
) -> None:
    """Tell how far the runs in and below folders are: running, stopped, finished, failed or killed."""
    from sociable.render.terminal import print_blocks
    from sociable.reports.statuses import make_status_table

    found = list(api.watching.list_statuses(folders or [Path("runs")]))
    if not found:
        raise InputError("There is no run in or below these folders.")
    print_blocks([make_status_table(found)], console)


def stop(folder: RunPath) -> None:
    """Have a run that is at work stop, from another terminal, as Ctrl-C does: calls under way end and are kept."""
    api.watching.stop(folder)
    say(f"Told to stop; calls under way end. How far it is: sociable status {folder}")


def raise_limit(
    folder: RunPath, max_cost: Annotated[float, declare_option("--max-cost", "DOLLARS", "The new limit, over the whole run.")]
) -> None:
    """Change what a run that is at work may cost. A run that has stopped goes on with: sociable resume DIR --max-cost N."""
    api.watching.change_limit(folder, max_cost)
    say(f"Told. The limit that holds: sociable status {folder}")
