"""Building data sets from the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sociable.cli.output import messages, print_whole, resumable, say
from sociable.core.errors import InputError, RunStopped

_WRITTEN = ("model", "seed", "prompts", "config", "max_cost", "max_connections", "base_url", "give_up", "licence", "parquet")
RECIPES: Mapping[str, Sequence[str]] = {
    "agentsense": (*_WRITTEN, "keep_recognised"),
    "anteval-characters": (*_WRITTEN, "count"),
    "hsii": (*_WRITTEN, "shortest", "search", "found", "spread", "toxicity", "most"),
    "hsii --dialogues": ("dialogues", "assistant", "inferred", "licence", "parquet"),
    "stss-conversations": ("count",),
}
"""The options that go with each; all have --out."""


def construct(
    context: typer.Context,
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK", help="What the data are for: agentsense, anteval-characters, hsii or stss-conversations."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR|FILE", help="The build; stss-conversations: a new .jsonl file.")],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SOURCE...]",
            help="hsii: news, dialogues; agentsense: plays; stss-conversations: runs of stss (none: 24 are made).",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model that writes.")] = None,
    dialogues: Annotated[
        bool, typer.Option("--dialogues", help="hsii: SOURCE holds conversations, not news; no model is needed.")
    ] = False,
    assistant: Annotated[
        str | None, typer.Option("--assistant", metavar="NAME", help="With --dialogues: whose part the assistant takes.")
    ] = None,
    inferred: Annotated[
        bool, typer.Option("--inferred", help="With --dialogues: guess, and mark, whom turns are for where it is not known.")
    ] = False,
    search: Annotated[
        list[str] | None,
        typer.Option("--search", metavar="WORDS", help="hsii: only news with one or two keywords, as in 'harbour, strike'."),
    ] = None,
    found: Annotated[int, typer.Option("--found", metavar="N", min=1, help="hsii: articles of each search.")] = 100,
    shortest: Annotated[
        int, typer.Option("--shortest", metavar="N", min=0, help="hsii: characters of an article, title and all.")
    ] = 300,
    spread: Annotated[
        int | None, typer.Option("--articles", metavar="N", min=1, help="hsii: so many, evenly over what they are about.")
    ] = None,
    toxicity: Annotated[
        str | None,
        typer.Option("--toxicity", metavar="MODEL", help="hsii: a classifier of toxic texts, for a list of words."),
    ] = None,
    keep_recognised: Annotated[
        bool, typer.Option("--keep-recognised", help="agentsense: scenes too whose script the model can name.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of what is drawn.")] = 0,
    most: Annotated[int | None, typer.Option("--most", metavar="N", min=1, help="hsii: scenes that get a dialogue.")] = None,
    prompts: Annotated[Path | None, typer.Option("--prompts", metavar="DIR", help="Your own prompts in place of ours.")] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", metavar="TEXT", help="What the data card says of the licence.")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="As parquet too, for the Hugging Face hub (extra sociable[hub]).")
    ] = False,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Reject what gets no reply, in place of trying again when the build goes on.")
    ] = False,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings of the model, prices.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Stop before more is spent.")] = None,
    max_connections: Annotated[int | None, typer.Option("--max-connections", metavar="N", help="Calls at the same time.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Of openai-compatible models.")] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", min=1, help="How many scenes (stss-conversations; 360), or characters (60)."),
    ] = None,
) -> None:
    """Make a dataset: HSII's out of news or dialogues, AgentSense's out of plays, conversations out of runs of stss."""
    from sociable.api import datasets, towns
    from sociable.cli.progress import RunProgress
    from sociable.datasets.build import DATASET
    from sociable.datasets.hub import parquet_library, write_parquet

    _check(context, benchmark, dialogues, sources or [])
    if parquet:
        # Before anything is paid for.
        parquet_library()
    if benchmark == "stss-conversations":
        try:
            with RunProgress(messages) as progress:
                said = towns.construct_conversations(sources or (), out, count=count or 360, watch=progress)
        except RunStopped as stop:
            stop.add_note("Every run so far is kept in the folder runs. Go on with: the same command")
            raise
        say(f"{said}\nScenes: {out}")
        return
    common: dict[str, Any] = {
        "model": model,
        "seed": seed,
        "config": config,
        "prompts": prompts,
        "max_cost": max_cost,
        "max_connections": max_connections,
        "base_url": base_url,
        "give_up": give_up,
    }
    with resumable(out, "the same command (with a higher limit, if a limit stopped it)"), RunProgress(messages) as progress:
        told: dict[str, Any] = {"licence": licence, "watch": progress}
        if not sources:
            document = datasets.construct_characters(out, count=count or 60, **common, **told)
        elif dialogues:
            document = datasets.construct_hsii_from_dialogues(sources[0], out, assistant=assistant, inferred=inferred, **told)
        elif benchmark == "agentsense":
            document = datasets.construct_agentsense(sources[0], out, keep_recognised=keep_recognised, **common, **told)
        else:
            searches = [[word.strip() for word in each.split(",") if word.strip()] for each in search or ()]
            chosen: dict[str, Any] = {
                "shortest": shortest,
                "searches": searches,
                "found": found,
                "spread": spread,
                "most": most,
                "toxicity": toxicity,
            }
            document = datasets.construct_hsii(sources[0], out, **chosen, **common, **told)
    print_whole(document)
    if (out / DATASET).exists() and not (out / DATASET).stat().st_size:
        # A script that goes on with it should not.
        raise typer.Exit(1)
    if parquet:
        say(f"Parquet: {write_parquet(out)}")


def _check(context: typer.Context, benchmark: str, dialogues: bool, sources: Sequence[Path]) -> None:
    """That what was given goes together. Raises InputError."""
    if benchmark not in RECIPES or " " in benchmark:
        known = ", ".join(name for name in RECIPES if " " not in name)
        raise InputError(f"There is no recipe for '{benchmark}'; there is one for: {known}.")
    recipe = f"{benchmark} --dialogues" if dialogues and benchmark == "hsii" else benchmark
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source and source.name == "COMMANDLINE" and parameter.name not in ("benchmark", "sources", "out", *RECIPES[recipe]):
            takers = [f"'{name}'" for name, options in RECIPES.items() if parameter.name in options]
            raise InputError(f"{parameter.opts[0]} does not go with '{recipe}', but with {', '.join(takers)}.")
    if benchmark == "anteval-characters" and sources:
        raise InputError("Characters are drawn by the rules: name no source.")
    if benchmark in ("hsii", "agentsense") and len(sources) != 1:
        raise InputError("Name one source: a file of articles, of conversations or of a play, or a folder of them.")


def add_commands(app: typer.Typer) -> None:
    app.command()(construct)
