"""Server-sent events: pages follow files, without asking again and again.

The studio polls the file for all who look; what has changed is drawn by the server and sent whole, so a page that lost its
connection needs nothing but the next event.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_OF_SILENCE = 15.0
"""The longest time without a sign of life: a connection that nobody reads is noticed by it."""


RELOAD = "reload"
"""What ``draw`` returns, in place of HTML, where the whole page is to be opened again; it ends the stream."""


def stream_changes(draw: Callable[[], str | None], seconds: float = SECONDS_BETWEEN_LOOKS) -> StreamingResponse:
    """A stream for an element with ``data-live``: what ``draw`` returns, as HTML, whenever it is another than before.

    ``draw`` is called in a thread every so many ``seconds``, and ends the stream by returning None or ``RELOAD``.
    """

    async def make_events() -> AsyncIterator[str]:
        before, silent = None, 0.0
        while (drawn := await run_in_threadpool(draw)) is not None:
            if drawn == RELOAD:
                yield format_event(RELOAD, "")
                break
            if drawn != before:
                yield format_event("replace", drawn)
                before, silent = drawn, 0.0
            elif silent >= SECONDS_OF_SILENCE:
                yield ": still here\n\n"
                silent = 0.0
            await asyncio.sleep(seconds)
            silent += seconds
        yield format_event("end", "")

    return StreamingResponse(make_events(), media_type="text/event-stream")


def format_event(name: str, data: str) -> str:
    """An event as it goes over the wire; a line break in ``data`` begins a line of its own there."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join([f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"])
