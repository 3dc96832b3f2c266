"""The items under review: records of a data set, how they are fixed and shown, and what decisions on them come to.

The majority of the first group decides on an item, or that of the second where there was none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sociable.core.data_files import RawRecord, load_items
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record
from sociable.datasets.build import DATASET
from sociable.datasets.review.records import Choice, Decision, Group, ReviewSettings

DEEPEST = 100
"""Levels of objects and lists in a record: beyond what anybody can read."""


class ReviewItem(Record):
    """A record of the data set."""

    id: str
    record: dict[str, Any]
    digest: str

    @property
    def cluster(self) -> str:
        """The cluster of which the item is no independent sample: cases share a dialogue, scenarios a template."""
        return str(self.record.get("dialogue") or self.record.get("template_idx") or self.id)


def load_review_items(folder: Path) -> dict[str, ReviewItem]:
    """The records of ``folder/dataset.jsonl`` by id. Raises DataError naming line and field, InputError where there are none."""
    file = folder / DATASET
    if not file.exists():
        raise InputError(f"{file}: no such file. A construction writes it; or put yours there, an object with an 'id' a line.")
    found = load_items(file, file, _cut_item, skip_invalid=False, expected="an object with an 'id' a line")
    return {item.id: item for item in found.items}


def _cut_item(raw: RawRecord) -> list[ReviewItem]:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with an 'id', found {type(raw.value).__name__}")
    given = raw.value.get("id")
    if isinstance(given, bool) or not isinstance(given, (str, int)) or not str(given).strip():
        raise DataError(raw.place, "id", "expected a text that tells this record from the others; add one")
    with complain_of(raw.place):
        return [ReviewItem(id=str(given), record=raw.value, digest=digest_record(raw.value))]


@contextmanager
def complain_of(place: str, field: str = "") -> Iterator[None]:
    """Says of an error inside in which place and field it is. Raises DataError."""
    try:
        yield
    except InputError as problem:
        raise DataError(place, field, str(problem)) from None


def parse_fix(text: str, item: ReviewItem) -> dict[str, Any]:
    """The record that somebody made of an item in an editor. Raises InputError in a way that helps to mend it."""
    try:
        record = json.loads(text)
    except RecursionError:
        raise InputError("It has too many levels.") from None
    except ValueError as error:
        raise InputError(f"That is not JSON: {error}.") from None
    if not isinstance(record, dict):
        raise InputError(f"Expected an object, in {{ }}, found {type(record).__name__}.")
    return _check_fix(record, item)


def fix_field(item: ReviewItem, record: Mapping[str, Any], path: str, value: str) -> dict[str, Any]:
    """``record`` with a new value in one field, named as it is or by a path (``cast.0.goal``).

    ``value`` is taken as the text it is where a text stood there, and read as JSON elsewhere. Raises InputError.
    """
    copy: dict[str, Any] = json.loads(json.dumps(record))
    holder, key = _find_field(copy, path)
    try:
        holder[key] = value if isinstance(holder[key], str) else json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is no text now, so its new value must be JSON: {error}.") from None
    return _check_fix(copy, item)


def find_value(record: Mapping[str, Any], path: str) -> Any:
    """The value at a path as in ``fix_field``. Raises InputError where there is none."""
    holder, key = _find_field(record, path)
    return holder[key]


def _find_field(record: Mapping[str, Any], path: str) -> tuple[Any, Any]:
    """The object or list that holds the field, and its name or place there."""
    holder: Any = None
    key: str | int = ""
    inside: Any = record
    for step in [path] if path in record else path.split("."):
        key = int(step) if isinstance(inside, list) and step.isdecimal() else step
        try:
            holder, inside = inside, inside[key]
        except (LookupError, TypeError):
            fields = inside if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
            there = ", ".join(map(str, list(fields)[:20])) or "nothing"
            raise InputError(f"There is no field '{path[:80]}': at '{step[:40]}' there is {there}.") from None
    return holder, key


def _check_fix(record: dict[str, Any], item: ReviewItem) -> dict[str, Any]:
    if record.get("id") != item.record["id"]:
        raise InputError("The 'id' must stay as it is: the others know the item by it.")
    if digest_record(record) == item.digest:
        raise InputError("Nothing is changed. Change something, or keep the item.")
    return record


def digest_record(value: Any) -> str:
    """The digest of a record, whatever the order of its fields. Raises InputError where it cannot be written as JSON in UTF-8."""
    if _is_deeper(value, DEEPEST):
        raise InputError(f"it has more than {DEEPEST} levels of objects and lists; make it flatter")
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("it holds half a character (\\ud800 to \\udfff), which no file can; write it whole") from None
    except ValueError:
        raise InputError("it holds a number that JSON does not have (NaN, Infinity); write null") from None
    return hashlib.sha256(text).hexdigest()


def _is_deeper(value: Any, levels: int) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 1 or any(_is_deeper(part, levels - 1) for part in parts)


def show_json(record: Mapping[str, Any]) -> str:
    """A record as it stands in an editor."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def outline(value: Any) -> str:
    """A value for people to read: texts as they are, what is inside of objects and lists indented line by line."""
    return "\n".join(_outline_lines(value))


