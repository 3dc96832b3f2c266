"""Policies that say who speaks next. They are objects, so that a protocol names its rule instead of setting a flag.

``names`` are all participants in their fixed order, ``turns`` all that was said so far.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from sociable.core.names import find_people
from sociable.core.records import Turn


class TurnPolicy(Protocol):
    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str: ...


class RoundRobin:
    """All participants in the order of the list, beginning after whoever spoke last. Two participants alternate."""

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        if not turns or turns[-1].speaker not in names:
            return names[0]
        return names[(names.index(turns[-1].speaker) + 1) % len(names)]


@dataclass(frozen=True)
class RandomSpeaker:
    """Anybody but the last speaker, each as likely. Two participants alternate."""

    generator: Random

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        return self.generator.choice(_list_others(names, turns))


@dataclass(frozen=True)
class AddressedNext:
    """The person whom the last turn names, if it names one other person only; else anybody but the last speaker."""

    generator: Random
    aliases: Mapping[str, Sequence[str]]

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _list_others(names, turns)
        named = find_people(turns[-1].content, names, self.aliases) & set(others) if turns else set()
        return named.pop() if len(named) == 1 else self.generator.choice(others)


@dataclass(frozen=True)
class Bidding:
    """The highest bidder but the last speaker; ties are drawn. A participant without a bid bids less than anybody."""

    bid: Callable[[str, Sequence[Turn]], Awaitable[float | None]]
    """(participant, turns) → its wish to be the next to speak, on any scale that all share; None when it does not say."""
    generator: Random

    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str:
        others = _list_others(names, turns)
        said = await asyncio.gather(*(self.bid(name, turns) for name in others))
        bids = [-math.inf if bid is None else bid for bid in said]
        return self.generator.choice([name for name, bid in zip(others, bids, strict=True) if bid == max(bids)])


def _list_others(names: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    """All but the last speaker."""
    return [name for name in names if not turns or name != turns[-1].speaker]
