"""Makes of settings or a manifest the things that a run works with: benchmark, study, seats, prices, journal, records.

Everything that can be checked without spending anything is checked here.
"""

from __future__ import annotations

import contextlib
import difflib
import platform
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import dotenv

from sociable.agents.people.person import People
from sociable.core.errors import InputError, RunFolderError
from sociable.core.form import PERSON, PeopleAt
from sociable.core.run_folder import RunFolder
from sociable.core.seeding import select_clusters
from sociable.engine.benchmark import Benchmark
from sociable.engine.executor import LocalExecutor
from sociable.engine.hub import find_data, pin
from sociable.engine.phases import Progress
from sociable.engine.pool import ModelKey, Pool, take_any_place
from sociable.engine.ratings import find_rubric
from sociable.engine.registry import build_seat, check_address, find_benchmark
from sociable.engine.result import RunRecords, read_references
from sociable.engine.run import Run
from sociable.engine.seating import check_people, list_players, seat_people, share_seat
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.settings import RunSettings, strip_endpoint
from sociable.engine.stopping import check_rule, parse_rule, plan_run
from sociable.engine.study import AnyStudy, Contested, Rated, Referenced, Study
from sociable.judging.rubric import load_rubric_prompts
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget, Price, find_price
from sociable.models.protocol import Model

Watch = Callable[[Progress, Budget], None]
"""Called whenever a count changes."""

_PACKAGES = ("sociable", "pydantic", "aiohttp", "numpy", "scipy", "py3langid")


@dataclass(frozen=True)
class OpenStudy:
    """A benchmark bound to settings, with everything checked that can be without spending anything."""

    settings: RunSettings
    benchmark: Benchmark
    study: AnyStudy
    seats: Seats
    prices: Mapping[str, Price]

    @property
    def makes_references(self) -> bool:
        """Whether the run has references to make: there must be judges to use them."""
        study, settings = self.study, self.settings
        wanted = bool(settings.judges and settings.reference and not settings.reference_file)
        return wanted and isinstance(study, Referenced) and study.needs_references


def open_study(
    settings: RunSettings, *, build: Collection[Role] = tuple(Role), models: dict[ModelKey, Model] | None = None
) -> OpenStudy:
    """Benchmark, study and seats of the settings. Raises InputError before anything is spent.

    Only the models of the roles in ``build`` are built, and need a key; those in ``models`` are there already.
    """
    opened = bind_study(settings, build, models)
    check_settings(opened)
    return opened


def bind_study(settings: RunSettings, build: Collection[Role], models: dict[ModelKey, Model] | None = None) -> OpenStudy:
    """The same without the checks of who sits where: for settings that were checked before."""
    benchmark = find_benchmark(settings.benchmark)
    seats = build_seats(settings, benchmark, build=build, models=models)
    study = benchmark.open(**make_study_options(settings))
    if settings.dataset and study.source == Study.source:
        raise InputError(f"{benchmark.name} reads no file of data: leave --dataset out.")
    if settings.prompts and "prompts" not in study.digests:
        raise InputError(f"{benchmark.name} takes no other prompts: leave --prompts out.")
    if settings.limit:
        names, alike = tuple(study.scenarios), lambda _name: ""
        chosen = select_clusters(names, settings.limit, settings.seed, cluster=study.find_cluster, group=alike, by_name=False)
        study.scenarios = {name: study.scenarios[name] for name in chosen}
    if settings.scenarios:
        study.scenarios = _select_scenarios(study, settings)
    return OpenStudy(settings, benchmark, study, seats, find_prices(settings, seats, build))


def _select_scenarios(study: AnyStudy, settings: RunSettings) -> dict[str, Any]:
    if settings.limit:
        raise InputError("Name scenarios with --scenario, or their number with --limit, not both.")
    for name in settings.scenarios:
        if name not in study.scenarios:
            near = "".join(f"; did you mean '{each}'?" for each in difflib.get_close_matches(name, study.scenarios, 1))
            raise InputError(f"There is no scenario '{name}'{near or '.'} `sociable show {settings.benchmark}` lists them.")
    return {name: scenario for name, scenario in study.scenarios.items() if name in settings.scenarios}


