"""Which intentions players carry: drawn from the real training windows' marginals, so that G does not measure the skill prior."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sociable.benchmarks.anteval.ieg.windows import Window

T = TypeVar("T", str, int)


@dataclass(frozen=True)
class Marginals:
    """How often each skill is called for, and how many players a call is for."""

    skills: Mapping[str, int]
    sizes: Mapping[int, int]


def marginals_of(windows: Sequence[Window]) -> Marginals:
    called = [window for window in windows if window.checks]
    return Marginals(
        Counter(skill for window in called for _, skill in sorted(window.checks)),
        Counter(len({who for who, _ in window.checks}) for window in called),
    )


def drawn_intentions(skilled: Mapping[str, Sequence[str]], marginals: Marginals, generator: random.Random) -> dict[str, str]:
    """By player a skill; players without an intention are not in it. Of a call for more than there are, all have one.

    ``skilled``: by player the skills on its sheet. A skill goes to somebody who has it, where anybody does.
    """
    free = list(skilled)
    intentions = {}
    for _ in range(min(_drawn(marginals.sizes, generator), len(free))):
        skill = _drawn(marginals.skills, generator)
        player = generator.choice([each for each in free if skill in skilled[each]] or free)
        free.remove(player)
        intentions[player] = skill
    return {player: intentions[player] for player in skilled if player in intentions}


def _drawn(counts: Mapping[T, int], generator: random.Random) -> T:
    kinds = sorted(counts, key=str)
    return generator.choices(kinds, [counts[kind] for kind in kinds])[0]
