"""Work on many things, none of which needs another: in this process, or by workers elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Spread(Protocol):
    """Calls a function with each of several things, and yields what it returns, in their order. Raises what it raises.

    Only a few things are taken ahead of what was yielded. The function, the things and what is returned can be pickled; what is
    returned must be the same wherever it is worked out, and however often. ``on_gpu`` asks for a graphics processor, where there
    are any.
    """

    def __call__(self, function: Callable[[T], R], things: Iterable[T], /, *, on_gpu: bool = False) -> Iterator[R]: ...


def work_here(function: Callable[[T], R], things: Iterable[T], /, *, on_gpu: bool = False) -> Iterator[R]:
    """The ``Spread`` of this process: one thing after the other, each when it is asked for."""
    return map(function, things)


def spread_batches(
    spread: Spread, function: Callable[[Sequence[T]], Sequence[R]], things: Iterable[T], size: int, *, on_gpu: bool = False
) -> Iterator[R]:
    """The same by a function of several things at once, ``size`` of them: for things that are not worth sending one by one."""
    return chain.from_iterable(spread(function, _cut_batches(things, size), on_gpu=on_gpu))


def _cut_batches(things: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    read = iter(things)
    while batch := list(islice(read, size)):
        yield batch
