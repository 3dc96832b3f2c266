"""Characters drawn by the rules, with a name and a description by a model (section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from sociable.benchmarks.anteval.characters import Attributes, Sheet, draw_attributes, load_sheets
from sociable.core.data_files import Text
from sociable.core.names import Name, normalise_name
from sociable.core.prompts import put_on_one_line, quote
from sociable.core.records import Record
from sociable.core.seeding import make_generator
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.sources import make_slug
from sociable.datasets.stages import AnyStage, AskingStage, Item, Rejected, WholeStage, Writer


class CharactersOptions(RecipeOptions):
    count: int = Field(60, ge=1, description="The number of characters to draw.")
    seed: int = Field(0, description="The seed of all draws.")


class Drawn(Item):
    """The part of a character that the rules draw."""

    attributes: Attributes


class _Described(Record):
    name: Name
    pronouns: Name
    description: Text = Field(min_length=100, max_length=1500)


class Character(Item):
    sheet: dict[str, Any]


async def describe(taken: Sequence[str], item: Drawn, writer: Writer) -> Sequence[Character]:
    """A name, none of those ``taken``, and a description."""
    drawn = item.attributes.model_dump(mode="json", by_alias=True)
    sheet = quote("\n".join(f"{field}: {_put_in_words(value)}" for field, value in drawn.items()))
    given = {"sheet": sheet, "race": put_on_one_line(item.attributes.race), "taken": put_on_one_line(", ".join(taken))}
    found = await writer.write(_Described, "a character", "character", **given)
    if normalise_name(found.name) in map(normalise_name, taken):
        raise Rejected("a name that is taken", found.name)
    made = Sheet.model_validate({**drawn, **found.model_dump(), "id": f"{make_slug(found.name)}-{item.id}"})
    return [Character(id=item.id, sheet=made.model_dump(mode="json", by_alias=True))]


def reject_namesakes(items: Sequence[Character]) -> Mapping[str, Rejected]:
    """Rejects those of a name that another has: people at a table must differ."""
    first: dict[str, str] = {}
    return {
        item.id: Rejected("a name that is taken", str(item.sheet["name"]))
        for item in items
        if first.setdefault(normalise_name(str(item.sheet["name"])), item.id) != item.id
    }


def _put_in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def draw_characters(count: int, seed: int) -> list[Drawn]:
    """The attributes of ``count`` characters; the same for the same seed."""
    draws = ((number, make_generator(seed, "character", number)) for number in range(1, count + 1))
    return [Drawn(id=str(number), attributes=draw_attributes(generator)) for number, generator in draws]


def _plan_stages(_drawn: Sequence[Drawn], _options: CharactersOptions) -> Sequence[AnyStage]:
    taken = [sheet.name for sheet in load_sheets(None).items]
    return (
        AskingStage("described", "a name and a description for each character drawn", Character, partial(describe, taken)),
        WholeStage("distinct", "no two of one name", Character, reject_namesakes),
    )


RECIPE: Recipe[Drawn, CharactersOptions, Character] = Recipe(
    name="anteval-characters",
    purpose="Characters for AntEval, drawn by the rules. A model names and describes them.",
    material="characters",
    version="1.0.0",
    benchmark="anteval-iep",
    data_option="sheets",
    load=load_sheets,
    read_as="draws",
    options=CharactersOptions,
    read=lambda _sources, options: draw_characters(options.count, options.seed),
    prompts="sociable.datasets.recipes.anteval",
    stages=_plan_stages,
    record=lambda character: character.sheet,
)
