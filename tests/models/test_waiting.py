"""When requests are sent: Retry-After, backoff, connections at once, requests per minute.

Waits are measured between arrivals at the server, and only from below.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sociable.core.errors import EndpointUnusable
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.openai_compatible import PUT_OFF_FACTOR, OpenAICompatibleModel
from sociable.models.protocol import Request, Scope

if TYPE_CHECKING:
    from tests.conftest import ChatServer

Endpoint = Callable[..., OpenAICompatibleModel]
Buyer = Callable[[OpenAICompatibleModel], JournalledModel]

CLOCK_SECONDS = 0.02
"""How far the client's timers may be ahead of the server's clock."""


def asking(text: str = "Hello") -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", "subject"))


def arrivals(server: ChatServer, model: OpenAICompatibleModel) -> dict[str, list[float]]:
    """When each text was asked."""
    return {asked["body"]["messages"][-1]["content"]: asked["arrivals"] for asked in server.requests(model.name)["requests"]}


@pytest.mark.parametrize(
    ("behaviour", "seconds"),
    [
        ("429-once", 1.0),
        ("429-ms", 0.4),
        # A date two seconds ahead, cut to whole seconds.
        ("429-date", 1.0),
    ],
)
async def test_it_waits_as_long_as_the_server_asks(
    endpoint: Endpoint, chat_server: ChatServer, behaviour: str, seconds: float
) -> None:
    model = endpoint(behaviour)
    assert (await model.generate(asking())).text
    first, second = arrivals(chat_server, model)["Hello"]
    assert second - first >= seconds - CLOCK_SECONDS


async def test_a_wait_asked_of_one_connection_holds_all(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("429-ms")
    first = asyncio.create_task(model.generate(asking("first")))
    while not arrivals(chat_server, model):
        await asyncio.sleep(0.01)
    # The answer is on its way over the loopback; it takes less than this.
    await asyncio.sleep(0.1)
    await asyncio.gather(first, *(model.generate(asking(f"later {number}")) for number in range(3)))
    came = arrivals(chat_server, model)
    assert len(came) == 4
    held_until = came["first"][0] + 0.4 - CLOCK_SECONDS
    assert all(time >= held_until for text, times in came.items() for time in times if text != "first")


async def test_a_wait_holds_those_that_queue_for_the_rate(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # 1200 a minute is one in 50 ms: the second queues for the rate when the first is told to wait 400 ms.
    model = endpoint("429-ms", requests_per_minute=1200)
    await asyncio.gather(model.generate(asking("first")), model.generate(asking("second")))
    came = arrivals(chat_server, model)
    assert came["second"][0] - came["first"][0] >= 0.4 - CLOCK_SECONDS


async def test_a_wait_of_no_time_is_none(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("429-zero")
    assert (await model.generate(asking())).text
    first, second = arrivals(chat_server, model)["Hello"]
    # The first pause of the backoff is between 0.25 and 0.5 s.
    assert second - first >= 0.25 - CLOCK_SECONDS


async def test_pauses_double(endpoint: Endpoint, chat_server: ChatServer) -> None:
    model = endpoint("down", attempts=4)
    with pytest.raises(EndpointUnusable, match="after 4 attempts"):
        await model.generate(asking())
    times = arrivals(chat_server, model)["Hello"]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    # 0.5, 1 and 2 s, each times a random number from 0.5 to 1; none after the last attempt.
    assert len(pauses) == 3
    assert all(pause >= least - CLOCK_SECONDS for pause, least in zip(pauses, (0.25, 0.5, 1.0), strict=True))


async def test_a_busy_server_is_asked_longer_than_a_failing_one_and_not_forever(
    endpoint: Endpoint, chat_server: ChatServer
) -> None:
    model = endpoint("429-always", attempts=1)
    with pytest.raises(EndpointUnusable, match=f"HTTP 429: .*after {PUT_OFF_FACTOR} attempts"):
        await model.generate(asking())
    assert len(arrivals(chat_server, model)["Hello"]) == PUT_OFF_FACTOR


@pytest.fixture
def buyer(tmp_path: Path) -> Iterator[Buyer]:
    """Who buys keeps to the number at once: the calls of a run are made so."""
    with Journal(tmp_path / "calls.sqlite") as journal:
        yield lambda model: JournalledModel(model, journal, Budget({}))


async def test_never_more_connections_than_allowed(endpoint: Endpoint, buyer: Buyer, chat_server: ChatServer) -> None:
    model = endpoint("slow", max_connections=4)
    bought = buyer(model)
    replies = await asyncio.gather(*(bought.generate(asking(f"Hello {number}")) for number in range(24)))
    assert len({reply.text for reply in replies}) == 24
    seen = chat_server.requests(model.name)["models"][model.name]
    # Each answer takes 50 ms, so that four are open at once; connections are kept for the next request.
    assert 1 < seen["peak"] <= 4
    assert seen["connections"] <= 4


async def test_no_more_requests_a_minute_than_allowed(endpoint: Endpoint, chat_server: ChatServer) -> None:
    # 1200 a minute is one in 50 ms.
    model = endpoint("plain", requests_per_minute=1200)
    await asyncio.gather(*(model.generate(asking(f"Hello {number}")) for number in range(9)))
    times = sorted(time for times in arrivals(chat_server, model).values() for time in times)
    # Nine requests are eight gaps of 50 ms.
    assert times[-1] - times[0] >= 8 * 0.05 - CLOCK_SECONDS


async def test_a_server_that_takes_many_at_once_is_soon_asked_so(
    endpoint: Endpoint, buyer: Buyer, chat_server: ChatServer
) -> None:
    model = endpoint("slow")
    bought = buyer(model)
    await asyncio.gather(*(bought.generate(asking(f"Hello {number}")) for number in range(150)))
    # 50 ms for each, however many there are: the first alone, then three at once, nine, 27.
    assert chat_server.requests(model.name)["models"][model.name]["peak"] >= 9
    times = sorted(time for times in arrivals(chat_server, model).values() for time in times)
    assert times[1] - times[0] >= 0.05 - CLOCK_SECONDS


async def test_a_server_that_takes_one_at_a_time_is_asked_by_few(
    endpoint: Endpoint, buyer: Buyer, chat_server: ChatServer
) -> None:
    model = endpoint("one-slot")
    bought = buyer(model)
    await asyncio.gather(*(bought.generate(asking(f"Hello {number}")) for number in range(12)))
    seen = chat_server.requests(model.name)["models"][model.name]
    assert (seen["requests"], seen["peak"], model.limit.level) == (12, 3, 1)


async def test_whoever_waits_for_an_endpoint_that_is_unusable_is_told_at_once(
    endpoint: Endpoint, buyer: Buyer, chat_server: ChatServer
) -> None:
    model = endpoint("down", attempts=2, max_connections=1)
    bought = buyer(model)
    found = await asyncio.gather(*(bought.generate(asking(f"Hello {number}")) for number in range(5)), return_exceptions=True)
    assert all(isinstance(each, EndpointUnusable) for each in found)
    assert chat_server.requests(model.name)["total"] == 2


async def test_when_waits_grow_long_fewer_calls_are_made_at_once(
    endpoint: Endpoint, buyer: Buyer, chat_server: ChatServer
) -> None:
    # Eight calls of 0.2 s wait up to 1.6 s on a server that takes one at a time; a quarter of the time-out is 1 s.
    model = endpoint("one-slot", timeout_seconds=4.0, max_connections=8)
    bought = buyer(model)
    await asyncio.gather(*(bought.generate(asking(f"Hello {number}")) for number in range(8)))
    assert model.limit.level == 4
    assert chat_server.requests(model.name)["total"] == 8
