"""Knowledge cards: what the NPC alone knows (section 3.2), cut into key points, and the scene in which others want to know it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from sociable.benchmarks.anteval.rules import DATA
from sociable.core.data_files import Loaded, Text, load_items, make_cut
from sociable.core.names import Name
from sociable.core.records import Record
from sociable.core.wording import Wording, expresses


class KeyPoint(Record):
    point: Text
    """One fact, in a sentence."""
    wording: Wording | None = None
    """How a text says it, for the rule; without it only a model can judge."""

    @model_validator(mode="after")
    def _says_itself(self) -> Self:
        if self.wording is not None and not expresses(self.point, self.wording):
            raise ValueError("its wording does not take the key point's own sentence")
        return self


class Npc(Record):
    """Whoever knows."""

    name: Name
    pronouns: Name
    who: Text
    """What all can see, or have been told."""
    manner: Text
    """For whoever plays it."""
    knows_because: str = ""


class KnowledgeCard(Record):
    id: Text
    kind: Literal["place", "item", "creature", "plot"]
    title: Text
    """What it is about, as all at the table know."""
    scene: Text
    """What all at the table know; none of the key points."""
    npc: Npc
    knowledge: Text
    key_points: Annotated[tuple[KeyPoint, ...], Field(max_length=20)]
    canary: str = ""
    """Marks evaluation data in training corpora."""

    @model_validator(mode="after")
    def _only_the_npc_knows(self) -> Self:
        public = "\n".join((self.title, self.scene, self.npc.who))
        for number, point in enumerate(self.key_points, start=1):
            if point.wording is None:
                continue
            if expresses(public, point.wording):
                raise ValueError(f"key point {number} stands in title, scene or 'who': everybody would know it")
            if not expresses(self.knowledge, point.wording):
                raise ValueError(f"key point {number} does not stand in 'knowledge' in any of its wordings")
            for other, each in enumerate(self.key_points, start=1):
                if other != number and expresses(each.point, point.wording):
                    raise ValueError(f"the wording of key point {number} takes key point {other} as well")
        return self


KINDS: tuple[str, ...] = get_args(KnowledgeCard.model_fields["kind"].annotation)


def load_cards(path: Path | None, *, skip_invalid: bool) -> Loaded[KnowledgeCard]:
    """The cards of a file, or the bundled ones. Raises DataError naming file, line and field."""

    expected = "knowledge cards: kind, title, scene, npc, knowledge and key_points"
    return load_items(path, DATA / "cards", make_cut(KnowledgeCard), skip_invalid=skip_invalid, expected=expected)
