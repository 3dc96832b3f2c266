"""What the command line does, one call each: run, resume, judge, score, report, compare, estimate, audit, show.

import sociable
result = sociable.run("hsii", model="openai-compatible/qwen2.5-7b@http://127.0.0.1:8000/v1")
result.estimate("r2")
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import dotenv

from sociable.core.errors import InputError, RunFolderError, RunStopped
from sociable.core.records import ScoreFile, Usage
from sociable.core.run_folder import RunFolder
from sociable.core.view import Column, Document, Row, Table
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.prices import Price, price_of
from sociable.models.protocol import Reply, Request, Sampling
from sociable.registry import build_seat, find_benchmark, model_name
from sociable.runner.benchmark import Benchmark, RunResult, Study, StudyOptions
from sociable.runner.phases import Progress
from sociable.runner.rehearsal import RehearsedCall, rehearse
from sociable.runner.run import FinishedRun, Run, RunRecords
from sociable.runner.seats import Role, Seat, Seats
from sociable.runner.settings import RunSettings, load_settings

T = TypeVar("T")
Watch = Callable[[Progress, Budget], None]
"""Called whenever a count changes."""

_PACKAGES = ("sociable", "pydantic", "aiohttp", "numpy", "scipy", "statsmodels")


def run(
    benchmark: str,
    model: str,
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunResult:
    """Runs a benchmark and scores it. ``settings`` are the fields of ``RunSettings``: partner, judges, reference, …

    Returns the result; the run folder (``out``, or ``runs/<benchmark>-<model>-<time>``) holds everything else.
    Raises InputError before anything is spent, and RunStopped when the run ended early and can be resumed.
    """
    asked = load_settings(benchmark, Path(config) if config else None, model=model, **settings)
    folder = Path(out) if out else new_folder(benchmark, model)
    _begin(asked, folder)
    return _finish(folder, watch)


def new_folder(benchmark: str, model: str) -> Path:
    """``runs/<benchmark>-<model>-<time>``, which does not exist yet."""
    plain = "".join(character if character.isalnum() or character in "-._" else "-" for character in model_name(model))
    return Path("runs") / f"{benchmark}-{plain}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"


def resume(folder: str | Path, *, max_cost: float | None = None, watch: Watch | None = None) -> RunResult:
    """Goes on with a run: finished records are kept, paid calls come from the journal, errored episodes are run again."""
    path = Path(folder)
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        if max_cost is not None:
            manifest["settings"]["max_cost"] = max_cost
            opened.write_manifest(manifest)
    return _finish(path, watch)


def judge(folder: str | Path, judges: Sequence[str], *, watch: Watch | None = None, **settings: Any) -> RunResult:
    """Has other judges look at the episodes of a run; no episode is run again. Earlier judgments stay in the folder."""
    path = Path(folder)
    with RunFolder.open(path) as opened:
        manifest = opened.read_manifest()
        changed = _settings(manifest, path).model_copy(update={"judges": tuple(judges)})
        changed = RunSettings.model_validate(changed.model_dump() | {k: v for k, v in settings.items() if v is not None})
        benchmark = find_benchmark(changed.benchmark)
        study = benchmark.open(_study_options(changed))
        _check_seats(study, changed)
        opened.write_manifest(manifest | {"settings": changed.model_dump(mode="json"), "models": _models(changed)})
    return _finish(path, watch, judge_only=True)


def score(folder: str | Path) -> RunResult:
    """Scores again from the records on disk. Calls no model."""
    path = Path(folder)
    with _opened(path, lock=True) as (run_, benchmark, _):
        run_.score(benchmark)
    return result(path)


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
    return RunResult(path.name, manifest, scores.estimates, scores.scores, _warnings(manifest, scores))


@contextlib.contextmanager
def open_run(folder: str | Path, *, scored: bool = True) -> Iterator[FinishedRun]:
    """Opens a run for reading. No model is built and no lock is taken."""
    path = Path(folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    settings = _settings(manifest, path)
    benchmark = find_benchmark(settings.benchmark)
    study = _study(benchmark, settings, manifest, path)
    records = RunRecords.of(path, benchmark)
    seats = _seats(settings, benchmark, build=False)
    found = result(path) if scored else RunResult(path.name, manifest, (), ())
    try:
        yield FinishedRun(found, study, records, seats)
    finally:
        records.close()


def report(folders: Sequence[str | Path], out: str | Path | None = None) -> Path:
    """Writes the HTML report of one or several runs of one benchmark; by default into the first folder."""
    from sociable.reports.html import write_html

    document = report_document(folders)
    path = Path(out) if out else Path(folders[0]) / "report.html"
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
        results = [run.result for run in runs]
        return Document(
            title=benchmark.title,
            subtitle=_subtitle(benchmark, runs),
            summary=benchmark.summary(results),
            sections=benchmark.sections(runs),
            details=[detail for run in runs for detail in _details(run, several=len(runs) > 1)],
        )


def compare(first: str | Path, second: str | Path, *, anyway: bool = False) -> Document:
    """Paired comparison of two runs on the cases both reached, metric by metric.

    Raises InputError naming what differs when the manifests say that the runs are not comparable, unless ``anyway``.
    """
    from sociable.runner.comparison import compare_runs, differences

    with open_run(first) as one, open_run(second) as other:
        different = differences(one, other)
        if different and not anyway:
            raise InputError(
                f"{first} and {second} are not comparable. They differ in: {'; '.join(different)}. "
                "Run one again with the settings of the other, or say --anyway."
            )
        return compare_runs(one, other, different)


def estimate(benchmark: str, model: str, *, config: str | Path | None = None, **settings: Any) -> Document:
    """Calls, tokens and price of a run before anything is spent, at the most: as if every scenario went its longest way."""
    asked = load_settings(benchmark, Path(config) if config else None, model=model, **settings)
    found, study, seats = _checked(asked)
    calls = _waited(rehearse(study, seats, list(study.scenarios), asked.repeats, references=_makes_references(study, asked)))
    return _estimate_document(found, asked, study, calls, _prices(asked, seats))


def prompts(benchmark: str, scenario: str, *, config: str | Path | None = None, **settings: Any) -> list[RehearsedCall]:
    """What would be sent to each role in one scenario; what depends on replies is shown with stand-ins for them."""
    everybody = {"partner": "nobody", "reference": "nobody", "judges": ("nobody",)}
    opened = study(benchmark, config=config, **everybody, **settings)
    if scenario not in opened.scenarios:
        raise InputError(f"{benchmark} has no case '{scenario}'. `sociable show {benchmark}` lists them.")
    roles = {role: Seat(role, f"(the {role.value})", _NoModel(), Sampling()) for role in Role}
    seats = Seats(roles[Role.SUBJECT], roles[Role.PARTNER], roles[Role.REFERENCE], (roles[Role.JUDGE],))
    return _waited(rehearse(opened, seats, [scenario], 1, references=opened.needs_references))


def study(benchmark: str, *, config: str | Path | None = None, **settings: Any) -> Study:
    """The benchmark bound to its data: ``study(...).scenarios`` are its scenarios by id."""
    asked = load_settings(benchmark, Path(config) if config else None, **{"model": "nobody", **settings})
    return find_benchmark(benchmark).open(_study_options(asked))


def audit(benchmark: str, dataset: str | Path | None = None, *, skip_invalid: bool = False) -> Document:
    """Whether a dataset can be solved by a shortcut."""
    found = find_benchmark(benchmark)
    path = Path(dataset) if dataset else None
    return found.audit(found.open(StudyOptions(dataset=path, skip_invalid=skip_invalid)))


def demo(out: str | Path, benchmark: str = "hsii", *, watch: Watch | None = None) -> tuple[Document, Path]:
    """Runs every reference agent of a benchmark, offline. Returns the report and its path."""
    found = find_benchmark(benchmark)
    folders = []
    for agent in found.demo_agents:
        folder = Path(out) / agent
        if (folder / "manifest.json").exists():
            resume(folder, watch=watch)
        else:
            run(benchmark, f"reference/{agent}", out=folder, watch=watch, **found.demo)
        folders.append(folder)
    return report_document(folders), report(folders, Path(out) / "report.html")


def _begin(settings: RunSettings, path: Path) -> None:
    """Checks everything that can be checked before anything is spent, and writes the manifest."""
    benchmark, study, seats = _checked(settings)
    settings = settings.model_copy(update=dict(study.resolved))
    _prices(settings, seats)
    with RunFolder.create(path) as folder:
        folder.write_manifest(
            {
                "benchmark": benchmark.name,
                "version": benchmark.version,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "packages": {name: metadata.version(name) for name in _PACKAGES} | {"python": platform.python_version()},
                "digests": dict(study.digests),
                "episodes": len(study.scenarios) * settings.repeats,
                "models": _models(settings),
                "settings": settings.model_dump(mode="json"),
            }
        )


def _checked(settings: RunSettings) -> tuple[Benchmark, Study, Seats]:
    """Benchmark, study and seats of the settings, with everything checked that can be without spending anything."""
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    benchmark = find_benchmark(settings.benchmark)
    seats = _seats(settings, benchmark)
    study = benchmark.open(_study_options(settings))
    _check_seats(study, settings)
    return benchmark, study, seats


def _makes_references(study: Study, settings: RunSettings) -> bool:
    return study.needs_references and bool(settings.judges and settings.reference and not settings.reference_file)


def _finish(path: Path, watch: Watch | None, *, judge_only: bool = False) -> RunResult:
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    _waited(_go_on(path, watch, judge_only=judge_only))
    return result(path)


async def _go_on(path: Path, watch: Watch | None, *, judge_only: bool) -> None:
    with _opened(path, lock=True, watch=watch) as (run_, benchmark, models):
        interrupted = _on_interrupt(run_.budget)
        try:
            settings = _settings(run_.folder.read_manifest(), path)
            if settings.reference_file and run_.study.needs_references:
                run_.adopt_references(Path(settings.reference_file), benchmark)
            elif _makes_references(run_.study, settings):
                await run_.make_references()
            if not judge_only:
                await run_.run_episodes()
            if run_.seats.judges:
                await run_.judge()
        finally:
            interrupted()
            for model in models:
                await model.close()
            with contextlib.suppress(RunStopped):
                _note_usage(run_)
        run_.score(benchmark)


@contextlib.contextmanager
def _opened(path: Path, *, lock: bool, watch: Watch | None = None) -> Iterator[tuple[Run, Benchmark, list[JournalledModel]]]:
    """A run with everything it needs, built from its manifest."""
    with RunFolder.open(path, lock=lock) as folder:
        manifest = folder.read_manifest()
        settings = _settings(manifest, path)
        benchmark = find_benchmark(settings.benchmark)
        study = _study(benchmark, settings, manifest, path)
        seats = _seats(settings, benchmark)
        budget = Budget(_prices(settings, seats), settings.max_cost)
        with Journal(path / "calls.sqlite") as journal:
            for model, role, usage in journal.bought():
                budget.book(model, role, usage)
            models: list[JournalledModel] = []

            def journalled(seat: Seat) -> Seat:
                if seat.model is None:
                    return seat
                models.append(JournalledModel(seat.model, journal, budget))
                return replace(seat, model=models[-1])

            seats = seats.each(journalled)
            records = RunRecords.of(path, benchmark)
            progress = (lambda counts: watch(counts, budget)) if watch else (lambda _: None)
            run_ = Run(folder, study, seats, records, budget, settings.repeats, settings.max_connections, progress)
            try:
                yield run_, benchmark, models
            finally:
                records.close()


def _settings(manifest: dict[str, Any], path: Path) -> RunSettings:
    try:
        return RunSettings.model_validate(manifest["settings"])
    except (KeyError, ValueError) as error:
        raise RunFolderError(
            f"{path / 'manifest.json'}: settings this version does not understand ({str(error).splitlines()[0]}). "
            f"It was written by sociable {manifest.get('packages', {}).get('sociable', '?')}; use that version."
        ) from None


def _study(benchmark: Benchmark, settings: RunSettings, manifest: dict[str, Any], path: Path) -> Study:
    """The study of an existing run; it must still be the one the run was begun with."""
    if manifest["version"] != benchmark.version:
        raise RunFolderError(
            f"{path} was run with {benchmark.name} {manifest['version']}; this is {benchmark.version}. Scores of the two are not "
            f"comparable: use sociable {manifest['packages']['sociable']}, or start a new run."
        )
    study = benchmark.open(_study_options(settings))
    for name, digest in manifest["digests"].items():
        if study.digests.get(name) != digest:
            raise RunFolderError(f"The {name} changed since {path} was begun. Restore it, or start a new run.")
    return study


def _study_options(settings: RunSettings) -> StudyOptions:
    seated = {
        Role.SUBJECT: settings.model,
        Role.PARTNER: settings.partner,
        Role.REFERENCE: settings.reference or settings.reference_file,
        Role.JUDGE: settings.judges,
    }
    return StudyOptions(
        filled=frozenset(role for role, name in seated.items() if name),
        dataset=Path(settings.dataset) if settings.dataset else None,
        skip_invalid=settings.skip_invalid,
        prompts=Path(settings.prompts) if settings.prompts else None,
        limit=settings.limit,
        seed=settings.seed,
        stages=settings.stages,
        values=settings.options,
    )


def _check_seats(study: Study, settings: RunSettings) -> None:
    filled = {Role.SUBJECT: settings.model, Role.PARTNER: settings.partner, Role.REFERENCE: settings.reference}
    study.check_seats(
        [role for role, name in filled.items() if name], judges=len(settings.judges), references=bool(settings.reference_file)
    )
    if len(set(settings.judges)) < len(settings.judges):
        raise InputError("A judge is named twice. A panel's judges must differ.")


def _seats(settings: RunSettings, benchmark: Benchmark, *, build: bool = True) -> Seats:
    def seat(role: Role, name: str) -> Seat:
        if not build:
            return Seat(role, model_name(name), None, None)  # type: ignore[arg-type]
        return build_seat(role, name, settings, benchmark.reference_agents[role])

    return Seats(
        subject=seat(Role.SUBJECT, settings.model),
        partner=seat(Role.PARTNER, settings.partner) if settings.partner else None,
        reference=seat(Role.REFERENCE, settings.reference) if settings.reference else None,
        judges=tuple(seat(Role.JUDGE, name) for name in settings.judges),
    )


def _prices(settings: RunSettings, seats: Seats) -> dict[str, Price]:
    """The prices of all models that have one. Raises InputError when a cost limit is asked for and one is missing."""
    prices = {}
    for seat in (seats.subject, seats.partner, seats.reference, *seats.judges):
        if seat is None:
            continue
        price = price_of(seat.name, settings.prices)
        if price is not None:
            prices[seat.name] = price
        elif settings.max_cost is not None:
            raise InputError(
                f"--max-cost needs the price of '{seat.name}', which nobody wrote down. Add to your --config file:\n"
                f'[prices."{seat.name}"]\ninput = 0.0   # US dollars per million tokens\noutput = 0.0'
            )
    return prices


def _models(settings: RunSettings) -> dict[str, Any]:
    return {
        "subject": model_name(settings.model),
        "partner": model_name(settings.partner) if settings.partner else None,
        "reference": model_name(settings.reference) if settings.reference else None,
        "judges": [model_name(name) for name in settings.judges],
    }


def _warnings(manifest: dict[str, Any], scores: ScoreFile) -> list[str]:
    """What a reader of the scores must know."""
    models = manifest["models"]
    notes = []
    if models["subject"] in models["judges"]:
        notes.append(f"{models['subject']} judges its own replies; models tend to prefer their own. Name another judge.")
    if "reference/rule" in models["judges"]:
        notes.append(
            "Judged by reference/rule, which looks for wordings written with the scenarios. Such scores are not comparable "
            "with those of a model or a person."
        )
    missing = manifest["episodes"] - len({(score.scenario, score.repeat) for score in scores.scores})
    if missing:
        notes.append(f"{missing} of {manifest['episodes']} episodes have not been run yet. Resume the run to have them.")
    errored = {(score.scenario, score.repeat) for score in scores.scores if score.outcome == "errored"}
    if errored:
        notes.append(f"{len(errored)} episodes are errored and count nowhere. Resume the run to finish them.")
    return notes


def _note_usage(run_: Run) -> None:
    """Writes what was spent so far into the manifest, by role."""
    manifest = run_.folder.read_manifest()
    manifest["usage"] = {role: usage.model_dump() for role, usage in sorted(run_.budget.usage.items())}
    manifest["cost"] = {role: round(cost, 6) for role, cost in sorted(run_.budget.cost.items())}
    run_.folder.write_manifest({name: value for name, value in manifest.items() if name != "format"})


class _NoModel:
    """Marks a seat as a model's; the rehearsal puts its stand-in there."""

    name = "nobody"

    async def generate(self, request: Request) -> Reply:
        raise AssertionError("a rehearsal asks nobody")

    async def close(self) -> None:
        pass


