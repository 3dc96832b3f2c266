"""Forms as JSON and back, so that one process can ask and another can show what is asked.

Reading is strict: what is no form as it was written here is refused. Every text stays the text it was; whoever draws it
escapes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from sociable.core.errors import InputError
from sociable.core.form import Form, Question
from sociable.core.plots import CurvePlot, IntervalPlot, RadarPlot, ScatterPlot
from sociable.core.view import Block, Callout, Case, Paragraph, Quotation, Table, Transcript

_BLOCKS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (Paragraph, Callout, Table, Transcript, Quotation, Case, IntervalPlot, CurvePlot, ScatterPlot, RadarPlot)
}
_SCALARS: Mapping[Any, tuple[type, ...]] = {str: (str,), bool: (bool,), int: (int,), float: (float, int)}


def write_form(form: Form) -> str:
    """The form as JSON, without its ``reply``, which stays with whoever asks."""
    content = {"title": form.title, "blocks": _make_plain(form.blocks), "questions": _make_plain(form.questions)}
    return json.dumps(content)


def read_form(text: str) -> Form:
    """The form that ``write_form`` wrote; its ``reply`` is the default one. Raises InputError naming the field."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The form is no JSON: {error}.") from None
    if not isinstance(content, dict) or content.keys() != {"title", "blocks", "questions"}:
        raise InputError("The form must have the fields title, blocks and questions, and no others.")
    return Form(
        _read(str, content["title"], "title"),
        _read(list[Block], content["blocks"], "blocks"),
        _read(list[Question], content["questions"], "questions"),
    )


def _make_plain(value: Any) -> Any:
    if is_dataclass(value):
        kind = {"kind": type(value).__name__} if type(value).__name__ in _BLOCKS else {}
        return kind | {field.name: _make_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    return value if isinstance(value, str | bool | int | float | None) else [_make_plain(each) for each in value]


def _read(kind: Any, value: Any, place: str) -> Any:
    """``value`` as a ``kind``: a scalar, an enum, a record, a sequence, or one of several of them."""
    parts = get_args(kind)
    if get_origin(kind) is UnionType:
        return _read_one_of(parts, value, place)
    if parts:  # a sequence
        if not isinstance(value, list):
            raise InputError(f"{place}: a list was expected.")
        return tuple(_read(parts[0], each, f"{place}[{number}]") for number, each in enumerate(value))
    if kind in _SCALARS:
        if type(value) not in _SCALARS[kind]:
            raise InputError(f"{place}: {kind.__name__} was expected.")
        return value
    if issubclass(kind, Enum):
        if value not in list(kind):
            raise InputError(f"{place}: one of {', '.join(each.value for each in kind)} was expected.")
        return kind(value)
    return _read_record(kind, value, place)


def _read_one_of(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    rest = [kind for kind in kinds if kind is not NoneType]
    if len(rest) == 1:
        return _read(rest[0], value, place)
    named = value.get("kind") if isinstance(value, dict) else value
    found = _BLOCKS.get(str(named)) if isinstance(value, dict) else None
    if found is None or not issubclass(found, tuple(rest)):
        raise InputError(f"{place}: no block of the kind '{named}' can stand here.")
    return _read_record(found, {name: each for name, each in value.items() if name != "kind"}, place)


def _read_record(kind: type, value: Any, place: str) -> Any:
    known = {field.name: field for field in fields(kind)}
    needed = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if not isinstance(value, dict) or not needed <= value.keys() <= known.keys():
        raise InputError(f"{place}: {kind.__name__} has the fields {', '.join(known)}, and no others.")
    hints = _find_hints(kind)
    return kind(**{name: _read(hints[name], each, f"{place}.{name}") for name, each in value.items()})


_find_hints = cache(get_type_hints)
