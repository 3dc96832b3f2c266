"""The command line's arguments and options, each written down once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from sociable.core.errors import InputError
from sociable.core.form import PeopleAt


def declare_option(flag: str, metavar: str, meaning: str) -> Any:
    """An option that takes a value, which the help calls ``metavar``."""
    return typer.Option(flag, metavar=metavar, help=meaning)


def make_parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """A parameter of a command that is put together when it is asked for."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def make_option(flag: str, kind: Any, meaning: str | None, default: Any = None, metavar: str | None = None) -> inspect.Parameter:
    """The same for an option."""
    annotation = Annotated[kind, typer.Option(flag, help=meaning, metavar=metavar)]
    return make_parameter(flag.removeprefix("--").replace("-", "_"), annotation, default)


def make_command(
    name: str, meaning: str, action: Callable[..., None], parameters: Iterable[inspect.Parameter], **context: Any
) -> Any:
    """A command of these parameters; ``context`` are settings of click's context."""
    action.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, help=meaning, context_settings=context)(action)
    return typer.main.get_command(single)


BenchmarkOrBuild = Annotated[
    str, typer.Argument(metavar="BENCHMARK|DIR", help="A benchmark, or the folder of a build, which names its benchmark.")
]
BenchmarkName = Annotated[str, typer.Argument(metavar="BENCHMARK", help="A benchmark; `sociable list` shows them.")]
RunPath = Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")]
Model = Annotated[str | None, declare_option("--model", "MODEL", "The model under test; here or in the --config file.")]
Partner = Annotated[str | None, declare_option("--partner", "MODEL", "The model that plays everybody else in the scene.")]
Models = Annotated[
    list[str] | None,
    declare_option(
        "--model",
        "MODEL",
        "A model that takes part; repeat. All pairs meet, or, in a tournament that is there already, the pairs that are new.",
    ),
]
Anchors = Annotated[
    bool, typer.Option("--anchors", help="Reference agents of known ability take part as well; they cost nothing.")
]
OnlyEstimate = Annotated[bool, typer.Option("--estimate", help="Tell what it will take, and end there.")]
Persons = Annotated[
    list[str] | None,
    declare_option("--person", "NAME", "A participant who is a person, while others of the role are its model; repeatable."),
]
At = Annotated[
    PeopleAt,
    typer.Option("--people-at", help="Where people answer: in this terminal, or several at once at a desk, in browsers."),
]
OnCluster = Annotated[
    str | None,
    declare_option("--cluster", "ray[://HOST:PORT]", "Have the processes of a Ray cluster do the work."),
]
Workers = Annotated[
    int | None, declare_option("--workers", "N", "With --cluster: processes that do the work; by default one for each processor.")
]
Opponent = Annotated[str | None, declare_option("--opponent", "MODEL", "The model that the tested one meets, in a duel.")]
Judges = Annotated[list[str] | None, declare_option("--judge", "MODEL", "A judge; repeat for a panel.")]
Reference = Annotated[
    str | None, declare_option("--reference", "MODEL", "The model that makes what the tested one is compared with.")
]
ReferenceFile = Annotated[
    str | None, declare_option("--reference-file", "FILE", "references.jsonl of an earlier run, used instead.")
]
Config = Annotated[Path | None, declare_option("--config", "FILE", "TOML file with settings, roles, prices and options.")]
Changes = Annotated[Path | None, declare_option("--config", "FILE", "TOML file with roles and prices that change.")]
DatasetPath = Annotated[
    str | None,
    declare_option("--dataset", "PATH", "Your own data: .json, .jsonl, a folder of them, or hf://OWNER/NAME@REVISION."),
]
SkipInvalid = Annotated[bool | None, typer.Option("--skip-invalid", help="Leave bad records out and count them.")]
Limit = Annotated[
    int | None, declare_option("--limit", "N", "The number to take: whole dialogues, templates of scenes, tasks of stss.")
]
Scenarios = Annotated[list[str] | None, declare_option("--scenario", "ID", "Run this one only; repeat for several.")]
Until = Annotated[
    str | None,
    declare_option("--until", "RULE", "Take clusters in a random order until an interval is that narrow, as in 'r2 ± 0.03'."),
]
Seed = Annotated[int | None, declare_option("--seed", "N", "The seed of all randomness.")]
Repeats = Annotated[int | None, declare_option("--repeats", "N", "Runs of each case; they do not count as new cases.")]
Connections = Annotated[int | None, declare_option("--max-connections", "N", "Calls at once to each model.")]
Probe = Annotated[
    int | None, declare_option("--probe", "N", "Run N cases first, and tell from them; a run can go on from there.")
]
MaxCost = Annotated[float | None, declare_option("--max-cost", "USD", "Stop, resumably, before spending more.")]
BaseUrl = Annotated[str | None, declare_option("--base-url", "URL", "Address for openai-compatible models.")]
PromptsFolder = Annotated[str | None, declare_option("--prompts", "DIR", "Your own prompts in place of the bundled ones.")]
Options = Annotated[list[str] | None, declare_option("--option", "NAME=VALUE", "Any of the benchmark's own options; repeatable.")]

