"""When a conversation has done what its task needs: goal conditions by type (section 3.2), and a rule that looks for them.

The rule reads words by patterns (``stss.speech``): it stands in for a judge in tests and demonstrations, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from sociable.benchmarks.stss.answers import assents, refuses
from sociable.benchmarks.stss.keywords import names
from sociable.benchmarks.stss.speech import Part, days_in, moments_in, names_place, said_of, times_in
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.events import Line

T = TypeVar("T")


class Condition(StrEnum):
    """One yes-or-no question about a conversation, or about what the listener took away from it."""

    INVITED = "invited"
    PLACE = "place"
    TIME = "time"
    PURPOSE = "purpose"
    TIME_AGREED = "time agreed"
    PLACE_AGREED = "place agreed"
    ASKED = "asked"
    FIRST_STEP = "first step"
    FURTHER_STEPS = "further steps"
    ORDER = "order"


CONDITIONS: Mapping[TaskType, tuple[Condition, ...]] = {
    TaskType.PUBLIC: (Condition.INVITED, Condition.PLACE, Condition.TIME),
    TaskType.APPOINTMENT: (Condition.PURPOSE, Condition.TIME_AGREED, Condition.PLACE_AGREED),
    TaskType.COMPANIONS: (Condition.INVITED, Condition.PLACE, Condition.TIME_AGREED),
    TaskType.ONLINE: (Condition.INVITED, Condition.TIME),
    TaskType.HELP: (Condition.ASKED, Condition.FIRST_STEP, Condition.FURTHER_STEPS, Condition.ORDER),
}
"""All must be met for success. What is specified is told; what is to be settled must be agreed by both (Table 2).

Of help the fourth is the order of the things, which the score of the action level depends on (App. A.1); its time is
"unspecified" in Table 2.
"""


def met_in_conversation(
    condition: Condition, task: Task, lines: Sequence[Line], minute: int, clock: Clock, places: Sequence[str]
) -> bool:
    """Whether the performer's words, and for what must be agreed the other's too, meet a condition.

    ``places``: names of all that could be agreed on.
    """
    if condition is Condition.TIME_AGREED:
        return agreed_moment(task, lines, minute, clock) is not None
    if condition is Condition.PLACE_AGREED:
        return agreed_place(lines, places) is not None
    own = [line.says for line in lines if line.speaker == task.performer]
    return _told(condition, task, own, minute, clock)


def met_in_summary(condition: Condition, task: Task, summary: str, minute: int, clock: Clock, places: Sequence[str]) -> bool:
    """Whether a summary names what a condition is about. Of what must be agreed it must not tell that it was refused."""
    if condition is Condition.TIME_AGREED:
        return bool(_possible(task, summary, minute, clock)) and not refuses(summary)
    if condition is Condition.PLACE_AGREED:
        return any(names_place(summary, place) for place in places) and not refuses(summary)
    return _told(condition, task, [summary], minute, clock)


def _told(condition: Condition, task: Task, texts: Sequence[str], minute: int, clock: Clock) -> bool:
    # Time and place may be told though the thing itself is not named: each condition stands for itself.
    about = task.activity if condition in (Condition.TIME, Condition.PLACE) else ""
    parts = said_of(task, [*texts, about], minute, clock, task.places).parts
    steps = [f"step {number}" for number in range(1, len(task.subtasks) + 1)]
    match condition:
        case Condition.INVITED | Condition.PURPOSE:
            return Part.ACTIVITY in parts
        case Condition.PLACE:
            return Part.PLACE in parts
        case Condition.TIME:
            return Part.TIME in parts
        case Condition.ASKED:
            return any(names(" ".join(texts), step.signs) for step in task.subtasks)
        case Condition.FIRST_STEP:
            return steps[0] in parts
        case Condition.FURTHER_STEPS:
            return all(step in parts for step in steps[1:])
        case Condition.ORDER:
            return all(step in parts for step in steps) and any(_ORDER.search(text) for text in texts)
    raise AssertionError(f"{condition} is not something one side tells the other")


_ORDER = re.compile(
    r"\b(first|then|after(?:wards)?|before|next|finally|in th(?:is|at) order|one after the other)\b", re.IGNORECASE
)


def agreed_moment(task: Task, lines: Sequence[Line], minute: int, clock: Clock) -> int | None:
    """When both mean to do it, within the task's time."""

    def repeats(proposal: int, says: str) -> bool:
        """Whether the hour is named again, without a day: "18:00 it is"."""
        return not days_in(says, minute, clock) and any(time == proposal % MINUTES_PER_DAY for time, _ in times_in(says))

    return _agreed(lines, lambda says: _possible(task, says, minute, clock), repeats)


def agreed_place(lines: Sequence[Line], places: Sequence[str]) -> str | None:
    """Where both mean to do it."""
    return _agreed(lines, lambda says: [place for place in places if names_place(says, place)], lambda place, says: False)


def _possible(task: Task, says: str, minute: int, clock: Clock) -> list[int]:
    return [moment for moment in moments_in(says, minute, clock) if task.start <= moment < task.end]


def _agreed(lines: Sequence[Line], named: Callable[[str], Sequence[T]], repeats: Callable[[T, str], bool]) -> T | None:
    """The last thing that one proposed and the other named again, or said yes to without naming another."""
    proposer = ""
    proposal: T | None = None
    settled: T | None = None
    for line in lines:
        found = named(line.says)
        if settled is not None and (settled in found or not found):
            continue
        agrees = False
        if proposal is not None and line.speaker != proposer and not refuses(line.says):
            agrees = (not found and assents(line.says)) or proposal in found or repeats(proposal, line.says)
        if agrees:
            settled = proposal
        elif found:
            proposer, proposal, settled = line.speaker, found[0], None
    return settled
