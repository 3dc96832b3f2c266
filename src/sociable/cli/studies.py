"""The command `study`: many models on many benchmarks, played together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sociable import api
from sociable.cli import options as shared
from sociable.cli.output import messages, print_summary, say, show_progress, tell_if_long


def study(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A TOML file: models, benchmarks, conditions, seeds, settings.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The study's folder, new or old; by default called as the file is, under runs/.")
    ] = None,
    max_cost: shared.MaxCost = None,
    estimate: shared.OnlyEstimate = False,
    cluster: shared.OnCluster = None,
    workers: shared.Workers = None,
) -> None:
    """Run many models on many benchmarks, all at once; or what is missing of a study that is there already."""
    folder = api.studies.find_folder(file, out)
    plan = api.studies.plan_study(file, folder, max_cost=max_cost)
    for remark in plan.remarks:
        messages.print(Text(f"Remark: {remark}"), soft_wrap=True)
    if estimate:
        with tell_if_long("Going through all runs"):
            document = api.studies.estimate_study(plan, folder)
        print_summary(document)
        return
    api.studies.write_study(folder, plan)
    go_on_with_study(folder, cluster=cluster, workers=workers)


def go_on_with_study(
    folder: Path,
    *,
    max_cost: float | None = None,
    offline: bool = False,
    cluster: str | None = None,
    workers: int | None = None,
) -> None:
    """Plays what is missing, and shows what came of it."""
    with show_progress(folder) as progress:
        result = api.studies.resume_study(
            folder, max_cost=max_cost, offline=offline, watch=progress, cluster=cluster, workers=workers
        )
    show_study(folder, result.problems)


def show_study(folder: Path, problems: Mapping[str, str] = {}, out: Path | None = None) -> None:
    """Writes the leaderboard and prints how far each run is; ends with code 3 where one could not go on."""
    with tell_if_long("Writing the leaderboard"):
        made = api.studies.rank_study(folder, out)
    if made:
        print_summary(made[0])
    print_summary(api.studies.show_study(folder))
    if made:
        say(f"Leaderboard: {made[1] / 'leaderboard.html'}, and .csv and .md beside it")
    for name, problem in problems.items():
        messages.print(Text(f"sociable: {name}: {problem}"), soft_wrap=True)
    if problems:
        messages.print(Text(f"Everything so far is kept. Go on with: sociable resume {folder}"), soft_wrap=True)
        raise typer.Exit(3)
