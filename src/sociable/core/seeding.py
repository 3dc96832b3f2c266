"""Randomness by name: every draw comes from the run's seed and the names of what it is for.

Two draws with different names are independent, the order in which they are asked for does not matter, and nothing is
shared between concurrent episodes, so a replay is exact.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def derive_seed(seed: int, *names: str | int) -> int:
    """A 63-bit seed for the thing called ``names`` in the run seeded with ``seed``."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1


def make_generator(seed: int, *names: str | int) -> random.Random:
    """The random generator for the thing called ``names`` in the run seeded with ``seed``."""
    return random.Random(derive_seed(seed, *names))


def draw_evenly(groups: Mapping[str, Iterable[str]], count: int, generator: random.Random) -> set[str]:
    """``count`` of the things in ``groups`` (all, if there are fewer), as many of each group as can be."""
    piles = [generator.sample(things, len(things)) for things in map(list, groups.values())]
    generator.shuffle(piles)
    drawn: set[str] = set()
    while len(drawn) < count and any(piles):
        for pile in piles:
            if pile and len(drawn) < count:
                drawn.add(pile.pop())
    return drawn


def select_clusters(
    items: Sequence[T],
    limit: int | None,
    seed: int,
    *,
    cluster: Callable[[T], str],
    group: Callable[[T], str],
    by_name: bool = True,
) -> tuple[T, ...]:
    """The items of ``limit`` whole clusters, spread evenly over groups, drawn by ``seed``; all without a limit.

    A cluster is of the group of its first item. With ``by_name`` the draw does not depend on the order of the items.
    """
    if limit is None:
        return tuple(items)
    groups = {cluster(item): group(item) for item in reversed(items)}
    names = sorted(groups) if by_name else dict.fromkeys(map(cluster, items))
    clusters: dict[str, list[str]] = defaultdict(list)
    for name in names:
        clusters[groups[name]].append(name)
    drawn = draw_evenly(clusters, limit, make_generator(seed, "limit"))
    return tuple(item for item in items if cluster(item) in drawn)
