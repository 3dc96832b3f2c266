"""Studies of many models: every run of a grid in one folder, played together in one event loop with one budget.

A study is a series of runs: ``series.json`` says which there are, and ``study.toml`` what was asked for. A finished run is never
touched again, also when models are added.

>>> import sociable
>>> sociable.study("study.toml")
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from sociable.api.leaderboard import write_leaderboard
from sociable.api.pooled_runs import note_earlier_calls, play_runs
from sociable.api.results import is_finished, load_result, read_scores
from sociable.api.series import is_series, read_series, write_series
from sociable.cluster.joining import join_cluster
from sociable.core.errors import InputError, RunFolderError
from sociable.core.records import EpisodeStatus, Outcome, Record, Usage, make_episode_id
from sociable.core.run_folder import SERIES_FILE, RunFolder, hold_lock, make_folder, write_atomically
from sociable.core.view import Document
from sociable.engine.event_loop import run_to_end
from sociable.engine.grid import Grid, GridRun, read_grid
from sociable.engine.opening import OpenStudy, Watch, find_prices, make_paths_absolute, open_study, read_settings
from sociable.engine.pool import ModelKey, Pool
from sociable.engine.rehearsal import RehearsedCall, rehearse
from sociable.engine.result import RunRecords, RunResult
from sociable.engine.seats import Role, Seats
from sociable.engine.settings import RunSettings, describe_replies, make_folder_name, make_unique, strip_endpoint
from sociable.engine.study import Judged
from sociable.models.journal import SHARED_ROLES
from sociable.models.limits import Budget, Price
from sociable.models.protocol import Model
from sociable.reports.estimates import Asked, make_usage_table
from sociable.reports.studies import RunState, make_study_document

STUDY_FILE = "study.toml"
LONGEST_NAME_BYTES = 200
"""Bytes of a run's name before its seed: file systems take 255."""


@dataclass(frozen=True)
class StudyPlan:
    """A study as it will be: every run by the name of its folder."""

    name: str
    runs: Mapping[str, RunSettings]
    conditions: Mapping[str, str]
    """By run the name of its condition; empty: none."""
    max_cost: float | None
    """The limit in US dollars for all runs together."""
    left_out: Mapping[str, RunSettings] = field(default_factory=dict)
    """Runs of earlier versions of the file: they stay on disk and are no part of the study any more."""
    remarks: tuple[str, ...] = ()
    text: str = ""
    """The file that asks for it; empty where it was read from its folder."""


class _Noted(Record):
    """What ``series.json`` says of a study beside its runs."""

    name: str
    max_cost: float | None = None
    conditions: dict[str, str] = {}
    left_out: dict[str, RunSettings] = {}
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyResult:
    """What came of a study: the state of every run, in the order of the plan."""

    folder: str
    runs: tuple[RunState, ...]

    @property
    def problems(self) -> dict[str, str]:
        """By run what kept it from its end."""
        return {run.name: run.problem for run in self.runs if run.problem}

    def load_results(self) -> Iterator[RunResult]:
        """The results of the runs that have scores, read one at a time."""
        return (load_result(Path(self.folder) / run.name) for run in self.runs if run.done)


def study(
    file: str | Path,
    *,
    out: str | Path | None = None,
    max_cost: float | None = None,
    watch: Watch | None = None,
    cluster: str | None = None,
    workers: int | None = None,
) -> StudyResult:
    """Plays what is missing of the study that a TOML file describes, in the folder ``out`` or ``runs/<name of the file>``.

    ``max_cost`` in US dollars is for all runs together, and goes before that of the file. ``cluster`` and ``workers`` are those
    of ``run``: all runs share them. A run that cannot go on is told in the result's ``problems``. Raises InputError before
    anything is spent, and RunStopped when all ended early and can be resumed.
    """
    folder = find_folder(Path(file), Path(out) if out else None)
    write_study(folder, plan_study(Path(file), folder, max_cost=max_cost))
    return resume_study(folder, watch=watch, cluster=cluster, workers=workers)


def find_folder(file: Path, out: Path | None = None) -> Path:
    """The folder of the study in ``file``: ``out``, or one called as the file is."""
    return out or Path("runs") / file.stem


