"""A review on a sheet, for those who do not use a terminal: CSV out, and filled in back again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sociable.core.errors import DataError, InputError
from sociable.core.run_folder import write_atomically
from sociable.core.spreadsheets import read_rows, render_csv
from sociable.datasets.review.items import ReviewItem, fix_field, outline
from sociable.datasets.review.records import Choice, Decision, Group
from sociable.datasets.review.reviewing import Review

FILLED_IN = ("decision", "tags", "fix_field", "fix_value", "note")
"""Columns for the reviewer: keep, fix or drop; names of tags; a field and its new value for a fix; anything else to say."""

_CHOICES = {word: choice for choice in Choice for word in (choice.value, choice.value[0])}


def write_review_sheet(
    review: Review, reviewer: str, group: Group, file: Path, legible: Callable[[str], str], limit: int | None = None
) -> int:
    """What there is to decide for somebody, in their order, as a new CSV file. Returns how many items.

    ``legible`` takes from foreign text what could harm who looks at it. Raises InputError where there is nothing to decide,
    or such a file: it could be filled in already.
    """
    if file.suffix != ".csv":
        raise InputError(f"{file}: a sheet for review is a .csv file.")
    if file.exists():
        raise InputError(f"{file} is there already, and may be filled in. Name another file, or move it away.")
    items = review.open_items(reviewer, group)[:limit]
    if not items:
        raise InputError(f"There is nothing to decide for {reviewer} in group {group}.")
    fields = list(dict.fromkeys(name for item in items for name in item.record if name != "id"))
    heading = ["item", "id", *(legible(f"item.{name}") for name in fields), *FILLED_IN, "reviewer", "group"]
    empty = [""] * len(FILLED_IN)
    rows = [
        [_key(item), legible(item.id), *(_cell(item, name, legible) for name in fields), *empty, reviewer, str(group)]
        for item in items
    ]
    write_atomically(file, render_csv(heading, rows))
    return len(items)


def _key(item: ReviewItem) -> str:
    """With a letter in front no spreadsheet takes it for a number; a changed item has another."""
    return f"i{item.digest[:16]}"


def _cell(item: ReviewItem, name: str, legible: Callable[[str], str]) -> str:
    return legible(outline(item.record[name])) if name in item.record else ""


@dataclass(frozen=True, slots=True)
class Imported:
    """How many decisions of a sheet are new, and how many say something else than the same people had said before."""

    new: int
    changed: int
    late: int
    """On items that enough others had decided on, or that never came to this group: these were left out."""


def read_review_sheet(review: Review, reviewer: str | None, group: Group | None, file: Path) -> Imported:
    """Adds the decisions of a sheet, all or none. Whose they are stands in its columns ``reviewer`` and ``group``.

    Where it does not, ``reviewer`` and ``group`` (or the first) are taken. Rows without a decision are left out. Raises
    DataError naming row and field.
    """
    by_key = {_key(item): item for item in review.items.values()}
    found: dict[str, Decision] = {}
    for place, row in read_rows(file, ("item", "decision"), "and tags, fix_field, fix_value, note, reviewer"):
        if not row["decision"].strip():
            if any(row.get(name, "").strip() for name in FILLED_IN):
                raise DataError(place, "decision", "is empty, but something is said beside it; write keep, fix or drop")
            continue
        item = by_key.get(row["item"].strip())
        if item is None:
            raise DataError(place, "item", f"'{row['item'][:40]}' is no item as the data set is now; export the sheet anew")
        made = _decision(review, item, _reviewer(row, reviewer, place), _group(row, group, place), row, place)
        if made.id in found:
            raise DataError(place, "item", f"{made.reviewer} has two decisions on '{item.id[:40]}' in this file; leave one")
        found[made.id] = made
    if not found:
        raise InputError(f"{file}: no decision in it. Fill in the column 'decision': keep, fix or drop.")
    reviewers = {(made.reviewer, made.group) for made in found.values()}
    for name, own in reviewers:
        review.check_reviewer(name, own)
    before = {made.id: made for made in review.decisions() if made.id in found}
    changed = [made for made in found.values() if made.id in before and _said(before[made.id]) != _said(made)]
    waiting = {(who, item.id) for who in reviewers for item in review.open_items(*who)}
    new = [made for made in found.values() if made.id not in before]
    in_time = [made for made in new if ((made.reviewer, made.group), made.item) in waiting]
    review.add([*changed, *in_time])
    return Imported(len(in_time), len(changed), len(new) - len(in_time))


def _reviewer(row: dict[str, str], asked: str | None, place: str) -> str:
    named = row.get("reviewer", "").strip()
    if named and asked and named != asked:
        raise DataError(place, "reviewer", f"'{named[:40]}' is not the --reviewer {asked}; leave the option out")
    if not named and not asked:
        raise DataError(place, "reviewer", "is empty; fill it in, or name one --reviewer for all rows")
    return named or asked or ""


def _group(row: dict[str, str], asked: Group | None, place: str) -> Group:
    named = row.get("group", "").strip()
    if named and named not in ("1", "2"):
        raise DataError(place, "group", f"expected 1 or 2, found '{named[:40]}'")
    if named and asked and named != str(asked):
        raise DataError(place, "group", f"the sheet is of group {named}, not of --group {asked}; leave the option out")
    return 2 if "2" in (named, str(asked)) else 1


def _decision(review: Review, item: ReviewItem, reviewer: str, group: Group, row: dict[str, str], place: str) -> Decision:
    given = row["decision"].strip().lower()
    if given not in _CHOICES:
        raise DataError(place, "decision", f"expected keep, fix, drop or nothing, found '{given[:40]}'")
    field, value = row.get("fix_field", "").strip(), row.get("fix_value", "")
    if value.strip() and not field:
        raise DataError(place, "fix_field", "is empty, but there is a new value; name the field")
    try:
        # The name as it stands in the heading will do too.
        name = field if field in item.record else field.removeprefix("item.")
        fixed = fix_field(item, item.record, name, value) if field else None
    except InputError as problem:
        raise DataError(place, "fix_field", str(problem)) from None
    for column, try_it in (
        ("tags", lambda: review.chosen_tags(_tags(row))),
        ("fix_value", lambda: review.check(fixed) if fixed is not None else None),
    ):
        try:
            try_it()
        except InputError as problem:
            raise DataError(place, column, str(problem)) from None
    try:
        return review.decision(item, reviewer, group, _CHOICES[given], tags=_tags(row), note=row.get("note", ""), fixed=fixed)
    except InputError as problem:
        raise DataError(place, "decision", str(problem)) from None


def _tags(row: dict[str, str]) -> list[str]:
    return row.get("tags", "").replace(",", " ").replace(";", " ").split()


def _said(decision: Decision) -> Sequence[object]:
    return (decision.decision, decision.tags, decision.note, decision.fixed)
