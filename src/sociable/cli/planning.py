"""``estimate`` and ``power``: what a run will cost, and what it can show, before it is made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.output import print_summary, print_whole, show_progress
from sociable.core.errors import InputError

if TYPE_CHECKING:
    from sociable.cli.benchmarks import Asked


def estimate(asked: Asked) -> None:
    """Prints what a run will take; with a probe, which is played, also how long."""
    named = {"model": asked.model, "config": asked.config, **asked.settings}
    if not asked.probe:
        if asked.out:
            raise InputError("--out names the folder of a probe: add --probe N, or leave it out.")
        print_summary(api.estimation.estimate(asked.benchmark.name, **named))
        return
    settings = api.runs.make_settings(asked.benchmark.name, asked.config, model=asked.model, **asked.settings)
    folder = asked.out or api.folders.name_new_folder(settings.benchmark, settings.model)
    with show_progress(folder) as progress:
        document = api.estimation.estimate(asked.benchmark.name, probe=asked.probe, out=folder, watch=progress, **named)
    print_summary(document)


def power(
    benchmark: shared.BenchmarkName,
    more: Annotated[list[Path] | None, typer.Argument(metavar="[B]", help="The second run of --runs A B.")] = None,
    runs: Annotated[
        list[Path] | None, shared.declare_option("--runs", "A", "Runs to take variances from: one, or two that are compared.")
    ] = None,
    difference: Annotated[
        float, shared.declare_option("--difference", "D", "The difference to tell apart, in each metric's unit.")
    ] = 0.05,
    power: Annotated[float, shared.declare_option("--power", "P", "The probability of telling it apart.")] = 0.8,
    out: shared.HTMLFile = None,
) -> None:
    """Tell how large a difference between two models must be to be seen, and how many cases, repeats and judges it takes."""
    if more and not runs:
        raise InputError("Name runs with --runs A B.")
    with show_progress() as progress:
        named = [*(runs or ()), *(more or ())]
        document = api.power.plan_power(benchmark, named, difference=difference, power=power, out=out, watch=progress)
    print_whole(document, out)
