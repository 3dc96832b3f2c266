"""Runs: begun, resumed, judged again, scored.

>>> import sociable
>>> result = sociable.run("hsii", model="openai-compatible/qwen2.5-7b@http://127.0.0.1:8000/v1")
>>> result.estimate("r2")
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypedDict

from typing_extensions import Unpack

from sociable.api.folders import name_new_folder
from sociable.api.results import make_result
from sociable.cluster.joining import Cluster, begin_crew, hand_over, join_cluster
from sociable.core.errors import InputError, Interrupted, RunStopped
from sociable.core.form import PeopleAt
from sociable.core.records import Outcome
from sociable.core.run_folder import RunFolder
from sociable.engine.event_loop import run_to_end, stop_on_interrupt
from sociable.engine.opening import (
    OpenStudy,
    Watch,
    begin_run,
    describe_roles,
    open_run,
    read_settings,
    reopen_study,
)
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.result import RunRecords, RunResult, read_references
from sociable.engine.run import Run
from sociable.engine.seats import Role
from sociable.engine.settings import (
    RoleSettings,
    RunSettings,
    add_role_defaults,
    change_settings,
    load_settings,
    read_roles_and_prices,
)
from sociable.engine.stopping import Looks, measure_half_width, narrow
from sociable.engine.study import Referenced
from sociable.engine.watching import select_main, watch_run
from sociable.models.journal import JournalledModel
from sociable.models.limits import Price


class RunOptions(TypedDict, total=False):
    """The arguments of ``run`` and ``estimate`` beside benchmark and model; ``RunSettings`` explains them."""

    partner: str | None
    opponent: str | None
    judges: Sequence[str] | str
    rubric: str | None
    raters: Sequence[str]
    people: Sequence[str] | str
    reference: str | None
    reference_file: str | Path | None
    dataset: str | Path | None
    skip_invalid: bool
    limit: int | None
    scenarios: Sequence[str]
    until: str | None
    seed: int
    repeats: int
    max_connections: int | None
    max_cost: float | None
    base_url: str | None
    prompts: str | Path | None
    roles: dict[str, RoleSettings]
    prices: dict[str, Price]
    options: dict[str, Any]


def run(
    benchmark: str,
    model: str | None = None,
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    cluster: str | None = None,
    workers: int | None = None,
    **settings: Unpack[RunOptions],
) -> RunResult:
    """Runs a benchmark and scores it. ``settings`` go before those of the TOML file ``config``.

    Returns the result; the run folder (``out``, or ``runs/<benchmark>-<model>-<time>``) holds everything else. ``watch`` is
    called whenever a count changes; ``people_at`` is where people answer, if some take part. ``cluster`` (``ray``, or
    ``ray://HOST:PORT``) has its ``workers`` do the work, by default one for each of its processors. Raises InputError before
    anything is spent, and RunStopped when the run ended early and can be resumed.
    """
    asked = make_settings(benchmark, config, model=model, **settings)
    path = Path(out) if out else name_new_folder(benchmark, asked.model)
    return run_settings(asked, path, watch=watch, people_at=people_at, cluster=cluster, workers=workers)


def run_settings(
    asked: RunSettings,
    path: Path,
    *,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    cluster: str | None = None,
    workers: int | None = None,
) -> RunResult:
    """Begins and finishes a run in a new folder."""
    with join_cluster(cluster, workers) as joined:
        folder, opened = begin_run(asked, path, models=joined.stand_in(asked) if joined else None)
        with folder:
            return _finish(folder, opened, watch=watch, people_at=people_at, cluster=joined)


def make_settings(benchmark: str, config: str | Path | None, *, elsewhere: Sequence[str] = (), **settings: Any) -> RunSettings:
    """The settings that the user asks for, on top of what the benchmark prefers."""
    found = find_benchmark(benchmark)
    paths = {name: str(given) for name, given in settings.items() if isinstance(given, Path)}
    file, beside = Path(config) if config else None, list_benchmark_names()
    asked = load_settings(benchmark, file, elsewhere=elsewhere, beside=beside, **{**settings, **paths})
    return add_role_defaults(asked, found.role_defaults)


def resume(
    folder: str | Path,
    *,
    config: str | Path | None = None,
    max_cost: float | None = None,
    offline: bool = False,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    cluster: str | None = None,
    workers: int | None = None,
) -> RunResult:
    """Goes on with a run: finished records are kept, paid calls come from the journal, errored episodes are run again.

    ``config`` is a TOML file with ``roles`` and ``prices`` on top of the run's own: another key, another address.
    ``offline`` needs neither key nor network: what the journal does not hold is errored. So a published run can be played
    again from its manifest, its ``calls.sqlite`` and, where they came from another run, its ``references.jsonl``. ``cluster``
    and ``workers`` are those of ``run``; where the run was begun does not matter.
    """
    if offline and cluster:
        raise InputError("Offline nobody is asked: leave --cluster out, or --offline.")
    path = Path(folder)
    with RunFolder.open(path) as locked, join_cluster(cluster, workers) as joined:
        before = read_settings(locked.read_manifest(), path)
        changed = change_settings(before, max_cost=max_cost, **read_roles_and_prices(before, config))
        opened = reopen_study(
            locked,
            changed if changed != before else None,
            build=() if offline else tuple(Role),
            models=joined.stand_in(changed) if joined else None,
        )
        if changed != before:
            locked.write_manifest(locked.read_manifest() | describe_roles(changed))
        return _finish(locked, opened, watch=watch, offline=offline, people_at=people_at, cluster=joined)


_FOR_JUDGING = (Role.JUDGE, Role.REFERENCE, Role.PARTNER)
"""Partner and reference may have to make the reference conversations first."""


def judge(
    folder: str | Path,
    judges: Sequence[str] = (),
    *,
    rubric: str | None = None,
    config: str | Path | None = None,
    reference: str | None = None,
    reference_file: str | Path | None = None,
    max_cost: float | None = None,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    cluster: str | None = None,
    workers: int | None = None,
) -> RunResult:
    """Has other judges look at the episodes of a run; no episode is run again. Earlier judgments stay in the folder.

    With ``rubric`` (``sotopia``) the judges, by default those of the run, rate every participant that has a goal, and the
    panel stays as it is. The panel of an unfinished run cannot be changed. ``config`` is a TOML file with ``roles`` and
    ``prices`` for the judges. A reference can be named only for a run that has none yet. ``cluster`` and ``workers`` are those
    of ``run``. Raises InputError before anything in the folder is changed.
    """
    path = Path(folder)
    with RunFolder.open(path) as locked, join_cluster(cluster, workers) as joined:
        before = read_settings(locked.read_manifest(), path)
        if (reference or reference_file) and (path / "references.jsonl").exists():
            raise InputError(
                f"{path} has its references already; they stay as they are. Leave --reference and --reference-file out."
            )
        if not judges and not rubric:
            raise InputError("Name at least one judge, or a rubric.")
        if judges and not rubric:
            _check_finished(locked)
        named = {"rubric": rubric, "raters": tuple(judges) or before.judges} if rubric else {"judges": tuple(judges)}
        changed = change_settings(
            before,
            **named,
            reference=reference,
            reference_file=str(Path(reference_file).resolve()) if reference_file else None,
            max_cost=max_cost,
            **read_roles_and_prices(before, config),
        )
        models = joined.stand_in(changed) if joined else None
        opened = reopen_study(locked, changed, build=_FOR_JUDGING, models=models, references_adopted=not reference_file)
        locked.write_manifest(locked.read_manifest() | describe_roles(changed))
        return _finish(locked, opened, build=_FOR_JUDGING, watch=watch, people_at=people_at, cluster=joined)


def _check_finished(folder: RunFolder) -> None:
    """Raises InputError for a run that has judges of its own and episodes that were not run: they are its judges' to judge."""
    manifest, opened = folder.read_manifest(), reopen_study(folder, only_read=True)
    records = RunRecords.open(folder.path, opened.study)
    missing = manifest["episodes"] - len(records.episodes)
    if manifest["models"]["judges"] and missing:
        raise InputError(
            f"{folder.path} is not finished: {missing} of {manifest['episodes']} episodes are missing, and other judges would "
            f"take the place of its own. Finish it first: sociable resume {folder.path}"
        )


def score(folder: str | Path) -> RunResult:
    """Scores again from the records on disk. Calls no model and needs no key."""
    with RunFolder.open(Path(folder)) as locked:
        opened = reopen_study(locked, only_read=True)
        with open_run(locked, opened, build=()) as (run_, _):
            run_.score(opened.benchmark.name, opened.benchmark.version)
            return make_result(opened, locked, run_.records)


def _finish(
    folder: RunFolder,
    opened: OpenStudy,
    *,
    build: Collection[Role] = tuple(Role),
    watch: Watch | None = None,
    offline: bool = False,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    cluster: Cluster | None = None,
) -> RunResult:
    """Carries a run out, as far as it has not been, and scores it."""
    with open_run(folder, opened, build=build, offline=offline, watch=watch, people_at=people_at) as (run_, models):
        run_to_end(_go_on(run_, opened, models, build, cluster))
        return make_result(opened, folder, run_.records)


async def _go_on(
    run_: Run, opened: OpenStudy, models: Sequence[JournalledModel], build: Collection[Role], cluster: Cluster | None
) -> None:
    async with watch_run(run_, opened, build) as keeper:
        async with begin_crew(cluster) as crew, hand_over(crew, run_, opened, models, build):
            await play_and_judge(run_, opened, models, build)
        try:
            scored = run_.score(opened.benchmark.name, opened.benchmark.version)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted while scores were worked out. All that was said and judged is kept.") from None
        keeper.note_estimates(select_main(run_.study, scored.estimates), len(run_.records.episodes))


async def play_and_judge(run_: Run, opened: OpenStudy, models: Sequence[JournalledModel], build: Collection[Role]) -> None:
    """All of a run that asks models: references, episodes, judgments, ratings. Raises RunStopped."""
    try:
        with stop_on_interrupt(run_.budget):
            await ask_everybody(run_, opened, models, build)
    finally:
        for model in models:
            await model.close()


async def ask_everybody(run_: Run, opened: OpenStudy, models: Sequence[JournalledModel], build: Collection[Role]) -> None:
    """The same for one of several runs, whose models stay open and which are interrupted together."""
    try:
        file, study = opened.settings.reference_file, run_.study
        if file and isinstance(study, Referenced) and study.needs_references and run_.missing_references:
            run_.adopt_references(read_references(Path(file), study, run_.seats))
        if run_.looks is None:
            await _ask_all(run_, opened, build)
        elif Role.SUBJECT in build:
            await _ask_until_narrow(run_, run_.looks, opened, build)
        else:
            played = {episode.scenario for episode in run_.records.episodes}
            with narrow(study, {name: each for name, each in study.scenarios.items() if name in played}):
                await _ask_all(run_, opened, build)
    except RunStopped:
        await run_.budget.wait_for_calls()
        raise
    finally:
        with contextlib.suppress(RunStopped):
            _note_what_happened(run_, models)


async def _ask_all(run_: Run, opened: OpenStudy, build: Collection[Role]) -> None:
    """All that is missing of the scenarios that the study holds."""
    if opened.makes_references:
        await run_.make_references()
    if Role.SUBJECT in build:
        await run_.run_episodes()
    if run_.seats.judges:
        await run_.judge()
    await run_.rate()


MOST_ERRORED = 0.1
"""The share of errored episodes above which a run that ends by rule does not go on."""


async def _ask_until_narrow(run_: Run, looks: Looks, opened: OpenStudy, build: Collection[Role]) -> None:
    """Takes as many clusters as its rule asks for, look by look, and notes in the manifest where it ended.

    It ends without a look, and can be resumed, where too many episodes are errored; and at the first look where no case has a
    value. Each look sees the clusters before it and nothing else, so that a run that is resumed takes the same looks.
    """
    study = run_.study
    for count in looks.counts:
        taken = looks.take(study, count)
        with narrow(study, taken):
            await _ask_all(run_, opened, build)
            scores = run_.score_episodes()
        episodes = {(score.scenario, score.repeat) for score in scores}
        errored = {(score.scenario, score.repeat) for score in scores if score.outcome is Outcome.ERRORED}
        if len(errored) > MOST_ERRORED * len(episodes):
            # No look is taken at what an outage left over, and none of the rest is begun: to resume mends it.
            return
        estimate = looks.find_estimate(study, scores)
        if looks.is_met(estimate) or looks.is_hopeless(count, estimate):
            break
    stopped = {
        "rule": str(looks.rule),
        "is_met": looks.is_met(estimate),
        "is_hopeless": looks.is_hopeless(count, estimate),
        "half_width": measure_half_width(estimate),
        "look": looks.counts.index(count) + 1,
        "looks": len(looks.counts),
        "clusters": count,
        "of": len(looks.order),
    }
    # A probe may have played cases of later clusters; they were drawn by lot as well.
    played = {*taken, *(episode.scenario for episode in run_.records.episodes)}
    changed = {"stopped": stopped, "episodes": len(played) * run_.repeats}
    run_.folder.write_manifest(run_.folder.read_manifest() | changed)


def _note_what_happened(run_: Run, models: Sequence[JournalledModel]) -> None:
    """Writes into the manifest what was spent so far, by role, and what failed or had to be asked otherwise this time."""
    manifest = run_.folder.read_manifest()
    manifest["usage"] = {role: usage.model_dump() for role, usage in sorted(run_.budget.usage.items())}
    manifest["cost"] = {role: round(cost, 6) for role, cost in sorted(run_.budget.cost.items())}
    if run_.budget.shared:
        manifest["shared"] = {role: usage.model_dump() for role, usage in sorted(run_.budget.shared.items())}
    manifest["seconds"] = run_.journal.measure_seconds()
    taught = {model.name: model.adaptations for model in models if model.adaptations}
    manifest["adaptations"] = manifest.get("adaptations", {}) | taught
    manifest["failures"] = dict(run_.failures.most_common(10))
    run_.folder.write_manifest({name: value for name, value in manifest.items() if name != "format"})