# Planning.


def plan_study(file: Path, folder: Path, *, max_cost: float | None = None) -> StudyPlan:
    """The study that a file describes, with the runs that are in ``folder`` already under their names.

    Every run is checked as it would be on its own. Spends nothing. Raises InputError naming the line in the file.
    """
    _check_limit(max_cost)
    if (folder / "manifest.json").exists():
        raise InputError(f"{folder} holds a single run. Choose another --out for a study.")
    before = read_study(folder) if is_series(folder) else None
    earlier = {**before.left_out, **before.runs} if before else {}
    names = {_identify(settings): name for name, settings in earlier.items()}
    grid = read_grid(file)
    runs: dict[str, RunSettings] = {}
    conditions: dict[str, str] = {}
    models: dict[ModelKey, Model] = {}
    for run in grid.runs:
        limit = max_cost or run.settings.max_cost
        asked = make_paths_absolute(run.settings.model_copy(update={"max_cost": limit}))
        settings = asked.model_copy(update={"max_cost": None})
        name = names.get(_identify(settings)) or make_unique(_name_run(grid, run), earlier.keys() | runs.keys())
        names[_identify(settings)] = name
        try:
            opened = open_study(asked, models=models)
            if name in runs:
                raise InputError(f"its settings are those of another run, {name}. Leave one of the two out.")
            _refuse_other_version(folder / name, opened)
            if name not in earlier:
                _refuse_other_settings(folder / name, opened)
        except InputError as error:
            raise grid.blame(run, error) from None
        runs[name], conditions[name] = settings, run.condition
    if not runs:
        raise InputError(f"{file}: no run is left. {' '.join(grid.remarks)}".strip())
    left_out = {name: settings for name, settings in earlier.items() if name not in runs}
    text = file.read_text(encoding="utf-8")
    limit = max_cost or grid.runs[0].settings.max_cost
    return StudyPlan(file.stem, runs, conditions, limit, left_out, grid.remarks, text)


def _check_limit(max_cost: float | None) -> None:
    if max_cost is not None and not 0 < max_cost < inf:
        raise InputError(f"--max-cost {max_cost:g}: a limit in US dollars is a number above 0.")


def _identify(settings: RunSettings) -> str:
    return json.dumps(describe_replies(settings), sort_keys=True)


def _name_run(grid: Grid, run: GridRun) -> str:
    parts = [run.settings.benchmark, make_folder_name(run.settings.model), make_folder_name(run.condition)]
    name = "-".join(filter(None, parts)).encode()[:LONGEST_NAME_BYTES].decode(errors="ignore")
    return f"{name}-seed{run.settings.seed}" if grid.has_seeds else name


def _refuse_other_version(path: Path, opened: OpenStudy) -> None:
    """Raises InputError where what was played of a run is of another version, or other data, than what is added would be."""
    if not (path / "manifest.json").exists():
        return
    manifest = RunFolder.open(path, lock=False).read_manifest()
    now = {"version": opened.benchmark.version, **opened.study.digests}
    then = {"version": manifest["version"], **manifest["digests"]}
    if different := [name for name in now if now[name] != then.get(name)]:
        raise InputError(
            f"{path} was played by sociable {manifest['packages']['sociable']} with another {', '.join(different)}, so that "
            "the runs could not be compared. Use what it was played with, or choose another --out."
        )


def _refuse_other_settings(path: Path, opened: OpenStudy) -> None:
    """Raises InputError where a run that the study does not know of lies in the way: its numbers would be told as another's."""
    if not (path / "manifest.json").exists():
        return
    then = read_settings(RunFolder.open(path, lock=False).read_manifest(), path)
    if _identify(then) != _identify(opened.settings.model_copy(update=dict(opened.study.resolved))):
        raise InputError(
            f"{path} holds a run of other settings, of which the study knows nothing. Move it, or choose another --out."
        )


# The folder.


def write_study(folder: Path, plan: StudyPlan) -> None:
    """Notes which runs there are. Raises RunFolderError where another process plays them, and StorageFailure."""
    make_folder(folder)
    with hold_lock(folder):
        write_atomically(folder / STUDY_FILE, plan.text)
        _note(folder, plan)


