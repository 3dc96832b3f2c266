"""Limits of a run: the money it may spend, at the prices of a small table anyone can edit, and the wish of its user to go on.

The packaged ``prices.toml`` is a starting point; a ``[prices]`` table in the user's configuration file adds to it and
overrides it. Prices change: reports name the figures that were used.
"""

from __future__ import annotations

import asyncio
import math
import tomllib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from pydantic import Field

from sociable.core.errors import CostLimitReached, Interrupted, RunStopped
from sociable.core.records import Record, Usage
from sociable.models.protocol import Request

T = TypeVar("T")

FEWEST_CHARACTERS_PER_TOKEN = 3.0
"""The characters of a token, for upper bounds: fewer than common tokenizers need for English or code, about right for others."""

ASSUMED_MAX_TOKENS = 4096
"""The bound for a reply whose length nobody limited."""


class Price(Record):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def compute_cost(self, usage: Usage) -> float:
        """The cost in US dollars."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


@cache
def load_packaged_prices() -> Mapping[str, Price]:
    text = resources.files("sociable.models").joinpath("prices.toml").read_text(encoding="utf-8")
    return {name: Price.model_validate(row) for name, row in tomllib.loads(text)["prices"].items()}


def find_price(model: str, own: Mapping[str, Price]) -> Price | None:
    """The price of a model by its full name, or by its name without provider. None when nobody wrote one down.

    Reference agents, a user's own function and models in this process cost nothing.
    """
    if model.startswith(("reference/", "python:", "local/")):
        return Price(input=0, output=0)
    table = {**load_packaged_prices(), **own}
    return table.get(model) or table.get(model.rpartition("/")[2])


@dataclass
class Budget:
    """Admits calls until the run is told to stop or a further call could exceed the cost limit.

    A call reserves the most it can cost; when it is done the reserve gives way to the true cost. A call that does not
    fit waits for those under way to settle, and stops the run when none is left: so the limit is never exceeded, and
    calls under way are never thrown away.
    """

    prices: Mapping[str, Price]
    limit: float | None = None
    """The limit in US dollars, over the whole run folder; None: no limit."""
    spent: float = 0.0
    usage: dict[str, Usage] = field(default_factory=dict)
    """Usage by role, bought now or earlier."""
    cost: dict[str, float] = field(default_factory=dict)
    """US dollars by role, for the models that have a price."""
    when_stopped: list[Callable[[RunStopped], None]] = field(default_factory=list)
    """Called with the reason when the run is stopped: by those who hold calls back that were admitted and not yet made."""
    stopped: RunStopped | None = None
    """The error that ended the run, if ``stop`` was called: the first reason holds."""
    shared: dict[str, Usage] = field(default_factory=dict)
    """The part of the usage by role that another run of a study bought, and that cost nothing here."""
    whole: Budget | None = None
    """The budget of several runs together, of which this is one run's part."""
    _reserved: float = 0.0
    _under_way: int = 0
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self, reason: RunStopped) -> None:
        """Admits no further call; those under way end as they would."""
        if self.stopped is None:
            self.stopped = reason
            self._settled.set()
            self._stopping.set()
            for tell in self.when_stopped:
                tell(reason)

    def join(self, whole: Budget) -> None:
        """Makes this one run's part of a budget for several: what is bought from now on counts there too.

        A part that is stopped stops alone; when the whole is stopped, so are its parts.
        """
        self.whole = whole
        whole.when_stopped.append(self.stop)
        if whole.stopped:
            self.stop(whole.stopped)

    def interrupt(self) -> None:
        self.stop(Interrupted("Interrupted."))

    def change_limit(self, limit: float) -> None:
        """Sets the limit in US dollars; calls that wait because of the limit so far are looked at again."""
        self.limit = limit
        self._settled.set()

    def check(self) -> None:
        """Raises the error with which the run was stopped, if it was."""
        if self.stopped is not None:
            raise self.stopped

    async def run_unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``, which is abandoned when the run is stopped. Raises RunStopped."""
        task, stopping = asyncio.ensure_future(work), asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self.check()
            return await task
        finally:
            task.cancel()
            stopping.cancel()

    async def admit(self, model: str, request: Request) -> float:
        """The reserve in US dollars, to settle with. Raises RunStopped."""
        reserve = self._bound_cost(model, request)
        await self._reserve(reserve, model, self)
        if self.whole is not None:
            try:
                await self.whole._reserve(reserve, model, self)
            except (RunStopped, asyncio.CancelledError):
                self._release(reserve)
                raise
        return reserve

    async def _reserve(self, reserve: float, model: str, asking: Budget) -> None:
        """Reserves for a call of ``asking``, this budget or a part of it: a part that was stopped stops no others."""
        asking.check()
        while self.limit is not None and self.spent + self._reserved + reserve > self.limit:
            if self._under_way == 0:
                self.stop(
                    CostLimitReached(
                        f"The next call to {model} could cost ${reserve:.4f}; with ${self.spent:.4f} spent it might exceed "
                        f"the limit of ${self.limit:.4f}. Nothing is lost: resume with a higher --max-cost."
                    )
                )
            self._settled.clear()
            asking.check()
            await self._settled.wait()
            asking.check()
        self._reserved += reserve
        self._under_way += 1

    async def wait_for_calls(self) -> None:
        """Returns when no call is under way: some may outlive the episode that asked for several at once and was stopped."""
        while self._under_way:
            self._settled.clear()
            await self._settled.wait()

    def settle(self, reserve: float) -> None:
        """Gives up the reserve of a call that is over, paid or failed."""
        self._release(reserve)
        if self.whole is not None:
            self.whole._release(reserve)

    def _release(self, reserve: float) -> None:
        self._reserved -= reserve
        self._under_way -= 1
        self._settled.set()

    def book(self, model: str, role: str, usage: Usage, *, shared: bool = False) -> None:
        """Adds a call to the usage and the cost of a role, and to what was spent, unless it is ``shared``: paid for elsewhere."""
        self.usage[role] = self.usage.get(role, Usage()) + usage
        price = self.prices.get(model)
        cost = price.compute_cost(usage) if price else 0.0
        if price:
            self.cost[role] = self.cost.get(role, 0.0) + cost
        if shared:
            self.shared[role] = self.shared.get(role, Usage()) + usage
            return
        self.spent += cost
        if self.whole is not None:
            self.whole.book(model, role, usage)

    def _bound_cost(self, model: str, request: Request) -> float:
        """The most a call can cost, in US dollars; 0 where nothing depends on it."""
        price = self.prices.get(model)
        limits = (self.limit, self.whole.limit if self.whole else None)
        if price is None or limits == (None, None):
            return 0.0
        asked = sum(len(message["content"].encode("utf-8", "replace")) + 16 for message in request.messages)
        tokens = math.ceil(asked / FEWEST_CHARACTERS_PER_TOKEN)
        return price.compute_cost(Usage(input_tokens=tokens, output_tokens=request.sampling.max_tokens or ASSUMED_MAX_TOKENS))