def describe_packages() -> dict[str, str]:
    """The versions on which numbers depend."""
    return {name: metadata.version(name) for name in _PACKAGES} | {"python": platform.python_version()}


def begin_run(
    settings: RunSettings,
    path: Path,
    *,
    build: Collection[Role] = tuple(Role),
    models: dict[ModelKey, Model] | None = None,
) -> tuple[RunFolder, OpenStudy]:
    """Checks everything that can be checked before anything is spent, and writes the manifest. The folder is locked.

    Only the models of the roles in ``build`` are built, and need a key.
    """
    opened = open_study(make_paths_absolute(settings), build=build, models=models)
    opened = replace(opened, settings=opened.settings.model_copy(update=dict(opened.study.resolved)))
    folder = RunFolder.create(path)
    kept = keep_inputs(folder, opened)
    folder.write_manifest(describe_run(opened) | {"inputs": kept})
    return folder, opened


def describe_run(opened: OpenStudy) -> dict[str, Any]:
    """The manifest of a run that begins now, but for the copies of its inputs."""
    benchmark, study = opened.benchmark, opened.study
    return {
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": describe_packages(),
        "digests": dict(study.digests),
        "notes": list(study.notes),
        "episodes": len(study.scenarios) * opened.settings.repeats,
        **describe_roles(opened.settings),
    }


def keep_inputs(folder: RunFolder, opened: OpenStudy) -> dict[str, str]:
    """The copies in a run's folder of the files that its scenarios and prompts are made of, by the name of the setting."""
    kept = {name: folder.keep_input(name, given) for name, given in _list_inputs(opened.settings, opened.study).items()}
    return {name: place for name, place in kept.items() if place}


def _list_inputs(settings: RunSettings, study: AnyStudy) -> dict[str, Path]:
    """The user's own files that the scenarios and prompts of a run are made of, by the name of the setting."""
    given = {"dataset": find_data(settings.dataset), "prompts": settings.prompts}
    given |= {name: settings.options.get(name) for name in study.input_options}
    return {name: Path(path) for name, path in given.items() if path and Path(path).exists()}


def use_kept_inputs(settings: RunSettings, manifest: Mapping[str, Any], folder: Path) -> RunSettings:
    """``settings`` with the copies that a run kept of its inputs: it does not matter where they, or the folder, are by now."""
    kept = {name: str((folder / place).resolve()) for name, place in manifest.get("inputs", {}).items()}
    own = {name: path for name, path in kept.items() if name in ("dataset", "prompts")}
    options = settings.options | {name: path for name, path in kept.items() if name not in own}
    return settings.model_copy(update={**own, "options": options})


def describe_roles(settings: RunSettings) -> dict[str, Any]:
    """The part of the manifest that judging again changes: models, sampling, settings, and who rates by which prompts."""
    single = {
        "subject": settings.model,
        "partner": settings.partner,
        "opponent": settings.opponent,
        "reference": settings.reference,
    }
    described = {
        "models": {
            **{role: strip_endpoint(name) if name else None for role, name in single.items()},
            "judges": [strip_endpoint(name) for name in settings.judges],
            **({"people": list(settings.people)} if settings.people else {}),
        },
        "sampling": {
            f"{role} {strip_endpoint(name)}": asdict(settings.find_role_settings(role, name).sampling)
            for role, name in settings.list_models()
            if not name.startswith("reference/")
        },
        "settings": settings.model_dump(mode="json"),
    }
    if settings.rubric:
        described["rubric"] = {
            "raters": [strip_endpoint(name) for name in settings.raters],
            "sampling": {
                strip_endpoint(name): asdict(settings.find_role_settings(Role.JUDGE, name).sampling) for name in settings.raters
            },
            "prompts": load_rubric_prompts().digest,
        }
    return described


