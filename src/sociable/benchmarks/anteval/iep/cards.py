"""Knowledge cards: what the NPC alone knows (section 3.2), cut into key points, and who sits at the table to learn it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from sociable.benchmarks.anteval.characters import Npc, Scenario, Sheet, describe_sheet, draw_players
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.data_files import Loaded, Text, load_records
from sociable.core.records import Record
from sociable.core.seeding import make_generator
from sociable.core.wording import Wording, has_wording


class KeyPoint(Record):
    point: Text
    """One fact, in a sentence."""
    wording: Wording | None = None
    """The wordings by which the rule finds it in a text; without them only a model can judge."""

    @model_validator(mode="after")
    def _is_taken_by_its_wording(self) -> Self:
        if self.wording is not None and not has_wording(self.point, self.wording):
            raise ValueError("its wording does not take the key point's own sentence")
        return self


class KnowingNpc(Npc):
    knows_because: str = ""

    @property
    def motive(self) -> str:
        return self.knows_because


class KnowledgeCard(Record):
    id: Text
    kind: Literal["place", "item", "creature", "plot"]
    title: Text
    """The subject, which everybody at the table knows."""
    scene: Text
    """The scene, which everybody at the table knows; it holds none of the key points."""
    npc: KnowingNpc
    knowledge: Text
    key_points: Annotated[tuple[KeyPoint, ...], Field(max_length=20)]
    canary: str = ""
    """Marks evaluation data in training corpora."""

    @model_validator(mode="after")
    def _is_known_to_the_npc_only(self) -> Self:
        public = "\n".join((self.title, self.scene, self.npc.who))
        for number, point in enumerate(self.key_points, start=1):
            if point.wording is None:
                continue
            if has_wording(public, point.wording):
                raise ValueError(f"key point {number} stands in title, scene or 'who': everybody would know it")
            if not has_wording(self.knowledge, point.wording):
                raise ValueError(f"key point {number} does not stand in 'knowledge' in any of its wordings")
            for other, each in enumerate(self.key_points, start=1):
                if other != number and has_wording(each.point, point.wording):
                    raise ValueError(f"the wording of key point {number} takes key point {other} as well")
        return self


KINDS: tuple[str, ...] = get_args(KnowledgeCard.model_fields["kind"].annotation)


def load_cards(path: Path | None, *, skip_invalid: bool) -> Loaded[KnowledgeCard]:
    """Loads the cards of a file, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "knowledge cards: kind, title, scene, npc, knowledge and key_points"
    return load_records(KnowledgeCard, path, DATA / "cards", skip_invalid=skip_invalid, expected=expected)


@dataclass(frozen=True)
class IepScenario(Scenario):
    """A card and who sits at the table to learn it."""

    card: KnowledgeCard

    @property
    def title(self) -> str:
        return self.card.title

    @property
    def key_points(self) -> tuple[KeyPoint, ...]:
        return self.card.key_points

    @cached_property
    def counted(self) -> dict[str, tuple[int, ...]]:
        """The places, by player, of the key points that do not stand in the player's own sheet."""
        return {
            sheet.name: tuple(place for place, point in enumerate(self.card.key_points) if not _is_in_sheet(point, sheet))
            for sheet in self.players
        }


def _is_in_sheet(point: KeyPoint, sheet: Sheet) -> bool:
    """Whether one sentence of a sheet says a key point: a wording's phrases from all over the sheet say nothing together."""
    sentences = [part for line in describe_sheet(sheet).splitlines() for part in line.split(". ")]
    return any(has_wording(sentence, point.wording or ()) for sentence in sentences)


def make_scenario(card: KnowledgeCard, players: Sequence[Sheet]) -> IepScenario:
    return IepScenario(card.id, players, card.npc, f"{card.scene}\n{card.npc.name}: {card.npc.who}", card)


def draw_scenario(card: KnowledgeCard, sheets: Sequence[Sheet], count: int, seed: int) -> IepScenario:
    """The card with ``count`` players drawn for it."""
    return make_scenario(card, draw_players(sheets, [card.npc.name], count, make_generator(seed, "players", card.id)))
