"""Characters drawn by the rules, with a name and a description by a model (section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from sociable.benchmarks.anteval.characters import Attributes, Sheet, draw_attributes, load_sheets
from sociable.core.data_files import Text
from sociable.core.names import Name, normalise_name
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Record
from sociable.core.seeding import make_generator
from sociable.datasets.build import Recipe, digest_of
from sociable.datasets.stages import AskingStage, Item, Rejected, WholeStage, Writer, slug

PLACEHOLDERS = {"character": frozenset({"sheet", "race", "taken"})}


class Drawn(Item):
    """What the rules have a say in."""

    attributes: Attributes


class _Described(Record):
    name: Name
    pronouns: Name
    description: Text = Field(min_length=100, max_length=1500)


class Character(Item):
    sheet: dict[str, Any]


class Describe(AskingStage[Drawn, Character]):
    name = "described"
    meaning = "a name and a description for each character drawn"
    makes = Character

    def __init__(self, prompts: Prompts) -> None:
        super().__init__(prompts)
        self._taken = [sheet.name for sheet in load_sheets(None).items]

    async def work(self, item: Drawn, writer: Writer) -> Sequence[Character]:
        drawn = item.attributes.model_dump(mode="json", by_alias=True)
        asked = self.prompts["character"].render(
            sheet=quote("\n".join(f"{field}: {_said(value)}" for field, value in drawn.items())),
            race=put_on_one_line(item.attributes.race),
            taken=put_on_one_line(", ".join(self._taken)),
        )
        found = await writer.write(_Described, asked, "a character")
        if normalise_name(found.name) in map(normalise_name, self._taken):
            raise Rejected("a name that is taken", found.name)
        sheet = Sheet.model_validate({**drawn, **found.model_dump(), "id": f"{slug(found.name)}-{item.id}"})
        return [Character(id=item.id, sheet=sheet.model_dump(mode="json", by_alias=True))]


class DropNamesakes(WholeStage[Character, Character]):
    """Who sits at a table must differ."""

    name = "distinct"
    meaning = "no two of one name"
    makes = Character

    def select(self, items: Sequence[Character]) -> Mapping[str, Sequence[Character] | Rejected]:
        first: dict[str, str] = {}
        return {
            item.id: Rejected("a name that is taken", str(item.sheet["name"]))
            for item in items
            if first.setdefault(normalise_name(str(item.sheet["name"])), item.id) != item.id
        }


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def drawn_characters(count: int, seed: int) -> list[Drawn]:
    """The same for the same seed."""
    draws = ((number, make_generator(seed, "character", number)) for number in range(1, count + 1))
    return [Drawn(id=str(number), attributes=draw_attributes(generator)) for number, generator in draws]


def characters_recipe(drawn: Sequence[Drawn], *, seed: int, prompts: Path | None = None) -> Recipe:
    used = load_package_prompts("sociable.datasets.recipes.anteval", PLACEHOLDERS, prompts)
    return Recipe(
        name="characters",
        version="1.0.0",
        benchmark="anteval-iep",
        use="sociable run anteval-iep --option sheets={data}",
        audit="",
        stages=(Describe(used), DropNamesakes()),
        settings={"count": len(drawn), "seed": seed},
        digests={"draws": digest_of(drawn), "prompts": used.digest},
        record=lambda character: character.sheet,
    )
