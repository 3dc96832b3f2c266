"""Runs: begun, resumed, judged again, scored, reported, compared.

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
from sociable.core.errors import InputError, Interrupted, RunFolderError, RunStopped
from sociable.core.records import Outcome, ScoreFile
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document
from sociable.engine.event_loop import run_to_end, stop_on_interrupt
from sociable.engine.opening import (
    OpenStudy,
    Watch,
    begin_run,
    describe_roles,
    make_study_options,
    open_run,
    read_settings,
    reopen_study,
)
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.rehearsal import RehearsedCall, rehearse
from sociable.engine.result import RunRecords, RunResult, read_references
from sociable.engine.run import Run
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.settings import (
    RoleSettings,
    RunSettings,
    add_role_defaults,
    change_settings,
    load_settings,
    read_roles_and_prices,
)
from sociable.engine.stopping import Looks, measure_half_width, narrow
from sociable.engine.study import AnyStudy, Referenced
from sociable.models.journal import JournalledModel
from sociable.models.limits import Price
from sociable.models.protocol import Sampling
from sociable.reports.comparison import compare_runs, find_differences
from sociable.reports.documents import list_warnings, make_run_document
from sociable.reports.headroom import warn_of_ceilings


class RunOptions(TypedDict, total=False):
    """The arguments of ``run`` and ``estimate`` beside benchmark and model; ``RunSettings`` explains them."""

    partner: str | None
    opponent: str | None
    judges: Sequence[str] | str
    rubric: str | None
    raters: Sequence[str]
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
    **settings: Unpack[RunOptions],
) -> RunResult:
    """Runs a benchmark and scores it. ``settings`` go before those of the TOML file ``config``.

    Returns the result; the run folder (``out``, or ``runs/<benchmark>-<model>-<time>``) holds everything else. ``watch`` is
    called whenever a count changes. Raises InputError before anything is spent, and RunStopped when the run ended early
    and can be resumed.
    """
    asked = make_settings(benchmark, config, model=model, **settings)
    return run_settings(asked, Path(out) if out else name_new_folder(benchmark, asked.model), watch=watch)


def run_settings(asked: RunSettings, path: Path, *, watch: Watch | None = None) -> RunResult:
    """Begins and finishes a run in a new folder."""
    folder, opened = begin_run(asked, path)
    with folder:
        return _finish(folder, opened, watch=watch)


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
) -> RunResult:
    """Goes on with a run: finished records are kept, paid calls come from the journal, errored episodes are run again.

    ``config`` is a TOML file with ``roles`` and ``prices`` on top of the run's own: another key, another address.
    ``offline`` needs neither key nor network: what the journal does not hold is errored. So a published run can be played
    again from its manifest, its ``calls.sqlite`` and, where they came from another run, its ``references.jsonl``.
    """
    path = Path(folder)
    with RunFolder.open(path) as locked:
        before = read_settings(locked.read_manifest(), path)
        changed = change_settings(before, max_cost=max_cost, **read_roles_and_prices(before, config))
        opened = reopen_study(locked, changed if changed != before else None, build=() if offline else tuple(Role))
        if changed != before:
            locked.write_manifest(locked.read_manifest() | describe_roles(changed))
        return _finish(locked, opened, watch=watch, offline=offline)


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
) -> RunResult:
    """Has other judges look at the episodes of a run; no episode is run again. Earlier judgments stay in the folder.

    With ``rubric`` (``sotopia``) the judges, by default those of the run, rate every participant that has a goal, and the
    panel stays as it is. The panel of an unfinished run cannot be changed. ``config`` is a TOML file with ``roles`` and
    ``prices`` for the judges. A reference can be named only for a run that has none yet. Raises InputError before anything
    in the folder is changed.
    """
    path = Path(folder)
    with RunFolder.open(path) as locked:
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
        opened = reopen_study(locked, changed, build=_FOR_JUDGING, references_adopted=not reference_file)
        locked.write_manifest(locked.read_manifest() | describe_roles(changed))
        return _finish(locked, opened, build=_FOR_JUDGING, watch=watch)


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
            return _make_result(opened, locked, run_.records)


def load_result(folder: str | Path, *, scored: bool = True) -> RunResult:
    """Reads a run. No model is built and no lock is taken. Raises RunFolderError if it has not been ``scored``."""
    opened_folder = RunFolder.open(Path(folder), lock=False)
    opened = reopen_study(opened_folder, only_read=True)
    return _make_result(opened, opened_folder, RunRecords.open(opened_folder.path, opened.study), scored=scored)


def _make_result(opened: OpenStudy, folder: RunFolder, records: RunRecords, *, scored: bool = True) -> RunResult:
    manifest, views = folder.read_manifest(), opened.benchmark.load_views()
    scores = read_scores(folder.path) if scored else None
    return RunResult(
        label=views.make_label(manifest),
        folder=str(folder.path),
        manifest=manifest,
        estimates=scores.estimates if scores else (),
        scores=scores.scores if scores else (),
        notes=_list_notes(opened, manifest, scores) if scores else [],
        study=opened.study,
        records=records,
        seats=opened.seats,
    )


def _list_notes(opened: OpenStudy, manifest: dict[str, Any], scores: ScoreFile) -> list[str]:
    """What a reader of the scores must know: of the run, of the benchmark, and where the cases leave no room."""
    ceilings = warn_of_ceilings(opened.study.metrics, manifest["models"]["subject"], scores.estimates)
    return [*list_warnings(manifest, scores), *ceilings, *opened.benchmark.load_views().list_remarks(scores.estimates)]


def read_scores(path: Path) -> ScoreFile:
    """The scores in a run's folder. Raises RunFolderError where there are none."""
    try:
        return ScoreFile.model_validate_json((path / "scores.json").read_bytes())
    except FileNotFoundError:
        raise RunFolderError(f"{path} has no scores yet. Finish it with: sociable resume {path}") from None
    except ValueError as error:
        raise RunFolderError(
            f"{path / 'scores.json'} is damaged ({error.__class__.__name__}). Make it anew with: sociable score {path}"
        ) from None


