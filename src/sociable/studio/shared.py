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
    """Values that were found a moment ago.

    Those who ask at once for the same get the last value while one of them finds the new one. Only for the first they wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: LRUCache[Hashable, Future[tuple[Any, float]]] = LRUCache(MOST_KEPT)
        self._under_way: set[Hashable] = set()

    def find(self, key: Hashable, find: Callable[[], T]) -> T:
        """The value of ``key``, as ``find`` returned it lately or returns it now. What ``find`` raises, all who wait are told."""
        with self._lock:
            kept = self._kept.get(key)
            is_finder = kept is None or (_is_over(kept) and key not in self._under_way)
            made: Future[tuple[Any, float]] = Future()
            if is_finder:
                self._under_way.add(key)
                if kept is None or kept.exception() is not None:
                    self._kept[key] = made
        if not is_finder:
            assert kept is not None
            shared: T = kept.result()[0]
            return shared
        try:
            began = time.monotonic()
            value = find()
            took = time.monotonic() - began
            made.set_result((value, began + took + max(SECONDS_KEPT, took / SHARE_OF_TIME)))
        except BaseException as error:
            made.set_exception(error)
            raise
        finally:
            with self._lock:
                self._kept[key] = made
                self._under_way.discard(key)
        return value


def _is_over(found: Future[tuple[Any, float]]) -> bool:
    return found.done() and (found.exception() is not None or found.result()[1] <= time.monotonic())