def _note(folder: Path, plan: StudyPlan) -> None:
    noted = _Noted(
        name=plan.name,
        max_cost=plan.max_cost,
        conditions=dict(plan.conditions),
        left_out=dict(plan.left_out),
        remarks=plan.remarks,
    )
    described = {name: settings.model_dump(mode="json") for name, settings in plan.runs.items()}
    write_series(folder, described, study=noted.model_dump(mode="json"))


def is_study(folder: Path) -> bool:
    return is_series(folder) and "study" in read_series(folder)[1]


def read_study(folder: Path) -> StudyPlan:
    """The study in a folder. Raises RunFolderError where there is none."""
    runs, noted = read_series(folder)
    if "study" not in noted:
        raise RunFolderError(f"{folder} holds a series of runs that is no study. Choose another --out.")
    try:
        own = _Noted.model_validate(noted["study"], strict=False)
    except ValueError as error:
        raise RunFolderError(
            f"{folder / SERIES_FILE}: cannot be read ({str(error).splitlines()[0]}). Report its runs one by one."
        ) from None
    return StudyPlan(own.name, runs, own.conditions, own.max_cost, own.left_out, own.remarks)


# Playing.


def resume_study(
    folder: Path,
    *,
    max_cost: float | None = None,
    offline: bool = False,
    watch: Watch | None = None,
    cluster: str | None = None,
    workers: int | None = None,
) -> StudyResult:
    """Plays every run that is not finished, all together. Raises RunStopped where all are stopped and can be resumed.

    ``max_cost`` takes the place of the limit so far. ``offline`` nobody is asked: all comes from the journals.
    """
    _check_limit(max_cost)
    if offline and cluster:
        raise InputError("Offline nobody is asked: leave --cluster out, or --offline.")
    with hold_lock(folder), join_cluster(cluster, workers) as joined:
        plan = read_study(folder)
        if max_cost is not None:
            plan = replace(plan, max_cost=max_cost)
            _note(folder, plan)
        missing = {name: settings for name, settings in plan.runs.items() if offline or not is_finished(folder / name)}
        pool = Pool(Budget(_find_prices(plan, None if offline else plan.max_cost), plan.max_cost))
        note_earlier_calls(folder, plan.runs, plan.left_out, pool)

        def change_limit(changed: float) -> None:
            _find_prices(plan, changed)  # a limit is of no use where a price is missing
            _note(folder, replace(plan, max_cost=changed))
            pool.budget.change_limit(changed)

        problems = run_to_end(play_runs(folder, missing, pool, change_limit, offline=offline, watch=watch, cluster=joined))
        if stop := pool.budget.stopped:
            for name, problem in problems.items():
                if problem is not stop:
                    stop.add_note(f"{name}: {problem}")
            raise stop
        return load_study_result(folder, {name: str(error) for name, error in problems.items()})


def _find_prices(plan: StudyPlan, limit: float | None) -> dict[str, Price]:
    """The prices of all models of a study. Raises InputError where there is a limit and a model has none."""
    prices: dict[str, Price] = {}
    for settings in plan.runs.values():
        opened = open_study(settings, build=())
        prices |= find_prices(settings.model_copy(update={"max_cost": limit}), opened.seats)
    return prices


def load_study_result(folder: Path, problems: Mapping[str, str] = {}) -> StudyResult:
    """A study as far as it has been played. Calls no model."""
    plan = read_study(folder)
    return StudyResult(str(folder), tuple(_read_state(folder, plan, name, problems.get(name, "")) for name in plan.runs))


def _read_state(folder: Path, plan: StudyPlan, name: str, problem: str) -> RunState:
    settings, path = plan.runs[name], folder / name
    model = strip_endpoint(settings.model)
    state = RunState(name, settings.benchmark, model, plan.conditions.get(name, ""), settings.seed, problem=problem)
    if not (path / "manifest.json").exists():
        return state
    manifest = RunFolder.open(path, lock=False).read_manifest()
    scores = read_scores(path).scores if (path / "scores.json").exists() else ()
    calls, shared = (sum(usage["calls"] for usage in manifest.get(name, {}).values()) for name in ("usage", "shared"))
    return replace(
        state,
        episodes=manifest["episodes"],
        done=len({(score.scenario, score.repeat) for score in scores}),
        errored=len({(score.scenario, score.repeat) for score in scores if score.outcome is Outcome.ERRORED}),
        calls=calls,
        shared=shared,
        cost=sum(manifest.get("cost", {}).values()),
    )