def is_finished(folder: Path) -> bool:
    """Whether nothing of a run is left to do: every episode was played, judged and scored."""
    if not (folder / "scores.json").exists():
        return False
    scores = read_scores(folder).scores
    played = {(score.scenario, score.repeat) for score in scores}
    manifest = RunFolder.open(folder, lock=False).read_manifest()
    return len(played) == manifest["episodes"] and not any(score.outcome is Outcome.ERRORED for score in scores)


Runs = str | Path | RunResult | Sequence[str | Path | RunResult]
"""One or several runs: folders, or results that are there already."""


def load_results(runs: Runs) -> list[RunResult]:
    """The results of these runs; those that are there already are not read again."""
    several = [runs] if isinstance(runs, str | Path | RunResult) else runs
    return [each if isinstance(each, RunResult) else load_result(each) for each in several]


def report(runs: Runs, out: str | Path | None = None) -> Path:
    """Writes the HTML report of one or several runs of one benchmark; by default into the first folder, beside its own."""
    results = load_results(runs)
    path = Path(out) if out else name_report(results)
    write_document(make_report_document(results), path)
    return path


def name_report(results: Sequence[RunResult]) -> Path:
    """The file to which the report on these runs goes unless the user names another."""
    return Path(results[0].folder) / ("report.html" if len(results) == 1 else "joint-report.html")


def make_report_document(runs: Runs) -> Document:
    """The report as plain view records. Raises InputError when the runs are of different benchmarks."""
    results = load_results(runs)
    names = {run.manifest["benchmark"] for run in results}
    if not names:
        raise InputError("There is no run to report.")
    if len(names) != 1:
        raise InputError(f"One report shows runs of one benchmark; these are of {', '.join(sorted(names))}.")
    return make_run_document(find_benchmark(names.pop()), results)


def compare(
    first: str | Path | RunResult, second: str | Path | RunResult, *, anyway: bool = False, out: str | Path | None = None
) -> Document:
    """Compares two runs, paired, on the cases both reached, metric by metric. Shows the cases that one wins and the other loses.

    ``out`` is where it is written as HTML, with those cases in full.
    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    one, other = load_results([first, second])
    different = find_differences(one, other)
    if different and not anyway:
        raise InputError(
            f"{one.folder} and {other.folder} are not comparable. They differ in: {'; '.join(different)}. "
            "Run one again with the settings of the other, or say --anyway."
        )
    contrast = find_benchmark(one.manifest["benchmark"]).load_views().contrast(one, other)
    return write_document(compare_runs(one, other, different, contrast), out)


def rehearse_scenario(
    benchmark: str, scenario: str, *, config: str | Path | None = None, **settings: Unpack[RunOptions]
) -> list[RehearsedCall]:
    """The calls that each role would get in one scenario; where they depend on replies, stand-ins for the replies are shown."""
    settings = {"partner": "nobody", "opponent": "nobody", "reference": "nobody", "judges": ("nobody",), **settings}
    study = load_study(benchmark, config=config, **settings)
    if scenario not in study.scenarios:
        raise InputError(f"{benchmark} has no case '{scenario}'. `sociable show {benchmark}` lists them.")
    roles = {role: Seat(role, f"(the {role.value})", AbsentModel(role), Sampling()) for role in Role}
    seats = Seats(
        roles[Role.SUBJECT], roles[Role.PARTNER], roles[Role.REFERENCE], (roles[Role.JUDGE],), opponent=roles[Role.OPPONENT]
    )
    references = isinstance(study, Referenced) and study.needs_references
    return run_to_end(rehearse(study, seats, [scenario], 1, references=references))


def load_study(benchmark: str, *, config: str | Path | None = None, **settings: Unpack[RunOptions]) -> AnyStudy:
    """The benchmark bound to its data: ``load_study(...).scenarios`` are its scenarios by id."""
    asked = make_settings(benchmark, config, model="nobody", **settings)
    return find_benchmark(benchmark).open(**make_study_options(asked))


def write_document(document: Document, out: str | Path | None) -> Document:
    """``document``, written as HTML where ``out`` says so."""
    from sociable.render.html import write_html

    if out:
        write_html(document, Path(out))
    return document


def _finish(
    folder: RunFolder,
    opened: OpenStudy,
    *,
    build: Collection[Role] = tuple(Role),
    watch: Watch | None = None,
    offline: bool = False,
) -> RunResult:
    """Carries a run out, as far as it has not been, and scores it."""
    with open_run(folder, opened, build=build, offline=offline, watch=watch) as (run_, models):
        run_to_end(_go_on(run_, opened, models, build))
        return _make_result(opened, folder, run_.records)


async def _go_on(run_: Run, opened: OpenStudy, models: Sequence[JournalledModel], build: Collection[Role]) -> None:
    await play_and_judge(run_, opened, models, build)
    try:
        run_.score(opened.benchmark.name, opened.benchmark.version)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted while scores were worked out. All that was said and judged is kept.") from None


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
