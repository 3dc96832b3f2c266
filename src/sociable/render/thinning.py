"""Chooses, of many places on an axis, the few whose numbers are given in a table or in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

_MANTISSAS = (1, 2, 3, 5, 7)


def thinned(places: Collection[float], most: int, logarithmic: bool = False) -> Sequence[float]:
    """At most so many (two or more) of the places, the first and the last among them, in order and each once.

    On a logarithmic axis those that are round where there are enough, 1, 2, 3, 5, 7, 10 and so on.
    """
    in_order = sorted(set(places))
    if len(in_order) <= most:
        return in_order
    if logarithmic:
        round_ones = [place for place in in_order if _is_round(place)]
        chosen = sorted({in_order[0], *round_ones, in_order[-1]})
        if most / 2 <= len(chosen) <= most:
            return chosen
    step = (len(in_order) - 1) / (most - 1)
    return [in_order[round(number * step)] for number in range(most)]


def _is_round(place: float) -> bool:
    decade = math.floor(math.log10(place))
    return any(place == float(f"{mantissa}e{decade}") for mantissa in _MANTISSAS)
