"""What each case of a data set tells of the runs over it: how hard it is, and whether better runs do better at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Item:
    """A case, over several runs."""

    case: str
    difficulty: float
    """1 less the mean of what the runs reached, in [0, 1]: 0 where all of them reach the best, 1 where none reaches anything."""
    discrimination: float | None
    """How much more the better run of two reaches here than the worse one, the mean over all pairs, in [-1, 1].

    None: no two runs differ on the other cases.
    """


def measure_items(reached: Sequence[Mapping[str, float]]) -> list[Item]:
    """The items, from what each run reached in each case, in [0, 1].

    Cases count that at least two runs have a value for. Source of the discrimination: the difference of an upper and a lower
    group in a case (Kelley 1939; Johnson 1951), here of every two runs. The better run of two is the one with the higher mean
    on all *other* cases that both have, so that no case vouches for itself; where these means are equal the pair says nothing.
    """
    cases = dict.fromkeys(case for own in reached for case in own)
    differences: dict[str, list[float]] = {case: [] for case in cases}
    for one, other in combinations(reached, 2):
        common = one.keys() & other.keys()
        total = sum(one[case] - other[case] for case in common)
        for case in common:
            difference = one[case] - other[case]
            rest = total - difference
            if abs(rest) > ROUNDING:
                differences[case].append(difference if rest > 0 else -difference)
    items = []
    for case in cases:
        values = [own[case] for own in reached if case in own]
        if len(values) > 1:
            found = differences[case]
            items.append(Item(case, 1.0 - fmean(values), fmean(found) if found else None))
    return items


ROUNDING = 1e-9
"""A smaller sum of differences is rounding."""
