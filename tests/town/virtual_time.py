"""An event loop whose clock jumps to the next thing that is due: hours of waiting pass in no time, in their true order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def jump(timeout: float | None) -> object:
            assert timeout is not None, "everybody waits for something that will not come"
            self._now += timeout
            return select(0)

        self._selector.select = jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now


def run_in_virtual_time(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """What ``work`` returns, and how many seconds it would have taken if nothing but waiting took time."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(work()), loop.time()
    finally:
        loop.close()
