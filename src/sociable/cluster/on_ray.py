"""Workers as actors of a Ray cluster. The only place that imports Ray."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from sociable.cluster.crew import WorkerLost
from sociable.cluster.messages import FromWorker, RunSpecification, ToWorker
from sociable.cluster.worker import Worker
from sociable.core.errors import InputError, RunStopped, SociableError
from sociable.core.extras import import_extra

log = logging.getLogger("sociable")

SECONDS_TO_REACH = 5.0
SECONDS_TO_CLOSE = 2.0
ATTEMPTS_TO_JOIN = 3


@contextmanager
def connect(cluster: str, workers: int | None) -> Iterator[tuple[Any, int]]:
    """(Ray, the number of workers) while it is entered. ``cluster`` is ``ray`` or ``ray://HOST:PORT``. Raises InputError.

    ``ray`` is the cluster of RAY_ADDRESS or of this machine; where there is none, Ray is begun on this machine alone.
    """
    if cluster != "ray" and not cluster.startswith("ray://"):
        raise InputError(f"'{cluster}' is no cluster: write ray, or ray://HOST:PORT.")
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: there must be at least one.")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_extra("ray", "ray", "A cluster")
    address = cluster if cluster != "ray" else os.environ.get("RAY_ADDRESS") or None
    was_there = ray.is_initialized()
    if not was_there:
        if address:
            _check_reachable(address)
        join(ray, address)
    try:
        processors = sum(int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])
        if not (workers or processors):
            remedy = "Add nodes to it, or, where it grows by itself, say with --workers how many are wanted."
            raise InputError(f"The cluster at {address or 'this machine'} has no processor for a worker. {remedy}")
        yield ray, workers or processors
    finally:
        if not was_there:
            ray.shutdown()


def join(ray: Any, address: str | None) -> None:
    """Makes this process a driver. Raises InputError where the cluster does not let it."""
    for left in reversed(range(ATTEMPTS_TO_JOIN)):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
            return
        except (ConnectionError, RuntimeError, ValueError) as error:
            # The head forks a process for each driver from outside, amid gRPC's threads: now and then it dies at once.
            if left and isinstance(error, ConnectionAbortedError):
                log.warning("The head of the cluster could not begin the process that it needs for this driver; trying again.")
                continue
            raise _make_unreachable_error(address or "this machine", error) from None


def _check_reachable(address: str) -> None:
    """Raises InputError at once where nobody listens: Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (port.isascii() and port.isdigit()):
        if address.startswith("ray://"):
            raise InputError(f"'{address}' is no address of a cluster: write ray://HOST:PORT; the port is 10001 unless changed.")
        return  # "auto", or what else Ray understands
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_REACH).close()
    except (OSError, OverflowError, UnicodeError) as error:  # the last two: no port, no host name
        raise _make_unreachable_error(address, error) from None


def _make_unreachable_error(address: str, error: Exception) -> InputError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[-1].rstrip(".")  # the last line of what may be a traceback
    return InputError(
        f"The cluster at {address} cannot be reached ({reason}). Check the address, that its head runs (`ray status` there), "
        "and, where it asks for a token, that RAY_AUTH_MODE=token is set and the token is here."
    )


class Hirer:
    """Begins workers, each on whatever node has a processor free."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self._actor = ray.remote(num_cpus=1)(Worker)
        self._sent = WeakKeyDictionary[RunSpecification, Any]()

    def __call__(self) -> RayConnection:
        return RayConnection(self, self._actor.remote())

    def send(self, specification: RunSpecification) -> Any:
        """A reference to what is kept on a node until the run is over, however many workers read it there. Raises InputError."""
        if specification not in self._sent:
            try:
                self._sent[specification] = self.ray.put(specification)
            except _list_full(self.ray):
                raise InputError(
                    f"The data of the run {specification.run} are too large for the cluster to hold, in memory or on the disk of "
                    "its nodes: make room there (`df`), or begin Ray with a larger --object-store-memory."
                ) from None
        return self._sent[specification]


def _list_full(ray: Any) -> tuple[type[Exception], ...]:
    """The errors of Ray where a node has no room left: its memory is full, and the disk that comes after it."""
    return ray.exceptions.ObjectStoreFullError, ray.exceptions.OutOfDiskError


class RayConnection:
    """A worker that is an actor."""

    def __init__(self, hirer: Hirer, actor: Any) -> None:
        self._hirer = hirer
        self._actor = actor

    async def describe(self) -> tuple[str, Mapping[str, str]]:
        return await self._wait(self._actor.describe)  # type: ignore[no-any-return]

    async def open(self, specification: RunSpecification) -> str:
        return await self._wait(self._actor.open, self._hirer.send(specification))  # type: ignore[no-any-return]

    async def deliver(self, messages: Sequence[ToWorker]) -> None:
        await self._wait(self._actor.deliver, messages)

    async def collect(self) -> Sequence[FromWorker]:
        return await self._wait(self._actor.collect)  # type: ignore[no-any-return]

    async def close(self) -> None:
        if not self._hirer.ray.is_initialized():
            return  # the head is lost
        with contextlib.suppress(SociableError, TimeoutError):
            await asyncio.wait_for(self._wait(self._actor.close), SECONDS_TO_CLOSE)
        # What is left of it must not buy anything more.
        self._hirer.ray.kill(self._actor)

    async def _wait(self, method: Any, *arguments: Any) -> Any:
        """What a method of the actor returns. Raises WorkerLost; InputError or RunStopped where no other would do better."""
        exceptions = self._hirer.ray.exceptions
        try:
            return await method.remote(*arguments)
        except _list_full(self._hirer.ray):
            raise RunStopped(
                "The cluster has no room, in memory or on disk, for what goes to a worker: make room on its nodes, then resume."
            ) from None
        except ConnectionError:
            raise RunStopped("The head of the cluster is lost.") from None
        except exceptions.RayTaskError as error:
            raise RunStopped(f"A worker failed: {type(error.cause).__name__}: {error.cause}.") from error
        except exceptions.RayError as error:
            lines = str(error).splitlines()
            if missing := [line.strip() for line in lines if "ModuleNotFoundError" in line or "ImportError" in line]:
                raise InputError(
                    f"A node cannot begin a worker ({missing[-1]}): install the same version of sociable[ray] on every node."
                ) from None
            raise WorkerLost(f"A worker is gone: {lines[0] if lines else type(error).__name__}") from None
