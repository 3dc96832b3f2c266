"""A run on a cluster: the workers open its study, and do the work on its items."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dotenv

from sociable.cluster.messages import RunSpecification, list_seated, split_function
from sociable.core.errors import InputError
from sociable.core.spreading import Spread, work_here
from sociable.engine.opening import OpenStudy, make_model_key
from sociable.engine.pool import ModelKey
from sociable.engine.registry import build_model
from sociable.engine.run import Run
from sociable.engine.seats import AbsentModel, Role, Seat
from sociable.engine.settings import RunSettings, strip_endpoint
from sociable.models.journal import JournalledModel
from sociable.models.protocol import Model

if TYPE_CHECKING:
    from sociable.cluster.crew import Crew, RemoteModel
# What talks to servers is imported when a cluster is asked for: the command line begins at once.


@dataclass
class Cluster:
    """A cluster that was reached, before there are workers on it."""

    hire: Any
    workers: int
    models: dict[ModelKey, Model] = field(default_factory=dict)
    """What stands on the driver for the models that the workers build."""

    @property
    def spread(self) -> Spread:
        """Work that asks nobody, done by the cluster's processors."""
        from sociable.cluster.tasks import spread_over

        return partial(spread_over, self.workers, 1)

    def stand_in(self, settings: RunSettings) -> dict[ModelKey, Model]:
        """``models`` with those of a run. Raises InputError for one that no worker could build, and where people take part."""
        if settings.has_people:
            raise InputError("People answer where a run is begun, and not on a cluster: leave --cluster out.")
        from sociable.cluster.crew import RemoteModel

        dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
        for role, name in list_seated(settings):
            key = make_model_key(settings, role, name)
            if name.startswith("reference/") or key in self.models:
                continue
            if file := split_function(name)[0]:
                _read_function(file)
            is_endpoint = name.startswith(("openai/", "openai-compatible/"))
            own = settings.find_role_settings(role, name)
            # Other models live in a worker's process, or are reached by ways of their own: only the workers need them.
            here = build_model(name, own, settings.base_url, settings.max_connections) if is_endpoint else AbsentModel(name)
            self.models[key] = RemoteModel(here, settings.max_connections)
        return self.models


@contextmanager
def join_cluster(cluster: str | None, workers: int | None = None) -> Iterator[Cluster | None]:
    """The cluster of this address, ``ray`` or ``ray://HOST:PORT``; None where none is named. Raises InputError.

    ``workers`` are the processes that do the work, by default one for each processor of the cluster.
    """
    if cluster is None:
        if workers is not None:
            raise InputError("--workers are those of a cluster: name it with --cluster ray, or leave --workers out.")
        yield None
        return
    from sociable.cluster.on_ray import Hirer, connect

    with connect(cluster, workers) as (ray, number):
        yield Cluster(Hirer(ray), number)


@asynccontextmanager
async def begin_crew(cluster: Cluster | None) -> AsyncIterator[Crew | None]:
    """The workers, while it is entered. Raises InputError where they cannot be used."""
    if cluster is None:
        yield None
        return
    from sociable.cluster.crew import Crew

    async with Crew(cluster.hire, cluster.workers) as crew:
        yield crew


@asynccontextmanager
async def hand_over(
    crew: Crew | None, run: Run, opened: OpenStudy, models: Sequence[JournalledModel], build: Collection[Role] = tuple(Role)
) -> AsyncIterator[None]:
    """Has the crew work on the items of a run, while it is entered. Raises InputError where a worker cannot open its study."""
    if crew is None:
        yield
        return
    from sociable.cluster.crew import ITEMS_AHEAD, CrewRun, RemoteModel

    remote: list[RemoteModel] = []

    def list_model(seat: Seat) -> Seat:
        if isinstance(seat.model, RemoteModel):
            remote.append(seat.model)
        return seat

    opened.seats.change_each(list_model)
    specification = _describe(run, opened, build)
    run.executor = await crew.take_on(CrewRun(specification, models, remote))
    run.spread = _spread_once_free(crew.size)
    run.at_once = max(run.at_once, crew.size) if models else ITEMS_AHEAD * crew.size
    try:
        yield
    finally:
        crew.end(specification.run)


def _spread_once_free(workers: int) -> Spread:
    """The ``Spread`` of a run that is scored: over the cluster if its workers have ended. Those of a study have other runs."""

    @cache
    def choose() -> Spread:
        from sociable.cluster.tasks import has_free_processor, spread_over

        return partial(spread_over, workers, 1) if has_free_processor() else work_here

    return lambda *work, **how: choose()(*work, **how)


def _describe(run: Run, opened: OpenStudy, build: Collection[Role]) -> RunSpecification:
    settings, folder = opened.settings, run.folder.path
    inputs: dict[str, str] = run.folder.read_manifest().get("inputs", {})
    kept = [each for place in inputs.values() for each in [folder / place, *(folder / place).rglob("*")] if each.is_file()]
    functions = {file for _, name in list_seated(settings) if (file := split_function(name)[0])}
    return RunSpecification(
        run=str(folder.resolve()),
        settings=settings.model_dump(mode="json"),
        build=tuple(build),
        version=opened.benchmark.version,
        digests=dict(opened.study.digests),
        inputs=inputs,
        files={file.relative_to(folder).as_posix(): file.read_bytes() for file in kept},
        functions={file: _read_function(file) for file in functions},
        environment=_list_environment(settings),
    )


def _read_function(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"'python:{file}' cannot be sent to the workers: {error}.") from None


def _list_environment(settings: RunSettings) -> dict[str, str]:
    """The variables with addresses and keys of the run's own servers."""
    named = {settings.find_role_settings(role, strip_endpoint(name)).key_variable for role, name in list_seated(settings)}
    return {name: os.environ[name] for name in {*named, "OPENAI_API_KEY", "OPENAI_BASE_URL"} if name and name in os.environ}
