"""A card and who sits at the table to learn it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.anteval.characters import Sheet, in_words
from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.core.names import normalise_name
from sociable.core.seeding import make_generator
from sociable.core.wording import expresses


@dataclass(frozen=True)
class IepScenario:
    card: KnowledgeCard
    players: Sequence[Sheet]

    @property
    def id(self) -> str:
        return self.card.id

    @cached_property
    def counted(self) -> dict[str, tuple[int, ...]]:
        """By player, the places of the key points that do not stand in its own sheet."""
        return {
            sheet.name: tuple(
                place
                for place, point in enumerate(self.card.key_points)
                if point.wording is None or not any(expresses(each, point.wording) for each in _sentences(in_words(sheet)))
            )
            for sheet in self.players
        }


def _sentences(text: str) -> list[str]:
    """A wording's phrases from all over a sheet say nothing together."""
    return [part for line in text.splitlines() for part in line.split(". ")]


def cast(card: KnowledgeCard, sheets: Sequence[Sheet], count: int, seed: int) -> IepScenario:
    """Players drawn for a card; nobody of the NPC's name."""
    others = [sheet for sheet in sheets if normalise_name(sheet.name) != normalise_name(card.npc.name)]
    return IepScenario(card, make_generator(seed, "players", card.id).sample(others, count))