def make_paths_absolute(settings: RunSettings) -> RunSettings:
    """``settings`` whose paths are absolute, so that a run can be resumed and reported from anywhere.

    A data set on the hub is named with its commit, so that it stays the same. Raises InputError where that cannot be found out.
    """
    paths = {name: getattr(settings, name) for name in ("dataset", "prompts", "reference_file")}
    return settings.model_copy(update={name: pin(path) for name, path in paths.items() if path})


def reopen_study(
    folder: RunFolder,
    changed: RunSettings | None = None,
    *,
    build: Collection[Role] = (),
    models: dict[ModelKey, Model] | None = None,
    references_adopted: bool = True,
    only_read: bool = False,
) -> OpenStudy:
    """The study of an existing run, with its own or ``changed`` settings, which are checked.

    A reference file is not looked at again once the run has its own copy (``references_adopted``). Where the run is
    ``only_read`` nobody is asked anything, and the prompts may be others by now. Raises RunFolderError where benchmark or
    data are others, or the prompts of a run that goes on.
    """
    manifest = folder.read_manifest()
    settings = changed or read_settings(manifest, folder.path)
    benchmark = find_benchmark(settings.benchmark)
    check_version(manifest, benchmark, folder.path)
    opened = bind_study(use_kept_inputs(settings, manifest, folder.path), build, models)
    check_digests(manifest, opened.study, folder.path, only_read=only_read)
    if changed:
        check_settings(opened, references_adopted=references_adopted)
    return opened


def check_version(manifest: Mapping[str, Any], benchmark: Benchmark, path: Path) -> None:
    """Raises RunFolderError where what lies at ``path`` was made with another version of its benchmark."""
    if manifest["version"] != benchmark.version:
        raise RunFolderError(
            f"{path} was run with {benchmark.name} {manifest['version']}; this is {benchmark.version}. Scores of the two "
            f"are not comparable: use sociable {manifest['packages']['sociable']}, or start a new run."
        )


def check_digests(manifest: Mapping[str, Any], study: AnyStudy, path: Path, *, only_read: bool = False) -> None:
    """Raises RunFolderError where data are others than those of what lies at ``path``; or prompts, unless it is ``only_read``."""
    for name, digest in manifest["digests"].items():
        if study.digests.get(name) != digest and not (only_read and name == "prompts"):
            raise RunFolderError(
                f"The {name} changed since {path} was begun with sociable {manifest['packages']['sociable']}. "
                "Restore what it was, or start a new run."
            )


