"""What the command line does, one call each.

>>> import sociable
>>> result = sociable.run("hsii", model="openai-compatible/qwen2.5-7b@http://127.0.0.1:8000/v1")
>>> result.estimate("r2")
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import dotenv

from sociable.agents.person import NAME as PERSON
from sociable.core.errors import InputError, Interrupted, RunFolderError, RunStopped
from sociable.core.records import ScoreFile
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document
from sociable.engine.benchmark import RunResult, Study
from sociable.engine.event_loop import on_interrupt, waited
from sociable.engine.opening import (
    Watch,
    begin_run,
    build_seats,
    checked,
    makes_references,
    opened_run,
    prices_of,
    settings_of,
    study_of,
    study_options,
    who_and_how,
)
from sociable.engine.registry import benchmark_names, find_benchmark
from sociable.engine.rehearsal import RehearsedCall, rehearse
from sociable.engine.run import FinishedRun, Run, RunRecords, references_from
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.settings import (
    RunSettings,
    changed_settings,
    load_settings,
    plain_name,
    roles_and_prices,
    with_role_defaults,
)
from sociable.models.journal import JournalledModel
from sociable.models.protocol import Sampling
from sociable.reports.documents import estimate_document, run_document, warnings_about


def run(
    benchmark: str,
    model: str | None = None,
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunResult:
    """Runs a benchmark and scores it. ``settings`` are the fields of ``RunSettings``: partner, judges, reference, …; they
    go before those of the TOML file ``config``.

    Returns the result; the run folder (``out``, or ``runs/<benchmark>-<model>-<time>``) holds everything else.
    Raises InputError before anything is spent, and RunStopped when the run ended early and can be resumed.
    """
    asked = settings_for(benchmark, config, model=model, **settings)
    return run_settings(asked, Path(out) if out else new_folder(benchmark, asked.model), watch=watch)


def run_settings(asked: RunSettings, folder: Path, *, watch: Watch | None = None) -> RunResult:
    """Begins and finishes a run in a new folder."""
    begin_run(asked, folder)
    return _finish(folder, watch)


def settings_for(benchmark: str, config: str | Path | None, *, elsewhere: Sequence[str] = (), **settings: Any) -> RunSettings:
    """What the user asks for, on top of what the benchmark prefers."""
    found = find_benchmark(benchmark)
    asked = load_settings(benchmark, Path(config) if config else None, elsewhere=elsewhere, beside=benchmark_names(), **settings)
    return with_role_defaults(asked, found.role_defaults)


def new_folder(benchmark: str, model: str) -> Path:
    """``runs/<benchmark>-<model>-<time>``, which does not exist yet."""
    return Path("runs") / f"{benchmark}-{folder_name(model)}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"


def folder_name(model: str) -> str:
    """A model's name as part of a file's."""
    return "".join(character if character.isalnum() or character in "-._" else "-" for character in plain_name(model))


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
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        before = settings_of(manifest, path)
        changed = changed_settings(before, max_cost=max_cost, **(roles_and_prices(before, Path(config)) if config else {}))
        if changed != before:
            _, _, seats = checked(changed, references_adopted=True)
            prices_of(changed, seats)
            opened.write_manifest(manifest | who_and_how(changed))
    return _finish(path, watch, offline=offline)


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
    panel stays as it is. ``config`` is a TOML file with ``roles`` and ``prices`` for the judges. A reference can be named
    only for a run that has none yet. Raises InputError before anything in the folder is changed.
    """
    path = Path(folder)
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        before = settings_of(manifest, path)
        if (reference or reference_file) and (path / "references.jsonl").exists():
            raise InputError(
                f"{path} has its references already; they stay as they are. Leave --reference and --reference-file out."
            )
        if not judges and not rubric:
            raise InputError("Name at least one judge, or a rubric.")
        named = {"rubric": rubric, "raters": tuple(judges) or before.judges} if rubric else {"judges": tuple(judges)}
        changed = changed_settings(
            before,
            **named,
            reference=reference,
            reference_file=str(Path(reference_file).resolve()) if reference_file else None,
            max_cost=max_cost,
            **(roles_and_prices(before, Path(config)) if config else {}),
        )
        _, _, seats = checked(changed, build=_FOR_JUDGING, references_adopted=not reference_file)
        prices_of(changed, seats, _FOR_JUDGING)
        opened.write_manifest(manifest | who_and_how(changed))
    return _finish(path, watch, build=_FOR_JUDGING)


