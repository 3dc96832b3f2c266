"""The command for review by people of what a construction has made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sociable.cli.output import console, say
from sociable.core.errors import InputError

_FIXED = ("tags", "seed", "panel", "second_panel", "dropped_again")
"""Options that the first decision fixes."""


def review(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with a dataset.jsonl, as a construction makes it.")],
    reviewer: Annotated[str | None, typer.Option("--reviewer", metavar="NAME", help="The reviewer's name.")] = None,
    group: Annotated[
        int | None, typer.Option(min=1, max=2, help="2 for the items that the first group does not agree on.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Items of this session, or on this sheet.")] = None,
    tags: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file of your own tags: .json or .jsonl with name and means.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed of the orders in which items are shown.")] = None,
    panel: Annotated[int | None, typer.Option(metavar="N", min=1, help="People for each item (3); most decide.")] = None,
    second_panel: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="People for each item of the second group (3).")
    ] = None,
    dropped_again: Annotated[
        bool | None, typer.Option("--dropped-again", help="Give what the first group drops to the second as well.")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Show how far the reviewers are, and how well they agree.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write dataset.reviewed.jsonl, and the dropped items.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="With --apply: leave undecided items out.")] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the items that are left for --reviewer as .csv.")
    ] = None,
    import_: Annotated[Path | None, typer.Option("--import", metavar="FILE", help="Take the decisions of a sheet.")] = None,
) -> None:
    """Review what a construction has made: keep, fix or drop, with tags, several people an item."""
    given = locals()
    asked: dict[str, Any] = {name: given[name] for name in _FIXED if given[name] is not None}
    if sum((status, apply, export is not None, import_ is not None)) > 1:
        raise InputError("--status, --apply, --export and --import are asked for one at a time.")
    if anyway and not apply:
        raise InputError("--anyway goes with --apply.")
    if (status or apply) and asked:
        raise InputError(f"--{next(iter(asked)).replace('_', '-')} is for taking part: it is fixed by the first decision.")
    from sociable.datasets.review.results import REVIEWED, apply_review, show_status
    from sociable.datasets.review.reviewing import Review
    from sociable.render.terminal import print_blocks

    if status:
        print_blocks(list(show_status(Review.open(folder))), console)
    elif apply:
        say(f"{apply_review(Review.open(folder), anyway=anyway)}: {folder / REVIEWED}")
        say(f"What was dropped and why, and who decided what: {folder / 'review'}")
    else:
        _take_part(folder, reviewer, group, limit, asked, export, import_)


def _take_part(
    folder: Path,
    reviewer: str | None,
    group: int | None,
    limit: int | None,
    asked: dict[str, Any],
    export: Path | None,
    import_: Path | None,
) -> None:
    from sociable.cli.reviewing import Session
    from sociable.datasets.review.records import load_tags
    from sociable.datasets.review.reviewing import Review
    from sociable.datasets.review.sheets import read_review_sheet, write_review_sheet
    from sociable.render.displayable import make_displayable

    if reviewer is None and import_ is None:
        raise InputError("Say who reviews with --reviewer NAME; or ask for --status or --apply.")
    if "tags" in asked:
        asked["tags"] = load_tags(asked["tags"])
    opened = Review.begin(folder, **asked)
    in_group: Literal[1, 2] = 2 if group == 2 else 1
    if import_ is not None:
        taken = read_review_sheet(opened, reviewer, in_group if group else None, import_)
        say(f"{taken.new} new decisions, and {taken.changed} in place of earlier ones.")
        if taken.late:
            say(f"{taken.late} left out: enough others had decided on these items, or they never came to this group.")
        return
    assert reviewer is not None
    opened.check_reviewer(reviewer, in_group)
    if export is not None:
        count = write_review_sheet(opened, reviewer, in_group, export, make_displayable, limit)
        say(f"{count} items for {reviewer} to review: {export}")
        say(f"Fill in 'decision' (keep, fix or drop); give it back with: sociable review {folder} --import {export}")
    else:
        Session(opened, reviewer, in_group).work(limit)
