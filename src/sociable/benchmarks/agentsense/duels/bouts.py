"""Duels as bouts, from which models are rated."""

from __future__ import annotations

from collections.abc import Iterable

from sociable.core.records import Score
from sociable.statistics.ratings import Bout

WON = "won"
"""The metric that says who won."""


def list_bouts(scores: Iterable[Score], subject: str, opponent: str) -> list[Bout]:
    """The bouts of one run, from its scores and the names of the two models. What has no result is left out."""
    found = []
    for score in scores:
        if score.metric == WON and score.value is not None:
            is_first = score.scenario.endswith("#1")
            names = (subject, opponent) if is_first else (opponent, subject)
            found.append(Bout(score.cluster, *names, score.value if is_first else 1 - score.value))
    return found
