"""What several runs share: calls that are bought once, one limit of cost, a limit of calls at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sociable.core.errors import CostLimitReached, Interrupted, RunFailure
from sociable.core.records import Usage
from sociable.models.concurrency import AdaptiveLimit
from sociable.models.journal import Journal, JournalledModel, SharedCalls
from sociable.models.limits import Budget, Price
from sociable.models.protocol import Reply, Request, Sampling, Scope, Timing

TOKEN = Price(input=1_000_000, output=1_000_000)
"""A token costs a dollar."""


class Counted:
    """Answers with the number of the call, after a moment; the first calls may fail."""

    name = "m"

    def __init__(self, failing: int = 0) -> None:
        self.calls = 0
        self._failing = failing

    async def generate(self, request: Request) -> Reply:
        self.calls += 1
        await asyncio.sleep(0.001)
        if self.calls <= self._failing:
            raise RunFailure("not now")
        return Reply(f"{self.calls}", Usage(calls=1, input_tokens=2, output_tokens=1), timing=Timing(7.0, 3.0))

    async def close(self) -> None: ...


def asking(role: str, text: str = "x") -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", role, "Ada"), Sampling(max_tokens=7))


class Runs:
    """Several runs whose calls are shared, each in a folder of its own."""

    def __init__(self, folder: Path, whole: Budget, model: Counted) -> None:
        self.folder, self.whole, self.model = folder, whole, model
        self.shared = SharedCalls()
        self.budgets: dict[str, Budget] = {}
        self._stack = ExitStack()

    def add(self, name: str) -> JournalledModel:
        (self.folder / name).mkdir()
        journal = self._stack.enter_context(Journal(self.folder / name / "calls.sqlite"))
        self.budgets[name] = Budget(self.whole.prices)
        self.budgets[name].join(self.whole)
        return JournalledModel(self.model, journal, self.budgets[name], self.shared)

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path, Budget({"m": TOKEN}), Counted())
    yield made
    made.close()


async def test_two_that_ask_the_same_at_once_buy_it_once(runs: Runs) -> None:
    models = [runs.add(name) for name in "abc"]
    replies = await asyncio.gather(*(model.generate(asking("judge")) for model in models))
    assert {reply.text for reply in replies} == {"1"} and runs.model.calls == 1
    # Each run used three tokens; the study paid for three.
    assert [budget.cost["judge"] for budget in runs.budgets.values()] == [3.0, 3.0, 3.0]
    assert sorted(budget.spent for budget in runs.budgets.values()) == [0.0, 0.0, 3.0]
    assert runs.whole.spent == 3.0 and runs.whole.usage["judge"].calls == 1
    runs.close()
    for name in "abc":
        with Journal(runs.folder / name / "calls.sqlite", replay_only=True) as journal:
            assert (await JournalledModel(Counted(), journal, Budget({})).generate(asking("judge"))).text == "1"
            # The copy keeps the time that the call took.
            assert journal.measure_seconds()["judge"]["longest"] == 7.0
            counted = {
                shared: sum(usage.calls for *_, usage in journal.sum_usage(shared=shared)) for shared in (None, True, False)
            }
            assert counted[None] == counted[True] + counted[False] == 1


async def test_whoever_waits_asks_for_itself_where_the_first_fails(tmp_path: Path) -> None:
    runs = Runs(tmp_path, Budget({}), Counted(failing=1))
    models = [runs.add(name) for name in "ab"]
    found = await asyncio.gather(*(model.generate(asking("partner")) for model in models), return_exceptions=True)
    assert isinstance(found[0], RunFailure) and isinstance(found[1], Reply)
    assert runs.model.calls == 2
    runs.close()


@pytest.mark.parametrize("role", ["subject", "opponent"])
async def test_models_under_test_are_asked_themselves(runs: Runs, role: str) -> None:
    assert [(await runs.add(name).generate(asking(role))).text for name in "ab"] == ["1", "2"]


async def test_what_was_bought_earlier_is_found_and_left_untouched(runs: Runs) -> None:
    await runs.add("a").generate(asking("reference"))
    runs.close()
    later = Runs(runs.folder, Budget({}), Counted())
    later.shared.add(runs.folder / "a" / "calls.sqlite")
    assert (await later.add("b").generate(asking("reference"))).text == "1" and later.model.calls == 0
    assert os.listdir(runs.folder / "a") == ["calls.sqlite"]
    later.close()


async def test_one_limit_of_cost_holds_for_all_and_ends_all(tmp_path: Path) -> None:
    # A call may cost thirteen dollars: 18 bytes are at most six tokens, and seven may come back. It costs three.
    runs = Runs(tmp_path, Budget({"m": TOKEN}, limit=40.0), Counted())
    models = [runs.add(name) for name in "abcd"]

    async def ask_on(model: JournalledModel) -> None:
        for number in range(100):
            await model.generate(asking("subject", f"{number}"))

    ended = await asyncio.gather(*map(ask_on, models), return_exceptions=True)
    assert all(isinstance(end, CostLimitReached) for end in ended)
    assert 40.0 - 13.0 < runs.whole.spent == 3.0 * runs.model.calls <= 40.0
    assert all(isinstance(budget.stopped, CostLimitReached) for budget in runs.budgets.values())
    runs.close()


async def test_a_run_that_stops_stops_alone(runs: Runs) -> None:
    first, second = runs.add("a"), runs.add("b")
    runs.budgets["a"].interrupt()
    with pytest.raises(Interrupted):
        await first.generate(asking("subject"))
    assert (await second.generate(asking("subject"))).text == "1"
    assert runs.whole.stopped is None
    runs.whole.interrupt()
    with pytest.raises(Interrupted):
        await second.generate(asking("subject", "y"))


async def test_those_of_one_run_are_turned_away_and_others_wait_on() -> None:
    limit = AdaptiveLimit(1, 1)

    async def wait(run: str) -> str:
        async with limit.take_place("episode", run):
            return run

    async with limit.take_place("episode", "a"):
        waiting = [asyncio.create_task(wait(run)) for run in ("a", "b", "a", "c")]
        await asyncio.sleep(0.01)
        limit.turn_away(Interrupted("Interrupted."), "a")
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [found[1], found[3]] == ["b", "c"]
    assert isinstance(found[0], Interrupted) and isinstance(found[2], Interrupted)


async def test_calls_of_an_episode_that_was_stopped_are_waited_for(runs: Runs) -> None:
    model = runs.add("a")
    under_way = asyncio.create_task(model.generate(asking("subject")))
    await asyncio.sleep(0)
    budget = runs.budgets["a"]
    budget.interrupt()
    await budget.wait_for_calls()
    assert under_way.done() and under_way.result().text == "1"


async def test_a_call_given_up_while_it_waits_for_money_leaves_nothing_under_way() -> None:
    """As a town does, which cancels its other residents' calls when one fails."""
    one, other = make_parts(Budget({"m": TOKEN}, limit=20.0))
    reserve = await other.admit("m", asking("subject"))
    waiting = asyncio.create_task(one.admit("m", asking("subject")))
    await asyncio.sleep(0)
    waiting.cancel()
    async with asyncio.timeout(5):
        await one.wait_for_calls()
    other.settle(reserve)
    await one.admit("m", asking("subject"))


async def test_a_run_that_has_stopped_does_not_stop_the_others_for_a_call_that_waited() -> None:
    whole = Budget({"m": TOKEN}, limit=20.0)
    dead, alive = make_parts(whole)
    reserve = await alive.admit("m", asking("subject"))
    waiting = asyncio.create_task(dead.admit("m", asking("subject")))
    await asyncio.sleep(0)
    dead.interrupt()
    # Ten of twenty dollars are spent: what the dead run's call might cost no longer fits, a smaller one would.
    alive.book("m", "subject", Usage(calls=1, input_tokens=6, output_tokens=4))
    alive.settle(reserve)
    with pytest.raises(Interrupted):
        await waiting
    assert whole.stopped is None


def make_parts(whole: Budget) -> tuple[Budget, Budget]:
    parts = Budget(whole.prices), Budget(whole.prices)
    for part in parts:
        part.join(whole)
    return parts
