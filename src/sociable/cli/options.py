"""The command line's arguments and options, each written down once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sociable.core.errors import InputError

BenchmarkOrBuild = Annotated[str, typer.Argument(metavar="BENCHMARK|DIR", help="A benchmark, or a build, which knows its own.")]
BenchmarkName = Annotated[str, typer.Argument(metavar="BENCHMARK", help="What to run; `sociable list` shows what there is.")]
RunPath = Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")]
Model = Annotated[str | None, typer.Option("--model", help="The model under test; here or in the --config file.")]
Partner = Annotated[str | None, typer.Option("--partner", help="Who plays everybody else in the scene.")]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", help="A judge; repeat for a panel."),
]
Reference = Annotated[str | None, typer.Option("--reference", help="Who makes what the model is compared with.")]
ReferenceFile = Annotated[str | None, typer.Option("--reference-file", help="references.jsonl of an earlier run, used instead.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings, roles, prices and options.")]
Changes = Annotated[Path | None, typer.Option("--config", help="TOML file with roles and prices that change.")]
DatasetPath = Annotated[str | None, typer.Option("--dataset", help="Your own data: .json, .jsonl, or a folder of them.")]
SkipInvalid = Annotated[bool | None, typer.Option("--skip-invalid", help="Leave bad records out and count them.")]
Stages = Annotated[str | None, typer.Option("--stages", help="Stages to run, as in 1,2.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Take so many: whole dialogues, templates of scenes, tasks of stss.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Of all randomness.")]
Repeats = Annotated[int | None, typer.Option("--repeats", help="Runs of each case; they are no new cases.")]
Connections = Annotated[int | None, typer.Option("--max-connections", help="Calls at once to each model.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Stop, resumably, before spending more.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Address for openai-compatible models.")]
PromptsFolder = Annotated[
    str | None, typer.Option("--prompts", metavar="DIR", help="Your own prompts in place of the bundled ones.")
]
CycleCap = Annotated[int | None, typer.Option("--cycle-cap", help="hsii-cot: cycles at the most (128).")]
ForcedTarget = Annotated[
    bool | None, typer.Option("--forced-target", help="hsii: tell the model whom to address, so that r3 and r4 are of all cases.")
]
Agent = Annotated[str | None, typer.Option("--agent", help="stss: the performer's architecture: generative, generative+tdp, …")]
Scheduling = Annotated[str | None, typer.Option("--scheduler", help="stss: ahead, or lockstep; the results are the same.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="Any of the benchmark's own options; repeatable.")
]

Senders = Annotated[
    list[str] | None, typer.Option("--sender", help="agentsense: who plays all senders; repeat, with --receiver, for all pairs.")
]
Receivers = Annotated[list[str] | None, typer.Option("--receiver", help="agentsense: who plays all receivers; repeatable.")]
Human = Annotated[
    str | None,
    typer.Option("--human", metavar="NAME", help="agentsense: a person plays this character of each scene, or a random one."),
]

Sample = Annotated[int | None, typer.Option("--sample", metavar="N", help="With --export: judged pairs for people to look at.")]
Export = Annotated[Path | None, typer.Option("--export", metavar="FILE", help="Write a sheet for people: .csv or .jsonl.")]
Corrections = Annotated[
    list[Path] | None, typer.Option("--corrections", metavar="FILE", help="A sheet that was filled in; repeat for several.")
]
Ratings = Annotated[
    list[Path] | None, typer.Option("--ratings", metavar="FILE", help="Free ratings: columns episode, rating, person.")
]

ExportWords = Annotated[
    Path | None,
    typer.Option("--export-words", metavar="FILE", help="A sheet of episodes that went badly, for one word on each."),
]
Words = Annotated[
    list[Path] | None, typer.Option("--words", metavar="FILE", help="Readers' words: columns episode, word, person.")
]

HTMLFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it as HTML too.")]


def benchmark_and_data(named: str, dataset: str | None) -> tuple[str, str | None]:
    """Of a build, its benchmark and itself. Raises InputError where a folder is none."""
    from sociable.engine.registry import benchmark_names

    if dataset is not None or named in benchmark_names() or not Path(named).is_dir():
        return named, dataset
    from sociable.datasets.build import read_build_manifest

    manifest = read_build_manifest(Path(named))
    if manifest is None or not manifest["audit"]:
        raise InputError(f"{named} is no build that knows its benchmark. Name that, and the folder with --dataset.")
    return str(manifest["benchmark"]), named
