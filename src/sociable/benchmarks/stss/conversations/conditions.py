"""Goal conditions, by which a conversation has done what its task needs (section 3.2), and a rule that looks for them.

The rule reads words by patterns (``stss.speech``): it stands in for a judge in tests and demonstrations, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from sociable.benchmarks.stss.keywords import is_about
from sociable.benchmarks.stss.reference import CONSENT
from sociable.benchmarks.stss.speech import (
    find_days,
    find_moments,
    find_times,
    has_denial,
    has_place,
    is_assent,
    is_refusal,
    parse_speech,
)
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
    AGREED = "agreed"
    FIRST_ASKED = "first thing asked"
    FIRST_PLACE = "its place"
    SECOND_ASKED = "second thing asked"
    SECOND_PLACE = "the second's place"


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

LEVEL_2_CONDITIONS: Mapping[TaskType, tuple[Condition, ...]] = {
    kind: (*conditions, Condition.AGREED) for kind, conditions in CONDITIONS.items()
}
"""At level 2 the other has a reason against it, so that telling is not enough: it must agree as well."""

AUTHORS_CONDITIONS: Mapping[TaskType, tuple[Condition, ...]] = {
    TaskType.PUBLIC: (Condition.INVITED, Condition.TIME, Condition.PLACE),
    TaskType.APPOINTMENT: (Condition.PURPOSE, Condition.TIME_AGREED, Condition.PLACE_AGREED),
    TaskType.COMPANIONS: (Condition.INVITED, Condition.TIME_AGREED, Condition.PLACE),
    TaskType.ONLINE: (Condition.INVITED, Condition.TIME),
    TaskType.HELP: (Condition.FIRST_ASKED, Condition.FIRST_PLACE, Condition.SECOND_ASKED, Condition.SECOND_PLACE),
}
"""The conditions in the authors' repository, in the order of their questions. Of help: the first two things, in any order."""


@dataclass(frozen=True)
class ConditionRule:
    """Finds by rule which conditions of a task are met by words said at ``minute``."""

    task: Task
    minute: int
    clock: Clock
    places: Sequence[str]
    """The names of all places that could be agreed on."""

    def is_met_in_conversation(self, condition: Condition, lines: Sequence[Line]) -> bool:
        """Whether the performer's words, and for what must be agreed the other's too, meet a condition."""
        if condition is Condition.TIME_AGREED:
            return self.find_agreed_moment(lines) is not None
        if condition is Condition.PLACE_AGREED:
            return self.find_agreed_place(lines) is not None
        if condition is Condition.AGREED:
            # Whoever takes its yes back has not agreed, and whoever is won over later has.
            answers = [_find_answers(line.says, CONSENT) for line in lines if line.speaker != self.task.performer]
            return next((each[-1] for each in reversed(answers) if each), False)
        return self._is_told(condition, [line.says for line in lines if line.speaker == self.task.performer])

    def is_met_in_summary(self, condition: Condition, summary: str) -> bool:
        """Whether a summary names what a condition is about, and does not tell that what must be agreed was refused."""
        if condition is Condition.TIME_AGREED:
            return bool(self._find_moments(summary)) and not is_refusal(summary)
        if condition is Condition.PLACE_AGREED:
            return bool(self._find_places(summary)) and not is_refusal(summary)
        if condition is Condition.AGREED:
            answers = _find_answers(summary, _AGREES)
            return bool(answers) and all(answers)
        return self._is_told(condition, [summary])

    def _is_told(self, condition: Condition, texts: Sequence[str]) -> bool:
        task = self.task
        # Time and place may be told though the thing itself is not named: each condition stands for itself.
        about = task.activity if condition in (Condition.TIME, Condition.PLACE) else ""
        parts = parse_speech(task, [*texts, about], self.minute, self.clock).parts
        whole = " ".join(texts)
        if condition is Condition.ASKED:
            return any(is_about(whole, step.signs) for step in task.subtasks)
        for asked, place, step in zip(_ASKED, _PLACES, task.subtasks, strict=False):
            if condition in (asked, place):
                return is_about(whole, step.signs) if condition is asked else has_place(whole, step.place)
        needed = {
            Condition.INVITED: (Part.ACTIVITY,),
            Condition.PURPOSE: (Part.ACTIVITY,),
            Condition.PLACE: (Part.PLACE,),
            Condition.TIME: (Part.TIME,),
            Condition.FIRST_STEP: task.needed_parts[:1],
            Condition.FURTHER_STEPS: task.needed_parts[1:],
            Condition.ORDER: task.needed_parts,
        }[condition]
        return parts.issuperset(needed) and (condition is not Condition.ORDER or any(map(_ORDER.search, texts)))

    def find_agreed_moment(self, lines: Sequence[Line]) -> int | None:
        """The minute at which both mean to do it, within the task's time; None: they have not settled it."""

        def is_repeated(proposal: int, says: str) -> bool:
            """Whether the hour is named again, without a day: "18:00 it is"."""
            named = any(time.minute == proposal % MINUTES_PER_DAY for time in find_times(says))
            return named and not find_days(says, self.minute // MINUTES_PER_DAY, self.clock)

        return _find_agreed(lines, self._find_moments, is_repeated)

    def find_agreed_place(self, lines: Sequence[Line]) -> str | None:
        """The place where both mean to do it; None: they have not settled it."""
        return _find_agreed(lines, self._find_places, lambda place, says: False)

    def _find_moments(self, says: str) -> list[int]:
        moments = find_moments(says, self.minute, self.clock)
        return [moment for moment in moments if self.task.start <= moment < self.task.end]

    def _find_places(self, says: str) -> list[str]:
        return [place for place in self.places if has_place(says, place)]


def _find_answers(says: str, agrees: re.Pattern[str]) -> list[bool]:
    """Each yes and no in a text, sentence by sentence; empty: it speaks of something else."""
    found = []
    for sentence in _SENTENCE_ENDS.split(says):
        denies = is_refusal(sentence) or (
            has_denial(sentence) and bool(agrees.search(sentence) or _BEGINS_WITH_NO.match(sentence))
        )
        if denies or agrees.search(sentence):
            found.append(not denies)
    return found


_SENTENCE_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")
_BEGINS_WITH_NO = re.compile(r"\W*(?:no|not|never)\b", re.IGNORECASE)
_AGREES = re.compile(rf"{CONSENT.pattern}|\bI (?:have )?(?:agreed|promised)\b", re.IGNORECASE)
_ASKED = (Condition.FIRST_ASKED, Condition.SECOND_ASKED)
_PLACES = (Condition.FIRST_PLACE, Condition.SECOND_PLACE)
_ORDER = re.compile(r"(?i)\b(first|then|after(?:wards)?|before|next|finally|in th(?:is|at) order|one after the other)\b")


def _find_agreed(lines: Sequence[Line], find: Callable[[str], Sequence[T]], is_repeated: Callable[[T, str], bool]) -> T | None:
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
