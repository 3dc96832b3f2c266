"""What decisions on an item come to: majority of the first group, or of the second where there was none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sociable.datasets.review.items import ReviewItem, record_digest
from sociable.datasets.review.records import Choice, Decision, Group, ReviewSettings


class State(StrEnum):
    """How far the review of an item is."""

    KEPT = "kept"
    FIXED = "fixed"
    DROPPED = "dropped"
    FIRST = "waits for the first group"
    SECOND = "waits for the second group"
    OPEN = "the second group does not agree either"


SETTLED = (State.KEPT, State.FIXED, State.DROPPED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item: with ``record`` if it is kept or fixed, and who of which group settled it, or is to."""

    state: State
    group: Group
    record: Mapping[str, Any] | None = None
    reason: str = ""
    """Why it is with the second group."""


def majority(choices: Sequence[Choice | None], panel: int) -> Choice | None:
    """What more than half of the panel chose (two of three); None where there is no such choice, or not yet.

    Where more people than the panel have decided, more than half of these.
    """
    for choice in Choice:
        if 2 * choices.count(choice) > max(panel, len(choices)):
            return choice
    return None


def settle(item: ReviewItem, decisions: Sequence[Decision], settings: ReviewSettings) -> Outcome:
    """What all current decisions on an item come to.

    A fix needs more than a majority for fixing: the first group must agree on the fixed record itself. In the second group,
    where every fix has its record, the earliest stands if there is a majority for fixing and none for one record.
    """
    first = of_first_group(item, [each for each in decisions if each.group == 1], settings)
    if first.state is not State.SECOND:
        return first
    own = [each for each in decisions if each.group == 2]
    choice = majority([each.decision for each in own], settings.second_panel)
    if choice is None:
        return Outcome(State.OPEN if len(own) >= settings.second_panel else State.SECOND, 2, reason=first.reason)
    if choice is Choice.FIX:
        given = [each.fixed for each in own if each.fixed is not None]
        fixed = _agreed_fix(own, settings.second_panel) or next(iter(given), None)
        return Outcome(State.FIXED if fixed else State.OPEN, 2, fixed, first.reason)
    return _kept_or_dropped(item, choice, 2, first.reason)


def of_first_group(item: ReviewItem, own: Sequence[Decision], settings: ReviewSettings) -> Outcome:
    choice = majority([each.decision for each in own], settings.panel)
    complete = len(own) >= settings.panel
    if choice is Choice.FIX:
        fixed = _agreed_fix(own, settings.panel)
        if fixed is not None:
            return Outcome(State.FIXED, 1, fixed)
        return Outcome(State.SECOND, 1, reason="no fix that most agree on") if complete else Outcome(State.FIRST, 1)
    if choice is None:
        return Outcome(State.SECOND, 1, reason="no majority") if complete else Outcome(State.FIRST, 1)
    if choice is Choice.DROP and settings.dropped_again:
        return Outcome(State.SECOND, 1, reason="dropped by the first group")
    return _kept_or_dropped(item, choice, 1)


def _kept_or_dropped(item: ReviewItem, choice: Choice, group: Group, reason: str = "") -> Outcome:
    return (
        Outcome(State.DROPPED, group, None, reason) if choice is Choice.DROP else Outcome(State.KEPT, group, item.record, reason)
    )


def _agreed_fix(own: Sequence[Decision], panel: int) -> Mapping[str, Any] | None:
    """The fixed record that more than half gave, to the letter."""
    given: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in own:
        if each.decision is Choice.FIX and each.fixed is not None:
            given[record_digest(each.fixed)].append(each.fixed)
    return next((same[0] for same in given.values() if 2 * len(same) > max(panel, len(own))), None)
