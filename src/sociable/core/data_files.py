"""Reading data files: every record with the place it stands at, every complaint with file, line and field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, cast

from pydantic import BaseModel, StringConstraints, ValidationError

from sociable.core.errors import DataError, InputError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A field of a data file that must say something."""


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as it stands in a file."""

    place: str
    default_id: str
    value: Any


def read_records(source: Path, skipped: list[str] | None) -> Iterator[RawRecord]:
    """Every record of a .json file (one or a list), a .jsonl file, or a folder of them, with its place.

    Of a folder in which a data set was built, or laid out for a hub, its data set is read: other files there are about it.

    Raises DataError or InputError naming file and line. With a list ``skipped`` bad lines are left out and their complaints
    appended to it; a .json file that cannot be parsed is an error even then.
    """
    if source.is_dir():
        files = _find_built(source) or sorted(path for path in source.iterdir() if path.suffix in (".json", ".jsonl"))
        if not files:
            raise InputError(f"{source}: no .json or .jsonl file in this folder.")
    else:
        files = [source]
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise InputError(f"{file}: no such file. Expected a .json or .jsonl file, or a folder of them.") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
        except OSError as error:
            raise InputError(f"{file}: cannot be read: {error}") from None
        yield from read_lines(text, file, skipped) if file.suffix == ".jsonl" else _read_values(text, file)


def _find_built(folder: Path) -> list[Path]:
    """The data set of a build or a layout; nothing where the folder is none. Raises InputError where it has none yet, or two."""
    if (folder / "croissant.json").exists() and not (folder / "manifest.json").exists():
        return [folder / "dataset.jsonl"]
    try:
        if json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("kind") != "build":
            return []
    except (OSError, ValueError, AttributeError, RecursionError):
        return []
    found = [path for path in (folder / "dataset.jsonl", folder / "dataset.reviewed.jsonl") if path.exists()]
    if len(found) > 1:
        raise InputError(f"{folder}: there are two data sets in it. Name one: {found[0]} or {found[1]}.")
    if not found:
        raise InputError(f"{folder}: the build is not finished. Go on with the command that began it.")
    return found


def read_lines(text: str, file: Path, skipped: list[str] | None) -> Iterator[RawRecord]:
    """The records of JSON Lines, ``text`` being the content of ``file``. ``skipped`` as in ``read_records``."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        try:
            yield RawRecord(place, f"{file.stem}-{number}", json.loads(line))
        except (ValueError, RecursionError) as error:
            problem = DataError(place, "", f"not JSON ({error}); expected one object a line")
            if skipped is None:
                raise problem from None
            skipped.append(str(problem))


