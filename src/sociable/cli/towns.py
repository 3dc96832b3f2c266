"""The commands for runs of a town: watch an episode, live it again, ask a resident, export it, freeze conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable.cli.options import RunPath
from sociable.cli.output import messages, resumable, say, show_report

Episode = Annotated[str, typer.Argument(metavar="EPISODE", help="Which episode; `sociable show DIR` lists them.")]
At = Annotated[str, typer.Option("--at", metavar="TIME", help="The moment: 14:30 of the first day, 2 09:00, Tuesday 09:00.")]


def replay(
    folder: RunPath,
    episode: Episode,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="By default in the run folder.")] = None,
) -> None:
    """Write one HTML file in which an episode of stss can be watched."""
    from sociable.api import towns

    say(f"Replay: {towns.write_replay(folder, episode, out)}")


def export(
    folder: RunPath,
    episode: Episode,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder.")],
) -> None:
    """Write an episode of stss in Smallville's movement layout, for its own viewer."""
    from sociable.api import towns

    losses = towns.write_export(folder, episode, out)
    say("\n".join([f"Exported: {out}", *losses]))


def map_(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new .json file; a picture of its tiles goes beside it.")],
    town: Annotated[Path | None, typer.Option("--town", help="Another map; by default stss's own town.")] = None,
) -> None:
    """Write a town as a map of Tiled's, to be drawn on and given back with --option town=FILE."""
    from sociable.api import towns

    say(f"Map: {towns.write_map(out, town)}")


def fork(
    folder: RunPath,
    episode: Episode,
    at: At,
    out: Annotated[Path, typer.Option("--out", help="The new run folder.")],
    inject: Annotated[list[str] | None, typer.Option("--inject", metavar="TEXT", help="What happens then; repeatable.")] = None,
    resident: Annotated[
        str | None, typer.Option("--resident", metavar="NAME", help="Who learns of it; by default everybody.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Ask every model anew from then on.")] = False,
) -> None:
    """Live an episode of stss again with something changed at a moment; what is the same costs nothing."""
    from sociable.api import towns
    from sociable.cli.progress import RunProgress

    with resumable(out), RunProgress(messages) as progress:
        result = towns.fork(folder, episode, out, at=at, events=inject or (), resident=resident, anew=anew, watch=progress)
    show_report([result])


def interview(
    folder: RunPath,
    episode: Episode,
    resident: Annotated[str, typer.Argument(metavar="RESIDENT", help="The resident who is asked.")],
    at: At,
    ask: Annotated[list[str], typer.Option("--ask", metavar="QUESTION", help="Repeatable.")],
) -> None:
    """Ask a resident of stss something at a moment; it will not remember."""
    from sociable.api import towns

    for question, answer in zip(ask, towns.interview(folder, episode, resident, ask, at=at), strict=True):
        say(f"> {question}\n{answer}\n")


def add_commands(app: typer.Typer) -> None:
    for command in (replay, export, fork, interview):
        app.command()(command)
    app.command("map")(map_)
