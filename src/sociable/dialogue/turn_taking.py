"""Policies that say who speaks next. They are objects, so that a protocol names its rule instead of setting a flag.

``names`` are all participants in their fixed order, ``turns`` all that was said so far.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

from sociable.core.names import find_people
from sociable.core.records import Turn


class TurnPolicy(Protocol):
    async def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str: ...


class RoundRobin:
    """All participants in the order of the list, beginning after whoever spoke last. Two participants alternate."""

    async def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        if not turns or turns[-1].speaker not in names:
            return names[0]
        return names[(names.index(turns[-1].speaker) + 1) % len(names)]


class RandomSpeaker:
    """Anybody but the last speaker, each as likely. Two participants alternate."""

    def __init__(self, generator: Random) -> None:
        self._generator = generator

    async def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        return self._generator.choice(_others(names, turns))


class AddressedNext:
    """The person whom the last turn names, if it names one other person only; else anybody but the last speaker."""

    def __init__(self, generator: Random, aliases: Mapping[str, Sequence[str]]) -> None:
        self._generator = generator
        self._aliases = aliases

    async def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _others(names, turns)
        named = find_people(turns[-1].content, names, self._aliases) & set(others) if turns else set()
        return named.pop() if len(named) == 1 else self._generator.choice(others)


class Bidder(Protocol):
    async def bid(self, seen: Sequence[Turn]) -> float | None:
        """Its wish to be the next to speak, on any scale that all share; None when it does not say."""


class Bidding:
    """The highest bidder but the last speaker; ties are drawn. Who makes no bid bids less than anybody."""

    def __init__(self, bidders: Mapping[str, Bidder], generator: Random) -> None:
        self._bidders = bidders
        self._generator = generator

    async def next_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _others(names, turns)
        said = await asyncio.gather(*(self._bidders[name].bid(turns) for name in others))
        bids = [-math.inf if bid is None else bid for bid in said]
        return self._generator.choice([name for name, bid in zip(others, bids, strict=True) if bid == max(bids)])


def _others(names: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    """All but who spoke last."""
    return [name for name in names if not turns or name != turns[-1].speaker]
