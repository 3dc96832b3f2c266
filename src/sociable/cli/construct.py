"""Building data sets from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sociable.cli.output import messages, print_whole, resumable, say
from sociable.core.errors import InputError

RECIPES = ("agentsense", "anteval-characters", "hsii", "stss-conversations")


def construct(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help=f"What the data are for: {', '.join(RECIPES)}.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR|FILE", help="The build; stss-conversations: a new .jsonl file.")],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE...]", help="hsii: news, dialogues; agentsense: plays; stss-conversations: runs of stss."),
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
    search: Annotated[
        list[str] | None,
        typer.Option("--search", metavar="WORDS", help="hsii: only news with one or two keywords, as in 'harbour, strike'."),
    ] = None,
    spread: Annotated[
        int | None, typer.Option("--articles", metavar="N", min=1, help="hsii: so many, evenly over what they are about.")
    ] = None,
    toxicity: Annotated[
        str | None,
        typer.Option("--toxicity", metavar="MODEL", help="hsii: a classifier of toxic texts, for a list of words."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of what is drawn.")] = 0,
    most: Annotated[int | None, typer.Option("--most", metavar="N", min=1, help="hsii: scenes that get a dialogue.")] = None,
    prompts: Annotated[Path | None, typer.Option("--prompts", metavar="DIR", help="Your own prompts in place of ours.")] = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="TEXT", help="hsii: what the data card says of the licence.")
    ] = "that of its sources",
    parquet: Annotated[
        bool, typer.Option("--parquet", help="As parquet too, for the Hugging Face hub (extra sociable[hub]).")
    ] = False,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings of the model, prices.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Stop before more is spent.")] = None,
    max_connections: Annotated[int | None, typer.Option("--max-connections", metavar="N", help="Calls at the same time.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Of openai-compatible models.")] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", help="How many scenes (stss-conversations; 360), or characters (60)."),
    ] = None,
) -> None:
    """Make a dataset: HSII's out of news or dialogues, AgentSense's out of plays, conversations out of runs of stss."""
    from sociable.cli.progress import RunProgress

    if benchmark not in RECIPES:
        raise InputError(f"There is no recipe for '{benchmark}'; there is one for: {', '.join(RECIPES)}.")
    if benchmark == "stss-conversations":
        from sociable import towns

        with RunProgress(messages) as progress:
            said = towns.construct_conversations(sources or (), out, count=360 if count is None else count, watch=progress)
        say(f"{said}\nScenes: {out}")
        return
    from sociable import building

    if benchmark == "anteval-characters":
        if sources:
            raise InputError("Characters are drawn by the rules: name no source.")
    elif not sources or len(sources) > 1:
        raise InputError("Name one source: a file of articles, of conversations or of a play, or a folder of them.")
    if dialogues and sources and benchmark == "hsii":
        if model is not None:
            raise InputError("Out of dialogues no model writes anything: leave --model out.")
        print_whole(
            building.construct_hsii_from_dialogues(sources[0], out, assistant=assistant, certain=certain, licence=licence)
        )
        _say_parquet(out, parquet)
        return
    if assistant is not None or certain or dialogues:
        raise InputError("--dialogues goes with hsii, and --assistant and --certain with --dialogues.")
    given: dict[str, Any] = {
        "model": model,
        "seed": seed,
        "config": config,
        "prompts": prompts,
        "licence": licence,
        "max_cost": max_cost,
        "max_connections": max_connections,
        "base_url": base_url,
    }
    if benchmark != "hsii" and (most is not None or spread is not None or search or toxicity):
        raise InputError("--search, --articles, --toxicity and --most go with hsii.")
    with resumable(out, "the same command"), RunProgress(messages) as progress:
        if not sources:
            document = building.construct_characters(out, count=count or 60, watch=progress, **given)
        elif benchmark == "agentsense":
            document = building.construct_agentsense(sources[0], out, watch=progress, **given)
        else:
            searches = [[word.strip() for word in each.split(",") if word.strip()] for each in search or ()]
            chosen: dict[str, Any] = {"searches": searches, "spread": spread, "most": most, "toxicity": toxicity}
            document = building.construct_hsii(sources[0], out, watch=progress, **chosen, **given)
    print_whole(document)
    _say_parquet(out, parquet)


def _say_parquet(out: Path, wanted: bool) -> None:
    if wanted:
        from sociable.construction.hub import write_parquet

        say(f"Parquet: {write_parquet(out)}")


def add_commands(app: typer.Typer) -> None:
    app.command()(construct)
