"""How many calls at once a server is asked. The servers are formulas: seconds of a call by the calls under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from sociable.core.errors import Interrupted
from sociable.models.concurrency import AGAIN_LATE, MOST_AT_ONCE, STEP, AdaptiveLimit

TOKENS = 1000


async def ask(limit: AdaptiveLimit, calls: int, seconds: Callable[[int], float], item: str = "") -> list[int]:
    """Asks so many calls, as many at once as the limit lets through; gives their number at once for each."""
    seen: list[int] = []
    under_way = 0

    async def call(number: int) -> None:
        nonlocal under_way
        async with limit.take_place(item or str(number)) as era:
            under_way += 1
            seen.append(under_way)
            # All who have a place now are let in before the first of them is done.
            await asyncio.sleep(0)
            took = seconds(under_way)
            await asyncio.sleep(0)
            limit.note_reply(era, TOKENS, took)
            under_way -= 1

    await asyncio.gather(*(call(number) for number in range(calls)))
    return seen


def share_one_processor(at_once: int) -> float:
    """A model on a laptop: nothing is gained by asking for two things at once, and the cache of prompts suffers."""
    return 3.0 * at_once**1.2


def serve_many(at_once: int) -> float:
    """A hosted service."""
    return 1.0


def serve_with_four_slots(at_once: int) -> float:
    """Four calls are worked on at once, the others wait."""
    return 2.0 * max(1.0, at_once / 4)


@pytest.mark.parametrize(
    ("server", "low", "high"),
    [(share_one_processor, 1, 1), (serve_many, MOST_AT_ONCE, MOST_AT_ONCE), (serve_with_four_slots, 3, 9)],
)
async def test_it_finds_what_a_server_can_take(server: Callable[[int], float], low: int, high: int) -> None:
    limit = AdaptiveLimit(1, MOST_AT_ONCE)
    await ask(limit, 300, server)
    # Not measured in the midst of a trial.
    assert low <= min(limit.level, limit.level if limit._lower is None else limit._lower[0]) <= high


async def test_a_server_that_takes_little_is_seldom_tried_with_more() -> None:
    seen = await ask(AdaptiveLimit(1, MOST_AT_ONCE), AGAIN_LATE, share_one_processor)
    # One step up, of three calls and those that follow before all three are done; then none for long.
    assert sum(at_once > 1 for at_once in seen) <= 2 * STEP
    assert max(seen) == STEP


async def test_a_number_that_the_user_gives_is_the_first_and_the_highest() -> None:
    limit = AdaptiveLimit(20, 20)
    assert max(await ask(limit, 100, share_one_processor)) == 20
    assert limit.level == 20


async def test_trouble_halves_once_and_then_one_is_added_at_a_time() -> None:
    limit = AdaptiveLimit(16, 16)
    async with limit.take_place("a") as era:
        limit.note_trouble(era)
        # The same trouble, told by another call that began before.
        limit.note_trouble(era)
    assert limit.level == 8
    await ask(limit, 8, serve_many)
    assert limit.level == 9
    await ask(limit, 200, serve_many)
    assert limit.level == 16


async def test_it_never_falls_below_one() -> None:
    limit = AdaptiveLimit(2, 2)
    for _ in range(5):
        async with limit.take_place("a") as era:
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


async def test_whoever_waits_is_turned_away_and_calls_under_way_go_on() -> None:
    limit = AdaptiveLimit(1, 1)
    async with limit.take_place("a"):
        waiting = [asyncio.create_task(ask(limit, 1, serve_many, item)) for item in "bc"]
        for _ in range(5):
            await asyncio.sleep(0)
        limit.turn_away(Interrupted("Interrupted."))
        assert all(isinstance(found, Interrupted) for found in await asyncio.gather(*waiting, return_exceptions=True))
    assert await ask(limit, 3, serve_many) == [1, 1, 1]


async def test_whoever_gives_up_waiting_takes_no_place() -> None:
    limit = AdaptiveLimit(1, 1)
    async with limit.take_place("a"):
        patient, impatient = (asyncio.create_task(ask(limit, 1, serve_many, item)) for item in "bc")
        for _ in range(5):
            await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
    assert await patient == [1]
    assert await ask(limit, 2, serve_many) == [1, 1]
