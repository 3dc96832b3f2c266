"""Which key points the NPC gives away, by the card's wordings."""

from __future__ import annotations

from sociable.benchmarks.anteval.iep.cards import KnowledgeCard
from sociable.benchmarks.anteval.iep.records import IepEpisode
from sociable.core.records import Record
from sociable.core.wording import expresses


class Measured(Record):
    """What the wordings find in one session."""

    id: str
    told: dict[int, int]
    """By place of a key point the index of the first of the NPC's turns that says it."""


def measure_session(card: KnowledgeCard, episode: IepEpisode) -> Measured:
    """The key points that the NPC says; those without a wording cannot be found."""
    own = [turn for turn in episode.turns if turn.speaker == card.npc.name and not turn.passed]
    first = {
        place: next((turn.index for turn in own if expresses(turn.content, point.wording)), None)
        for place, point in enumerate(card.key_points)
        if point.wording is not None
    }
    return Measured(id=episode.id, told={place: index for place, index in first.items() if index is not None})