def _subtitle(benchmark: Benchmark, runs: Sequence[FinishedRun]) -> str:
    study = runs[0].study
    clusters = {score.cluster for run in runs for score in run.result.scores}
    data = "bundled data" if runs[0].result.manifest["settings"]["dataset"] is None else "the user's own data"
    size = f"{len(study.scenarios)} cases of {len(clusters)} {benchmark.cluster_unit}s"
    return f"{benchmark.name} {benchmark.version}, {size} ({data})"


def _details(run: FinishedRun, *, several: bool) -> Iterator[tuple[str, str]]:
    """What the numbers of a run depend on, for the end of its report."""
    manifest = run.result.manifest
    prefix = f"{run.result.label}: " if several else ""
    settings = {name: value for name, value in manifest["settings"].items() if value not in (None, (), [], {}, False)}
    yield f"{prefix}models", ", ".join(f"{role} {_plainly(name)}" for role, name in manifest["models"].items() if name)
    chosen = {name: value for name, value in settings.items() if name not in ("benchmark", "model", *manifest["models"])}
    yield f"{prefix}settings", ", ".join(f"{name} {_plainly(value)}" for name, value in chosen.items())
    yield f"{prefix}digests", ", ".join(f"{name} {digest[:12]}" for name, digest in manifest["digests"].items())
    yield f"{prefix}packages", ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())
    yield f"{prefix}begun", manifest["created"]


