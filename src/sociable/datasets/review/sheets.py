"""A review on a sheet, for those who do not use a terminal: CSV out, and filled in back again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from sociable.core.errors import DataError, InputError
from sociable.core.run_folder import write_atomically
from sociable.core.spreadsheets import read_rows, render_csv
from sociable.datasets.review.items import ReviewItem, complain_of, fix_field, outline
from sociable.datasets.review.records import CHOICES, Decision, Group
from sociable.datasets.review.reviewing import Review

FILLED_IN = ("decision", "tags", "fix_field", "fix_value", "note")
"""Columns for the reviewer: keep, fix or drop; names of tags; a field and its new value for a fix; anything else to say."""


def write_review_sheet(
    review: Review, reviewer: str, group: Group, file: Path, legible: Callable[[str], str], limit: int | None = None
) -> int:
    """Writes what there is to decide for somebody, in their order, into a new CSV file. Returns how many items.

    ``legible`` takes from foreign text what could harm its reader. Raises InputError where there is nothing to decide,
    or such a file: it could be filled in already.
    """
    if file.suffix != ".csv":
        raise InputError(f"{file}: a sheet for review is a .csv file.")
    if file.exists():
        raise InputError(f"{file} is there already, and may be filled in. Name another file, or move it away.")
    items = review.find_open_items(reviewer, group)[:limit]
    if not items:
        raise InputError(f"There is nothing to decide for {reviewer} in group {group}.")
    fields = list(dict.fromkeys(name for item in items for name in item.record if name != "id"))
    heading = ["item", "id", *(legible(f"item.{name}") for name in fields), *FILLED_IN, "reviewer", "group"]
    rows = []
    for item in items:
        shown = [legible(outline(item.record[name])) if name in item.record else "" for name in fields]
        rows.append([_make_key(item), legible(item.id), *shown, *("" for _ in FILLED_IN), reviewer, str(group)])
    write_atomically(file, render_csv(heading, rows))
    return len(items)


def _make_key(item: ReviewItem) -> str:
    """The item's key on sheets: no spreadsheet takes it for a number, and a changed item has another."""
    return f"i{item.digest[:16]}"


@dataclass(frozen=True, slots=True)
class Imported:
    """Counts of a sheet's decisions: new ones, and those that say something else than the same people had said before."""

    new: int
    changed: int
    late: int
    """The number of decisions left out: enough others had decided on the item, or it never came to this group."""


def read_review_sheet(review: Review, reviewer: str | None, group: Group | None, file: Path) -> Imported:
    """Adds the decisions of a sheet, all or none. Whose they are stands in its columns ``reviewer`` and ``group``.

    Where it does not, ``reviewer`` and ``group`` (or the first) are taken. Rows without a decision are left out. Raises
    DataError naming row and field.
    """
    by_key = {_make_key(item): item for item in review.items.values()}
    found: dict[str, Decision] = {}
    for place, row in read_rows(file, ("item", "decision"), "and tags, fix_field, fix_value, note, reviewer"):
        if not row["decision"].strip():
            if any(row.get(name, "").strip() for name in FILLED_IN):
                raise DataError(place, "decision", "is empty, but something is said beside it; write keep, fix or drop")
            continue
        item = by_key.get(row["item"].strip())
        if item is None:
            raise DataError(place, "item", f"'{row['item'][:40]}' is no item as the data set is now; export the sheet anew")
        own = (_read_own(row, "reviewer", reviewer, place), _read_own(row, "group", group, place))
        made = _read_decision(review, item, *own, row, place)
        if made.id in found:
            raise DataError(place, "item", f"{made.reviewer} has two decisions on '{item.id[:40]}' in this file; leave one")
        found[made.id] = made
    if not found:
        raise InputError(f"{file}: no decision in it. Fill in the column 'decision': keep, fix or drop.")
    reviewers = {(made.reviewer, made.group) for made in found.values()}
    for who in reviewers:
        review.check_reviewer(*who)
    before = {made.id: made for made in review.read_decisions() if made.id in found}
    waiting = {(who, item.id) for who in reviewers for item in review.find_open_items(*who)}
    new = [made for made in found.values() if made.id not in before]
    in_time = [made for made in new if ((made.reviewer, made.group), made.item) in waiting]
    find_said = attrgetter("decision", "tags", "note", "fixed")
    changed = [made for made in found.values() if made.id in before and find_said(made) != find_said(before[made.id])]
    review.add([*changed, *in_time])
    return Imported(len(in_time), len(changed), len(new) - len(in_time))


def _read_own(row: Mapping[str, str], column: str, asked: object, place: str) -> str:
    """The reviewer or the group of a decision: as the row says, or as was asked for. Raises DataError where the two differ."""
    named, wanted = row.get(column, "").strip(), "" if asked is None else str(asked)
    if named and wanted and named != wanted:
        raise DataError(place, column, f"the sheet is of {column} {named[:40]}, not of --{column} {wanted}; leave the option out")
    return named or wanted


def _read_decision(review: Review, item: ReviewItem, reviewer: str, group: str, row: Mapping[str, str], place: str) -> Decision:
    if not reviewer:
        raise DataError(place, "reviewer", "is empty; fill it in, or name one --reviewer for all rows")
    if group not in ("", "1", "2"):
        raise DataError(place, "group", f"expected 1 or 2, found '{group[:40]}'")
    given = row["decision"].strip().lower()
    if given not in CHOICES:
        raise DataError(place, "decision", f"expected keep, fix, drop or nothing, found '{given[:40]}'")
    field, value = row.get("fix_field", "").strip(), row.get("fix_value", "")
    if value.strip() and not field:
        raise DataError(place, "fix_field", "is empty, but there is a new value; name the field")
    # The name as it stands in the heading will do too.
    name = field if field in item.record else field.removeprefix("item.")
    with complain_of(place, "fix_field"):
        fixed = fix_field(item, item.record, name, value) if field else None
    with complain_of(place, "tags"):
        tags = review.find_tags(row.get("tags", "").replace(",", " ").replace(";", " ").split())
    with complain_of(place, "fix_value"):
        if fixed is not None:
            review.check_layout(fixed)
    with complain_of(place, "decision"):
        note = row.get("note", "")
        return review.decide(item, reviewer, 2 if group == "2" else 1, CHOICES[given], tags=tags, note=note, fixed=fixed)