Sample = Annotated[
    str | None,
    declare_option(
        "--sample", "N|auto", "With --export: judged pairs for people to look at; auto: as many as --precision needs."
    ),
]
Precision = Annotated[
    float | None,
    declare_option("--precision", "P", "With --sample auto: half the width of a corrected score's interval, as 0.05."),
]
Export = Annotated[Path | None, declare_option("--export", "FILE", "Write a sheet for people: .csv or .jsonl.")]
Corrections = Annotated[
    list[Path] | None, declare_option("--corrections", "FILE", "A sheet that was filled in; repeat for several.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="With what people said: the new one replaces what the same person said before.")
]
Ratings = Annotated[list[Path] | None, declare_option("--ratings", "FILE", "Free ratings: columns episode, rating, person.")]
ExportWords = Annotated[
    Path | None, declare_option("--export-words", "FILE", "A sheet of episodes that went badly, for one word on each.")
]
Words = Annotated[list[Path] | None, declare_option("--words", "FILE", "Readers' words: columns episode, word, person.")]

Sources = Annotated[
    list[Path] | None, declare_option("--source", "FILE", "A text the scenes may have been made from; repeatable.")
]
Dialogues = Annotated[Path | None, declare_option("--dialogues", "DIR", "With --source: a run whose dialogues are compared too.")]
Features = Annotated[str, typer.Option("--features", help="tfidf, or embeddings (needs the extra sociable[embeddings]).")]
_OF = "With --prompt, of a run: all calls of a participant, a purpose, or 'Maeve|speak'."
Of = Annotated[str, declare_option("--of", "TEXT", _OF)]
Find = Annotated[str, declare_option("--find", "TEXT", "Of a run's list: only lines with this text, as in 'wrong target'.")]
Runs = Annotated[
    list[Path] | None,
    declare_option(
        "--runs", "DIR", "Runs over these data (a run, or a folder of runs): what each case tells of them; repeatable."
    ),
]
HTMLFile = Annotated[Path | None, declare_option("--out", "FILE", "Write it as HTML too.")]


def split_benchmark_and_data(named: str, dataset: str | None) -> tuple[str, str | None]:
    """(the benchmark, the data set); a build that is ``named`` is its own. Raises InputError for a folder that is no build."""
    from sociable.engine.registry import list_benchmark_names

    if dataset is not None or named in list_benchmark_names() or not Path(named).is_dir():
        return named, dataset
    from sociable.datasets.build import read_build_manifest

    manifest = read_build_manifest(Path(named))
    if manifest is None or not manifest["audit"]:
        raise InputError(f"{named} is no build that knows its benchmark. Name that, and the folder with --dataset.")
    return str(manifest["benchmark"]), named