def show_study(folder: Path, problems: Mapping[str, str] = {}) -> Document:
    """The document on a study as it stands."""
    plan = read_study(folder)
    gone = f"No part of it any more: {', '.join(plan.left_out)}." if plan.left_out else ""
    remarks = [*plan.remarks, *([gone] if gone else [])]
    return make_study_document(plan.name, load_study_result(folder, problems).runs, remarks)


def rank_study(folder: Path, out: Path | None = None) -> tuple[Document, Path] | None:
    """(the leaderboard of a study, the folder to which it was written); None where no run has scores yet."""
    if not any((folder / name / "scores.json").exists() for name in read_study(folder).runs):
        return None
    target = out or folder
    return write_leaderboard([folder], target), target


# Estimates.


def estimate_study(plan: StudyPlan, folder: Path) -> Document:
    """The calls, tokens and price of all that is missing, at the most. Spends nothing.

    Calls of partners and references that come before the model under test has said anything are the same for all models, and
    count once; of those that come later nobody knows yet.
    """
    used: dict[Asked, Usage] = {}
    prices: dict[str, Price] = {}
    seen: dict[tuple[str, int], set[bytes]] = defaultdict(set)
    runs = episodes = 0
    for name, settings in plan.runs.items():
        if is_finished(folder / name):
            continue
        opened = open_study(settings, build=())
        missing = _list_missing(opened, folder / name)
        runs, episodes = runs + bool(missing), episodes + len(missing) * settings.repeats
        prices |= opened.prices
        for scenario in missing:
            calls = run_to_end(
                rehearse(opened.study, opened.seats, [scenario], settings.repeats, references=opened.makes_references)
            )
            for call in _list_bought(calls, opened.seats, seen[settings.benchmark, settings.seed]):
                asked = (call.role.value, call.model)
                used[asked] = used.get(asked, Usage()) + call.usage
    return Document(
        title=f"Estimate for the study {plan.name}",
        subtitle=f"{runs} runs, {episodes:,} episodes",
        summary=make_usage_table(
            "Calls and tokens of what is missing, at the most: as if every case went its longest way",
            used,
            prices,
            "Tokens are estimated from characters. Further calls of partners and judges may turn out to be the same in two runs.",
        ),
        sections=[],
    )


def _list_missing(opened: OpenStudy, folder: Path) -> list[str]:
    """The scenarios of a run of which something is still to be played or judged."""
    study, repeats = opened.study, range(opened.settings.repeats)
    records = RunRecords.open(folder, study)

    def is_done(scenario: str, repeat: int) -> bool:
        episode = records.episodes.find(make_episode_id(scenario, repeat))
        if episode is None or episode.status is not EpisodeStatus.COMPLETED:
            return False
        tasks = study.list_judging_tasks(episode, opened.seats.judges) if isinstance(study, Judged) else []
        return all(task.id in records.judgments for task in tasks)

    return [scenario for scenario in study.scenarios if not all(is_done(scenario, repeat) for repeat in repeats)]


def _list_bought(calls: Sequence[RehearsedCall], seats: Seats, seen: set[bytes]) -> Iterator[RehearsedCall]:
    """The calls of one scenario that no run before has made; those that any model meets alike are ``seen`` once."""
    of_references = {call.request.scope.item for call in calls if call.role is Role.REFERENCE}
    # Where a reference agent is under test, nobody knows when it has spoken.
    is_alike = seats.subject.model is not None
    for call in calls:
        scope = call.request.scope
        is_alike = is_alike and call.role not in (Role.SUBJECT, Role.OPPONENT)
        key = scope.make_key(call.request.to_json(call.model))
        if scope.role in SHARED_ROLES and (is_alike or scope.item in of_references):
            if key in seen:
                continue
            seen.add(key)
        yield call
