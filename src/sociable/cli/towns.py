"""The commands for runs of a town: watch an episode, live it again, ask a resident, draw a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable import api
from sociable.cli.options import RunPath, declare_option
from sociable.cli.output import say, show_progress, show_report

Episode = Annotated[str, typer.Argument(metavar="EPISODE", help="An episode's id; `sociable show DIR` lists them.")]
At = Annotated[str, declare_option("--at", "TIME", "The moment: 14:30 of the first day, 2 09:00, Tuesday 09:00.")]


def replay(
    folder: RunPath,
    episode: Episode,
    out: Annotated[Path | None, declare_option("--out", "FILE", "The file to write; by default in the run folder.")] = None,
) -> None:
    """Write one HTML file in which an episode of stss can be watched."""
    say(f"Replay: {api.towns.write_replay(folder, episode, out)}")


def draw_map(
    out: Annotated[Path, declare_option("--out", "FILE", "A new .json file; a picture of its tiles goes beside it.")],
    town: Annotated[Path | None, typer.Option("--town", help="Another map; by default stss's own town.")] = None,
) -> None:
    """Write a town as a map of Tiled's, to be drawn on and given back with --option town=FILE."""
    say(f"Map: {api.towns.write_map(out, town)}")


def fork(
    folder: RunPath,
    episode: Episode,
    at: At,
    out: Annotated[Path, typer.Option("--out", help="The new run folder.")],
    inject: Annotated[list[str] | None, declare_option("--inject", "TEXT", "Something that happens then; repeatable.")] = None,
    close: Annotated[list[str] | None, declare_option("--close", "PLACE", "A place that closes then; repeatable.")] = None,
    resident: Annotated[
        str | None, declare_option("--resident", "NAME", "The resident who learns of it; by default everybody.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Ask every model anew from then on.")] = False,
) -> None:
    """Live an episode of stss again with something changed at a moment; what is the same costs nothing."""
    with show_progress(out) as progress:
        injected, closed = inject or (), close or ()
        result = api.towns.fork(
            folder, episode, out, at=at, events=injected, closed=closed, resident=resident, anew=anew, watch=progress
        )
    show_report([result])


def interview(
    folder: RunPath,
    episode: Episode,
    resident: Annotated[str, typer.Argument(metavar="RESIDENT", help="The resident who is asked.")],
    at: At,
    ask: Annotated[list[str], declare_option("--ask", "QUESTION", "A question; repeatable.")],
) -> None:
    """Ask a resident of stss something at a moment; it will not remember."""
    for question, answer in zip(ask, api.towns.interview(folder, episode, resident, ask, at=at), strict=True):
        say(f"> {question}\n{answer}\n")
