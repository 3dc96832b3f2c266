"""Doing many things at once, keeping what is done, going on after a failure.

A phase takes items, works on a bounded number of them at a time and appends each record as it is made. It knows no
benchmark, no file name and no model.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from sociable.core.errors import RunStopped, SociableError, StorageFailure
from sociable.core.run_folder import RecordFile
from sociable.models.limits import Budget

log = logging.getLogger("sociable")

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class UnderWay:
    """How far items have come that are being worked on and take long."""

    done: float
    """Their shares that are done, added up: half of one and half of another are one."""
    words: str
    """Where the one stands that is farthest behind."""


@dataclass
class Progress:
    """Live counts of one phase, for whoever draws them."""

    phase: str
    total: int
    done: int = 0
    errored: int = 0
    begun: int = 0
    """The items that somebody has begun to work on; those that are done among them."""
    earlier: int = 0
    """The items that were done before, in an earlier process say; they are not in ``total``."""
    changed: Callable[[Progress], None] = field(default=lambda _: None, repr=False)
    failures: Counter[str] = field(default_factory=Counter, repr=False)
    """The number of failures, by reason."""
    measure_under_way: Callable[[], UnderWay] | None = field(default=None, repr=False)
    """Tells, whenever it is asked, how far what is under way has come; None: nobody knows."""

    def count(self, failure: str = "") -> None:
        self.done += 1
        if failure:
            self.errored += 1
            self.failures[f"{self.phase}: {failure}"] += 1
        self.changed(self)


async def run_phase(
    items: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    failed: Callable[[T, str], R | None],
    file: RecordFile[R],
    budget: Budget,
    progress: Progress,
    *,
    at_once: int,
    take_place: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> None:
    """Works on every item, ``at_once`` at a time, and appends the records to ``file``.

    Where several runs share a number of items at once, each item is begun when ``take_place`` gives it a place among them.

    An item that fails is recorded as ``failed`` says (None: not at all) and its siblings go on. When the run is
    stopped, no further item is begun, those under way end as far as they can, and what stopped it is raised.
    """
    pending = iter(items)
    progress.changed(progress)

    async def work_on(item: T) -> None:
        reason = ""
        progress.begun += 1
        try:
            record: R | None = await work(item)
        except RunStopped as stop:
            budget.stop(stop)
            return
        except Exception as error:  # The one boundary where an item's failure is recorded and its siblings go on.
            reason = describe_failure(error)
            if not isinstance(error, SociableError):
                log.error("unexpected failure", exc_info=error)
            record = failed(item, reason)
        if record is not None:
            try:
                file.append(record)
            except StorageFailure as failure:
                budget.stop(failure)
                return
        progress.count(reason)

    async def work_through() -> None:
        while not budget.stopped:
            async with take_place():
                # Only then is an item taken out: those that wait hold nothing in memory.
                try:
                    item = next(pending)
                except StopIteration:
                    return
                if budget.stopped:
                    return
                await work_on(item)
            # Agents that ask nobody must not keep the calls of other runs waiting.
            await asyncio.sleep(0)

    # Who waits for a place is turned away when all runs are stopped; those who have one end first.
    ended = await asyncio.gather(*(work_through() for _ in range(max(1, at_once))), return_exceptions=True)
    budget.check()
    for problem in filter(None, ended):
        raise problem


def describe_failure(error: BaseException) -> str:
    """A failure in words; that of a bug with the file and the line in which it happened."""
    if isinstance(error, SociableError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"bug: {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
