"""A cost limit is never exceeded, and never ends a run before it must."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from sociable.core.errors import CostLimitReached, Interrupted, RunFailure, StorageFailure
from sociable.core.records import Usage
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import ASSUMED_MAX_TOKENS, Budget, Price
from sociable.models.protocol import Reply, Request, Sampling, Scope
from sociable.models.scripted import ScriptedModel

PRICE = Price(input=1000, output=1000)
"""A token costs 0.001 dollars."""
RESERVE = 0.2
"""Of ``asking()``: 284 + 16 bytes are at most 100 tokens, and 100 more are allowed for the reply."""


def asking(text: str = "x" * 284, max_tokens: int | None = 100) -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", "subject"), Sampling(max_tokens=max_tokens))


def within(limit: float | None) -> Budget:
    return Budget({"m": PRICE}, limit)


class Costly:
    """Takes a random time and a random part of what its call may cost."""

    name = "m"

    def __init__(self, budget: Budget, seed: int) -> None:
        self._budget = budget
        self._random = random.Random(seed)
        self.begun = 0
        self.ended = 0
        self.most_spent = 0.0

    async def generate(self, request: Request) -> Reply:
        self.begun += 1
        await asyncio.sleep(self._random.uniform(0, 0.002))
        self.ended += 1
        self.most_spent = max(self.most_spent, self._budget.spent)
        if self._random.random() < 0.1:
            raise RunFailure("now and then a call fails")
        return Reply("Hi", Usage(calls=1, input_tokens=self._random.randint(0, 100), output_tokens=self._random.randint(0, 100)))

    async def close(self) -> None: ...


@pytest.mark.parametrize("seed", range(5))
async def test_fifty_at_once_never_exceed_the_limit_and_use_it_up(tmp_path: Path, seed: int) -> None:
    budget = within(5.0)
    costly = Costly(budget, seed)
    reasons = []
    with Journal(tmp_path / "calls.sqlite") as journal:
        model = JournalledModel(costly, journal, budget)

        async def work(number: int) -> None:
            request = asking()
            request.scope.item = f"episode {number}"
            while True:
                try:
                    await model.generate(request)
                except CostLimitReached as reached:
                    reasons.append(reached)
                    return
                except RunFailure:
                    pass

        async with asyncio.timeout(20):
            await asyncio.gather(*(work(number) for number in range(50)))
        bought = sum(PRICE.compute_cost(usage) for _, _, usage in journal.sum_usage())
    assert len(reasons) == 50
    assert costly.begun == costly.ended
    assert costly.most_spent <= budget.spent <= 5.0
    # It stopped only when the next call might not have fitted.
    assert budget.spent > 5.0 - RESERVE
    assert bought == pytest.approx(budget.spent)


async def test_a_call_that_may_not_fit_waits_for_those_under_way() -> None:
    budget = within(1.5 * RESERVE)
    first = await budget.admit("m", asking())
    second = asyncio.create_task(budget.admit("m", asking()))
    await asyncio.sleep(0.01)
    assert not second.done()
    assert budget.stopped is None
    # The first cost half its reserve: what is left is one reserve.
    budget.book("m", "subject", Usage(calls=1, input_tokens=100))
    budget.settle(first)
    budget.settle(await asyncio.wait_for(second, 5))
    assert budget.spent == pytest.approx(0.1)


async def test_it_stops_when_the_next_call_may_not_fit_and_none_is_under_way() -> None:
    budget = within(0.1)
    with pytest.raises(CostLimitReached, match=r"call to m could cost \$0\.2000; with \$0\.0000 spent .*limit of \$0\.1000"):
        await budget.admit("m", asking())
    with pytest.raises(CostLimitReached):
        await budget.admit("m", asking("", 1))


async def test_all_that_wait_are_told_when_nothing_more_fits() -> None:
    budget = within(RESERVE)
    first = await budget.admit("m", asking())
    waiting = [asyncio.create_task(budget.admit("m", asking())) for _ in range(3)]
    await asyncio.sleep(0.01)
    budget.book("m", "subject", Usage(calls=1, input_tokens=1))
    budget.settle(first)
    ends = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
    assert [type(end) for end in ends] == [CostLimitReached] * 3


async def test_a_stop_wakes_those_that_wait() -> None:
    budget = within(RESERVE)
    await budget.admit("m", asking())
    waiting = asyncio.create_task(budget.admit("m", asking()))
    await asyncio.sleep(0.01)
    budget.interrupt()
    with pytest.raises(Interrupted):
        await asyncio.wait_for(waiting, 5)


async def test_the_first_reason_to_stop_stays() -> None:
    budget = within(None)
    reason = StorageFailure("full")
    budget.stop(reason)
    budget.interrupt()
    assert budget.stopped is reason
    with pytest.raises(StorageFailure, match="full"):
        await budget.admit("m", asking())


async def test_a_failed_call_costs_nothing(tmp_path: Path) -> None:
    budget = within(RESERVE)

    def fails(request: Request) -> str:
        raise RunFailure("no answer")

    with Journal(tmp_path / "calls.sqlite") as journal:
        for _ in range(3):
            with pytest.raises(RunFailure, match="no answer"):
                await JournalledModel(ScriptedModel(fails, "m"), journal, budget).generate(asking())
        assert (await JournalledModel(ScriptedModel(["Hi"], "m"), journal, budget).generate(asking("x" * 254))).text == "Hi"


async def test_what_was_bought_before_is_free_even_when_the_limit_is_reached(tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.sqlite") as journal:
        await JournalledModel(ScriptedModel(["Hi"], "m"), journal, within(None)).generate(asking())
    spent = within(0.0001)
    spent.book("m", "subject", Usage(calls=1, input_tokens=1))
    with Journal(tmp_path / "calls.sqlite") as journal:
        model = JournalledModel(ScriptedModel(["never"], "m"), journal, spent)
        assert (await model.generate(asking())).text == "Hi"
        with pytest.raises(CostLimitReached):
            await model.generate(asking("another"))
    assert spent.spent == 0.001


async def test_a_reply_of_no_stated_length_is_reckoned_with_a_long_one() -> None:
    # 4096 tokens for the reply and 100 for the prompt cost 4.196 dollars.
    assert ASSUMED_MAX_TOKENS == 4096
    assert await within(4.2).admit("m", asking(max_tokens=None)) == pytest.approx(4.196)
    with pytest.raises(CostLimitReached):
        await within(4.1).admit("m", asking(max_tokens=None))


async def test_without_a_limit_or_a_price_nothing_waits() -> None:
    for budget in (within(None), Budget({}, 0.0001)):
        assert [await budget.admit("m", asking()) for _ in range(100)] == [0.0] * 100


def test_it_counts_by_role() -> None:
    budget = within(None)
    budget.book("m", "subject", Usage(calls=1, input_tokens=10, output_tokens=5))
    budget.book("m", "judge", Usage(calls=2, input_tokens=1))
    budget.book("unpriced", "judge", Usage(calls=1, input_tokens=1000))
    assert budget.usage == {
        "subject": Usage(calls=1, input_tokens=10, output_tokens=5),
        "judge": Usage(calls=3, input_tokens=1001),
    }
    # 15 tokens and 1 token at 0.001 dollars; the unpriced model costs nothing.
    assert budget.cost == {"subject": pytest.approx(0.015), "judge": pytest.approx(0.001)}
    assert budget.spent == pytest.approx(0.016)
