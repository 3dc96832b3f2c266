"""Work that asks no model, as tasks of a Ray cluster that ``on_ray`` has reached."""

from __future__ import annotations

import pickle
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from typing import Any, TypeVar

from sociable.cluster.crew import MOST_LOST, SECONDS_TO_BEGIN
from sociable.core.errors import InputError, RunStopped, SociableError
from sociable.engine.opening import describe_packages

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""Things for each worker that are sent before the first of them is back, so that none has to wait for the driver."""
SECONDS_TO_FREE = 3.0
"""The time within which the processors of workers that have ended are free for others."""
_MORE_PACKAGES = ("rensa", "scikit-learn", "torch", "transformers")
"""Packages, most of them of extras, on which results of such work can depend as well."""


def spread_over(
    workers: int,
    processors: float,
    function: Callable[[T], R],
    things: Iterable[T],
    /,
    *,
    on_gpu: bool = False,
) -> Iterator[R]:
    """The ``Spread`` over a cluster: each thing is a task, which takes so many ``processors``.

    What a lost worker had in work goes to another. Raises InputError where a node cannot do the work, or none is free, and
    RunStopped where it fails.
    """
    import ray
    from ray import cloudpickle

    gpus = int(on_gpu and ray.cluster_resources().get("GPU", 0) > 0)
    options = {"num_cpus": processors, "num_gpus": gpus, "scheduling_strategy": "SPREAD", "max_retries": MOST_LOST - 1}
    call = ray.remote(**options)(_call)
    # Sent to a node once, and read by a worker once, however many things it is called with there.
    key, held = secrets.token_hex(8), ray.put(cloudpickle.dumps((function, _list_versions())))
    begun = ray.remote(**options)(_begin).remote()
    # Where the cluster has more processors than workers are wanted, whatever is sent is begun: then no more than these.
    most = AHEAD * workers if workers * processors >= ray.cluster_resources().get("CPU", 0) else workers
    waiting = deque[Any]()
    try:
        for thing in things:
            waiting.append(call.remote(key, held, thing))
            if len(waiting) >= most:
                yield _take(ray, begun, waiting)
        while waiting:
            yield _take(ray, begun, waiting)
    finally:
        for each in (begun, *waiting):
            ray.cancel(each)


def has_free_processor() -> bool:
    """Whether the cluster has a processor for a task: those of workers that have just ended come free within a moment."""
    import ray

    until = time.monotonic() + SECONDS_TO_FREE
    while ray.available_resources().get("CPU", 0) < 1:
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def _begin() -> None:
    """Nothing: a task that can be begun."""


def _take(ray: Any, begun: Any, waiting: deque[Any]) -> Any:
    """The first of these results, once it is there."""
    if not ray.wait([begun], timeout=SECONDS_TO_BEGIN)[0]:
        raise InputError(
            f"No work could be begun within {SECONDS_TO_BEGIN:.0f} seconds: no processor of the cluster is free. `ray status` "
            "shows what holds them; add nodes, or wait until others are done."
        )
    # Ray 2.60 may sleep a second in `get` for what comes from a node to which something goes at the same time; not in `wait`.
    first = waiting.popleft()
    ray.wait([first])
    try:
        return ray.get(first)
    except ray.exceptions.RayError as error:
        # What a task raised, or Ray itself.
        raise _explain(getattr(error, "cause", error), ray.exceptions.RayError) from None


def _explain(error: Exception, is_of_ray: type[Exception]) -> SociableError:
    if isinstance(error, SociableError):
        return error
    reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
    if isinstance(error, ImportError):
        return InputError(f"A node cannot do the work ({reason}): install the same on every node.")
    if isinstance(error, is_of_ray):
        return RunStopped(f"A worker was lost {MOST_LOST} times with the same piece of work, or the cluster was ({reason}).")
    return RunStopped(f"A worker failed: {type(error).__name__}: {reason}.")


_held: dict[str, Callable[[Any], Any]] = {}
"""In a worker's process: the function whose turn it is, by its key."""


def _call(key: str, held: bytes, thing: Any) -> Any:
    """What the function makes of a thing, in a worker's process. Raises InputError where packages are not those of the driver."""
    if key not in _held:
        function, there = pickle.loads(held)  # noqa: S301 (it is from the driver, as all that Ray runs)
        here = _list_versions()
        # A package that is missing here may not be needed; work that needs it says so itself.
        for name in (name for name in there if name in here and here[name] != there[name]):
            raise InputError(
                f"The node {socket.gethostname()} has {name} {here[name]}, and the machine where this was begun has "
                f"{there[name]}: install the same version on every node."
            )
        _held.clear()
        _held[key] = function
    try:
        return _held[key](thing)
    except InputError as error:
        raise InputError(f"On the node {socket.gethostname()}: {error}") from None


def _list_versions() -> dict[str, str]:
    versions = describe_packages()
    for name in _MORE_PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