_FOR_JUDGING = (Role.JUDGE, Role.REFERENCE, Role.PARTNER)
"""Partner and reference may have to make the reference conversations first."""


def score(folder: str | Path) -> RunResult:
    """Scores again from the records on disk. Calls no model and needs no key."""
    path = Path(folder)
    with opened_run(path, build=()) as (run_, benchmark, _):
        run_.score(benchmark)
    return result(path)


def has_person(folder: str | Path) -> bool:
    """Whether somebody sits at the terminal while a run is run."""
    models = RunFolder.open(Path(folder), lock=False).read_manifest()["models"]
    return PERSON in (models["subject"], models["partner"])


def result(folder: str | Path) -> RunResult:
    """What a finished run gave. Raises RunFolderError if it has not been scored."""
    path = Path(folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    try:
        scores = ScoreFile.model_validate_json((path / "scores.json").read_bytes())
    except FileNotFoundError:
        raise RunFolderError(f"{path} has no scores yet. Finish it with: sociable resume {path}") from None
    except ValueError as error:
        raise RunFolderError(
            f"{path / 'scores.json'} is damaged ({error.__class__.__name__}). Make it anew with: sociable score {path}"
        ) from None
    benchmark = find_benchmark(manifest["benchmark"])
    notes = [*warnings_about(manifest, scores), *benchmark.remarks(scores.estimates)]
    return RunResult(benchmark.label_of(manifest), str(path), manifest, scores.estimates, scores.scores, notes)


@contextlib.contextmanager
def open_run(folder: str | Path, *, scored: bool = True) -> Iterator[FinishedRun]:
    """Opens a run for reading. No model is built and no lock is taken."""
    path = Path(folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    settings = settings_of(manifest, path)
    benchmark = find_benchmark(settings.benchmark)
    study = study_of(benchmark, settings, manifest, path)
    records = RunRecords.of(path, benchmark)
    seats = build_seats(settings, benchmark, build=())
    found = result(path) if scored else RunResult(benchmark.label_of(manifest), str(path), manifest, (), ())
    try:
        yield FinishedRun(found, study, records, seats)
    finally:
        records.close()


def report(folders: Sequence[str | Path], out: str | Path | None = None) -> Path:
    """Writes the HTML report of one or several runs of one benchmark; by default into the first folder, beside its own."""
    from sociable.render.html import write_html

    document = report_document(folders)
    path = Path(out) if out else Path(folders[0]) / ("report.html" if len(folders) == 1 else "joint-report.html")
    write_html(document, path)
    return path


def report_document(folders: Sequence[str | Path]) -> Document:
    """The report as plain view records. Raises InputError when the runs are of different benchmarks."""
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(open_run(folder)) for folder in folders]
        names = {run.result.manifest["benchmark"] for run in runs}
        if len(names) != 1:
            raise InputError(f"One report shows runs of one benchmark; these are of {', '.join(sorted(names))}.")
        benchmark = find_benchmark(names.pop())
        return run_document(benchmark, runs)


def compare(first: str | Path, second: str | Path, *, anyway: bool = False, out: str | Path | None = None) -> Document:
    """Paired comparison of two runs on the cases both reached, metric by metric, and the cases one wins and the other loses.

    ``out`` is where it is written as HTML, with those cases in full.
    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    from sociable.reports.comparison import compare_runs, differences

    with open_run(first) as one, open_run(second) as other:
        different = differences(one, other)
        if different and not anyway:
            raise InputError(
                f"{first} and {second} are not comparable. They differ in: {'; '.join(different)}. "
                "Run one again with the settings of the other, or say --anyway."
            )
        contrast = find_benchmark(one.result.manifest["benchmark"]).contrast(one, other)
        return write_document(compare_runs(one, other, different, contrast), out)


def estimate(benchmark: str, model: str | None = None, *, config: str | Path | None = None, **settings: Any) -> Document:
    """Calls, tokens and price of a run before anything is spent, at the most: as if every scenario went its longest way."""
    asked = settings_for(benchmark, config, model=model, **settings)
    found, study, seats = checked(asked, build=())
    calls = waited(rehearse(study, seats, list(study.scenarios), asked.repeats, references=makes_references(study, asked)))
    return estimate_document(found, asked, study, calls, prices_of(asked, seats))


def prompts(benchmark: str, scenario: str, *, config: str | Path | None = None, **settings: Any) -> list[RehearsedCall]:
    """What would be sent to each role in one scenario; what depends on replies is shown with stand-ins for them."""
    everybody = {"partner": "nobody", "reference": "nobody", "judges": ("nobody",)}
    opened = study(benchmark, config=config, **everybody, **settings)
    if scenario not in opened.scenarios:
        raise InputError(f"{benchmark} has no case '{scenario}'. `sociable show {benchmark}` lists them.")
    roles = {role: Seat(role, f"(the {role.value})", AbsentModel(role), Sampling()) for role in Role}
    seats = Seats(roles[Role.SUBJECT], roles[Role.PARTNER], roles[Role.REFERENCE], (roles[Role.JUDGE],))
    return waited(rehearse(opened, seats, [scenario], 1, references=opened.needs_references))


def study(benchmark: str, *, config: str | Path | None = None, **settings: Any) -> Study:
    """The benchmark bound to its data: ``study(...).scenarios`` are its scenarios by id."""
    asked = settings_for(benchmark, config, **{"model": "nobody", **settings})
    return find_benchmark(benchmark).open(study_options(asked))


def write_document(document: Document, out: str | Path | None) -> Document:
    from sociable.render.html import write_html

    if out:
        write_html(document, Path(out))
    return document


def demo(out: str | Path | None = None, benchmark: str = "hsii", *, watch: Watch | None = None) -> tuple[Document, Path]:
    """Runs every reference agent of a benchmark, offline. Returns the report and the path of its file."""
    found = find_benchmark(benchmark)
    parent = Path(out) if out else new_folder("demo", benchmark)
    folders = [parent / agent for agent in found.demo_agents]
    for agent, folder in zip(found.demo_agents, folders, strict=True):
        run(benchmark, f"reference/{agent}", out=folder, watch=watch, **found.demo)
    return report_document(folders), report(folders, parent / "report.html")


def _finish(path: Path, watch: Watch | None, *, build: Collection[Role] = tuple(Role), offline: bool = False) -> RunResult:
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    waited(_go_on(path, watch, build, offline))
    return result(path)


async def _go_on(path: Path, watch: Watch | None, build: Collection[Role], offline: bool) -> None:
    with opened_run(path, build=build, offline=offline, watch=watch) as (run_, benchmark, models):
        interrupted = on_interrupt(run_.budget)
        try:
            settings = settings_of(run_.folder.read_manifest(), path)
            if settings.reference_file and run_.study.needs_references and run_.lacks_references:
                run_.adopt_references(references_from(Path(settings.reference_file), benchmark, run_.study, run_.seats))
            elif makes_references(run_.study, settings):
                await run_.make_references()
            if Role.SUBJECT in build:
                await run_.run_episodes()
            if run_.seats.judges:
                await run_.judge()
            await run_.rate()
        finally:
            interrupted()
            for model in models:
                await model.close()
            with contextlib.suppress(RunStopped):
                _note_what_happened(run_, models)
        try:
            run_.score(benchmark)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted while scores were worked out. All that was said and judged is kept.") from None


def _note_what_happened(run_: Run, models: Sequence[JournalledModel]) -> None:
    """Writes into the manifest what was spent so far, by role, and what failed or had to be asked otherwise this time."""
    manifest = run_.folder.read_manifest()
    manifest["usage"] = {role: usage.model_dump() for role, usage in sorted(run_.budget.usage.items())}
    manifest["cost"] = {role: round(cost, 6) for role, cost in sorted(run_.budget.cost.items())}
    for name in ("adaptations", "seconds"):
        known = manifest.get(name, {})
        manifest[name] = known | {model.name: value for model in models if (value := getattr(model, name))}
    manifest["failures"] = dict(run_.failures.most_common(10))
    run_.folder.write_manifest({name: value for name, value in manifest.items() if name != "format"})
