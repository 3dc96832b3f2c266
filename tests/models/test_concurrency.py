"""How many calls at once a server is asked. Servers are simulated, in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from virtual_time import run_in_virtual_time

from sociable.core.errors import Interrupted
from sociable.models.concurrency import AGAIN_LATE, MOST_AT_ONCE, STEP, AdaptiveLimit


class Server:
    """Works on ``slots`` calls at once, each of which takes a second, or more the more are in work."""

    def __init__(self, slots: int, slowing: Callable[[int], float] = lambda _: 1.0, spread: float = 0.0) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._slowing = slowing
        self._random = random.Random(1)
        self._spread = spread
        self._in_work = 0
        self.seen: list[int] = []
        """The calls that were there when each one came."""
        self._here = 0

    async def answer(self) -> int:
        """The tokens of the reply."""
        self._here += 1
        self.seen.append(self._here)
        async with self._slots:
            self._in_work += 1
            length = self._random.lognormvariate(0.0, self._spread)
            await asyncio.sleep(length * self._slowing(self._in_work))
            self._in_work -= 1
        self._here -= 1
        return round(1000 * length)


async def ask(limit: AdaptiveLimit, calls: int, server: Server) -> None:
    """Asks so many calls, as many at once as the limit lets through."""

    async def call(number: int) -> None:
        async with limit.take_place(str(number)):
            era = limit.era
            limit.note_reply(era, await server.answer())

    await asyncio.gather(*(call(number) for number in range(calls)))


def ask_in_virtual_time(limit: AdaptiveLimit, calls: int, server: Server) -> float:
    """The seconds that it takes."""
    return run_in_virtual_time(lambda: ask(limit, calls, server))[1]


@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize(
    ("slots", "slowing", "worst"),
    [
        # A hosted service; a server with four slots; a laptop, whose calls share one processor and push each other's prompts
        # out of the cache. Beside the best fixed number at once: 64, 4 and 1.
        (1000, lambda _: 1.0, 3.0),
        (4, lambda _: 1.0, 1.1),
        (4, lambda in_work: in_work**1.5, 1.15),
    ],
)
def test_it_loses_little_beside_the_best_number(slots: int, slowing: Callable[[int], float], worst: float, spread: float) -> None:
    calls = 400
    best = min(
        ask_in_virtual_time(AdaptiveLimit(level, level), calls, Server(slots, slowing, spread)) for level in (1, 4, MOST_AT_ONCE)
    )
    found = ask_in_virtual_time(AdaptiveLimit(1, MOST_AT_ONCE), calls, Server(slots, slowing, spread))
    assert found / best < worst


def test_a_server_that_suffers_is_seldom_tried_with_more() -> None:
    server = Server(4, lambda in_work: in_work**1.5)
    ask_in_virtual_time(AdaptiveLimit(1, MOST_AT_ONCE), AGAIN_LATE, server)
    # One step up, of three calls and those that follow before all three are done; then none for long.
    assert sum(here > 1 for here in server.seen) <= 3 * STEP
    assert max(server.seen) == STEP


def test_a_number_that_the_user_gives_is_the_first_and_the_highest() -> None:
    limit, server = AdaptiveLimit(20, 20), Server(1)
    ask_in_virtual_time(limit, 100, server)
    assert max(server.seen) == limit.level == 20


def test_trouble_halves_once_and_then_one_is_added_at_a_time() -> None:
    limit = AdaptiveLimit(16, 16)

    async def go_on() -> None:
        async with limit.take_place("a"):
            era = limit.era
            limit.note_trouble(era)
            # The same trouble, told by another call that began before.
            limit.note_trouble(era)
        assert limit.level == 8
        await ask(limit, 8, Server(1000))
        assert limit.level == 9
        await ask(limit, 200, Server(1000))
        assert limit.level == 16

    run_in_virtual_time(go_on)


async def test_it_never_falls_below_one() -> None:
    limit = AdaptiveLimit(2, 2)
    for _ in range(5):
        async with limit.take_place("a"):
            era = limit.era
            limit.note_trouble(era)
    assert limit.level == 1


async def test_what_was_begun_first_goes_first() -> None:
    limit, order = AdaptiveLimit(1, 1), []

    async def episode(name: str) -> None:
        for turn in range(3):
            async with limit.take_place(name):
                order.append(f"{name}{turn}")
                await asyncio.sleep(0)

    await asyncio.gather(*map(episode, "abc"))
    # A place is handed on before the one who leaves it can ask again: two take turns, and the third waits for the first.
    assert order == ["a0", "b0", "a1", "b1", "a2", "b2", "c0", "c1", "c2"]


async def wait_for_place(limit: AdaptiveLimit, item: str) -> str:
    async with limit.take_place(item):
        return item


async def test_whoever_waits_is_turned_away_and_calls_under_way_go_on() -> None:
    limit = AdaptiveLimit(1, 1)
    async with limit.take_place("a"):
        waiting = [asyncio.create_task(wait_for_place(limit, item)) for item in "bc"]
        for _ in range(5):
            await asyncio.sleep(0)
        limit.turn_away(Interrupted("Interrupted."))
        assert all(isinstance(found, Interrupted) for found in await asyncio.gather(*waiting, return_exceptions=True))
    assert await wait_for_place(limit, "d") == "d"


async def test_whoever_gives_up_waiting_takes_no_place() -> None:
    limit = AdaptiveLimit(1, 1)
    async with limit.take_place("a"):
        patient, impatient = (asyncio.create_task(wait_for_place(limit, item)) for item in "bc")
        for _ in range(5):
            await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
    assert await patient == "b"
    assert await wait_for_place(limit, "d") == "d"


async def test_whoever_is_turned_away_and_gives_up_at_once_returns_no_place() -> None:
    limit = AdaptiveLimit(1, 1)
    async with limit.take_place("a"):
        waiting = asyncio.create_task(wait_for_place(limit, "b"))
        for _ in range(5):
            await asyncio.sleep(0)
        limit.turn_away(Interrupted("Interrupted."))
        waiting.cancel()
        with pytest.raises((asyncio.CancelledError, Interrupted)):
            await waiting
        assert limit._under_way == 1