_TURN = {"role_from", "role_to", "content"}


def _outline_lines(value: Any) -> list[str]:
    if isinstance(value, dict) and _TURN <= value.keys() <= _TURN | {"index"}:
        # As a conversation is read.
        return f"{value['role_from']} → {value['role_to']}: {value['content']}".split("\n")
    if isinstance(value, str):
        return value.split("\n")
    if not isinstance(value, (dict, list)) or not value:
        return [json.dumps(value)]
    lines = []
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        first, *more = _outline_lines(part)
        nested = bool(part) and isinstance(part, (dict, list))
        lines += [f"{name}:", f"  {first}"] if nested else [f"{name}: {first}"]
        lines += [f"  {line}" for line in more]
    return lines


class State(StrEnum):
    """The progress of an item's review."""

    KEPT = "kept"
    FIXED = "fixed"
    DROPPED = "dropped"
    FIRST = "waits for the first group"
    SECOND = "waits for the second group"
    OPEN = "the second group does not agree either"


SETTLED = {Choice.KEEP: State.KEPT, Choice.FIX: State.FIXED, Choice.DROP: State.DROPPED}
_REASONS = {None: "no majority", Choice.FIX: "no fix that most agree on", Choice.DROP: "dropped by the first group"}
"""The reason why an item goes to the second group, by what most of the first chose."""


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """The fate of an item: with ``record`` if it is kept or fixed, and the group that settled it, or is to."""

    state: State
    group: Group
    record: Mapping[str, Any] | None = None
    reason: str = ""
    """The reason why the second group has it."""


def find_majority(choices: Sequence[Choice | None], panel: int) -> Choice | None:
    """The choice of more than half of the panel (two of three); None where there is no such choice, or not yet.

    Where more people than the panel have decided, more than half of these.
    """
    return next((choice for choice in Choice if 2 * choices.count(choice) > max(panel, len(choices))), None)


def settle(item: ReviewItem, decisions: Sequence[Decision], settings: ReviewSettings) -> ReviewOutcome:
    """The outcome of all current decisions on an item.

    A fix needs more than a majority for fixing: the first group must agree on the fixed record itself. In the second group,
    where every fix has its record, the earliest stands if there is a majority for fixing and none for one record.
    """
    first, second = ([each for each in decisions if each.group == group] for group in (1, 2))
    choice, fixed = _count_votes(first, settings.panel)
    if not (choice is Choice.DROP and settings.dropped_again):
        if outcome := _make_outcome(item, choice, fixed, 1):
            return outcome
        if len(first) < settings.panel:
            return ReviewOutcome(State.FIRST, 1)
    reason = _REASONS[choice]
    choice, fixed = _count_votes(second, settings.second_panel)
    earliest = next((each.fixed for each in second if each.fixed is not None), None)
    if outcome := _make_outcome(item, choice, fixed or earliest, 2, reason):
        return outcome
    waits = choice is None and len(second) < settings.second_panel
    return ReviewOutcome(State.SECOND if waits else State.OPEN, 2, reason=reason)


def _count_votes(own: Sequence[Decision], panel: int) -> tuple[Choice | None, Mapping[str, Any] | None]:
    """The choice of most of a group, and the fixed record that more than half gave, to the letter."""
    fixes = [each.fixed for each in own if each.fixed is not None]
    digests = [digest_record(fixed) for fixed in fixes]
    alike = (fixed for fixed, digest in zip(fixes, digests, strict=True) if 2 * digests.count(digest) > max(panel, len(own)))
    return find_majority([each.decision for each in own], panel), next(alike, None)


def _make_outcome(
    item: ReviewItem, choice: Choice | None, fixed: Mapping[str, Any] | None, group: Group, reason: str = ""
) -> ReviewOutcome | None:
    """The outcome that a group's choice settles; None where it settles nothing."""
    if choice is None or (choice is Choice.FIX and not fixed):
        return None
    records = {Choice.KEEP: item.record, Choice.FIX: fixed}
    return ReviewOutcome(SETTLED[choice], group, records.get(choice), reason)
