"""Names are spelled as in the list of characters, however deep in a record, and strangers are named with their field."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from sociable.core.data_files import validate_record
from sociable.core.errors import DataError
from sociable.core.spelling import CastName, CastNames, Speller


class Line(BaseModel):
    by: CastName
    says: str = ""


class Scene(BaseModel):
    place: str = "quay"
    guests: CastNames = ()
    lines: tuple[Line, ...] = Field(default=(), alias="said")
    last: Line | None = None


SPELLER = Speller("file, line 3", ("Ann", "Ben"), lambda name: {"ann": "Ann", "ben": "Ben"}.get(name.lower()))


def test_names_are_spelled_at_every_depth_and_nothing_else_changes() -> None:
    record = Scene.model_validate(
        {"place": "ann", "guests": ["BEN", "ann"], "said": [{"by": "ben", "says": "ann"}, {"by": "ANN"}], "last": {"by": "ann"}}
    )
    spelled = SPELLER.spell_record(record)
    assert spelled.place == "ann"
    assert spelled.guests == ("Ben", "Ann")
    assert [(line.by, line.says) for line in spelled.lines] == [("Ben", "ann"), ("Ann", "")]
    assert spelled.last == Line(by="Ann")
    assert record.guests == ("BEN", "ann")


def test_a_stranger_is_named_with_the_field_as_the_file_calls_it() -> None:
    record = Scene.model_validate({"said": [{"by": "ann"}, {"by": "Zoe"}]})
    with pytest.raises(DataError) as raised:
        SPELLER.spell_record(record)
    assert (raised.value.place, raised.value.field) == ("file, line 3", "said.1.by")
    assert "'Zoe' is nobody here; expected one of 'Ann', 'Ben'" in str(raised.value)


def test_what_is_no_object_is_told_what_it_must_have() -> None:
    with pytest.raises(DataError, match=r"line 1: expected an object with by; found list"):
        validate_record(Line, ["x"], "line 1")
