"""The outcome of the decisions on an item: the majority of the first group, or of the second where there was none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sociable.datasets.review.items import ReviewItem, digest_record
from sociable.datasets.review.records import Choice, Decision, Group, ReviewSettings


class State(StrEnum):
    """The progress of an item's review."""

    KEPT = "kept"
    FIXED = "fixed"
    DROPPED = "dropped"
    FIRST = "waits for the first group"
    SECOND = "waits for the second group"
    OPEN = "the second group does not agree either"


SETTLED = (State.KEPT, State.FIXED, State.DROPPED)
_REASONS = {
    None: "no majority",
    Choice.FIX: "no fix that most agree on",
    Choice.DROP: "dropped by the first group",
}
"""Why an item goes to the second group, by what most of the first chose."""


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """The fate of an item: with ``record`` if it is kept or fixed, and the group that settled it, or is to."""

    state: State
    group: Group
    record: Mapping[str, Any] | None = None
    reason: str = ""
    """Why it is with the second group."""


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
        if outcome := _outcome(item, choice, fixed, 1):
            return outcome
        if len(first) < settings.panel:
            return ReviewOutcome(State.FIRST, 1)
    reason = _REASONS[choice]
    choice, fixed = _count_votes(second, settings.second_panel)
    earliest = next((each.fixed for each in second if each.fixed is not None), None)
    if outcome := _outcome(item, choice, fixed or earliest, 2, reason):
        return outcome
    waits = choice is None and len(second) < settings.second_panel
    return ReviewOutcome(State.SECOND if waits else State.OPEN, 2, reason=reason)


def _count_votes(own: Sequence[Decision], panel: int) -> tuple[Choice | None, Mapping[str, Any] | None]:
    """The choice of most of a group, and the fixed record that more than half gave, to the letter."""
    fixes = [each.fixed for each in own if each.fixed is not None]
    digests = [digest_record(fixed) for fixed in fixes]
    alike = (fixed for fixed, digest in zip(fixes, digests, strict=True) if 2 * digests.count(digest) > max(panel, len(own)))
    return find_majority([each.decision for each in own], panel), next(alike, None)


def _outcome(
    item: ReviewItem, choice: Choice | None, fixed: Mapping[str, Any] | None, group: Group, reason: str = ""
) -> ReviewOutcome | None:
    """The outcome that a group's choice settles; None where it settles nothing."""
    if choice is Choice.KEEP:
        return ReviewOutcome(State.KEPT, group, item.record, reason)
    if choice is Choice.DROP:
        return ReviewOutcome(State.DROPPED, group, None, reason)
    return ReviewOutcome(State.FIXED, group, fixed, reason) if choice is Choice.FIX and fixed else None
