"""The number of calls that a server is asked at once: found by trial, and lowered when the server is in trouble.

A server is asked little at first. While three times as many calls at once bring clearly more tokens a second, their number
grows; where they do not, it stays, and the step is tried again much later. So a hosted service is soon asked by many at
once, and a model on a laptop by one at a time, which keeps the beginnings of its prompts in its cache. In trouble (the
server says that it is overloaded, or lets a call wait for long) the number is halved, and grows again by one at a time:
additive increase, multiplicative decrease, as in TCP (Chiu & Jain 1989).
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

MOST_AT_ONCE = 64
"""Calls at once to a server of which the user says nothing, however much it takes."""

STEP = 3
"""The factor between one number that is tried and the next."""
WORTHWHILE = 1.3
"""A step up is kept if it brings so many times the tokens a second."""
LOSS = 0.9
"""At or below it a step up is not tried again for long; between the two it may have been chance."""
CALLS_MEASURED = 2
"""The calls by which the first number is judged, after the first call of all, which finds the server cold; a step is judged
by as many calls as are made at once."""
AGAIN_SOON, AGAIN_LATE = 8, 64
"""Calls until a step that failed is tried again: where it may have been chance; and else, each time four times as many."""


@dataclass
class _Trial:
    """The calls that began and ended since a moment from which on their number at once was the same."""

    began: float = 0.0
    calls: int = 0
    tokens: int = 0


@dataclass
class AdaptiveLimit:
    """Lets at most ``level`` calls through at once.

    Those of the item that asked first go first. So what was begun is finished before more is begun, and the calls of one
    episode, whose prompts begin alike, follow one another on a server that takes few at once.
    """

    level: int
    """Calls at once: now, and to begin with."""
    ceiling: int
    """The number that is never exceeded."""
    era: int = 0
    """Counts the trials. A call says with ``note_reply`` and ``note_trouble`` in which it was begun."""
    _under_way: int = 0
    _waiting: list[tuple[int, int, asyncio.Future[None], str]] = field(default_factory=list)
    """A heap: the item's rank, the call's number, what it waits for, the run it belongs to."""
    _ranks: dict[tuple[str, str], int] = field(default_factory=dict)
    """By run and item, the order in which they asked first."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _is_cold: bool = True
    _trial: _Trial = field(default_factory=_Trial)
    _lower: tuple[int, float] | None = None
    """The number at once before the step that is being tried, and its rate."""
    _rest: int = 0
    """Calls until the next step is tried."""
    _pause: int = AGAIN_LATE
    """The rest after the next step that fails clearly."""
    _halved: int = 0
    """The era that began when the number was last halved."""
    _goal: int = 0
    """The number that additive increase goes back to after trouble."""

    @contextlib.asynccontextmanager
    async def take_place(self, item: str, run: str = "") -> AsyncIterator[None]:
        """One place among those at once. Several runs may share the limit: each names itself as ``run``."""
        rank = self._ranks.setdefault((run, item), len(self._ranks))
        if self._under_way < self.level and not self._waiting:
            self._under_way += 1
        else:
            await self._wait_for_place(rank, run)
        try:
            yield
        finally:
            self._under_way -= 1
            self._hand_out()

    async def _wait_for_place(self, rank: int, run: str) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (rank, next(self._numbers), place, run))
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled() and place.exception() is None:
                # The place was handed out in the moment in which nobody wanted it any more.
                self._under_way -= 1
                self._hand_out()
            raise

    def turn_away(self, reason: Exception, run: str | None = None) -> None:
        """Raises ``reason`` for all who wait for a place, or those of one ``run``; calls under way go on."""
        turned = [waiting for waiting in self._waiting if run in (None, waiting[3])]
        self._waiting = sorted(set(self._waiting) - set(turned))
        for _, _, place, _ in turned:
            if not place.done():
                place.set_exception(reason)

    def _hand_out(self) -> None:
        """Gives free places to those who are next."""
        while self._waiting and self._under_way < self.level:
            _, _, place, _ = heapq.heappop(self._waiting)
            if not place.done():
                self._under_way += 1
                place.set_result(None)

    def note_reply(self, era: int, tokens: int) -> None:
        """Notes a call that went well, which was begun in ``era``."""
        if self._goal > self.level:
            self._grow_by_one()
            return
        self._rest = max(0, self._rest - 1)
        if self._is_cold or not (self._waiting or self._lower):
            # Where fewer are wanted than may be, nothing is learnt.
            self._is_cold = False
            self._begin_trial()
        elif era == self.era:
            self._trial.calls += 1
            self._trial.tokens += tokens
            if self._trial.calls >= self.level * (1 if self._lower else CALLS_MEASURED):
                self._decide()

    def note_trouble(self, era: int) -> None:
        """Halves the number at once; of several calls that were begun before it was last halved only the first counts."""
        if era >= self._halved and self.level > 1:
            # A step that is still being tried is not gone back to.
            self._goal = max(self._goal, self._lower[0] if self._lower else self.level)
            self._change_level(self.level // 2)
            self._lower, self._halved = None, self.era

    def _decide(self) -> None:
        """Takes a step back that brought nothing, or tries the next."""
        seconds = asyncio.get_running_loop().time() - self._trial.began
        rate = self._trial.tokens / seconds if seconds > 0 else math.inf
        if self._lower:
            before, rate_before = self._lower
            self._lower = None
            if rate < WORTHWHILE * rate_before:
                is_loss = rate <= LOSS * rate_before
                self._rest = self._pause if is_loss else AGAIN_SOON
                self._pause *= 4 if is_loss else 1
                self._change_level(before)
                return
        if self.level < self.ceiling and not self._rest:
            self._lower = (self.level, rate)
            self._change_level(min(self.ceiling, STEP * self.level))
        else:
            self._begin_trial()

    def _grow_by_one(self) -> None:
        self._trial.calls += 1
        if self._trial.calls >= self.level:
            self._change_level(self.level + 1)
            if self.level >= self._goal:
                self._goal = 0

    def _change_level(self, level: int) -> None:
        self.level = level
        self._begin_trial()
        self._hand_out()

    def _begin_trial(self) -> None:
        self.era += 1
        self._trial = _Trial(began=asyncio.get_running_loop().time())
