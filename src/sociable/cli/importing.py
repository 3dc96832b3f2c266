"""``import``: conversations that other tools recorded, as a run that can be judged, reported and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli.options import declare_option
from sociable.cli.output import say, show_report, tell_if_long


def import_(
    layout: Annotated[str, typer.Argument(metavar="FORMAT", help="sotopia, concordia, tau2 or social-reasoning-bench.")],
    file: Annotated[Path, typer.Argument(metavar="PATH", help="What that tool wrote: a file, or a folder of them.")],
    out: Annotated[Path, declare_option("--out", "DIR", "The new run folder.")],
    model: Annotated[
        str | None, declare_option("--model", "NAME", "The model under test, where several spoke or the file names none.")
    ] = None,
    participant: Annotated[
        list[str] | None, declare_option("--participant", "NAME", "Who is under test, by name; repeat for several.")
    ] = None,
) -> None:
    """Make a run of conversations that another tool recorded. Then: sociable judge DIR --judge MODEL --rubric sotopia."""
    with tell_if_long("Reading the conversations"):
        made = api.importing.import_conversations(layout, file, out, model=model, participants=participant or ())
    for reason, count in made.chosen.refused.items():
        say(f"Left out: {count}, {reason}. The first: {made.chosen.first_refused[reason]}")
    show_report([made.result])
