"""Building data sets from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable.cli.output import messages, print_whole, resumable, say
from sociable.core.errors import InputError

RECIPES = ("hsii", "stss-conversations")


def construct(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help=f"What the data are for: {', '.join(RECIPES)}.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR|FILE", help="The build; stss-conversations: a new .jsonl file.")],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE...]", help="hsii: news or dialogues. stss-conversations: runs of stss."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model that writes.")] = None,
    dialogues: Annotated[
        bool, typer.Option("--dialogues", help="hsii: SOURCE holds conversations, not news; no model is needed.")
    ] = False,
    assistant: Annotated[
        str | None, typer.Option("--assistant", metavar="NAME", help="With --dialogues: whose part the assistant takes.")
    ] = None,
    certain: Annotated[
        bool, typer.Option("--certain", help="With --dialogues: only cases whose addressee is given, linked or named.")
    ] = False,
    most: Annotated[int | None, typer.Option("--most", metavar="N", min=1, help="hsii: scenes that get a dialogue.")] = None,
    prompts: Annotated[Path | None, typer.Option("--prompts", metavar="DIR", help="Your own prompts in place of ours.")] = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="TEXT", help="hsii: what the data card says of the licence.")
    ] = "that of its sources",
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings of the model, prices.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Stop before more is spent.")] = None,
    max_connections: Annotated[int | None, typer.Option("--max-connections", metavar="N", help="Calls at the same time.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Of openai-compatible models.")] = None,
    count: Annotated[int, typer.Option("--count", metavar="N", help="stss-conversations: how many scenes.")] = 360,
) -> None:
    """Make a dataset: HSII's dialogues out of news; conversation scenes, frozen out of runs of stss. Goes on where it was."""
    from sociable.cli.progress import RunProgress

    if benchmark not in RECIPES:
        raise InputError(f"There is no recipe for '{benchmark}'; there is one for: {', '.join(RECIPES)}.")
    if benchmark == "stss-conversations":
        from sociable import towns

        with RunProgress(messages) as progress:
            said = towns.construct_conversations(sources or (), out, count=count, watch=progress)
        say(f"{said}\nScenes: {out}")
        return
    from sociable import building

    if not sources or len(sources) > 1:
        raise InputError("Name one source: a file of articles or of conversations, or a folder of them.")
    if dialogues:
        if model is not None:
            raise InputError("Out of dialogues no model writes anything: leave --model out.")
        print_whole(
            building.construct_hsii_from_dialogues(sources[0], out, assistant=assistant, certain=certain, licence=licence)
        )
        return
    if assistant is not None or certain:
        raise InputError("--assistant and --certain go with --dialogues.")
    with resumable(out, "the same command"), RunProgress(messages) as progress:
        document = building.construct_hsii(
            sources[0],
            out,
            model=model,
            config=config,
            most=most,
            prompts=prompts,
            licence=licence,
            watch=progress,
            max_cost=max_cost,
            max_connections=max_connections,
            base_url=base_url,
        )
    print_whole(document)


def add_commands(app: typer.Typer) -> None:
    app.command()(construct)
