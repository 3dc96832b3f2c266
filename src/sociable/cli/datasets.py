"""``audit``, ``label``, ``describe`` and ``dataset``: what is in a dataset, what is wrong with it, and how it is handed on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.benchmarks import read_options
from sociable.cli.output import print_whole, say, tell_if_long


def audit(
    benchmark: shared.BenchmarkOrBuild,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    source: shared.Sources = None,
    dialogues: shared.Dialogues = None,
    option: shared.Options = None,
    runs: shared.Runs = None,
    out: shared.HTMLFile = None,
) -> None:
    """Tell whether a dataset can be solved by a shortcut, and whether readers agreed."""
    benchmark, dataset = shared.split_benchmark_and_data(benchmark, dataset)
    own, sources, skip = read_options(option), source or (), bool(skip_invalid)
    with tell_if_long("Trying shortcuts, and training classifiers on the data"):
        document = api.datasets.audit(
            benchmark, dataset, skip_invalid=skip, sources=sources, dialogues=dialogues, options=own, runs=runs or (), out=out
        )
    print_whole(document, out)


def label(
    benchmark: shared.BenchmarkName,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file for the labelled data: .jsonl.")],
    model: Annotated[str, typer.Option("--model", help="The model that fills in what is missing.")],
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    config: shared.Config = None,
    base_url: shared.BaseUrl = None,
    max_cost: shared.MaxCost = None,
    prompts: shared.PromptsFolder = None,
) -> None:
    """Have a model fill in labels that a dataset lacks: roles, kinds of goals, domains."""
    named = {"dataset": dataset, "skip_invalid": skip_invalid, "base_url": base_url, "max_cost": max_cost, "prompts": prompts}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    said = api.datasets.label(benchmark, model, out, config, **given)
    say(f"{said}\nLabelled: {out}".strip())


def describe(
    benchmark: shared.BenchmarkOrBuild,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    features: shared.Features = "tfidf",
    out: Annotated[Path | None, shared.declare_option("--out", "FILE", "Write it as HTML, with the figures.")] = None,
) -> None:
    """Tell what is in a dataset: sizes, topics, clusters."""
    benchmark, dataset = shared.split_benchmark_and_data(benchmark, dataset)
    with tell_if_long("Looking for clusters"):
        found = api.datasets.describe(benchmark, dataset, features=features, skip_invalid=bool(skip_invalid), out=out)
    print_whole(found, out)


def dataset(
    benchmark: shared.BenchmarkOrBuild,
    out: Annotated[Path, shared.declare_option("--out", "FOLDER", "The folder to write into.")],
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    licence: Annotated[
        str | None, shared.declare_option("--licence", "TEXT", "The licence, where the data are your own.")
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write parquet too (extra sociable[hub]).")] = False,
) -> None:
    """Write a benchmark's data as a Hugging Face data set, with a Croissant card."""
    benchmark, dataset = shared.split_benchmark_and_data(benchmark, dataset)
    with tell_if_long("Reading the data"):
        files = api.datasets.lay_out(benchmark, out, dataset, skip_invalid=bool(skip_invalid), licence=licence, parquet=parquet)
    for file in files:
        say(str(file))
