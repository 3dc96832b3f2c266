"""Running a coroutine from ordinary code, and stopping it with Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sociable.models.limits import Budget

T = TypeVar("T")

_ENDS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_on_interrupt(budget: Budget) -> Iterator[None]:
    """After the first Ctrl-C or SIGTERM no new call is made; calls under way end and are kept. The second ends all at once."""
    loop = asyncio.get_running_loop()

    def release() -> None:
        for sign in _ENDS:
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(sign)

    def interrupt() -> None:
        budget.interrupt()
        release()

    # Other threads get no signals. On Windows Ctrl-C ends at once; the journal still holds all replies that arrived.
    if threading.current_thread() is threading.main_thread():
        with contextlib.suppress(NotImplementedError):
            for sign in _ENDS:
                loop.add_signal_handler(sign, interrupt)
    try:
        yield
    finally:
        release()


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also from inside a running event loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_a_thread(work)


def _run_in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Runs the work for a caller inside a running loop. Interrupting the caller cancels the work, and waits for its end."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    with ThreadPoolExecutor(1) as pool:
        # Joining a thread would not do: after an interruption Python 3.11 takes it for ended (gh-90882).
        running = pool.submit(_run_until_done, loop, task)
        try:
            running.result()
        except KeyboardInterrupt:
            with contextlib.suppress(RuntimeError):  # It has just ended.
                loop.call_soon_threadsafe(task.cancel)
            running.result()
            raise
    return task.result()


def _run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(asyncio.wait({task}))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
