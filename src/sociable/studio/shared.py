"""What many look at is read once for all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from cachetools import LRUCache

T = TypeVar("T")

SECONDS_KEPT = 0.9
"""The least age at which something is read anew: a little less than the time between two looks of a page."""
SHARE_OF_TIME = 0.1
"""Reading takes at most this share of the time: what takes long is read more rarely."""
MOST_KEPT = 256


class Shared:
    """Values that were found a moment ago. Those who ask at once for the same wait for the one who finds it; others do not."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: LRUCache[Hashable, Future[tuple[Any, float]]] = LRUCache(MOST_KEPT)

    def find(self, key: Hashable, find: Callable[[], T]) -> T:
        """The value of ``key``, as ``find`` returned it lately or returns it now. What ``find`` raises, all who wait are told."""
        with self._lock:
            found = self._kept.get(key)
            is_new = found is None or _is_over(found)
            if is_new:
                found = self._kept[key] = Future()
        assert found is not None
        if is_new:
            try:
                began = time.monotonic()
                value = find()
                took = time.monotonic() - began
                found.set_result((value, began + took + max(SECONDS_KEPT, took / SHARE_OF_TIME)))
            except BaseException as error:
                found.set_exception(error)
                raise
        shared: T = found.result()[0]
        return shared


def _is_over(found: Future[tuple[Any, float]]) -> bool:
    return found.done() and (found.exception() is not None or found.result()[1] <= time.monotonic())
