"""Source files: which files of a folder are read, as what text, and what is made of them is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from sociable.core.errors import DataError, InputError
from sociable.datasets.stages import Item

I_ = TypeVar("I_", bound=Item)


def is_about(file: Path) -> bool:
    """Whether the file tells about the other files of its folder, as a README does."""
    return re.match(r"readme|licen[cs]e|copying|notice", file.name, re.IGNORECASE) is not None


def make_slug(text: str) -> str:
    """A title as a part of an id. Little is left of long titles and of other letters than a to z: the id needs another part."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].rstrip("-")


def read_text(file: Path) -> str:
    """The text of a UTF-8 file. Raises InputError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error}") from None


def read_items(source: Path, read: Callable[[Path], Iterable[tuple[I_, str]]], called: str, expected: str) -> list[I_]:
    """The items that ``read`` finds in a file or a folder, each with its place. The same item twice is one item.

    Raises DataError for two items of one id, and InputError with what was ``expected`` where there is nothing to read.
    """
    if not source.exists():
        raise InputError(f"{source}: no such file or folder. {expected}")
    found: dict[str, tuple[I_, str]] = {}
    for item, place in read(source):
        known, before = found.setdefault(item.id, (item, place))
        if item != known:
            raise DataError(place, "id", f"'{item.id}' is used already by {before}; ids must be unique")
    if not found:
        raise InputError(f"{source}: no {called} in it. {expected}")
    return [item for item, _ in found.values()]
