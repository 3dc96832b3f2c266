"""News to HSII's dialogues (section 5.1, Appendix B, Figures 6 and 7): articles, scenes, the best of them, dialogues, checks."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field, field_validator

from sociable.benchmarks.hsii.dataset import ASSISTANT, load_dataset
from sociable.core.data_files import Text
from sociable.core.prompts import defuse, put_on_one_line, quote
from sociable.core.records import Record
from sociable.datasets.articles import (
    FOUND,
    Article,
    drop_duplicates,
    drop_toxic,
    read_articles,
    retrieve_articles,
    spread_articles,
)
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.hsii.checks import (
    check_characters,
    check_dialogue,
    check_identities,
    check_relationships,
    cut_runs,
    find_common_words,
    find_identities,
)
from sociable.datasets.review.records import HSII_TAGS
from sociable.datasets.stages import AnyStage, AskingStage, EachStage, Item, MadeRecord, Rejected, WholeStage, Writer

SHORTEST, LONGEST = 300, 20_000
"""Characters of an article with its title: of a shorter one little can be made, a longer one is a list or a collection."""
ALIKE = 0.2
"""The share of runs of five words above which two dialogues are the same story."""
READ = 6_000
"""Characters of an article that the model reads."""


class NewsOptions(RecipeOptions):
    searches: tuple[tuple[str, ...], ...] = Field(
        (), alias="search", description="Only news with one or two keywords, as in 'harbour, strike'; repeatable."
    )
    found: int = Field(FOUND, ge=1, description="Articles of each search.")
    shortest: int = Field(SHORTEST, ge=0, description="The fewest characters of an article, its title included.")
    spread: int | None = Field(None, ge=1, alias="articles", description="Articles to keep, evenly over their subjects.")
    most: int | None = Field(None, ge=1, description="Scenes that get a dialogue.")
    toxicity: str | None = Field(None, description="A classifier of toxic texts, in place of a list of words.")
    seed: int = Field(0, description="The seed of all draws.")

    @field_validator("searches", mode="before")
    @classmethod
    def _split_keywords(cls, given: Sequence[str | Sequence[str]]) -> list[Sequence[str]]:
        """Keywords may be given in one text, with commas between them."""
        return [[word.strip() for word in each.split(",") if word.strip()] if isinstance(each, str) else each for each in given]


class Conflict(Record):
    between: tuple[Text, ...] = Field(min_length=2)
    over: Text


class WrittenScene(Record):
    """A scene as a model writes it after a report (Figure 6)."""

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
    """A dialogue as a model writes it after a scene (Figure 7)."""

    topic: str = ""
    messages: tuple[WrittenMessage, ...] = Field(min_length=1)


class Scene(Item, WrittenScene):
    source: str
    """Title and address of the article."""
    names: tuple[str, ...] = ()
    """Names in the article, which are not to be said."""


class Dialogue(MadeRecord):
    source: str
    cases: int


async def fit_article(shortest: int, item: Article, writer: Writer) -> Sequence[Article]:
    """An article of which a scene can be made."""
    length = len(item.title) + len(item.text)
    if not shortest <= length <= LONGEST:
        raise Rejected("too short" if length < shortest else "too long", f"{length} characters")
    return [item]


async def write_scene(common: Collection[str], item: Article, writer: Writer) -> Sequence[Scene]:
    """A scene written after an article. ``common``: words that make no name by being written with a capital."""
    article = quote(f"{put_on_one_line(item.title)}\n{item.text[:READ]}")
    written = await writer.write(WrittenScene, "a scene", "scene", article=article)
    check_characters(written.characters)
    check_relationships(written.characters, written.relationships)
    names = find_identities(f"{item.title}.\n{item.text}", common)
    check_identities(names, json.dumps(written.model_dump(mode="json"), ensure_ascii=False))
    for conflict in written.conflicts:
        if unknown := set(conflict.between) - set(written.characters):
            raise Rejected("a conflict with nobody", min(unknown))
    return [Scene(id=item.id, source=" ".join(filter(None, (item.title, item.url))), names=tuple(names), **dict(written))]


def reject_calm_scenes(most: int | None, items: Sequence[Scene]) -> Mapping[str, Rejected]:
    """The paper's top-k sampling: scenes with many conflicts among many parties are the ones that test most."""
    ranked = sorted(items, key=lambda scene: (-len(scene.conflicts), -len(scene.characters), scene.id))
    kept = {scene.id for scene in ranked[:most]}
    return {scene.id: Rejected("fewer conflicts than others") for scene in items if scene.id not in kept}


def reject_alike(items: Sequence[Dialogue]) -> Mapping[str, Rejected]:
    """Of dialogues that share too much of what is said, the first is kept."""
    found: dict[str, Rejected] = {}
    kept: dict[str, set[str]] = {}
    for item in items:
        runs = cut_runs(" ".join([item.record["background"]["scene"], *(each["content"] for each in item.record["messages"])]))
        shares = {name: len(runs & other) / (len(runs | other) or 1) for name, other in kept.items()}
        nearest = max(shares, key=lambda name: shares[name], default="")
        if nearest and shares[nearest] > ALIKE:
            found[item.id] = Rejected("alike with another", f"{nearest}, {shares[nearest]:.2f}")
        else:
            kept[item.id] = runs
    return found


async def write_dialogue(item: Scene, writer: Writer) -> Sequence[Dialogue]:
    """The dialogue that the model writes for a scene, checked as any file of dialogues is."""
    conflicts = [f"{', '.join(each.between)}: {each.over}" for each in item.conflicts]
    given = {
        "scene": quote(f"{item.domain}: {item.scene}"),
        "characters": quote("\n".join(item.characters)),
        "relationships": quote("\n".join(item.relationships)),
        "conflicts": quote("\n".join(conflicts)),
        "assistant": ASSISTANT,
    }
    written = await writer.write(WrittenDialogue, "a dialogue", "dialogue", **given)
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


def _plan_stages(articles: Sequence[Article], options: NewsOptions) -> Sequence[AnyStage]:
    fit = f"articles of {options.shortest:,} to {LONGEST:,} characters, with their titles"
    after = "a scene with roles, relationships and conflicts, written after each article"
    common = find_common_words(article.text for article in articles)
    return (
        EachStage("articles", fit, Article, partial(fit_article, options.shortest)),
        *([retrieve_articles(options.searches, options.found)] if options.searches else []),
        drop_duplicates(options.seed),
        drop_toxic(options.toxicity),
        *([spread_articles(options.spread, options.seed)] if options.spread is not None else []),
        AskingStage("scenes", after, Scene, partial(write_scene, common)),
        WholeStage(
            "chosen", "those with the most conflicts, then the most characters", Scene, partial(reject_calm_scenes, options.most)
        ),
        AskingStage("dialogues", "a dialogue with an assistant for each scene, checked", Dialogue, write_dialogue),
        WholeStage(
            "different", f"dialogues no two of which share more than {ALIKE:.0%} of their runs of words", Dialogue, reject_alike
        ),
    )


RECIPE: Recipe[Article, NewsOptions, Dialogue] = Recipe(
    name="hsii",
    purpose="Dialogues for HSII out of news.",
    material="news",
    version="1.0.0",
    benchmark="hsii",
    load=load_dataset,
    sources="a file of articles (.jsonl, .json, .csv, .txt), or a folder of them",
    read_as="articles",
    options=NewsOptions,
    read=lambda sources, _options: read_articles(*sources),
    prompts="sociable.datasets.recipes.hsii",
    stages=_plan_stages,
    credit=lambda dialogue: dialogue.source,
    tags=HSII_TAGS,
)
