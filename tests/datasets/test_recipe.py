"""Recipes by name: those that are there, one that another package brings, and what each says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sociable.api import datasets
from sociable.core.errors import DataError, InputError
from sociable.datasets.recipe import find_recipe, find_recipe_of, list_recipes, load_prompts
from sociable.datasets.review.reviewing import Review

COMMAND = "from sociable.cli.main import main; main()"

POEMS = '''
"""The shortest lines of poems, each with a title: all that a package needs to add a recipe."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from sociable.core.errors import DataError
from sociable.core.records import Record
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.review.records import Tag
from sociable.datasets.sources import read_text
from sociable.datasets.stages import AskingStage, EachStage, Item, Rejected, Writer


class Line(Item):
    text: str
    title: str = ""


class LinesOptions(RecipeOptions):
    longest: int = Field(20, ge=1, description="Characters of a line.")
    without: tuple[str, ...] = Field((), alias="no", description="Lines with this word fall out; repeatable.")
    titled: bool = Field(False, description="Have a model write titles.")


class Title(Record):
    title: str


def read(sources: Sequence[Path], options: LinesOptions) -> list[Line]:
    lines = read_text(sources[0]).splitlines()
    return [Line(id=f"line-{number}", text=line) for number, line in enumerate(lines, start=1)]


def load(file: Path) -> None:
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if '"text": ""' in line:
            raise DataError(f"{file}, line {number}", "text", "is empty")


def stages(lines: Sequence[Line], options: LinesOptions) -> list:
    async def keep_short(item: Line, writer: Writer) -> Sequence[Line]:
        if len(item.text) > options.longest:
            raise Rejected("too long", f"{len(item.text)} characters")
        if any(word in item.text for word in options.without):
            raise Rejected("an unwanted word")
        return [item]

    async def write_title(item: Line, writer: Writer) -> Sequence[Line]:
        written = await writer.write(Title, "a title", "title", line=item.text)
        return [item.model_copy(update={"title": written.title})]

    short = EachStage("short", f"lines of up to {options.longest} characters", Line, keep_short)
    return [short, *([AskingStage("titles", "a title for each", Line, write_title)] if options.titled else [])]


