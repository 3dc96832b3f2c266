"""What the driver and its workers say to each other.

A call is made in two steps. A worker asks for it; the driver answers with a reply that it knows, or has the worker go ahead
when budget and endpoint have room. What was bought is told at once, and the driver says when it is on its disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sociable.core import errors
from sociable.core.errors import SociableError
from sociable.engine.phases import UnderWay, describe_failure
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings
from sociable.models.protocol import Reply


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RunSpecification:
    """What a worker must know to open the study of a run."""

    run: str
    settings: Mapping[str, Any]
    build: tuple[Role, ...]
    """The roles that are asked."""
    version: str
    """The benchmark's version, which the worker's must equal; likewise ``digests``."""
    digests: Mapping[str, str]
    inputs: Mapping[str, str]
    """By setting, the path of the copy of an input below the run folder."""
    files: Mapping[str, bytes]
    """By path below the run folder, what stands in those copies."""
    functions: Mapping[str, bytes]
    """By path as the models' names give it, the source of Python functions."""
    environment: Mapping[str, str]
    """Addresses and keys of servers; what a node has itself goes before."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that crosses from one process to another."""

    kind: str
    text: str

    @classmethod
    def describe(cls, error: BaseException) -> Failure:
        """The failure; a bug is one of the run, in words that name its place."""
        kind = type(error).__name__ if isinstance(error, SociableError) else "RunFailure"
        return cls(kind, describe_failure(error))

    def make_error(self) -> SociableError:
        kind = getattr(errors, self.kind, errors.RunFailure)
        return (errors.InputError if kind is errors.DataError else kind)(self.text)


def list_seated(settings: RunSettings) -> list[tuple[Role, str]]:
    """(role, model) of everybody who may be asked in a run."""
    return [*settings.list_models(), *((Role.JUDGE, name) for name in settings.raters)]


def split_function(model: str) -> tuple[str, str]:
    """(file, function) of a model that is a Python function; empty for any other."""
    file, _, function = model.removeprefix("python:").rpartition(":")
    return (file, function) if model.startswith("python:") else ("", "")


# From a worker to the driver.


@dataclass(frozen=True, slots=True)
class Asked:
    """A participant or judge asks its model."""

    call: int
    run: str
    seat: int
    """The number of the seat among those that are asked."""
    scope: tuple[str, str, str]
    """Item, role and participant."""
    key: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Bought:
    """A call was made. ``adaptations`` are the names of what the server turned out not to take."""

    call: int
    reply: Reply
    adaptations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Nobody waits for a call any more, or it could not be made."""

    call: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Noted:
    """How an attempt went that was begun in this ``era`` of the endpoint's limit: its tokens, or None where it was in trouble.

    ``run`` and ``seat`` name the endpoint: it is that of the model in that seat.
    """

    run: str
    seat: int
    era: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class WaitsForRate:
    """An attempt waits until one more request a minute may be sent to the endpoint of this seat."""

    call: int
    run: str
    seat: int


@dataclass(frozen=True, slots=True)
class Done:
    """An item's record, or its failure."""

    item: int
    record: Any


@dataclass(frozen=True, slots=True)
class OnTheWay:
    """How far the long episodes of a run have come that this worker plays."""

    run: str
    under_way: UnderWay


# From the driver to a worker.


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of work: the name of an ``Executor``'s method, and its arguments."""

    item: int
    run: str
    work: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GoAhead:
    """A call may be made. The endpoint's limit is in this ``era``, at this ``level`` of calls at once."""

    call: int
    era: int
    level: int
    has_answered: bool
    """Whether the endpoint has answered any worker."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A call is on the driver's disk. ``reply`` is None where the worker has it."""

    call: int
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A call must not be made, or could not be kept."""

    call: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class MaySend:
    """An attempt that waited for its rate may be sent."""

    call: int


@dataclass(frozen=True, slots=True)
class Over:
    """A run is over: what was opened for it can be closed."""

    run: str


FromWorker = Asked | Bought | GivenUp | Noted | WaitsForRate | Done | OnTheWay
ToWorker = Item | GoAhead | Answered | Refused | MaySend | Over
