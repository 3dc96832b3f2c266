"""Who sits where in an Inspect task: Inspect's model under test and its model roles, in the seats of a run of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from inspect_ai.model import Model, get_model, model_roles

from sociable.api.runs import make_settings
from sociable.core.errors import InputError, RunFailure
from sociable.core.records import Record
from sociable.engine.opening import OpenStudy, check_digests, check_version, make_paths_absolute, open_study
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.settings import RunSettings
from sociable.models.inspect_bridge import InspectModel
from sociable.models.inspect_internals import PrerequisiteError
from sociable.models.protocol import Reply, Request

ROLES = (Role.PARTNER, Role.OPPONENT, Role.REFERENCE, Role.JUDGE)
"""The model roles that there can be; the model under test is no role of Inspect's."""
SETTINGS = ("dataset", "prompts", "seed", "skip_invalid")
"""Settings of a run that a task takes, beside the benchmark's own options."""
NO_MODEL = "inspect/none/none"


class Asked(Record):
    """What a task was asked for, without who takes part: each of its samples carries it."""

    benchmark: str
    version: str
    digests: dict[str, str]
    settings: dict[str, Any]
    """Settings of a run as the user gave them, and the benchmark's own options as they were decided."""
    packages: dict[str, str]
    models: dict[str, str] = {}
    """Who took part, but for the judges, as settings: where a log is judged again, Inspect may not have them."""


@dataclass(frozen=True)
class Seated:
    """A benchmark opened for one task, and its seats with the models that Inspect has now."""

    opened: OpenStudy
    seats: Seats


def find_models() -> dict[Role, list[Model]]:
    """The models that Inspect has now, by role. Raises InputError for a role that is none of ours."""
    roles = model_roles()
    if unknown := set(roles) - {*ROLES}:
        raise InputError(f"There is no role '{min(unknown)}' here; model roles are: {', '.join(ROLES)}.")
    several = {Role(role): list(models) if isinstance(models, list) else [models] for role, models in roles.items()}
    return {Role.SUBJECT: [get_model()], **several}


def name_model(model: Model | str) -> str:
    """The name by which our manifests and commands know a model of Inspect's."""
    name = str(model)
    return name if name.startswith("reference/") else f"inspect/{name}"


def name_models(models: Mapping[Role, list[Model]]) -> dict[str, Any]:
    """The settings of a run that name who takes part. Raises InputError where a role that takes one has several models."""
    names = {role: [name_model(each) for each in several] for role, several in models.items()}
    for role, several in names.items():
        if len(several) > 1 and role is not Role.JUDGE:
            raise InputError(f"The {role.value} is one model; several were named: {', '.join(several)}.")
    single = {role.value: names[role][0] for role in (Role.PARTNER, Role.OPPONENT, Role.REFERENCE) if role in names}
    return {"model": names[Role.SUBJECT][0], "judges": tuple(names.get(Role.JUDGE, ())), **single}


def open_asked(benchmark: str, settings: Mapping[str, Any], names: Mapping[str, Any]) -> OpenStudy:
    """The benchmark with these settings and these models, checked. Raises InputError before anything is spent."""
    made = make_paths_absolute(make_settings(benchmark, None, **settings, **names))
    return _open(made.model_dump_json())


@lru_cache(maxsize=8)
def _open(settings: str) -> OpenStudy:
    """A study takes a while to open; all samples of a task share one."""
    return open_study(RunSettings.model_validate_json(settings), build=())


def forget_studies() -> None:
    """Has every study opened anew: its files may be others since, where one process makes several tasks."""
    _open.cache_clear()


@contextmanager
def tell_inspect() -> Iterator[None]:
    """What a user must mend is told as Inspect tells it: the sentence alone."""
    try:
        yield
    except InputError as error:
        raise PrerequisiteError(str(error)) from None


def take_seats(metadata: Mapping[str, Any]) -> Seated:
    """The benchmark and the seats for a sample with this metadata.

    Raises PrerequisiteError where it was made with other data, or Inspect's models are not those that it needs.
    """
    with tell_inspect():
        asked = read_asked(metadata)
        models = find_models()
        opened = open_asked(asked.benchmark, asked.settings, name_all(asked, models))
        check_asked(asked, opened)
    by_name = {(role, name_model(each)): each for role, several in models.items() for each in several}

    def fill(seat: Seat) -> Seat:
        found = by_name.get((seat.role, seat.name))
        return replace(seat, model=_SeatedModel(found) if found else _MissingModel(seat)) if seat.model else seat

    return Seated(opened, opened.seats.change_each(fill))


def name_all(asked: Asked, models: Mapping[Role, list[Model]]) -> dict[str, Any]:
    """Who takes part, as settings: Inspect's models, and in their absence those of the run that was exported."""
    return asked.models | {name: named for name, named in name_models(models).items() if named and named != NO_MODEL}


def read_asked(metadata: Mapping[str, Any]) -> Asked:
    """What a sample's task was asked for. Raises InputError for a sample of another task."""
    try:
        return Asked.model_validate(metadata["sociable"])
    except (KeyError, ValueError):
        raise InputError("This sample is of no task of sociable: its metadata do not say which case it is.") from None


def check_asked(asked: Asked, opened: OpenStudy) -> None:
    """Raises RunFolderError where a sample was made with another version of its benchmark, or other data."""
    place = Path("The sample")
    check_version(asked.model_dump(), opened.benchmark, place)
    check_digests(asked.model_dump(), opened.study, place)


class _MissingModel(AbsentModel):
    """A model that an exported run had and Inspect has not."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(seat.name)
        self._role = seat.role

    async def generate(self, request: Request) -> NoReturn:
        raise RunFailure(
            f"Inspect has no model for the {self._role.value} of this run: name one, --model-role {self._role.value}=…"
        )


class _SeatedModel:
    """A model of Inspect's as a participant asks it; what it uses is counted in the asking scope."""

    def __init__(self, model: Model) -> None:
        self.name = name_model(model)
        self._model = InspectModel(self.name, model=model)

    async def generate(self, request: Request) -> Reply:
        reply = await self._model.generate(request)
        request.scope.usage += reply.usage
        return reply

    async def close(self) -> None:
        """Nothing: Inspect made the model, and closes it."""
