"""What many look at is found once, and nobody waits who has seen something already."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sociable.studio import shared
from sociable.studio.shared import Shared


def test_the_first_are_told_together_and_later_ones_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SECONDS_KEPT", 0.0)
    monkeypatch.setattr(shared, "SHARE_OF_TIME", 1e9)
    values, release, found = Shared(), threading.Event(), []

    def find() -> int:
        found.append(len(found))
        assert release.wait(10)
        return found[-1]

    with ThreadPoolExecutor(8) as pool:
        first = [pool.submit(values.find, "a", find) for _ in range(4)]
        while not found:
            pass
        assert not any(each.done() for each in first)
        release.set()
        assert 0 in {each.result(10) for each in first}
        release.clear()
        count = len(found)
        slow = pool.submit(values.find, "a", find)
        while len(found) == count:
            pass
        assert values.find("a", find) == count - 1 and not slow.done()
        release.set()
        assert slow.result(10) == count


def test_what_goes_wrong_is_told_and_tried_again() -> None:
    values = Shared()

    def fail() -> int:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        values.find("a", fail)
    assert values.find("a", lambda: 3) == 3
    assert values.find("a", fail) == 3
