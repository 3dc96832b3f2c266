"""The command for review by people of what a construction has made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sociable.cli.output import console, say
from sociable.core.errors import InputError

ReviewPath = Annotated[Path, typer.Argument(metavar="DIR", help="A folder with a dataset.jsonl; a construction makes such.")]
Reviewer = Annotated[str | None, typer.Option("--reviewer", metavar="NAME", help="Who reviews.")]
InGroup = Annotated[
    int | None, typer.Option("--group", min=1, max=2, help="2: those who look at what the first do not agree on.")
]
Most = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="So many items in this session, or on this sheet.")]
TagsFile = Annotated[
    Path | None,
    typer.Option("--tags", metavar="FILE", help="Your own (name, means) in .json or .jsonl; by default the papers'."),
]
Order = Annotated[int | None, typer.Option("--seed", help="Of the orders in which items are shown.")]
Panel = Annotated[int | None, typer.Option("--panel", metavar="N", min=1, help="People for each item (3); most decide.")]
SecondPanel = Annotated[int | None, typer.Option("--second-panel", metavar="N", min=1, help="The same of the second group (3).")]
DroppedAgain = Annotated[
    bool | None, typer.Option("--dropped-again", help="What the first group drops goes to the second as well.")
]
Status = Annotated[bool, typer.Option("--status", help="Show how far everybody is, and how far they agree.")]
Apply = Annotated[bool, typer.Option("--apply", help="Write dataset.reviewed.jsonl, and what was dropped.")]
Anyway = Annotated[bool, typer.Option("--anyway", help="With --apply: leave undecided items out.")]
ToSheet = Annotated[Path | None, typer.Option("--export", metavar="FILE", help="Write what is left for --reviewer as .csv.")]
FromSheet = Annotated[Path | None, typer.Option("--import", metavar="FILE", help="Take the decisions of a sheet.")]


def review(
    folder: ReviewPath,
    reviewer: Reviewer = None,
    group: InGroup = None,
    limit: Most = None,
    tags: TagsFile = None,
    seed: Order = None,
    panel: Panel = None,
    second_panel: SecondPanel = None,
    dropped_again: DroppedAgain = None,
    status: Status = False,
    apply: Apply = False,
    anyway: Anyway = False,
    export: ToSheet = None,
    import_: FromSheet = None,
) -> None:
    """Review what a construction has made: keep, fix or drop, with tags, several people an item."""
    if sum((status, apply, export is not None, import_ is not None)) > 1:
        raise InputError("--status, --apply, --export and --import are asked for one at a time.")
    if anyway and not apply:
        raise InputError("--anyway goes with --apply.")
    asked = {"seed": seed, "panel": panel, "second_panel": second_panel, "dropped_again": dropped_again, "tags": tags}
    if (status or apply) and (given := [name for name, value in asked.items() if value is not None]):
        raise InputError(f"--{given[0].replace('_', '-')} is for taking part: it is fixed by the first decision.")
    if status:
        _show_status(folder)
    elif apply:
        _apply(folder, anyway)
    else:
        _take_part(folder, reviewer, group, limit, asked, export, import_)


def _show_status(folder: Path) -> None:
    from sociable.datasets.review.reviewing import Review
    from sociable.datasets.review.status import review_status
    from sociable.render.terminal import print_blocks

    print_blocks(review_status(Review.open(folder)), console)


def _apply(folder: Path, anyway: bool) -> None:
    from sociable.datasets.review.reviewing import Review, apply_review

    done = apply_review(Review.open(folder), anyway=anyway)
    left_out = f", {done.undecided} undecided left out" if done.undecided else ""
    say(f"{done.kept} kept, {done.fixed} fixed, {done.dropped} dropped{left_out}: {done.file}")
    say(f"What was dropped and why, and who decided what: {folder / 'review'}")


def _take_part(
    folder: Path,
    reviewer: str | None,
    group: int | None,
    limit: int | None,
    asked: dict[str, Any],
    export: Path | None,
    import_: Path | None,
) -> None:
    from sociable.api.datasets import layout_check
    from sociable.cli.reviewing import Reviewing
    from sociable.datasets.review.reviewing import Review, load_tags
    from sociable.datasets.review.sheets import read_review_sheet, write_review_sheet
    from sociable.render.displayable import displayable

    if reviewer is None and import_ is None:
        raise InputError("Say who reviews with --reviewer NAME; or ask for --status or --apply.")
    asked["tags"] = load_tags(asked["tags"]) if asked["tags"] else None
    review = Review.begin(folder, **{name: value for name, value in asked.items() if value is not None})
    review.check = layout_check(folder)
    in_group: Literal[1, 2] = 2 if group == 2 else 1
    if reviewer is not None and import_ is None:
        review.check_reviewer(reviewer, in_group)
    if import_ is not None:
        taken = read_review_sheet(review, reviewer, in_group if group else None, import_)
        say(f"{taken.new} new decisions, and {taken.changed} in place of earlier ones.")
        if taken.late:
            say(f"{taken.late} left out: enough others had decided on these items, or they never came to this group.")
        return
    assert reviewer is not None
    if export is not None:
        count = write_review_sheet(review, reviewer, in_group, export, displayable, limit)
        say(f"{count} items for {reviewer} to review: {export}")
        say(f"Fill in 'decision' (keep, fix or drop); give it back with: sociable review {folder} --import {export}")
        return
    Reviewing(review, reviewer, in_group).work(limit)


def add_commands(app: typer.Typer) -> None:
    app.command()(review)
