"""News to HSII's dialogues (section 5.1, Appendix B, Figures 6 and 7): articles, scenes, the best of them, dialogues, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from sociable.construction.articles import Article
from sociable.construction.build import Recipe, digest_of
from sociable.construction.selection import DropDuplicates, DropToxic, RetrieveArticles, SpreadArticles
from sociable.construction.stages import EachStage, Item, Rejected, WholeStage, Writer, validated
from sociable.core.data_files import Text
from sociable.core.prompts import Prompts, defused, one_line, package_prompts, quoted
from sociable.core.records import Record
from sociable.hsii.construct.checks import check_characters, check_dialogue, check_identities, identities_in
from sociable.hsii.dataset import ASSISTANT

PLACEHOLDERS = {
    "scene": frozenset({"article"}),
    "dialogue": frozenset({"domain", "scene", "characters", "relationships", "conflicts", "assistant"}),
}
SHORTEST, LONGEST = 300, 20_000
"""Characters of an article: of a shorter one nothing can be made, a longer one is a list or a collection."""
READ = 6_000
"""Characters of an article that the model reads."""


def construction_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return package_prompts("sociable.hsii.construct", PLACEHOLDERS, override)


class Conflict(Record):
    between: tuple[Text, ...] = Field(min_length=2)
    over: Text


class WrittenScene(Record):
    """What a model writes after a report (Figure 6)."""

    domain: Text
    scene: Text
    characters: tuple[Text, ...]
    relationships: tuple[Text, ...] = Field(min_length=1)
    conflicts: tuple[Conflict, ...] = Field(min_length=1)


class Scene(Item, WrittenScene):
    source: str
    """Title and address of the article."""
    names: tuple[str, ...] = ()
    """Of the article, that are not to be said."""


class Dialogue(Item):
    record: dict[str, Any]
    """As it stands in a file of dialogues."""
    source: str
    cases: int


class FitArticles(EachStage[Article, Article]):
    name = "articles"
    meaning = f"articles of {SHORTEST} to {LONGEST} characters"
    makes = Article

    async def work(self, item: Article, writer: Writer) -> Sequence[Article]:
        if len(item.text) < SHORTEST:
            raise Rejected("too short", f"{len(item.text)} characters")
        if len(item.text) > LONGEST:
            raise Rejected("too long", f"{len(item.text)} characters")
        return [item]


class WriteScenes(EachStage[Article, Scene]):
    name = "scenes"
    meaning = "a scene with roles, relationships and conflicts, written after each article"
    makes = Scene
    asks = True

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def work(self, item: Article, writer: Writer) -> Sequence[Scene]:
        article = quoted(f"{one_line(item.title)}\n{item.text[:READ]}")
        written = validated(WrittenScene, await writer.ask(self._prompts["scene"].render(article=article)), "a scene")
        check_characters(written.characters)
        names = identities_in(f"{item.title}.\n{item.text}")
        check_identities(names, json.dumps(written.model_dump(mode="json"), ensure_ascii=False))
        for conflict in written.conflicts:
            if unknown := set(conflict.between) - set(written.characters):
                raise Rejected("a conflict with nobody", min(unknown))
        return [Scene(id=item.id, source=" ".join(filter(None, (item.title, item.url))), names=tuple(names), **dict(written))]


class ChooseScenes(WholeStage[Scene, Scene]):
    """The paper's top-k sampling: scenes with many conflicts among many parties are the ones that test most."""

    name = "chosen"
    meaning = "those with the most conflicts, then the most characters"
    makes = Scene

    def __init__(self, most: int | None) -> None:
        self._most = most

    def select(self, items: Sequence[Scene]) -> Mapping[str, Sequence[Scene] | Rejected]:
        ranked = sorted(items, key=lambda scene: (-len(scene.conflicts), -len(scene.characters), scene.id))
        kept = {scene.id for scene in ranked[: self._most]}
        return {scene.id: Rejected("fewer conflicts than others") for scene in items if scene.id not in kept}


class WriteDialogues(EachStage[Scene, Dialogue]):
    name = "dialogues"
    meaning = "a dialogue with an assistant for each scene, checked"
    makes = Dialogue
    asks = True

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def work(self, item: Scene, writer: Writer) -> Sequence[Dialogue]:
        conflicts = [f"{', '.join(each.between)}: {each.over}" for each in item.conflicts]
        text = self._prompts["dialogue"].render(
            domain=one_line(item.domain),
            scene=quoted(item.scene),
            characters=quoted("\n".join(item.characters)),
            relationships=quoted("\n".join(item.relationships)),
            conflicts=quoted("\n".join(conflicts)),
            assistant=ASSISTANT,
        )
        fields = await writer.ask(text)
        record: dict[str, Any] = {
            "id": item.id,
            "topic": str(fields.get("topic") or item.domain),
            "background": {
                "scene": item.scene,
                "characters": list(item.characters),
                "relationships": list(item.relationships),
                "conflicts": " ".join(f"{each}." for each in conflicts),
            },
            "messages": _numbered(fields.get("messages")),
        }
        check_identities(item.names, json.dumps(record["messages"], ensure_ascii=False))
        cases = check_dialogue(record, item.id)
        return [Dialogue(id=item.id, record=record, source=item.source, cases=len(cases))]


def _numbered(messages: Any) -> list[Any]:
    if not isinstance(messages, list):
        raise Rejected("no list of messages", type(messages).__name__)
    kept = ("role_from", "role_to", "content")
    if any(isinstance(each, dict) and not all(isinstance(each.get(name), str) for name in kept) for each in messages):
        raise Rejected("a message without words or names", "")
    return [
        {**{name: defused(str(each.get(name, ""))) for name in kept}, "index": number} if isinstance(each, dict) else each
        for number, each in enumerate(messages, start=1)
    ]


def news_recipe(
    articles: Sequence[Article],
    *,
    searches: Sequence[Sequence[str]] = (),
    spread: int | None = None,
    most: int | None = None,
    toxicity: str | None = None,
    seed: int = 0,
    prompts: Path | None = None,
) -> Recipe:
    """``searches``: keywords, one or two each; ``spread``: articles that get a scene; ``most``: scenes that get a dialogue.

    All by default. ``toxicity``: a classifier by its name; without one a list of words tells what is toxic.
    """
    used = construction_prompts(prompts)
    return Recipe(
        name="news",
        version="1.0.0",
        benchmark="hsii",
        stages=(
            FitArticles(),
            *([RetrieveArticles(searches)] if searches else []),
            DropDuplicates(seed),
            DropToxic(toxicity),
            *([SpreadArticles(spread, seed)] if spread is not None else []),
            WriteScenes(used),
            ChooseScenes(most),
            WriteDialogues(used),
        ),
        settings={
            "searches": [list(each) for each in searches],
            "spread": spread,
            "most": most,
            "toxicity": toxicity,
            "seed": seed,
        },
        digests={"articles": digest_of(articles), "prompts": used.digest},
        record=lambda dialogue: dialogue.record,
    )
