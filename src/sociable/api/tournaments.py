"""Tournaments: every pair of models meets in a run of its own, and ratings come of all of them.

A tournament is a series of runs in one folder: ``series.json`` says who takes part and which runs there are; ``tournament.json``
and ``tournament.html`` what came of them. A finished run is never touched again, also when models are added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from typing_extensions import Unpack

from sociable.api.estimation import rehearse_run
from sociable.api.folders import name_new_folder
from sociable.api.reports import report, write_document
from sociable.api.results import is_finished, load_result
from sociable.api.runs import RunOptions, resume, run_settings, score
from sociable.api.series import is_series, make_folder, read_series, write_series
from sociable.core.errors import CostLimitReached, InputError, RunFolderError
from sociable.core.form import PeopleAt
from sociable.core.records import Record, Usage
from sociable.core.run_folder import SERIES_FILE, RunFolder, hold_lock, write_atomically
from sociable.core.view import Document
from sociable.engine.benchmark import Benchmark
from sociable.engine.opening import Watch, make_paths_absolute, open_study, read_settings
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.engine.settings import (
    SETTINGS_OF_NO_REPLY,
    RoleSettings,
    RunSettings,
    add_role_defaults,
    load_settings,
    name_pair,
    strip_endpoint,
)
from sociable.models.limits import Price
from sociable.reports.estimates import Asked, describe_rehearsal, make_usage_table
from sociable.reports.tournaments import Pair, Tournament, make_tournament_document, make_tournament_record

_EACH_OWN = frozenset({"benchmark", "model", "opponent", "roles", "options"})
"""Settings that are compared in a way of their own where models are added."""


def duel(
    benchmark: str,
    models: Sequence[str] = (),
    *,
    out: str | Path | None = None,
    anchors: bool = False,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Unpack[RunOptions],
) -> Tournament:
    """Has every pair of models meet, or adds models to the tournament in the folder ``out``, and rates all who take part.

    ``anchors`` adds the benchmark's reference agents of known ability. ``settings`` hold for all runs; ``max_cost`` is for all of
    them together. Returns the tournament with its ``ratings``; the folder (``out``, or a new one under ``runs``) holds everything
    else. Raises InputError before anything is spent, and RunStopped when it ended early and can be resumed.
    """
    folder = Path(out) if out else None
    plan = plan_tournament(benchmark, models, folder=folder, anchors=anchors, config=config, **settings)
    folder = folder or name_new_folder(plan.benchmark.name, "tournament")
    write_tournament(folder, plan)
    resume_tournament(folder, watch=watch)
    tournament = load_tournament(folder)
    report_tournament(tournament, folder)
    return tournament


@dataclass(frozen=True)
class Plan:
    """A tournament as it will be: who takes part, and every pair's run by the name of its folder."""

    benchmark: Benchmark
    participants: tuple[str, ...]
    runs: Mapping[str, RunSettings]
    max_cost: float | None = None
    """The limit in US dollars for all runs together."""
    new: frozenset[str] = field(default_factory=frozenset)
    """The runs that are not in the folder yet."""


class _Noted(Record):
    """What ``series.json`` says of a tournament beside its runs."""

    participants: tuple[str, ...]
    max_cost: float | None