@contextlib.contextmanager
def open_run(
    folder: RunFolder,
    opened: OpenStudy,
    *,
    build: Collection[Role] = tuple(Role),
    offline: bool = False,
    watch: Watch | None = None,
    people_at: PeopleAt = PeopleAt.TERMINAL,
    pool: Pool | None = None,
) -> Iterator[tuple[Run, list[JournalledModel]]]:
    """A run with everything it needs. Only the seats of the roles in ``build`` are asked through the journal.

    ``offline`` nobody is asked: replies come from the journal or not at all. In a ``pool`` the run is one of several.
    """
    path, settings = folder.path, opened.settings
    budget = Budget(dict(opened.prices), settings.max_cost)
    records = RunRecords.open(path, opened.study)
    try:
        names = frozenset(settings.people)
        with (
            Journal(path / "calls.sqlite", replay_only=offline) as journal,
            _seat_people(people_at, path, opened) as people,
        ):
            for shared in (False, True):
                for model, role, usage in journal.sum_usage(shared=shared):
                    budget.book(model, role, usage, shared=shared)
            if pool:
                budget.join(pool.budget)
            calls = pool.share_calls(settings) if pool else None
            persons = JournalledModel(people, journal, budget) if people else None
            models = [persons] if persons else []

            def add_journal(seat: Seat) -> Seat:
                if seat.model is None or seat.role not in build:
                    return seat
                if persons and seat.name == PERSON:
                    return replace(seat, model=persons)
                models.append(JournalledModel(seat.model, journal, budget, calls))
                seated = replace(seat, model=models[-1])
                return share_seat(seated, persons, names) if persons else seated

            seats = opened.seats.change_each(add_journal)

            def report(counts: Progress) -> None:
                if people:
                    people.note_progress(counts.phase, counts.done, counts.total)
                if watch:
                    watch(counts, budget)

            rubric = find_rubric(settings.rubric) if settings.rubric else None
            yield (
                Run(
                    folder=folder,
                    study=opened.study,
                    seats=seats,
                    executor=LocalExecutor(opened.study, seats, rubric),
                    records=records,
                    budget=budget,
                    repeats=settings.repeats,
                    at_once=settings.at_once,
                    progress=report,
                    journal=journal,
                    rubric=rubric,
                    players=people if names or PERSON in (seat.name for seat in list_players(seats)) else None,
                    looks=plan_run(opened.study, parse_rule(settings.until)) if settings.until else None,
                    take_place=pool.share_places(settings, path.name) if pool else take_any_place,
                ),
                models,
            )
    finally:
        records.close()


def _seat_people(people_at: PeopleAt, path: Path, opened: OpenStudy) -> AbstractContextManager[People | None]:
    """The people of a run; None where nobody takes part."""
    if not opened.settings.has_people:
        return nullcontext()
    return seat_people(people_at, path, opened.study, opened.seats, frozenset(opened.settings.people))


def read_settings(manifest: dict[str, Any], path: Path) -> RunSettings:
    """The settings in a run's manifest. Raises RunFolderError where another version wrote them."""
    try:
        return RunSettings.model_validate(manifest["settings"])
    except (KeyError, ValueError) as error:
        raise RunFolderError(
            f"{path / 'manifest.json'}: settings this version does not understand ({str(error).splitlines()[0]}). "
            f"It was written by sociable {manifest.get('packages', {}).get('sociable', '?')}; use that version."
        ) from None


def make_study_options(settings: RunSettings) -> dict[str, Any]:
    """The part of the settings that ``Benchmark.open`` takes."""
    models = settings.list_models()
    filled = {role for role, _ in models} | ({Role.REFERENCE} if settings.reference_file else set())
    return {
        "values": settings.options,
        "filled": frozenset(filled),
        "by_rule": frozenset(role for role, name in models if name.startswith("reference/")),
        "dataset": find_data(settings.dataset),
        "skip_invalid": settings.skip_invalid,
        "prompts": Path(settings.prompts) if settings.prompts else None,
        "limit": settings.limit,
        "seed": settings.seed,
    }


def check_settings(opened: OpenStudy, *, references_adopted: bool = False) -> None:
    """Raises InputError for roles that are missing, not asked for or filled twice, and for references that do not fit."""
    settings, study = opened.settings, opened.study
    roles = [role for role, _ in settings.list_models() if role is not Role.JUDGE]
    if settings.until:
        check_rule(study, parse_rule(settings.until), settings.scenarios)
    study.check_seats(settings.benchmark, roles, judges=len(settings.judges), references=bool(settings.reference_file))
    for names, what in ((settings.judges, ""), (settings.raters, " for the rubric")):
        if len(set(map(strip_endpoint, names))) < len(names):
            remedy = "Judges must differ in their names, not only in their endpoints."
            raise InputError(f"A judge is named twice{what}. {remedy}")
    if settings.rubric:
        _check_rubric(settings.rubric, settings, study)
    check_people(settings.people, settings.benchmark, study, opened.seats)
    if settings.reference and settings.reference_file and not references_adopted:
        raise InputError("Name either --reference, to have references made, or --reference-file, to use made ones.")
    if settings.reference_file and not references_adopted and isinstance(study, Referenced) and study.needs_references:
        read_references(Path(settings.reference_file), study, opened.seats)


