"""News to HSII's dialogues (section 5.1, Appendix B, Figures 6 and 7): articles, scenes, the best of them, dialogues, checks."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.core.data_files import Text
from sociable.core.prompts import Prompts, defuse, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Record
from sociable.datasets.articles import Article
from sociable.datasets.build import Recipe, digest_of
from sociable.datasets.recipes.hsii.checks import check_characters, check_dialogue, check_identities, common_words, identities_in
from sociable.datasets.selection import FOUND, DropDuplicates, DropToxic, RetrieveArticles, SpreadArticles
from sociable.datasets.stages import AskingStage, EachStage, Item, Rejected, WholeStage, Writer

PLACEHOLDERS = {
    "scene": frozenset({"article"}),
    "dialogue": frozenset({"scene", "characters", "relationships", "conflicts", "assistant"}),
}
SHORTEST, LONGEST = 300, 20_000
"""Characters of an article with its title: of a shorter one little can be made, a longer one is a list or a collection."""
READ = 6_000
"""Characters of an article that the model reads."""


def construction_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.datasets.recipes.hsii", PLACEHOLDERS, override)


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


class WrittenMessage(Record):
    role_from: Text
    role_to: Text
    content: Text


class WrittenDialogue(Record):
    """What a model writes after a scene (Figure 7)."""

    topic: str = ""
    messages: tuple[WrittenMessage, ...] = Field(min_length=1)


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
    """What there is to make a scene of."""

    name = "articles"
    makes = Article

    def __init__(self, shortest: int) -> None:
        self._shortest = shortest
        self.meaning = f"articles of {shortest:,} to {LONGEST:,} characters, with their titles"

    async def work(self, item: Article, writer: Writer) -> Sequence[Article]:
        length = len(item.title) + len(item.text)
        if length < self._shortest:
            raise Rejected("too short", f"{length} characters")
        if length > LONGEST:
            raise Rejected("too long", f"{length} characters")
        return [item]


class WriteScenes(AskingStage[Article, Scene]):
    name = "scenes"
    meaning = "a scene with roles, relationships and conflicts, written after each article"
    makes = Scene

    def __init__(self, prompts: Prompts, common: Collection[str]) -> None:
        """``common``: words that make no name by being written with a capital."""
        super().__init__(prompts)
        self._common = common

    async def work(self, item: Article, writer: Writer) -> Sequence[Scene]:
        article = quote(f"{put_on_one_line(item.title)}\n{item.text[:READ]}")
        written = await writer.write(WrittenScene, self.prompts["scene"].render(article=article), "a scene")
        check_characters(written.characters)
        names = identities_in(f"{item.title}.\n{item.text}", self._common)
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


class WriteDialogues(AskingStage[Scene, Dialogue]):
    name = "dialogues"
    meaning = "a dialogue with an assistant for each scene, checked"
    makes = Dialogue

    async def work(self, item: Scene, writer: Writer) -> Sequence[Dialogue]:
        conflicts = [f"{', '.join(each.between)}: {each.over}" for each in item.conflicts]
        text = self.prompts["dialogue"].render(
            scene=quote(f"{item.domain}: {item.scene}"),
            characters=quote("\n".join(item.characters)),
            relationships=quote("\n".join(item.relationships)),
            conflicts=quote("\n".join(conflicts)),
            assistant=ASSISTANT,
        )
        written = await writer.write(WrittenDialogue, text, "a dialogue")
        record: dict[str, Any] = {
            "id": item.id,
            "topic": written.topic or item.domain,
            "background": {
                "scene": item.scene,
                "characters": list(item.characters),
                "relationships": list(item.relationships),
                "conflicts": " ".join(f"{each}." for each in conflicts),
            },
            "messages": [
                {**{name: defuse(text) for name, text in dict(each).items()}, "index": number}
                for number, each in enumerate(written.messages, start=1)
            ],
        }
        check_identities(item.names, json.dumps(record["messages"], ensure_ascii=False))
        cases = check_dialogue(record, item.id)
        return [Dialogue(id=item.id, record=record, source=item.source, cases=len(cases))]


def news_recipe(
    articles: Sequence[Article],
    *,
    shortest: int = SHORTEST,
    searches: Sequence[Sequence[str]] = (),
    found: int = FOUND,
    spread: int | None = None,
    most: int | None = None,
    toxicity: str | None = None,
    seed: int = 0,
    prompts: Path | None = None,
) -> Recipe:
    """``searches``: keywords, one or two each, of which each finds ``found`` articles at the most, of ``shortest`` characters or
    more; ``spread``: articles that get a scene; ``most``: scenes that get a dialogue; all by default.

    ``toxicity``: a classifier by its name; without one a list of words tells what is toxic. Raises InputError for searches
    and classifiers that cannot be.
    """
    used = construction_prompts(prompts)
    return Recipe(
        name="news",
        version="1.0.0",
        benchmark="hsii",
        use="sociable run hsii --dataset {data}",
        audit="sociable audit hsii --dataset {data}",
        stages=(
            FitArticles(shortest),
            *([RetrieveArticles(searches, found)] if searches else []),
            DropDuplicates(seed),
            DropToxic(toxicity),
            *([SpreadArticles(spread, seed)] if spread is not None else []),
            WriteScenes(used, common_words(article.text for article in articles)),
            ChooseScenes(most),
            WriteDialogues(used),
        ),
        settings={
            "shortest": shortest,
            "searches": [list(each) for each in searches],
            "found": found,
            "spread": spread,
            "most": most,
            "toxicity": toxicity,
            "seed": seed,
        },
        digests={"articles": digest_of(articles), "prompts": used.digest},
        record=lambda dialogue: dialogue.record,
        source=lambda dialogue: dialogue.source,
    )
