"""When a conversation has done what its task needs: goal conditions by type (section 3.2), and a rule that looks for them.

The rule reads words by patterns (``stss.speech``): it stands in for a judge in tests and demonstrations, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from sociable.benchmarks.stss.keywords import is_about
from sociable.benchmarks.stss.speech import find_days, find_moments, find_times, has_place, is_assent, is_refusal, parse_speech
from sociable.benchmarks.stss.task import Part, Task, TaskType
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


def is_met_in_conversation(
    condition: Condition, task: Task, lines: Sequence[Line], minute: int, clock: Clock, places: Sequence[str]
) -> bool:
    """Whether the performer's words, and for what must be agreed the other's too, meet a condition.

    ``places``: names of all that could be agreed on.
    """
    if condition is Condition.TIME_AGREED:
        return find_agreed_moment(task, lines, minute, clock) is not None
    if condition is Condition.PLACE_AGREED:
        return find_agreed_place(lines, places) is not None
    return _is_told(condition, task, [line.says for line in lines if line.speaker == task.performer], minute, clock)


def is_met_in_summary(condition: Condition, task: Task, summary: str, minute: int, clock: Clock, places: Sequence[str]) -> bool:
    """Whether a summary names what a condition is about. Of what must be agreed it must not tell that it was refused."""
    if condition is Condition.TIME_AGREED:
        return bool(_find_possible_moments(task, summary, minute, clock)) and not is_refusal(summary)
    if condition is Condition.PLACE_AGREED:
        return any(has_place(summary, place) for place in places) and not is_refusal(summary)
    return _is_told(condition, task, [summary], minute, clock)


def _is_told(condition: Condition, task: Task, texts: Sequence[str], minute: int, clock: Clock) -> bool:
    # Time and place may be told though the thing itself is not named: each condition stands for itself.
    about = task.activity if condition in (Condition.TIME, Condition.PLACE) else ""
    parts = parse_speech(task, [*texts, about], minute, clock).parts
    match condition:
        case Condition.INVITED | Condition.PURPOSE:
            return Part.ACTIVITY in parts
        case Condition.PLACE:
            return Part.PLACE in parts
        case Condition.TIME:
            return Part.TIME in parts
        case Condition.ASKED:
            return any(is_about(" ".join(texts), step.signs) for step in task.subtasks)
        case Condition.FIRST_STEP:
            return task.needed_parts[0] in parts
        case Condition.FURTHER_STEPS:
            return parts.issuperset(task.needed_parts[1:])
        case Condition.ORDER:
            return parts.issuperset(task.needed_parts) and any(_ORDER.search(text) for text in texts)
    raise AssertionError(f"{condition} is not something one side tells the other")


_ORDER = re.compile(
    r"\b(first|then|after(?:wards)?|before|next|finally|in th(?:is|at) order|one after the other)\b", re.IGNORECASE
)


def find_agreed_moment(task: Task, lines: Sequence[Line], minute: int, clock: Clock) -> int | None:
    """When both mean to do it, within the task's time; None: they have not settled it."""

    def is_repeated(proposal: int, says: str) -> bool:
        """Whether the hour is named again, without a day: "18:00 it is"."""
        named = any(time.minute == proposal % MINUTES_PER_DAY for time in find_times(says))
        return named and not find_days(says, minute // MINUTES_PER_DAY, clock)

    return _find_agreed(lines, lambda says: _find_possible_moments(task, says, minute, clock), is_repeated)


def find_agreed_place(lines: Sequence[Line], places: Sequence[str]) -> str | None:
    """Where both mean to do it; None: they have not settled it."""
    return _find_agreed(lines, lambda says: [place for place in places if has_place(says, place)])


def _find_possible_moments(task: Task, says: str, minute: int, clock: Clock) -> list[int]:
    return [moment for moment in find_moments(says, minute, clock) if task.start <= moment < task.end]


def _find_agreed(
    lines: Sequence[Line], find: Callable[[str], Sequence[T]], is_repeated: Callable[[T, str], bool] = lambda thing, says: False
) -> T | None:
    """The last thing that one proposed and the other named again, or said yes to without naming another."""
    proposer = ""
    proposal: T | None = None
    settled: T | None = None
    for line in lines:
        found = find(line.says)
        if settled is not None and (settled in found or not found):
            continue
        agrees = False
        if proposal is not None and line.speaker != proposer and not is_refusal(line.says):
            agrees = (not found and is_assent(line.says)) or proposal in found or is_repeated(proposal, line.says)
        if agrees:
            settled = proposal
        elif found:
            proposer, proposal, settled = line.speaker, found[0], None
    return settled