def _check_rubric(rubric: str, settings: RunSettings, study: AnyStudy) -> None:
    find_rubric(rubric)
    if not settings.raters or any(name.startswith("reference/") for name in settings.raters):
        raise InputError("A rubric needs a model as its judge, not a rule: name one with --judge MODEL.")
    if not isinstance(study, Rated):
        raise InputError(f"{settings.benchmark} is not rated by rubrics; its judges answer questions of its own.")


def build_seats(
    settings: RunSettings,
    benchmark: Benchmark,
    *,
    build: Collection[Role] = tuple(Role),
    models: dict[ModelKey, Model] | None = None,
) -> Seats:
    """The seats, filled. Roles that are not in ``build`` get their names only.

    One model behind one endpoint with one key and one limit is built once, so that its limits are kept by all who use it: also
    by other runs, where ``models`` holds those that are there already.
    """
    if settings.opponent and not issubclass(benchmark.load_study_type(), Contested):
        raise InputError(f"In {benchmark.name} no two models meet: leave --opponent out.")
    if build:
        dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    built = {} if models is None else models

    def fill_seat(role: Role, name: str) -> Seat:
        own = settings.find_role_settings(role, name)
        # Also of a model that is not built here: the manifest is written all the same.
        _, at, address = name.partition("@http")
        for url in filter(None, (f"http{address}" if at else None, own.base_url, settings.base_url)):
            check_address(url)
        if role not in build and not name.startswith("reference/"):
            return Seat(role, strip_endpoint(name), AbsentModel(strip_endpoint(name)), own.sampling)
        key = make_model_key(settings, role, name)
        if key in built and name != PERSON:
            return Seat(role, strip_endpoint(name), built[key], own.sampling)
        made = build_seat(role, name, settings, benchmark)
        return made if made.model is None else replace(made, model=built.setdefault(key, made.model))

    return Seats(
        subject=fill_seat(Role.SUBJECT, settings.model),
        partner=fill_seat(Role.PARTNER, settings.partner) if settings.partner else None,
        opponent=fill_seat(Role.OPPONENT, settings.opponent) if settings.opponent else None,
        reference=fill_seat(Role.REFERENCE, settings.reference) if settings.reference else None,
        judges=tuple(fill_seat(Role.JUDGE, name) for name in settings.judges),
        raters=tuple(fill_seat(Role.JUDGE, name) for name in settings.raters),
    )


def make_model_key(settings: RunSettings, role: Role, name: str) -> ModelKey:
    """The key of a role's model: where two have the same, they are one model."""
    # Sampling goes with each request and is not part of the model.
    sampling = {"temperature": None, "max_tokens": None, "top_p": None, "seed": None}
    endpoint = settings.find_role_settings(role, name).model_copy(update=sampling)
    return (name, endpoint, settings.base_url, settings.max_connections)


def find_prices(settings: RunSettings, seats: Seats, build: Collection[Role] = tuple(Role)) -> dict[str, Price]:
    """The prices of all models that have one.

    Raises InputError when a cost limit is asked for and a model that may be asked, one of the roles in ``build``, has none.
    """
    prices = {}
    for seat in (seats.subject, seats.partner, seats.opponent, seats.reference, *seats.judges, *seats.raters):
        if seat is None or seat.name == PERSON:
            continue
        if price := find_price(seat.name, settings.prices):
            prices[seat.name] = price
        elif settings.max_cost is not None and seat.role in build:
            raise InputError(
                f"--max-cost needs the price of '{seat.name}', which nobody wrote down. Add to your --config file:\n"
                f'[prices."{seat.name}"]\ninput = 0.0   # US dollars per million tokens\noutput = 0.0'
            )
    return prices
