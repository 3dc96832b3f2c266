"""Names in the records of data files, spelled as the record's own list of characters has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel

from sociable.core.data_files import Text
from sociable.core.errors import DataError

OF_CAST = object()
"""Marks a field that holds a name, or a tuple of names, from the list of characters."""

CastName = Annotated[Text, OF_CAST]
CastNames = Annotated[tuple[Text, ...], OF_CAST]

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Speller:
    """Spells names in the record at ``place`` as ``known`` has them; ``find`` gives whom a name means, or None."""

    place: str
    known: Iterable[str]
    find: Callable[[str], str | None]

    def spell(self, name: str, field: str) -> str:
        """The name as it is known. Raises DataError for a stranger in this field."""
        found = self.find(name)
        if found is None:
            known = ", ".join(f"'{each}'" for each in self.known)
            raise DataError(self.place, field, f"'{name}' is nobody here; expected one of {known}")
        return found

    def spell_record(self, record: R, path: str = "") -> R:
        """The record with all names in it, and in the records inside it, spelled so. ``path`` is its own, with a full stop.

        A name that a field leaves empty stays so.
        """
        update: dict[str, object] = {}
        for name, field, is_name in _list_fields(type(record)):
            value, inside = getattr(record, name), path + field
            if is_name and value:
                update[name] = (
                    self.spell(value, inside) if isinstance(value, str) else tuple(self.spell(v, inside) for v in value)
                )
            elif isinstance(value, BaseModel | tuple):
                update[name] = self._spell_inside(value, inside)
        return record.model_copy(update=update) if update else record

    def _spell_inside(self, value: object, path: str) -> object:
        """A record, or whatever tuples hold of them, with all names spelled."""
        if isinstance(value, BaseModel):
            return self.spell_record(value, f"{path}.")
        return (
            tuple(self._spell_inside(each, f"{path}.{place}") for place, each in enumerate(value))
            if isinstance(value, tuple)
            else value
        )


@cache
def _list_fields(kind: type[BaseModel]) -> list[tuple[str, str, bool]]:
    """The fields in or below which names can stand: attribute, name in data files, whether it holds the names itself."""
    return [
        (name, field.alias or name, OF_CAST in field.metadata)
        for name, field in kind.model_fields.items()
        if OF_CAST in field.metadata or any(map(_list_fields, find_records_in(field.annotation)))
    ]


def find_records_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The kinds of records that a field so annotated can hold."""
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from find_records_in(part)
