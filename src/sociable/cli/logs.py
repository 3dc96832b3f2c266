"""``export-log`` and ``import-log``: runs as logs of Inspect AI, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable.cli import options as shared
from sociable.cli.output import say, show_report, tell_if_long
from sociable.core.extras import import_extra


def export_log(
    folder: shared.RunPath,
    out: Annotated[
        Path | None, shared.declare_option("--out", "FILE.eval", "The file to write; by default run.eval there.")
    ] = None,
) -> None:
    """Write a run as a log of Inspect AI, for `inspect view` and inspect_ai.analysis. Needs the extra inspect."""
    import_extra("inspect_ai", "inspect", "A log of Inspect AI")
    from sociable.inspect.logs import export_log

    with tell_if_long("Writing the log"):
        file = export_log(folder, out)
    say(f"Log: {file}")


def import_log(
    file: Annotated[Path, typer.Argument(metavar="FILE.eval", help="A log of a task of sociable, or one that export-log wrote.")],
    out: Annotated[Path, shared.declare_option("--out", "DIR", "The run folder, a new one.")],
    dataset: Annotated[
        str | None, shared.declare_option("--dataset", "PATH", "Where your own data lie now, if it was made with such.")
    ] = None,
    prompts: Annotated[
        str | None, shared.declare_option("--prompts", "DIR", "Where your own prompts lie now, if it was made with such.")
    ] = None,
) -> None:
    """Make a run folder of a log of Inspect AI: for report, compare and judge. Needs the extra inspect."""
    import_extra("inspect_ai", "inspect", "A log of Inspect AI")
    from sociable.inspect.logs import import_log

    with tell_if_long("Reading the log"):
        result = import_log(file, out, dataset=dataset, prompts=prompts)
    show_report([result])