def _plainly(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plainly(each)}" for name, each in value.items() if each is not None)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _estimate_document(
    benchmark: Benchmark, settings: RunSettings, study: Study, calls: Sequence[RehearsedCall], prices: dict[str, Price]
) -> Document:
    used: dict[tuple[str, str], Usage] = {}
    for call in calls:
        key = (call.role.value, call.model)
        used[key] = used.get(key, Usage()) + call.usage
    rows, total = [], Usage()
    for (role, model), usage in used.items():
        price = prices.get(model)
        cost = f"{price.of(usage):.2f}" if price else "unknown"
        rows.append(Row([role, model, f"{usage.calls:,}", f"{usage.input_tokens:,}", f"{usage.output_tokens:,}", cost]))
        total += usage
    known = sum(prices[model].of(usage) for (_, model), usage in used.items() if model in prices)
    rows.append(Row(["all", "", f"{total.calls:,}", f"{total.input_tokens:,}", f"{total.output_tokens:,}", f"{known:.2f}"], True))
    return Document(
        title=f"Estimate for {benchmark.name}",
        subtitle=f"{len(study.scenarios)} cases × {settings.repeats}, as if every one went its longest way",
        summary=Table(
            caption="At the most",
            columns=[
                Column("Role"),
                Column("Model"),
                *(Column(name, True) for name in ("Calls", "Tokens in", "Tokens out", "US dollars")),
            ],
            rows=rows,
            note="Tokens are estimated from characters. Write unknown prices into the [prices] table of a --config file.",
        ),
        sections=[],
    )


def _on_interrupt(budget: Budget) -> Callable[[], None]:
    """First Ctrl-C: no new call, those under way end and are kept. Second: at once. Returns what undoes this."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        budget.interrupt()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except NotImplementedError:  # Windows: Ctrl-C ends at once; the journal still holds all replies that arrived.
        return lambda: None

    def undo() -> None:
        loop.remove_signal_handler(signal.SIGINT)

    return undo


def _waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also from inside a running event loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:  # Handed on to the caller's thread.
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