def _read_values(text: str, file: Path) -> Iterator[RawRecord]:
    """The objects of a JSON file, one or a list of them, each with the line on which it begins."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = getattr(error, "msg", str(error))
        hint = "; name a file of one object a line .jsonl" if problem == "Extra data" else ""
        raise DataError(f"{file}, line {getattr(error, 'lineno', 1)}", "", f"not JSON ({problem}){hint}") from None
    if not isinstance(whole, list):
        yield RawRecord(f"{file}, line 1", f"{file.stem}-1", whole)
        return
    # Read a second time, for the places.
    decoder = json.JSONDecoder()
    begin = text.index("[")
    end, line = begin + 1, text.count("\n", 0, begin) + 1
    for number, value in enumerate(whole, start=1):
        before, begin = begin, next(place for place in range(end, len(text)) if text[place] not in " \t\r\n,")
        line += text.count("\n", before, begin)
        yield RawRecord(f"{file}, line {line}, record {number}", f"{file.stem}-{number}", value)
        _, end = decoder.raw_decode(text, begin)


T = TypeVar("T", bound=BaseModel)


def validate_record(kind: type[T], value: Any, place: str, **context: Any) -> T:
    """The record of this kind that stands at ``place``. Raises DataError with its field and what was expected.

    ``context``: what its validators compare it with.
    """
    if not isinstance(value, Mapping):
        needed = ", ".join(name for name, field in kind.model_fields.items() if field.is_required())
        raise DataError(place, "", f"expected an object with {needed}; found {type(value).__name__}")
    try:
        return kind.model_validate(value, context=context)
    except ValidationError as error:
        raise make_data_error(error, place) from None


def make_data_error(error: ValidationError, place: str) -> DataError:
    """The first of pydantic's complaints about a record, with its place and field."""
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    found = "" if first["type"] in ("missing", "value_error") else f", found {str(first['input'])[:80]!r}"
    if first["type"] in ("too_short", "too_long"):
        wanted = first["ctx"].get("min_length", first["ctx"].get("max_length"))
        least = "at least" if first["type"] == "too_short" else "at most"
        return DataError(place, field, f"needs {least} {wanted} entries, and has {len(first['input'])}{more}")
    message = first["msg"].removeprefix("Value error, ").replace("a valid tuple", "a list")
    return DataError(place, field, f"{message}{found}{more}")


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """The items of a data set in the order of their files, the digest of them all, and why records were left out."""

    items: tuple[T, ...]
    digest: str
    source: str
    """The path as the user gave it, or ``bundled``."""
    skipped: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Peculiarities of records that were taken."""
    origin: Path | None = None
    """The file or folder that the records were read from; None: they were not read from one."""

    @property
    def notes(self) -> list[str]:
        """Notes on the data for their users."""
        if not self.skipped:
            return list(self.remarks)
        left_out = f"{len(self.skipped)} bad records of {self.source} were left out. The first: {self.skipped[0]}"
        return [left_out, *self.remarks]


def make_cut(kind: type[T]) -> Callable[[RawRecord], list[T]]:
    """A ``cut`` for ``load_items``: every record is one item; where it has no ``id``, its place in its file is its id."""

    def cut(raw: RawRecord) -> list[T]:
        value = {"id": raw.default_id, **raw.value} if isinstance(raw.value, dict) else raw.value
        return [validate_record(kind, value, raw.place)]

    return cut


Reader = Callable[[Path, list[str] | None], Iterator[RawRecord]]


def load_items(
    path: Path | None,
    bundled: Path,
    cut: Callable[[RawRecord], Iterable[T]],
    *,
    skip_invalid: bool,
    expected: str,
    read: Reader = read_records,
) -> Loaded[T]:
    """The items that ``cut`` makes of each record of ``path``, or of the bundled data. Items have a unique ``id``.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid`` bad
    records are left out whole and counted instead. Raises InputError with what was ``expected`` where there is nothing.
    """
    source = path or bundled
    items: list[T] = []
    skipped: list[str] = []
    places: dict[str, str] = {}
    for raw in read(source, skipped if skip_invalid else None):
        try:
            made = {str(item.id): item for item in cut(raw)}  # type: ignore[attr-defined]
            if twice := places.keys() & made:
                known = min(twice)
                raise DataError(raw.place, "id", f"'{known}' is used already by {places[known]}; ids must be unique")
        except DataError as error:
            if not skip_invalid:
                raise
            skipped.append(str(error))
            continue
        items += made.values()
        places |= dict.fromkeys(made, raw.place)
    if not items:
        left = f" {len(skipped)} bad records were left out; the first: {skipped[0]}" if skipped else ""
        raise InputError(f"{source}: nothing in it. Expected {expected}.{left}")
    digest = hashlib.sha256("\n".join(item.model_dump_json() for item in items).encode("utf-8", "replace"))
    return Loaded(tuple(items), digest.hexdigest(), "bundled" if path is None else str(path), tuple(skipped), origin=source)


def load_records(kind: type[T], path: Path | None, bundled: Path, *, skip_invalid: bool, expected: str) -> Loaded[T]:
    """The records of one kind of a file or folder, or the bundled ones, which are read once. Raises as ``load_items`` does."""
    if path is None:
        return cast(Loaded[T], _load_bundled(kind, bundled, expected))
    return load_items(path, bundled, make_cut(kind), skip_invalid=skip_invalid, expected=expected)


@cache
def _load_bundled(kind: type[BaseModel], bundled: Path, expected: str) -> Loaded[BaseModel]:
    return load_items(None, bundled, make_cut(kind), skip_invalid=False, expected=expected)