RECIPE = Recipe(
    name="poems",
    purpose="Short lines out of poems.",
    material="poems",
    version="1.0.0",
    benchmark="hsii",
    load=load,
    sources="a poem as plain text",
    options=LinesOptions,
    read=read,
    prompts="poems",
    stages=stages,
    record=lambda line: {"id": line.id, "text": line.text, "title": line.title},
    tags=(Tag(name="dull", means="nobody would read on"),),
)
'''
POEM = "The fog comes\non little cat feet.\nIt sits looking over harbor and city\n"


@pytest.fixture
def poems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of somebody else's, as pip leaves it: one module, its prompts, and an entry point."""
    site = tmp_path / "site"
    (site / "poems" / "prompts").mkdir(parents=True)
    (site / "poems" / "__init__.py").write_text(POEMS)
    (site / "poems" / "prompts" / "title.txt").write_text("A title for: ${line}")
    (site / "poems-1.0.dist-info").mkdir()
    (site / "poems-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: poems\nVersion: 1.0\n")
    (site / "poems-1.0.dist-info" / "entry_points.txt").write_text("[sociable.recipes]\npoems = poems:RECIPE\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "poems", raising=False)
    (tmp_path / "fog.txt").write_text(POEM)
    return tmp_path


def sociable(*arguments: str | Path, before: str = "") -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[:0] = {sys.path!r}; {before}{COMMAND}"
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_a_package_brings_a_recipe_with_its_options_prompts_and_tags(poems: Path) -> None:
    listed = sociable("construct", "--help").stdout
    assert "Short lines out of poems." in listed and "Dialogues for HSII out of news." in listed
    own = " ".join(sociable("construct", "poems", "--help").stdout.split())
    for said in ("--longest N", "[default: 20]", "--no TEXT", "--titled", "Have a model write titles.", "--model", "--licence"):
        assert said in own, said
    ended = sociable("construct", "poems", poems / "fog.txt", "--no", "cat", "--no", "dog", "--out", poems / "build")
    assert ended.returncode == 0 and "lines of up to 20 characters" in ended.stdout, ended.stderr
    assert [json.loads(line)["text"] for line in (poems / "build" / "dataset.jsonl").read_text().splitlines()] == [
        "The fog comes"
    ]
    manifest = json.loads((poems / "build" / "manifest.json").read_text())
    assert manifest["settings"] == {"longest": 20, "without": ["cat", "dog"], "titled": False}
    assert set(manifest["digests"]) == {"sources", "prompts"}
    review = Review.begin(poems / "build")
    assert [tag.name for tag in review.settings.tags] == ["dull"]
    with pytest.raises(InputError, match="could not read it: field 'text': is empty"):
        review.check_layout({"id": "line-1", "text": "", "title": ""})


def test_what_the_benchmark_cannot_read_is_said_and_has_no_card(poems: Path) -> None:
    (poems / "fog.txt").write_text("The fog\n\ncomes\n")
    module = poems / "site" / "poems" / "__init__.py"
    module.write_text(module.read_text().replace('"text": line.text', '"text": ""'))
    with pytest.raises(DataError, match=r"is empty\. hsii cannot read what 'poems' made: mend the recipe"):
        datasets.construct("poems", poems / "fog.txt", poems / "build")
    assert not (poems / "build" / "README.md").exists()


def test_a_recipe_with_a_fault_hides_no_other(poems: Path) -> None:
    (poems / "site" / "poems" / "__init__.py").write_text("RECIPE = 3")
    listed = sociable("construct", "--help")
    assert listed.returncode == 0 and "Dialogues for HSII out of news." in listed.stdout
    asked = sociable("construct", "poems", poems / "fog.txt", "--out", poems / "build")
    assert asked.returncode == 2 and "'poems' of the package poems" in asked.stderr and "is no Recipe" in asked.stderr


def test_it_is_a_function_too_and_waits_for_its_model(poems: Path) -> None:
    options = find_recipe("poems").options(longest=30, titled=True)
    document = datasets.construct("poems", poems / "fog.txt", poems / "build", options=options)
    assert list(document.summary.rows[-1].cells) == ["titles", "a title for each", "2", "—", "waiting"]
    assert "Up to 2 items wait for a model at the stage 'titles'" in document.sections[0].blocks[0].text  # type: ignore[union-attr]
    (poems / "mine").mkdir()
    (poems / "mine" / "title.txt").write_text("Name it.")
    with pytest.raises(InputError, match=r"placeholder \$\{line\} is missing"):
        datasets.construct("poems", poems / "fog.txt", poems / "other", options=options, prompts=poems / "mine")


def test_what_does_not_go_with_a_recipe_is_refused_before_anything_is_made(poems: Path) -> None:
    for options, said in (
        ({"longest": 0}, "option 'longest' of poems: Input should be greater than or equal to 1"),
        ({"rhyme": True}, "poems has no option 'rhyme'; it has: longest, without, titled"),
    ):
        with pytest.raises(InputError, match=said):
            datasets.construct("poems", poems / "fog.txt", poems / "build", options=options)
    with pytest.raises(InputError, match="'poems' takes one source: a poem"):
        datasets.construct("poems", (), poems / "build")
    with pytest.raises(InputError, match="'hsii-dialogues' asks no model"):
        datasets.construct("hsii-dialogues", poems / "fog.txt", poems / "build", model="openai/x")
    with pytest.raises(InputError, match=r"There is no recipe .odes.; there are: agentsense, .*, poems"):
        find_recipe("odes")
    ended = sociable("construct", "poems", poems / "fog.txt", "--count", "3", "--out", poems / "build")
    assert (ended.returncode, "--count does not go with 'poems', but with 'anteval-characters'" in ended.stderr) == (2, True)
    assert not (poems / "build").exists()


@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_is_complete(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name and recipe is find_recipe_of({"benchmark": recipe.benchmark, "recipe": recipe.material})
    assert len(recipe.purpose.partition(".")[0]) < 56, "the list of recipes shows the first sentence on one line"
    assert all(field.description for field in recipe.options.model_fields.values())
    assert "{data}" in recipe.use
    assert not recipe.prompts or load_prompts(recipe.prompts).prompts


UNIMPORTABLE = "sys.modules['rensa'] = None; "


def test_without_the_extra_it_is_named_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text(json.dumps({"text": "It rained. " * 40}) + "\n")
    ended = sociable("construct", "hsii", tmp_path / "news.jsonl", "--out", tmp_path / "build", before=UNIMPORTABLE)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    assert "pip install 'sociable[datasets]'" in " ".join(ended.stderr.split())
    assert not (tmp_path / "build").exists()
    # What needs no near-duplicates goes on working.
    assert sociable("construct", "hsii", "--help", before=UNIMPORTABLE).returncode == 0


def test_what_only_making_data_sets_needs_is_not_imported_by_anything_else() -> None:
    modules = ("cli.main", "api.datasets", "datasets.review.results", "datasets.articles")
    code = f"import sys, {', '.join(f'sociable.{module}' for module in modules)}; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert not {"rensa", "sklearn", "rapidfuzz", "py3langid", "transformers"} & set(found)
