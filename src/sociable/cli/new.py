"""The command that starts something of the user's own: a folder that runs as it is, to be changed step by step."""

from __future__ import annotations

import keyword
import re
import sys
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from sociable.cli.output import say
from sociable.core.errors import InputError, StorageFailure

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX = ".template"

new_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, callback=lambda: None)


@new_app.command("benchmark")
def new_benchmark(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The benchmark's name: lower case, words joined by hyphens.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="A new folder; by default one of that name.")
    ] = None,
) -> None:
    """Write a small benchmark that runs, as a package to install and to change."""
    folder = out or Path(name)
    write_benchmark(name, folder)
    say(f"Written: {folder}\nNext: pip install --editable {folder}, then: sociable run {name} --model MODEL")


def write_benchmark(name: str, folder: Path) -> None:
    """Writes the files of a small benchmark into a new folder. Raises InputError and StorageFailure."""
    from sociable.engine.registry import list_benchmark_names

    module = name.replace("-", "_")
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name}' cannot be a benchmark's name: write lower-case words joined by hyphens, as in good-manners.")
    if module in sys.stdlib_module_names or keyword.iskeyword(module) or module == "sociable":
        raise InputError(f"'{name}' cannot be a benchmark's name: Python has a module or a word '{module}'. Take another.")
    if name in list_benchmark_names():
        raise InputError(f"There is a benchmark '{name}' already. Take another name.")
    if folder.exists():
        raise InputError(f"{folder} is there already. Name a new folder with --out FOLDER.")
    words = {"name": name, "module": module, "class_name": "".join(word.capitalize() for word in name.split("-"))}
    try:
        folder.mkdir(parents=True)
        for template in (resources.files("sociable.cli") / "templates" / "benchmark").iterdir():
            file = template.name.removesuffix(_SUFFIX).replace("benchmark.py", f"{module}.py")
            text = Template(template.read_text(encoding="utf-8")).substitute(words)
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StorageFailure.at(folder, error) from error
