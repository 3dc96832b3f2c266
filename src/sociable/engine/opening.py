"""From settings or a manifest to the things a run works with: benchmark, study, seats, prices, journal, records.

Everything that can be checked without spending anything is checked here.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import dotenv

from sociable.agents.person import NAME as PERSON
from sociable.core.errors import InputError, RunFolderError
from sociable.core.run_folder import RunFolder
from sociable.engine.benchmark import Benchmark, Study, StudyOptions
from sociable.engine.phases import Progress
from sociable.engine.ratings import find_rubric
from sociable.engine.registry import build_seat, find_benchmark
from sociable.engine.run import Run, RunRecords, references_from
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.settings import RoleSettings, RunSettings, plain_name
from sociable.judging.rubric import rubric_prompts
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.prices import Price, find_price
from sociable.models.protocol import Model

Watch = Callable[[Progress, Budget], None]
"""Called whenever a count changes."""

_PACKAGES = ("sociable", "pydantic", "aiohttp", "numpy", "scipy", "py3langid")


def begin_run(settings: RunSettings, path: Path) -> None:
    """Checks everything that can be checked before anything is spent, and writes the manifest."""
    settings = with_absolute_paths(settings)
    benchmark, study, seats = checked(settings)
    settings = settings.model_copy(update=dict(study.resolved))
    prices_of(settings, seats)
    with RunFolder.create(path) as folder:
        folder.write_manifest(
            {
                "benchmark": benchmark.name,
                "version": benchmark.version,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "packages": {name: metadata.version(name) for name in _PACKAGES} | {"python": platform.python_version()},
                "digests": dict(study.digests),
                "notes": list(study.notes),
                "episodes": len(study.scenarios) * settings.repeats,
                **who_and_how(settings),
            }
        )


def who_and_how(settings: RunSettings) -> dict[str, Any]:
    """The part of the manifest that judging again changes: models, sampling, settings."""
    seats = {"subject": settings.model, "partner": settings.partner, "reference": settings.reference}
    roles = [(Role(role), name) for role, name in seats.items() if name] + [(Role.JUDGE, name) for name in settings.judges]
    return {
        "models": {
            **{role: plain_name(name) if name else None for role, name in seats.items()},
            "judges": [plain_name(name) for name in settings.judges],
        },
        "sampling": {
            f"{role} {plain_name(name)}": asdict(settings.role(role, name).sampling)
            for role, name in roles
            if not name.startswith("reference/")
        },
        "settings": settings.model_dump(mode="json"),
        **({"rubric": _rubric(settings)} if settings.rubric else {}),
    }


def _rubric(settings: RunSettings) -> dict[str, Any]:
    """Who rates, how, and by which prompts."""
    return {
        "raters": [plain_name(name) for name in settings.raters],
        "sampling": {plain_name(name): asdict(settings.role(Role.JUDGE, name).sampling) for name in settings.raters},
        "prompts": rubric_prompts().digest,
    }


def with_absolute_paths(settings: RunSettings) -> RunSettings:
    """``settings`` whose paths are absolute, so that a run can be resumed and reported from anywhere."""
    paths = {name: getattr(settings, name) for name in ("dataset", "prompts", "reference_file")}
    return settings.model_copy(update={name: str(Path(path).resolve()) for name, path in paths.items() if path})


def checked(
    settings: RunSettings, *, build: Collection[Role] = tuple(Role), references_adopted: bool = False
) -> tuple[Benchmark, Study, Seats]:
    """Benchmark, study and seats of the settings, with everything checked that can be without spending anything.

    Only the models of the roles in ``build`` are built, and need a key. A reference file is not looked at again once the
    run has its own copy (``references_adopted``).
    """
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    benchmark = find_benchmark(settings.benchmark)
    seats = build_seats(settings, benchmark, build=build)
    study = benchmark.open(study_options(settings))
    check_seats(study, settings, references_adopted=references_adopted)
    if settings.reference_file and study.needs_references and not references_adopted:
        references_from(Path(settings.reference_file), benchmark, study, seats)
    return benchmark, study, seats


@contextlib.contextmanager
def opened_run(
    path: Path, *, build: Collection[Role] = tuple(Role), offline: bool = False, watch: Watch | None = None
) -> Iterator[tuple[Run, Benchmark, list[JournalledModel]]]:
    """A run with everything it needs, built from its manifest and locked.

    Only the roles in ``build`` get their models. ``offline`` nobody is asked: replies come from the journal or not at all.
    """
    with RunFolder.open(path) as folder:
        manifest = folder.read_manifest()
        settings = settings_of(manifest, path)
        benchmark = find_benchmark(settings.benchmark)
        study = study_of(benchmark, settings, manifest, path)
        seats = build_seats(settings, benchmark, build=() if offline else build)
        budget = Budget(prices_of(settings, seats, build), settings.max_cost)
        with Journal(path / "calls.sqlite", replay_only=offline) as journal:
            for model, role, usage in journal.bought():
                budget.book(model, role, usage)
            models: list[JournalledModel] = []

            def journalled(seat: Seat) -> Seat:
                if seat.model is None or seat.role not in build:
                    return seat
                models.append(JournalledModel(seat.model, journal, budget))
                return replace(seat, model=models[-1])

            seats = seats.each(journalled)
            records = RunRecords.of(path, benchmark)
            progress = (lambda counts: watch(counts, budget)) if watch else (lambda _: None)
            rubric = find_rubric(settings.rubric) if settings.rubric else None
            run_ = Run(folder, study, seats, records, budget, settings.repeats, settings.max_connections, progress, rubric)
            try:
                yield run_, benchmark, models
            finally:
                records.close()


def makes_references(study: Study, settings: RunSettings) -> bool:
    return study.needs_references and bool(settings.judges and settings.reference and not settings.reference_file)


def settings_of(manifest: dict[str, Any], path: Path) -> RunSettings:
    try:
        return RunSettings.model_validate(manifest["settings"])
    except (KeyError, ValueError) as error:
        raise RunFolderError(
            f"{path / 'manifest.json'}: settings this version does not understand ({str(error).splitlines()[0]}). "
            f"It was written by sociable {manifest.get('packages', {}).get('sociable', '?')}; use that version."
        ) from None


def study_of(benchmark: Benchmark, settings: RunSettings, manifest: dict[str, Any], path: Path) -> Study:
    """The study of an existing run; it must still be the one the run was begun with."""
    if manifest["version"] != benchmark.version:
        raise RunFolderError(
            f"{path} was run with {benchmark.name} {manifest['version']}; this is {benchmark.version}. Scores of the two are not "
            f"comparable: use sociable {manifest['packages']['sociable']}, or start a new run."
        )
    study = benchmark.open(study_options(settings))
    for name, digest in manifest["digests"].items():
        if study.digests.get(name) != digest:
            raise RunFolderError(f"The {name} changed since {path} was begun. Restore it, or start a new run.")
    return study


def study_options(settings: RunSettings) -> StudyOptions:
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


def check_seats(study: Study, settings: RunSettings, *, references_adopted: bool = False) -> None:
    filled = {Role.SUBJECT: settings.model, Role.PARTNER: settings.partner, Role.REFERENCE: settings.reference}
    study.check_seats(
        [role for role, name in filled.items() if name], judges=len(settings.judges), references=bool(settings.reference_file)
    )
    judges = [plain_name(name) for name in settings.judges]
    if settings.rubric:
        find_rubric(settings.rubric)
        raters = [plain_name(name) for name in settings.raters]
        if len(set(raters)) < len(raters):
            raise InputError("A judge is named twice for the rubric; judges must differ in their names, not only in endpoints.")
        if not settings.raters or any(name.startswith("reference/") for name in settings.raters):
            raise InputError("A rubric needs a model as its judge, not a rule: name one with --judge MODEL.")
        if not study.has_goals:
            raise InputError(f"{settings.benchmark} is not rated by rubrics; its judges answer questions of its own.")
    if settings.reference and settings.reference_file and not references_adopted:
        raise InputError("Name either --reference, to have references made, or --reference-file, to use made ones.")
    if len(set(judges)) < len(judges):
        raise InputError("A judge is named twice. A panel's judges must differ in their names, not only in their endpoints.")


def build_seats(settings: RunSettings, benchmark: Benchmark, *, build: Collection[Role] = tuple(Role)) -> Seats:
    """Who sits where. Roles that are not in ``build`` get their names only.

    One model behind one endpoint with one key and one limit is built once, so that its limits are kept by all who use it.
    """
    built: dict[tuple[str, RoleSettings], Model] = {}

    def seat(role: Role, name: str) -> Seat:
        own = settings.role(role, name)
        if role not in build and not name.startswith("reference/"):
            return Seat(role, plain_name(name), AbsentModel(plain_name(name)), own.sampling)
        made = build_seat(role, name, settings, benchmark)
        if made.model is None:
            return made
        # Sampling goes with each request and is not part of the model.
        endpoint = own.model_copy(update={"temperature": None, "max_tokens": None, "top_p": None, "seed": None})
        return replace(made, model=built.setdefault((name, endpoint), made.model))

    return Seats(
        subject=seat(Role.SUBJECT, settings.model),
        partner=seat(Role.PARTNER, settings.partner) if settings.partner else None,
        reference=seat(Role.REFERENCE, settings.reference) if settings.reference else None,
        judges=tuple(seat(Role.JUDGE, name) for name in settings.judges),
        raters=tuple(seat(Role.JUDGE, name) for name in settings.raters),
    )


def prices_of(settings: RunSettings, seats: Seats, build: Collection[Role] = tuple(Role)) -> dict[str, Price]:
    """The prices of all models that have one.

    Raises InputError when a cost limit is asked for and a model that may be asked, one of the roles in ``build``, has none.
    """
    prices = {}
    for seat in (seats.subject, seats.partner, seats.reference, *seats.judges, *seats.raters):
        if seat is None or seat.name == PERSON:
            continue
        price = find_price(seat.name, settings.prices)
        if price is not None:
            prices[seat.name] = price
        elif settings.max_cost is not None and seat.role in build:
            raise InputError(
                f"--max-cost needs the price of '{seat.name}', which nobody wrote down. Add to your --config file:\n"
                f'[prices."{seat.name}"]\ninput = 0.0   # US dollars per million tokens\noutput = 0.0'
            )
    return prices
