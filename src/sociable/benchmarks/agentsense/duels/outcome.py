"""What a bargain gave each side. Pure.

A side's gain is its points above its fallback, its own and the other's deed afterwards counted. Its share is its gain over the
most that an agreement could give it while the other does not get less than its fallback.
"""

from __future__ import annotations

from collections.abc import Mapping

from sociable.benchmarks.agentsense.duels.dataset import Agreement, Bargain
from sociable.benchmarks.agentsense.duels.records import BREAKS, KEEPS

EQUAL = 0.02
"""Shares that differ by no more are equal."""


def count_gains(bargain: Bargain, agreement: Agreement, deeds: Mapping[str, str]) -> tuple[float, float]:
    """Both sides' points above their fallbacks; without an agreement nothing.

    A deed that could not be read gives the other what keeping would, and whoever failed to say it nothing.
    """
    if not agreement:
        return 0, 0
    gains = list(bargain.gains[agreement])
    for side, own in enumerate(bargain.sides):
        if not own.afterwards:
            continue
        deed = deeds.get(own.name, "")
        if not deed:
            gains[1 - side] += own.afterwards.keeps.other
        else:
            done = {KEEPS: own.afterwards.keeps, BREAKS: own.afterwards.breaks}[deed]
            gains[side] += done.own
            gains[1 - side] += done.other
    return gains[0], gains[1]


def measure_shares(bargain: Bargain, agreement: Agreement, deeds: Mapping[str, str]) -> tuple[float, float]:
    """Both sides' gains as shares of the most each could get, in [-1, 1]."""
    first, second = (
        max(-1.0, min(1.0, gain / bargain.find_best(side))) for side, gain in enumerate(count_gains(bargain, agreement, deeds))
    )
    return first, second


def find_winner(shares: tuple[float, float]) -> float:
    """The first one's result where something was agreed: 1 for the larger share, 0 for the smaller, 0.5 where they are equal."""
    difference = shares[0] - shares[1]
    return 0.5 if abs(difference) <= EQUAL + 1e-9 else float(difference > 0)


def measure_joint(bargain: Bargain, agreement: Agreement) -> float:
    """What the paper gives both above their fallbacks, over the most that one could; in [-1, 1]. Without a paper 0."""
    return max(-1.0, min(1.0, sum(bargain.gains[agreement]) / bargain.best_joint)) if agreement else 0.0


def list_efficient(bargain: Bargain) -> list[Agreement]:
    """The agreements that leave neither below its fallback, and on which no other improves for one without harm to the other."""
    fair = {each: gains for each, gains in bargain.gains.items() if min(gains) >= 0}
    return [
        each
        for each, own in fair.items()
        if not any(other != own and other[0] >= own[0] and other[1] >= own[1] for other in fair.values())
    ]
