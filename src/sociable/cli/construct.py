"""Building data sets from the command line. Each recipe is a command, whose options are those that the recipe declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperGroup

from sociable import api
from sociable.cli.options import OnCluster, Workers, make_command, make_option, make_parameter
from sociable.cli.output import print_whole, say, show_progress
from sociable.core.errors import InputError, RunStopped

if TYPE_CHECKING:
    from sociable.datasets.recipe import Recipe


class Recipes(TyperGroup):
    """The commands of ``sociable construct``: one for each recipe, made when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        from sociable.datasets.recipe import list_recipes

        return sorted([*super().list_commands(ctx), *list_recipes()])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from sociable.datasets.recipe import find_recipe, list_recipes

        try:
            return super().get_command(ctx, cmd_name) or _make_command(find_recipe(cmd_name))
        except InputError as error:
            if cmd_name not in list_recipes():
                raise
            # A package with a fault must not hide the other recipes.
            return make_command(cmd_name, str(error), _make_refusal(error), (), **_WHATEVER)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """``hsii … --dialogues`` is the recipe hsii-dialogues: so with every flag that makes a recipe's name longer."""
        from sociable.datasets.recipe import list_recipes

        name, *others = args
        for flag in others:
            if flag.startswith("--") and f"{name}{flag[1:]}" in list_recipes():
                others.remove(flag)
                return super().resolve_command(ctx, [f"{name}{flag[1:]}", *others])
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=Recipes, no_args_is_help=True, help="Make a data set by a recipe.")


_WHATEVER = {"ignore_unknown_options": True, "allow_extra_args": True}
_BUILD = (
    make_option("--out", Path, "The folder of the build.", inspect.Parameter.empty, "DIR"),
    make_option("--licence", str | None, "The licence for the data card.", metavar="TEXT"),
    make_option("--parquet", bool, "Write the data as parquet too, for the Hugging Face hub (extra sociable[hub]).", False),
    make_parameter("cluster", OnCluster, None),
    make_parameter("workers", Workers, None),
)
_WRITER = (
    make_option("--model", str | None, "The model that writes; without one a build goes as far as it can.", metavar="MODEL"),
    make_option("--prompts", Path | None, "Your own prompts in place of ours.", metavar="DIR"),
    make_option("--config", Path | None, "TOML file with the model's settings and prices.", metavar="FILE"),
    make_option("--max-cost", float | None, "Stop before more is spent.", metavar="USD"),
    make_option("--max-connections", int | None, "Calls at the same time.", metavar="N"),
    make_option("--base-url", str | None, "Address for openai-compatible models.", metavar="URL"),
    make_option("--give-up", bool, "Reject items that get no reply, instead of trying again when the build goes on.", False),
)


def _make_own_options(recipe: Recipe[Any, Any, Any]) -> Mapping[str, inspect.Parameter]:
    """The options that a recipe declares, by field."""
    found = {}
    for name, field in recipe.options.model_fields.items():
        several = get_origin(field.annotation) in (tuple, list)
        kind, default = (list[str] | None, None) if several else (field.annotation, field.default)
        kinds = {field.annotation, *get_args(field.annotation)}
        metavar = "N" if kinds & {int, float} else None if bool in kinds else "TEXT"
        flag = f"--{(field.alias or name).replace('_', '-')}"
        found[name] = make_option(flag, kind, field.description or "", default, metavar)
    return found


def _make_options(recipe: Recipe[Any, Any, Any]) -> list[inspect.Parameter]:
    return [*_make_own_options(recipe).values(), *_BUILD, *(_WRITER if recipe.prompts else ())]


def _make_command(recipe: Recipe[Any, Any, Any]) -> Any:
    """The command of one recipe."""

    def construct(context: typer.Context, sources: list[str] | None = None, **given: Any) -> None:
        named = [*(sources or ()), *context.args]
        _check_options(recipe, named)
        own = {name: given.pop(parameter.name) for name, parameter in _make_own_options(recipe).items()}
        _construct(recipe.name, named, {name: value for name, value in own.items() if value is not None}, **given)

    source = Annotated[list[str] | None, typer.Argument(metavar="SOURCE", help=recipe.sources)]
    parameters = [
        make_parameter("context", typer.Context),
        *([make_parameter("sources", source, None)] if recipe.sources else []),
        *_make_options(recipe),
    ]
    # What is not known comes in among the sources, to be told where it belongs.
    return make_command(recipe.name, recipe.purpose, construct, parameters, **_WHATEVER)


def _make_refusal(error: InputError) -> Callable[[], None]:
    def refuse() -> None:
        raise error

    return refuse


def _check_options(recipe: Recipe[Any, Any, Any], named: Sequence[str]) -> None:
    """Raises InputError where an option that the recipe does not have stands among its sources."""
    from sociable.datasets.recipe import load_recipes

    for flag in (each.partition("=")[0] for each in named if each.startswith("--")):
        name = flag.removeprefix("--").replace("-", "_")
        takers = [other for other in load_recipes() if name in (each.name for each in _make_options(other))]
        others = ", ".join(f"'{taker.name}'" for taker in takers)
        said = f", but with {others}" if others else f"; see `sociable construct {recipe.name} --help`"
        raise InputError(f"{flag} does not go with '{recipe.name}'{said}.")


def _construct(recipe: str, sources: list[str], options: Mapping[str, Any], *, out: Path, parquet: bool, **common: Any) -> None:
    from sociable.datasets.build import DATASET
    from sociable.datasets.card import import_parquet_library, write_parquet

    if parquet:
        # Before anything is paid for.
        import_parquet_library()
    with show_progress(out, command="the same command (with a higher limit, if a limit stopped it)") as progress:
        document = api.datasets.construct(recipe, sources, out, options=options, watch=progress, **common)
    print_whole(document)
    if (out / DATASET).exists() and not (out / DATASET).stat().st_size:
        # A script that goes on with it should not.
        raise typer.Exit(1)
    if parquet:
        say(f"Parquet: {write_parquet(out)}")


@app.command("stss-conversations")
def freeze_conversations(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new .jsonl file.")],
    runs: Annotated[list[Path] | None, typer.Argument(metavar="RUN", help="Run folders of stss; none: 24 runs are made.")] = None,
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="The number of scenes.")] = 360,
) -> None:
    """Scenes for stss-conversations out of runs of stss. They are frozen into one file; there is no folder to review."""
    try:
        with show_progress() as progress:
            said = api.towns.construct_conversations(runs or (), out, count=count, watch=progress)
    except RunStopped as stop:
        stop.add_note("Every run so far is kept in the folder runs. Go on with: the same command")
        raise
    say(f"{said}\nScenes: {out}")
