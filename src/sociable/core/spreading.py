"""Work on many things, none of which needs another: in this process, or by workers elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

CHARACTERS = 8_000_000
"""Characters of a batch of texts: some 2,500 articles, with which a worker is busy for a third of a second or more."""


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


def spread_texts(
    spread: Spread, function: Callable[[Sequence[str]], Sequence[R]], texts: Iterable[str], *, on_gpu: bool = False
) -> Iterator[R]:
    """The same by a function of several texts at once, which returns something for each. A text alone is not worth sending."""
    return chain.from_iterable(spread(function, cut_batches(texts), on_gpu=on_gpu))


def cut_batches(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    """The texts in order, together as many as have ``CHARACTERS`` characters or more."""
    batch, characters = list[str](), 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
