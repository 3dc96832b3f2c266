"""What readers made of the bundled cards: guesses from the scene alone, and key points in words of their own.

Guesses tell whether a card can be known without its NPC; words of others, which the wordings were not written on, tell what
``reference/rule`` sees and misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.matching import matched
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.records import Record
from sociable.core.wording import expresses
from sociable.statistics.intervals import Interval, estimate_mean


class CheckedCard(Record):
    card: str
    guesses: tuple[str, ...]
    """By a reader of title, scene and 'who', as many as there are key points."""
    retold: tuple[str, ...]
    """Each key point in other words, in order, by a writer who did not see the wordings."""


@cache
def checked_cards() -> Mapping[str, CheckedCard]:
    lines = (DATA / "cards_checked.jsonl").read_text(encoding="utf-8").splitlines()
    return {each.card: each for each in map(CheckedCard.model_validate_json, lines)}


def points_in(claims: Sequence[str], card: KnowledgeCard) -> list[float]:
    """For every key point, 1 if a claim states it in a wording of the card, one to one."""
    pairs = [
        (place, column)
        for place, point in enumerate(card.key_points)
        for column, claim in enumerate(claims)
        if expresses(claim, point.wording or ())
    ]
    found = matched(pairs, len(card.key_points), len(claims))
    return [float(place in found) for place in range(len(card.key_points))]


def share(by_card: Mapping[str, Sequence[float]]) -> Interval:
    """Of key points, with cards as clusters."""
    values = [value for points in by_card.values() for value in points]
    return estimate_mean(values, [card for card, points in by_card.items() for _ in points])
