"""``run``, ``duel`` and ``resume``: whatever plays episodes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sociable import api
from sociable.cli import options as shared
from sociable.cli.judging import show_cards
from sociable.cli.output import messages, print_summary, show_progress, show_report
from sociable.cli.reporting import show_tournament
from sociable.cli.studies import go_on_with_study
from sociable.core.errors import InputError
from sociable.core.form import PeopleAt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sociable.cli.benchmarks import Asked
    from sociable.engine.settings import RunSettings


def run(asked: Asked) -> None:
    """Plays a run, or the several of a series; or goes on with an earlier run of the same settings, if the user likes."""
    if asked.series:
        if asked.cluster or asked.workers:
            raise InputError(
                "--cluster and --workers are for one run, or for a study: make a study of these runs, or leave them out."
            )
        plan, name = api.series.plan_series(asked.benchmark, asked.series, asked.config, model=asked.model, **asked.settings)
        folder = asked.out or api.folders.name_new_folder(asked.benchmark.name, name)
        api.series.write_new_series(folder, plan)
        _go_on_with_series(folder, asked.people_at)
        return
    settings = api.runs.make_settings(asked.benchmark.name, asked.config, model=asked.model, **asked.settings)
    _warn_of_self_judging(filter(None, (settings.model, settings.opponent)), settings)
    if asked.out is None and (earlier := api.folders.find_same_run(settings)) and _prefers_resuming(earlier):
        resume(earlier, people_at=asked.people_at, cluster=asked.cluster, workers=asked.workers)
        return
    folder = asked.out or api.folders.name_new_folder(settings.benchmark, settings.model)
    with show_progress(folder, hidden=settings.has_people and asked.people_at is PeopleAt.TERMINAL) as progress:
        result = api.runs.run_settings(
            settings, folder, watch=progress, people_at=asked.people_at, cluster=asked.cluster, workers=asked.workers
        )
    show_report([result])


def _warn_of_self_judging(models: Iterable[str], settings: RunSettings) -> None:
    from sociable.engine.settings import strip_endpoint
    from sociable.reports.documents import warn_of_self_judging

    judges = set(map(strip_endpoint, settings.judges))
    for model in (name for name in map(strip_endpoint, models) if name in judges):
        messages.print(Text(f"Warning: {warn_of_self_judging(model)}"), soft_wrap=True)


def _prefers_resuming(earlier: Path) -> bool:
    """Whether the user would go on with a run of the same settings. Where nobody can be asked, it is only pointed out."""
    found = f"{earlier} is a run with the same settings; going on with it buys nothing twice."
    if messages.is_terminal and sys.stdin.isatty():
        return typer.confirm(f"{found} Go on with it?", default=True, err=True)
    messages.print(Text(f"{found} To do so: sociable resume {earlier}"), soft_wrap=True)
    return False


def duel(asked: Asked) -> None:
    """Tells what a tournament takes, and plays it unless only that was asked for."""
    tournaments = api.tournaments
    plan = tournaments.plan_tournament(
        asked.benchmark.name, asked.models, folder=asked.out, anchors=asked.anchors, config=asked.config, **asked.settings
    )
    _warn_of_self_judging(plan.participants, next(iter(plan.runs.values())))
    print_summary(tournaments.estimate_tournament(plan))
    if asked.is_estimate:
        return
    folder = asked.out or api.folders.name_new_folder(plan.benchmark.name, "tournament")
    tournaments.write_tournament(folder, plan)
    _go_on_with_tournament(folder, None, asked.people_at)


def resume(
    folder: shared.RunPath,
    config: shared.Changes = None,
    max_cost: shared.MaxCost = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody: play what the journal holds.")] = False,
    people_at: shared.At = PeopleAt.TERMINAL,
    cluster: shared.OnCluster = None,
    workers: shared.Workers = None,
) -> None:
    """Go on with a run that was stopped, killed, or has errored episodes; or with an audit of judges."""
    if (cluster or workers) and not (api.studies.is_study(folder) or (folder / "manifest.json").exists()):
        raise InputError(f"{folder} holds neither a run nor a study, which alone go to a cluster: leave --cluster out.")
    if api.judges.is_judge_audit(folder):
        if offline:
            raise InputError(f"{folder} holds an audit of judges: leave --offline out.")
        with show_progress(folder) as progress:
            cards = api.judges.resume_audit(folder, config=config, max_cost=max_cost, watch=progress)
        show_cards(folder, cards)
        return
    if api.studies.is_study(folder):
        if config:
            raise InputError(f"{folder} holds a study: change its file, and give that to sociable study; leave --config out.")
        go_on_with_study(folder, max_cost=max_cost, offline=offline, cluster=cluster, workers=workers)
        return
    if api.tournaments.is_tournament(folder):
        if config or offline:
            raise InputError(f"{folder} holds several runs; --config and --offline are for one: name its folder.")
        _go_on_with_tournament(folder, max_cost, people_at)
        return
    if api.series.is_series(folder):
        if config or max_cost or offline:
            raise InputError(f"{folder} holds several runs; --config, --max-cost and --offline are for one: name its folder.")
        _go_on_with_series(folder, people_at)
        return
    with show_progress(folder, hidden=people_at is PeopleAt.TERMINAL and api.folders.has_person(folder)) as progress:
        result = api.runs.resume(
            folder,
            config=config,
            max_cost=max_cost,
            offline=offline,
            watch=progress,
            people_at=people_at,
            cluster=cluster,
            workers=workers,
        )
    show_report([result])


def _go_on_with_series(folder: Path, people_at: PeopleAt) -> None:
    with show_progress(folder, hidden=people_at is PeopleAt.TERMINAL and api.series.has_person(folder)) as progress:
        results = api.series.resume_series(folder, watch=progress, people_at=people_at)
    show_report(results, out=folder / "report.html")


def _go_on_with_tournament(folder: Path, max_cost: float | None, people_at: PeopleAt) -> None:
    with show_progress(folder, hidden=people_at is PeopleAt.TERMINAL and api.series.has_person(folder)) as progress:
        api.tournaments.resume_tournament(folder, max_cost=max_cost, watch=progress, people_at=people_at)
    show_tournament(folder)
