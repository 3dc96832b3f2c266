"""A recipe declares in one place all that one way of making a data set needs. Recipes are found by their names.

A package adds a recipe of its own under the entry point group ``sociable.recipes``: an object of the class ``Recipe``.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata, resources
from operator import attrgetter
from pathlib import Path
from string import Template
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from sociable.core.errors import InputError
from sociable.core.extras import load_plugin
from sociable.core.prompts import Prompts, load_package_prompts
from sociable.core.records import Record
from sociable.datasets.review.records import ALL_TAGS, Tag
from sociable.datasets.stages import AnyStage, Item
from sociable.engine.benchmark import parse_options

GROUP = "sociable.recipes"

_RECIPES = {
    "agentsense": "sociable.datasets.recipes.agentsense.scripts",
    "anteval-characters": "sociable.datasets.recipes.anteval.characters",
    "hsii": "sociable.datasets.recipes.hsii.news",
    "hsii-dialogues": "sociable.datasets.recipes.hsii.dialogues",
    "hsii-live": "sociable.datasets.recipes.hsii.live.dossiers",
}
"""The recipes' modules. They are imported when asked for, so that the command line starts at once."""


class RecipeOptions(Record):
    """A recipe's own options. Each field is an option of the command line too, and its description the help.

    An option is called by its field's alias, where the field has one. Manifests keep the fields' names.
    """

    model_config = ConfigDict(populate_by_name=True)


S_ = TypeVar("S_", bound=Item)
O_ = TypeVar("O_", bound=RecipeOptions)
M_ = TypeVar("M_", bound=Item)


@dataclass(frozen=True, kw_only=True)
class Recipe(Generic[S_, O_, M_]):
    """A way to make a data set: from sources, by stages."""

    name: str
    """The name that users type."""
    purpose: str
    """A line of help: what is made, and out of what. Its first sentence stands in the list of recipes."""
    material: str
    """A word for the sources, in manifests and data cards: news, scripts."""
    version: str
    benchmark: str
    """The benchmark that takes what is made."""
    data_option: str = ""
    """The benchmark's own option that takes the file; empty: ``--dataset`` does."""
    load: Callable[[Path], object]
    """Reads the file as the benchmark does. Raises DataError for a record that the benchmark cannot read."""
    sources: str = ""
    """A description of the one source that is needed; empty: none is."""
    read_as: str = "sources"
    """The name of the sources' digest in manifests."""
    options: type[O_]
    read: Callable[[Sequence[Path], O_], Sequence[S_]]
    """Reads the first items out of the source, or makes them of the options where there is none. Raises InputError."""
    prompts: str = ""
    """The package whose folder ``prompts`` holds the recipe's prompts; empty: no model writes anything."""
    stages: Callable[[Sequence[S_], O_], Sequence[AnyStage]]
    """Makes the stages. Raises InputError for options that cannot be used."""
    record: Callable[[M_], Mapping[str, Any]] = attrgetter("record")
    """An item of the last stage as a record of the data set; by default it is a ``MadeRecord``."""
    credit: Callable[[M_], str] = lambda _item: ""
    """The origin of an item of the last stage: for those to whom credit is due."""
    facts: Callable[[Sequence[M_]], Mapping[str, str]] = lambda _items: {}
    """More lines for the data card, from the items of the last stage."""
    more_digests: Callable[[], Mapping[str, str]] = dict
    """Further digests that the outcome depends on, by name."""
    tags: tuple[Tag, ...] = ALL_TAGS
    """Words that reviewers can give to a record."""

    @property
    def use(self) -> str:
        """The command that takes the data set, with ``{data}`` for the file."""
        return f"sociable run {self.benchmark} {f'--option {self.data_option}=' if self.data_option else '--dataset '}{{data}}"

    @property
    def audit(self) -> str:
        """The command that says whether a shortcut solves the data set; empty where there is none."""
        return "" if self.data_option else f"sociable audit {self.benchmark} --dataset {{data}}"

    def plan(
        self, sources: Sequence[Path] = (), options: Mapping[str, Any] | O_ | None = None, prompts: Path | None = None
    ) -> Plan:
        """Reads the sources and sets up the stages. Raises InputError."""
        if len(sources) != bool(self.sources):
            wanted = f"takes one source: {self.sources}" if self.sources else "has no source: name none"
            raise InputError(f"'{self.name}' {wanted}.")
        if prompts and not self.prompts:
            raise InputError(f"'{self.name}' asks no model: there are no prompts to be replaced.")
        chosen = parse_options(self.options, dict(options or {}), self.name)
        items = self.read(sources, chosen)
        used = load_prompts(self.prompts, prompts) if self.prompts else Prompts({}, "")
        digests = {self.read_as: digest_items(items), **({"prompts": used.digest} if used.digest else {}), **self.more_digests()}
        return Plan(self, items, self.stages(items, chosen), used, chosen.model_dump(mode="json"), digests)


@dataclass(frozen=True)
class Plan:
    """A recipe with its sources read and its options checked."""

    recipe: Recipe[Any, Any, Any]
    items: Sequence[Item]
    stages: Sequence[AnyStage]
    prompts: Prompts
    settings: Mapping[str, Any]
    digests: Mapping[str, str]
    """Digests of sources and prompts."""


def load_prompts(package: str, override: Path | None = None) -> Prompts:
    """The prompts in a package's folder ``prompts``, or the user's own with the same placeholders. Raises InputError."""
    files = (Path(str(resources.files(package))) / "prompts").glob("*.txt")
    own = {file.stem: frozenset(Template(file.read_text(encoding="utf-8")).get_identifiers()) for file in files}
    return load_package_prompts(package, own, override)


def digest_items(items: Sequence[BaseModel]) -> str:
    return hashlib.sha256("\n".join(each.model_dump_json() for each in items).encode("utf-8", "replace")).hexdigest()


def list_recipes() -> list[str]:
    return sorted({*_RECIPES, *(point.name for point in metadata.entry_points(group=GROUP))})


def find_recipe(name: str) -> Recipe[Any, Any, Any]:
    """The recipe of that name. Raises InputError naming those there are."""
    if name in _RECIPES:
        found: Recipe[Any, Any, Any] = import_module(_RECIPES[name]).RECIPE
        return found
    points = metadata.entry_points(group=GROUP, name=name)
    if not points:
        raise InputError(f"There is no recipe '{name}'; there are: {', '.join(list_recipes())}.")
    return load_plugin(next(iter(points)), Recipe)


def load_recipes() -> Iterator[Recipe[Any, Any, Any]]:
    """All recipes that can be loaded; what is wrong with another is said where it is asked for."""
    for name in list_recipes():
        with contextlib.suppress(InputError):
            yield find_recipe(name)


def find_recipe_of(manifest: Mapping[str, Any] | None) -> Recipe[Any, Any, Any] | None:
    """The recipe by which a build was made; None where that is unknown."""
    built = (manifest["benchmark"], manifest["recipe"]) if manifest else None
    return next((each for each in load_recipes() if (each.benchmark, each.material) == built), None)