def plan_tournament(
    benchmark: str,
    models: Sequence[str],
    *,
    folder: Path | None = None,
    anchors: bool = False,
    config: str | Path | None = None,
    **given: Any,
) -> Plan:
    """The tournament of ``models``, or the one in ``folder`` with them added. Spends nothing.

    ``anchors`` adds the benchmark's reference agents of known ability, where they do not take part already. ``given`` are
    settings of all runs, with the names of ``RunSettings``; in a tournament that is there already they may be left out, and must
    not differ. Every run is checked as it would be on its own. Raises InputError.
    """
    found = find_duels(benchmark)
    if folder and (folder / "manifest.json").exists():
        raise InputError(f"{folder} holds a single run. Choose another --out for a tournament.")
    before = read_tournament(folder) if folder and is_series(folder) else None
    known = {strip_endpoint(name) for name in (before.participants if before else ())}
    agents = [f"reference/{agent}" for agent in found.anchors if anchors]
    added = [*models, *(name for name in agents if name not in known.union(models))]
    if len({strip_endpoint(name) for name in added}) < len(added):
        raise InputError("A model is named twice; nobody can meet itself.")
    if again := [name for name in added if strip_endpoint(name) in known]:
        raise InputError(
            f"{strip_endpoint(again[0])} takes part in {folder} already: leave it out. "
            f"What is missing is played by: sociable resume {folder}"
        )
    if before and not added:
        raise InputError(
            f"Nobody is named who is not in {folder} already. What is missing is played by: sociable resume {folder}"
        )
    participants = (*(before.participants if before else ()), *added)
    if len(participants) < 2:
        raise InputError("A tournament needs two models or more: name each with --model, or add reference agents with --anchors.")
    pairs = [pair for pair in combinations(participants, 2) if not known.issuperset(map(strip_endpoint, pair))]
    asked = {pair: _ask(found, pair, participants, config, given) for pair in pairs}
    limit = next(iter(asked.values())).max_cost
    if before:
        limit = before.max_cost if limit is None else limit
        _refuse_differences(before, next(iter(asked.values())), found)
        asked = {pair: _adopt(before, pair, own) for pair, own in asked.items()}
    runs = dict(before.runs if before else {})
    for pair, own in asked.items():
        settings = make_paths_absolute(add_role_defaults(own, found.role_defaults))
        open_study(settings, build=())
        runs[name_pair(*pair, runs)] = settings
    return Plan(found, participants, runs, limit, frozenset(runs.keys() - (before.runs if before else {}).keys()))


def find_duels(benchmark: str) -> Benchmark:
    """The benchmark in which two models meet, of this name or named by the benchmark of this name. Raises InputError."""
    found = find_benchmark(benchmark)
    if not found.duels:
        others = [name for name in list_benchmark_names() if find_benchmark(name).duels]
        raise InputError(f"In {benchmark} no two models meet; they do in: {', '.join(others) or 'none'}.")
    return find_benchmark(found.duels)


def _ask(
    benchmark: Benchmark, pair: tuple[str, str], participants: Sequence[str], config: str | Path | None, given: Mapping[str, Any]
) -> RunSettings:
    """The settings of one pair's run as the user asks for them; whatever holds for the subject holds for the opponent."""
    file, named = Path(config) if config else None, {**given, "model": pair[0], "opponent": pair[1]}
    asked = load_settings(benchmark.name, file, elsewhere=participants, beside=list_benchmark_names(), **named)
    if Role.OPPONENT in asked.roles:
        raise InputError(f"{config}: everybody sits in both roles in a tournament. Write [roles.subject]; it holds for both.")
    seated = {Role.OPPONENT: asked.roles[Role.SUBJECT]} if Role.SUBJECT in asked.roles else {}
    return asked.model_copy(update={"roles": asked.roles | seated})


def _refuse_differences(before: Plan, asked: RunSettings, benchmark: Benchmark) -> None:
    """Raises InputError where the user asks for other settings than those by which a tournament was played so far."""
    old, new = next(iter(before.runs.values())), make_paths_absolute(asked)
    if old.benchmark != benchmark.name:
        raise InputError(f"That tournament is one of {old.benchmark}, not of {benchmark.name}.")
    said = [name for name in new.model_fields_set - _EACH_OWN - SETTINGS_OF_NO_REPLY if getattr(old, name) != getattr(new, name)]
    different = [f"{name} ({getattr(old, name)}, now {getattr(new, name)})" for name in sorted(said)]
    own = [benchmark.parse_options(settings.options) for settings in (old, new)]
    for name in sorted(new.options):
        values = [getattr(options, name) for options in own]
        if values[0] != values[1]:
            different.append(f"{name} ({values[0]}, now {values[1]})")
    known, full = _collect_roles(before), add_role_defaults(new, benchmark.role_defaults).roles
    # Whoever is added may bring settings of its own; all others were there, with these or with what there is by default.
    others = sorted(new.roles.keys() - {strip_endpoint(new.opponent or ""), Role.OPPONENT})
    different += [f"roles.{key}" for key in others if full[key] != known.get(key, RoleSettings())]
    if different:
        raise InputError(
            f"All pairs of a tournament are played by the same settings. These differ: {'; '.join(different)}. "
            "Leave them out, or begin a tournament of its own."
        )


