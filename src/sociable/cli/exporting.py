"""``export``: runs as tables, and an episode of a town for another's viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli.options import declare_option
from sociable.cli.output import say, tell_if_long
from sociable.core.errors import InputError

_PATHS = "Run folders, studies, tournaments; without --format a run of stss and the id of an episode."


def export(
    paths: Annotated[list[str], typer.Argument(metavar="DIR...", help=_PATHS)],
    table_format: Annotated[
        str | None, declare_option("--format", "parquet|csv|jsonl", "Write the runs as tables; parquet needs the extra hub.")
    ] = None,
    out: Annotated[
        Path | None, declare_option("--out", "FOLDER", "The folder to write into; of tables by default export in the first DIR.")
    ] = None,
) -> None:
    """Write runs as tables of scores, turns, judgments, calls; or an episode of stss in Smallville's movement layout."""
    folders = [Path(path) for path in paths]
    if table_format is None:
        if len(paths) != 2 or out is None:
            raise InputError(
                "Name a --format for the tables: parquet, csv, jsonl. An episode of a town: DIR EPISODE --out FOLDER."
            )
        losses = api.towns.write_export(folders[0], paths[1], out)
        say("\n".join([f"Exported: {out}", *losses]))
        return
    with tell_if_long("Writing the tables"):
        exported = api.exporting.export(folders, out or folders[0] / "export", table_format)
    for file, rows in exported.files.items():
        say(f"{file}: {rows:,} rows")
    for name in exported.left_out:
        say(f"{name} is left out: it has no scores yet.")
