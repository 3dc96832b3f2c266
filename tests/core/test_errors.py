from __future__ import annotations

from pathlib import Path

import pytest

from sociable.core import errors
from sociable.core.errors import DataError, InputError, InstrumentFailure, RunFailure, RunStopped, SociableError, StorageFailure

FAMILIES = (InputError, InstrumentFailure, RunFailure, RunStopped)
ALL = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, SociableError)]


@pytest.mark.parametrize("error", [each for each in ALL if each is not SociableError])
def test_every_failure_is_of_one_kind(error: type[SociableError]) -> None:
    assert sum(issubclass(error, family) for family in FAMILIES) == 1


def test_a_bad_record_is_named_by_place_and_field() -> None:
    error = DataError("cases.json, line 3", "golden.role_to", "names nobody in the scene")
    assert str(error) == "cases.json, line 3: field 'golden.role_to': names nobody in the scene"
    assert (error.place, error.field, error.problem) == ("cases.json, line 3", "golden.role_to", "names nobody in the scene")
    assert str(DataError("cases.json", "", "is empty")) == "cases.json: is empty"


def test_what_cannot_be_written_says_where_and_what_to_do(tmp_path: Path) -> None:
    said = f"Cannot write {tmp_path}/a.jsonl: [Errno 28] No space left on device. What was written before is safe. "
    full = OSError(28, "No space left on device")
    assert str(StorageFailure.at(tmp_path / "a.jsonl", full)) == (
        f"{said}Its folder {tmp_path} must exist, have room and be writable; or choose another place."
    )
    # Only where a run is, can one be resumed.
    (tmp_path / "manifest.json").touch()
    assert str(StorageFailure.at(tmp_path / "a.jsonl", full)) == (
        f"{said}Make room or restore write access, then run: sociable resume {tmp_path}"
    )