def _collect_roles(plan: Plan) -> dict[str, Any]:
    return {key: role for settings in plan.runs.values() for key, role in settings.roles.items()}


def _adopt(before: Plan, pair: tuple[str, str], asked: RunSettings) -> RunSettings:
    """The settings of a tournament for a pair that is added to it."""
    old = next(iter(before.runs.values()))
    changed = {name: getattr(asked, name) for name in asked.model_fields_set & SETTINGS_OF_NO_REPLY}
    moved = old.model_copy(update={"model": pair[0], "opponent": pair[1], **changed, "roles": {}})
    present = {*Role, *(strip_endpoint(name) for _, name in moved.list_models()), *map(strip_endpoint, moved.raters)}
    roles = {key: role for key, role in {**asked.roles, **_collect_roles(before)}.items() if key in present}
    return moved.model_copy(update={"roles": roles})


def write_tournament(folder: Path, plan: Plan) -> None:
    """Notes who takes part and which runs there are.

    Raises InputError where a new run cannot be begun, or what was played is of another version or other data.
    """
    for name in plan.new:
        open_study(plan.runs[name])
    _refuse_other_versions(folder, plan)
    make_folder(folder)
    with hold_lock(folder):
        _note(folder, plan)


def _note(folder: Path, plan: Plan) -> None:
    noted = _Noted(participants=plan.participants, max_cost=plan.max_cost).model_dump(mode="json")
    write_series(folder, {name: settings.model_dump(mode="json") for name, settings in plan.runs.items()}, tournament=noted)


def _refuse_other_versions(folder: Path, plan: Plan) -> None:
    begun = next((name for name in plan.runs if (folder / name / "manifest.json").exists()), None)
    if begun is None:
        return
    manifest = RunFolder.open(folder / begun, lock=False).read_manifest()
    study = open_study(plan.runs[begun], build=()).study
    now = {"version": plan.benchmark.version} | {f"{name} digest": digest for name, digest in study.digests.items()}
    then = {"version": manifest["version"]} | {f"{name} digest": digest for name, digest in manifest["digests"].items()}
    if different := [name for name in now if now[name] != then.get(name)]:
        program = manifest["packages"]["sociable"]
        raise InputError(
            f"{folder} was played by sociable {program} with another {', '.join(different)}: what is added could not be compared "
            "with it. Use that version, or begin a tournament of its own."
        )


def is_tournament(folder: Path) -> bool:
    return is_series(folder) and "tournament" in read_series(folder)[1]


def read_tournament(folder: Path) -> Plan:
    """The tournament in a folder. Raises RunFolderError where there is none."""
    runs, noted = read_series(folder)
    if "tournament" not in noted:
        raise RunFolderError(f"{folder} holds a series of runs that is no tournament. Choose another --out.")
    try:
        own = _Noted.model_validate(noted["tournament"])
        benchmark = find_benchmark(next(iter(runs.values())).benchmark)
    except (ValidationError, StopIteration) as error:
        problem = str(error).splitlines()[0] if str(error) else "no runs"
        raise RunFolderError(f"{folder / SERIES_FILE}: cannot be read ({problem}). Report its runs one by one.") from None
    return Plan(benchmark, own.participants, {name: _find_settings(folder / name, runs[name]) for name in runs}, own.max_cost)


def _find_settings(path: Path, planned: RunSettings) -> RunSettings:
    """The settings of a run: those that it was begun by and judged by since, else those that were planned."""
    begun = (path / "manifest.json").exists()
    return read_settings(RunFolder.open(path, lock=False).read_manifest(), path) if begun else planned


