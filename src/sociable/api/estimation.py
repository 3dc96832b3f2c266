"""Estimates: what a run will take, from its rehearsal, and from a few scenarios that are run first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from typing_extensions import Unpack

from sociable.api.folders import name_new_folder
from sociable.api.runs import RunOptions, make_settings, play_and_judge
from sociable.core.records import Usage
from sociable.core.seeding import draw_evenly, make_generator
from sociable.core.view import Document
from sociable.engine.event_loop import run_to_end
from sociable.engine.opening import OpenStudy, Watch, begin_run, open_run, open_study
from sociable.engine.rehearsal import rehearse
from sociable.engine.run import Run
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings
from sociable.engine.watching import watch_run
from sociable.models.journal import JournalledModel
from sociable.reports.estimates import Asked, Probe, make_estimate_document, sum_calls


def estimate(
    benchmark: str,
    model: str | None = None,
    *,
    probe: int = 0,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Unpack[RunOptions],
) -> Document:
    """Estimates the calls, tokens and price of a run at the most, as if every scenario went its longest way. Spends nothing.

    With ``probe`` the run is begun, in the folder ``out`` or a new one, and so many of its scenarios, drawn by lot, are run and
    judged: then the estimate is as they were, and tells the time as well. ``resume`` goes on from there.
    """
    asked = make_settings(benchmark, config, model=model, **settings)
    if probe:
        return _probe(asked, probe, Path(out) if out else name_new_folder(benchmark, asked.model), watch)
    return estimate_settings(asked)


def estimate_settings(asked: RunSettings) -> Document:
    """The same for settings that have been made."""
    opened = open_study(asked, build=())
    return make_estimate_document(opened, rehearse_run(opened))


def rehearse_run(opened: OpenStudy) -> dict[Asked, Usage]:
    """The calls of a whole run, as if every scenario went its longest way, by role and model."""
    scenarios, repeats = list(opened.study.scenarios), opened.settings.repeats
    return sum_calls(run_to_end(rehearse(opened.study, opened.seats, scenarios, repeats, references=opened.makes_references)))


def _probe(asked: RunSettings, count: int, path: Path, watch: Watch | None) -> Document:
    folder, opened = begin_run(asked, path)
    with folder, open_run(folder, opened, watch=watch) as (run, models):
        run.looks = None  # these scenarios are drawn for the estimate
        everything = opened.study.scenarios
        rehearsed = rehearse_run(opened)
        drawn = draw_evenly({"": everything}, count, make_generator(asked.seed, "probe"))
        opened.study.scenarios = {name: scenario for name, scenario in everything.items() if name in drawn}
        few = rehearse_run(opened)
        run_to_end(_play(run, opened, models))
        probe = Probe(
            folder=str(path),
            scenarios=len(drawn),
            rehearsed=few,
            used={(role, model): usage for model, role, usage in run.journal.sum_usage()},
            seconds={(role, model): seconds for model, role, seconds in run.journal.sum_seconds()},
            at_once=asked.max_connections or max((model.calls_at_once for model in models), default=1),
        )
    opened.study.scenarios = everything
    return make_estimate_document(opened, rehearsed, probe)


async def _play(run: Run, opened: OpenStudy, models: Sequence[JournalledModel]) -> None:
    async with watch_run(run, opened):
        await play_and_judge(run, opened, models, tuple(Role))
