"""Who speaks next. Policies are objects, so that a protocol names its rule instead of setting a flag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sociable.core.records import Turn


class TurnPolicy(Protocol):
    def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str: ...


class RoundRobin:
    """Everybody in the order they are listed, beginning after whoever spoke last. Two participants alternate."""

    def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        if not turns or turns[-1].speaker not in names:
            return names[0]
        return names[(names.index(turns[-1].speaker) + 1) % len(names)]
