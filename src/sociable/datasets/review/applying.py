"""The results of a review: the reviewed data set, what was dropped and why, and who decided what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.datasets.build import format_json_lines, read_build_manifest
from sociable.datasets.card import write_cards
from sociable.datasets.review.items import ReviewItem, digest_record
from sociable.datasets.review.outcomes import SETTLED, ReviewOutcome, State
from sociable.datasets.review.records import Choice, Decision
from sociable.datasets.review.reviewing import Review, now

REVIEWED = "dataset.reviewed.jsonl"


def apply_review(review: Review, *, anyway: bool = False) -> str:
    """Writes the reviewed data set, what was dropped and why, who decided what, and the data card anew.

    Returns in words how many items became what.

    Raises InputError while there are undecided items; with ``anyway`` these are left out. Each file is replaced in one step,
    the data set last.
    """
    by_item, outcomes = review.sort_decisions(), review.settle_all()
    if not any(by_item.values()):
        raise InputError(f"Nobody has decided on anything yet. Begin with: sociable review {review.folder} --reviewer NAME")
    states = [outcome.state for outcome in outcomes.values()]
    kept, fixed, dropped = (states.count(state) for state in SETTLED)
    undecided = len(states) - kept - fixed - dropped
    if undecided and not anyway:
        raise InputError(
            f"{undecided} of {len(states)} items are undecided: {states.count(State.FIRST)} wait for the first group, "
            f"{states.count(State.SECOND)} for the second (--group 2), on {states.count(State.OPEN)} the second does not "
            "agree either. Have them decided, or leave them out with --anyway."
        )
    left_out = [
        _describe_dropped(review.items[name], by_item[name], each)
        for name, each in outcomes.items()
        if each.state is State.DROPPED
    ]
    told = json.dumps(_write_minutes(review, by_item, outcomes), indent=1, ensure_ascii=False)
    write_atomically(review.folder / "review" / "dropped.jsonl", format_json_lines(left_out))
    write_atomically(review.folder / "review" / "outcomes.json", told + "\n")
    write_atomically(
        review.folder / REVIEWED, format_json_lines(each.record for each in outcomes.values() if each.record is not None)
    )
    done = f"{kept} kept, {fixed} fixed, {dropped} dropped, {undecided} undecided"
    if (manifest := read_build_manifest(review.folder)) is not None:
        people = len({each.reviewer for own in by_item.values() for each in own})
        write_cards(review.folder, manifest, REVIEWED, f"{done}, by {people} people")
    return done


def is_applied_before_last(review: Review) -> bool:
    """Whether what was written of the review is older than its last decision."""
    written, decided = review.folder / REVIEWED, review.folder / "review" / "decisions.jsonl"
    return written.exists() and decided.exists() and written.stat().st_mtime < decided.stat().st_mtime


def _describe_dropped(item: ReviewItem, decisions: Sequence[Decision], outcome: ReviewOutcome) -> dict[str, Any]:
    own = [each for each in decisions if each.group == outcome.group and each.decision is Choice.DROP]
    tags = sorted({tag for each in own for tag in each.tags})
    return {"id": item.id, "tags": tags, "reasons": [each.note for each in own if each.note], "record": item.record}


def _write_minutes(
    review: Review, by_item: Mapping[str, Sequence[Decision]], outcomes: Mapping[str, ReviewOutcome]
) -> dict[str, Any]:
    """The record of who decided what, and what came of it."""
    told = {"reviewer", "group", "decision", "tags", "note", "seconds", "time"}
    return {
        "made": now(),
        "dataset": digest_record([item.digest for item in review.items.values()]),
        "settings": review.settings.model_dump(mode="json"),
        "counts": {state.value: sum(each.state is state for each in outcomes.values()) for state in State},
        "outdated decisions": review.count_outdated(),
        "items": [
            {
                "id": name,
                "state": outcome.state.value,
                "group": outcome.group,
                "reason": outcome.reason,
                "decisions": [
                    {**each.model_dump(mode="json", include=told), "with a fix": each.fixed is not None} for each in by_item[name]
                ],
            }
            for name, outcome in outcomes.items()
        ],
    }