def estimate_tournament(plan: Plan) -> Document:
    """The calls, tokens and price of the runs that are new, at the most. Spends nothing."""
    used: dict[Asked, Usage] = {}
    prices: dict[str, Price] = {}
    opened = [open_study(plan.runs[name], build=()) for name in plan.runs if name in plan.new]
    for each in opened:
        prices |= each.prices
        for asked, usage in rehearse_run(each).items():
            used[asked] = used.get(asked, Usage()) + usage
    duels = sum(len(each.study.scenarios) * each.settings.repeats for each in opened)
    caption = describe_rehearsal(plan.benchmark)
    return Document(
        title=f"Estimate for a tournament of {plan.benchmark.name}",
        subtitle=f"{len(opened)} pair{'s' if len(opened) > 1 else ''}, {duels:,} {plan.benchmark.scenarios_called} in all",
        summary=make_usage_table(caption, used, prices, "Tokens are estimated from characters."),
        sections=[],
    )


def resume_tournament(
    folder: Path,
    *,
    max_cost: float | None = None,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
) -> None:
    """Plays every pair that is not finished. Raises RunStopped where a run is stopped, or all together may cost no more.

    ``max_cost`` takes the place of the limit so far.
    """
    with hold_lock(folder):
        plan = read_tournament(folder)
        if max_cost is not None:
            plan = replace(plan, max_cost=max_cost)
            _note(folder, plan)
        for name, settings in plan.runs.items():
            path = folder / name
            if is_finished(path):
                continue
            left = _find_left_over(folder, plan, name)
            try:
                if (path / "manifest.json").exists():
                    played = resume(path, max_cost=left, watch=watch, people_at=people_at)
                else:
                    played = run_settings(settings.model_copy(update={"max_cost": left}), path, watch=watch, people_at=people_at)
            except CostLimitReached as stop:
                stop.add_note(f"That is what was left of ${plan.max_cost:.4f} for all pairs together.")
                raise
            report(played)


def _find_left_over(folder: Path, plan: Plan, name: str) -> float | None:
    """What a run may cost, in US dollars, so that all together keep the limit; None: no limit."""
    if plan.max_cost is None:
        return None
    others = (folder / other / "manifest.json" for other in plan.runs if other != name)
    manifests = (RunFolder.open(file.parent, lock=False).read_manifest() for file in others if file.exists())
    left = plan.max_cost - sum(sum(manifest.get("cost", {}).values()) for manifest in manifests)
    if left <= 0:
        raise CostLimitReached(
            f"The pairs that were played cost all of the ${plan.max_cost:.4f}. Nothing is lost: resume with a higher --max-cost."
        )
    return left


def require_finished(folder: Path) -> None:
    """Raises InputError for a tournament some of whose pairs are not finished."""
    for name in read_tournament(folder).runs:
        if not is_finished(folder / name):
            raise InputError(f"{folder / name} is not finished. Play what is missing first: sociable resume {folder}")


def report_tournament(tournament: Tournament, folder: Path, out: Path | None = None) -> tuple[Document, Path]:
    """(the report on a tournament as far as it has been played, where it was written). Calls no model.

    ``tournament.json`` is written into the folder as well.
    """
    path = out or folder / "tournament.html"
    document = write_document(make_tournament_document(tournament), path)
    record = json.dumps(make_tournament_record(tournament), indent=1, ensure_ascii=False)
    write_atomically(folder / "tournament.json", record + "\n")
    return document, path


def load_tournament(folder: str | Path) -> Tournament:
    """A tournament as far as it has been played, with its ratings. Calls no model."""
    plan = read_tournament(Path(folder))
    return Tournament(plan.benchmark, tuple(map(strip_endpoint, plan.participants)), list(_read_pairs(Path(folder), plan)))


def _read_pairs(folder: Path, plan: Plan) -> Iterator[Pair]:
    for name, settings in plan.runs.items():
        assert settings.opponent
        run, problem = _read_run(folder / name)
        yield Pair(name, strip_endpoint(settings.model), strip_endpoint(settings.opponent), run, problem)


def _read_run(path: Path) -> tuple[RunResult | None, str]:
    """(a run as far as it was played; else why there is none)."""
    if not (path / "manifest.json").exists():
        return None, "not begun"
    try:
        # A run that was stopped has episodes and no scores yet.
        return (load_result(path) if (path / "scores.json").exists() else score(path)), ""
    except RunFolderError as error:
        return None, str(error)
