"""Running a coroutine from ordinary code, and stopping it with Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from sociable.models.limits import Budget

T = TypeVar("T")


def on_interrupt(budget: Budget) -> Callable[[], None]:
    """First Ctrl-C: no new call, those under way end and are kept. Second: at once. Returns what undoes this."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        budget.interrupt()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except NotImplementedError:  # Windows: Ctrl-C ends at once; the journal still holds all replies that arrived.
        return lambda: None

    def undo() -> None:
        loop.remove_signal_handler(signal.SIGINT)

    return undo


def waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also from inside a running event loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:  # Handed on to the caller's thread.
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
