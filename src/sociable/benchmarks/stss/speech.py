"""What is said of times and places: read from people's words by rule.

By this the reference residents understand an invitation, and reports tell who was told what. It knows no grammar: a time
that is named counts as said, whatever is said about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from sociable.benchmarks.stss.keywords import mentions, names, stems
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, Clock

_HOURS = ("twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_PAST = {"half past": 30, "quarter past": 15, "quarter to": -15, "fifteen": 15, "thirty": 30, "forty-five": 45, "forty five": 45}

# Parts of patterns. An hour in words or figures; the half of the day beside it; what stands between the two ends of a span.
_WORDED = rf"(?:{'|'.join(_HOURS)})"
_HOUR = rf"(?:2[0-4]|1\d|0?\d|{_WORDED})"
_HALF = r"(?:a\.?m\b\.?|p\.?m\b\.?|in the (?:morning|afternoon|evening)|at night)"
_TO = r"\s*(?:-|–|—|to|until|till)\s*"
_BEGINNING = rf"(?P<hour>{_HOUR})(?:[:.](?P<minute>[0-5]\d))?"
_END = rf"(?P<end>{_HOUR})(?:[:.][0-5]\d)?\s*(?P<end_half>{_HALF})"
_NO_NUMBER_BEFORE = r"(?<![\d:.,/£$€])"
_PLAIN_AFTER = (
    r"(?=\s*(?:[.,:](?!\d)|[;!?)–—-]|$)|\s+(?:a\.?m|p\.?m|in the|at|or|and|until|till|to|on|if|for|today|tomorrow|tonight|this|"
    r"next|sharp|then|with|works?|would|is|suits?|mon|tues?|wed|thu|fri|sat|sun)\w*\b)"
)
"""What may follow a bare number that is an hour: "at one point" and "at 12 Chandler's Row" are no times."""

_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "5 to 6:30 pm", "between 5 and 7 pm": what is said of the end holds of the beginning.
        rf"{_NO_NUMBER_BEFORE}\b{_BEGINNING}(?={_TO}{_END})",
        rf"(?<=\bbetween ){_BEGINNING}(?=\s+and\s+{_END})",
        rf"{_NO_NUMBER_BEFORE}(?P<hour>[01]?\d|2[0-4])[:.h](?P<minute>[0-5]\d)(?!\d|[./-]\d)(?:\s*(?P<half>{_HALF}))?",
        rf"\b(?P<beside>half past|quarter past|quarter to)\s+(?P<hour>{_HOUR})\b(?:\s*(?P<half>{_HALF}))?",
        rf"\b(?P<hour>{_WORDED})[\s-](?P<beside>fifteen|thirty|forty[\s-]five)\b(?:\s*(?P<half>{_HALF}))?",
        rf"\b(?P<hour>{_HOUR})\s*o['’]?\s?clock\b(?:\s*(?P<half>{_HALF}))?",
        rf"{_NO_NUMBER_BEFORE}\b(?P<hour>{_HOUR})\s*(?P<half>{_HALF})",
        rf"\b(?:at|by|from|around|about|between|until|till)\s+(?P<hour>{_HOUR}){_PLAIN_AFTER}",
        r"\b(?P<noon>noon|midday)\b",
    )
)

_MORNING = re.compile(r"(?<!good )\bmorning\b", re.IGNORECASE)
_LATER = re.compile(r"(?<!good )\b(?:afternoon|evening|tonight|night)\b", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"(?<![ap]\.m)(?<!\b(?:Feb|Mar|Tue|Wed|Thu|Fri|Mon))[.!?]+\s+|\n+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Time:
    """A time of day in a text."""

    place: int
    """Of its first character."""
    minute: int
    sure: bool
    """Whether the half of the day was said."""

    @property
    def candidates(self) -> tuple[int, ...]:
        """The minutes of the day it can be, the likelier first: one from 07:00 to 18:59."""
        if self.sure or self.minute >= 12 * 60:
            return (self.minute,)
        later = self.minute + 12 * 60
        return (self.minute, later) if self.minute >= 7 * 60 else (later, self.minute)


@lru_cache(maxsize=16384)
def _times(text: str) -> tuple[_Time, ...]:
    found: dict[int, tuple[int, _Time]] = {}
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            place = match.start("noon" if "noon" in match.groupdict() else "hour")
            if not any(start < match.end() and place < end for start, (end, _) in found.items()):
                found[place] = (match.end(), _read(match, text, place))
    return tuple(time for _, (_, time) in sorted(found.items()))


def _read(match: re.Match[str], text: str, place: int) -> _Time:
    given = match.groupdict()
    if given.get("noon"):
        return _Time(place, 12 * 60, True)
    hour, half = _hour(given["hour"]), _half(given.get("half") or "")
    if given.get("end_half"):
        # "11 to 1 pm" begins in the morning.
        end_half, end = _half(given["end_half"]), _hour(given["end"])
        half = end_half if hour % 12 <= end % 12 or end_half == "am" else "am"
    minute = int(given.get("minute") or 0) + _PAST.get(" ".join((given.get("beside") or "").lower().split()), 0)
    sure = bool(half) or hour > 12 or (len(given["hour"]) == 2 and given["hour"].startswith("0"))
    if not sure:
        half = _half_of(_sentence(text, place))
        sure = bool(half)
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return _Time(place, hour * 60 + minute, sure)


def _hour(word: str) -> int:
    return (_HOURS.index(word.lower()) or 12) if word.lower() in _HOURS else int(word)


def _half(words: str) -> str:
    words = words.lower().replace(".", "")
    return "" if not words.strip() else "am" if "am" in words.split() or "morning" in words else "pm"


def _half_of(sentence: str) -> str:
    """ "Tomorrow evening, at 8": the part of the day, where a sentence names only one."""
    morning, later = _MORNING.search(sentence), _LATER.search(sentence)
    return "" if bool(morning) == bool(later) else "am" if morning else "pm"


def _sentence(text: str, place: int) -> str:
    starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(text)), len(text) + 1]
    number = max(number for number, start in enumerate(starts[:-1]) if start <= place)
    return text[starts[number] : starts[number + 1]]


def times_in(text: str) -> tuple[tuple[int, bool], ...]:
    """Times of day named in a text, in their order: minutes from midnight, and whether the half of the day was said."""
    return tuple((time.minute, time.sure) for time in _times(text))


# Days.

_ORDINAL = r"(?:st|nd|rd|th)?"
_MONTHS = tuple(date(2000, month, 1).strftime("%B") for month in range(1, 13))
_MONTH = rf"(?P<month>{'|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)})\b\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)(?!\d)",
        r"\b(?P<day>\d\d?)[./](?P<number>\d\d?)[./](?P<year>\d{4})\b",
        rf"\b(?P<day>\d\d?){_ORDINAL}(?:\s+of)?\s+{_MONTH}",
        rf"\b{_MONTH}\s+(?:the\s+)?(?P<day>\d\d?){_ORDINAL}\b(?![:.]\d|\s*(?:a\.?m|p\.?m))",
        r"\bthe\s+(?P<day>\d\d?)(?:st|nd|rd|th)\b(?!\s+(?:of|time|floor|century))",
    )
)
_WEEKDAY = re.compile(
    # Sat and sun are words of their own.
    r"\b(?:(?P<name>(?i:mon|tues|wednes|thurs|fri|satur|sun))(?i:days?)|(?P<short>Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri))\b"
)
_FROM_TODAY = (
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.IGNORECASE), 0),
    (re.compile(r"(?<!day after )\btomorrow\b", re.IGNORECASE), 1),
    (re.compile(r"\bday after tomorrow\b", re.IGNORECASE), 2),
)
_VALENTINE = re.compile(r"\bvalentine['’]?s?['’]? day\b", re.IGNORECASE)


@lru_cache(maxsize=16384)
def _days(text: str, today: int, clock: Clock) -> tuple[tuple[int, int], ...]:
    """Where a text names a day, and which: of this week, or the day before."""
    week = [(day, clock.day(day * MINUTES_PER_DAY)) for day in range(max(today - 1, 0), today + 7)]
    found = [(match.start(), today + ahead) for pattern, ahead in _FROM_TODAY for match in pattern.finditer(text)]
    for match in _WEEKDAY.finditer(text):
        said = (match["name"] or match["short"])[:3].title()
        found.append((match.start(), next(day for day, each in week if day >= today and f"{each:%a}" == said)))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            found += [(match.start(), day) for day, each in week if _is_date(match, each)]
    for match in _VALENTINE.finditer(text):
        found += [(match.start(), day) for day, each in week if (each.month, each.day) == (2, 14)]
    return tuple(sorted(set(found)))


def _is_date(match: re.Match[str], day: date) -> bool:
    given = match.groupdict()
    if given.get("year") and int(given["year"]) != day.year:
        return False
    if given.get("number"):
        said = (int(given["number"]), int(given["day"]))
        # 02/14/2023 as well as 14/02/2023.
        return (day.month, day.day) in (said, said[::-1])
    if given.get("month") and given["month"][:3].lower() != _MONTHS[day.month - 1][:3].lower():
        return False
    return int(given["day"]) == day.day


def days_in(text: str, minute: int, clock: Clock) -> list[int]:
    """Days named in a text said at ``minute``, from 0 for the first day of the simulation."""
    return sorted({day for _, day in _days(text, minute // MINUTES_PER_DAY, clock)})


def moments_in(text: str, minute: int, clock: Clock) -> list[int]:
    """The moments a text names: each time on the day it belongs to, or else when it comes next. In the order of the text.

    A time without its half of the day is taken for the one between 07:00 and 18:59.
    """
    return [candidates[0] for candidates in _moments(text, minute, clock)]


def _moments(text: str, minute: int, clock: Clock, day: int | None = None) -> list[tuple[int, ...]]:
    """The same, with the other half of the day where it was not said. ``day``: named earlier in the conversation."""
    days = _days(text, minute // MINUTES_PER_DAY, clock)
    found = []
    for time in _times(text):
        of = _day_of(time, days, text)
        if of is None:
            of = day
        if of is not None:
            found.append(tuple(of * MINUTES_PER_DAY + each for each in time.candidates))
        else:
            today = minute // MINUTES_PER_DAY * MINUTES_PER_DAY
            found.append(tuple(today + each + (MINUTES_PER_DAY if today + each <= minute else 0) for each in time.candidates))
    return found


def _day_of(time: _Time, days: Sequence[tuple[int, int]], text: str) -> int | None:
    """Of the days named the last before it in its sentence, the first after it there; else the last before, the first after."""
    if not days:
        return None
    starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(text)), len(text) + 1]
    number = max(number for number, start in enumerate(starts[:-1]) if start <= time.place)
    here = [each for each in days if starts[number] <= each[0] < starts[number + 1]]
    for among in (here, days):
        before = [day for place, day in among if place < time.place]
        after = [day for place, day in among if place > time.place]
        if before or after:
            return before[-1] if before else after[0]
    return None


@lru_cache(maxsize=4096)
def names_place(text: str, place: str) -> bool:
    """Whether a text names a place ``Sector: arena``: its sector, by name."""
    sector = place.partition(":")[0]
    said = set(stems(text))
    wanted = [stem for stem in stems(sector) if stem not in _SMALL]
    return bool(wanted) and all(stem in said for stem in wanted)


_SMALL = frozenset(stems("the a of and at"))


class Part:
    """What a person must be told to come, by name (section 3.2's goal conditions)."""

    ACTIVITY = "activity"
    PLACE = "place"
    TIME = "time"


def needs(task: Task) -> tuple[str, ...]:
    """What must have been said before somebody can agree. Of help: every step with its place."""
    match task.type:
        case TaskType.PUBLIC | TaskType.COMPANIONS | TaskType.APPOINTMENT:
            return (Part.ACTIVITY, Part.PLACE, Part.TIME)
        case TaskType.ONLINE:
            return (Part.ACTIVITY, Part.TIME)
        case TaskType.HELP:
            return tuple(f"step {number}" for number in range(1, len(task.subtasks) + 1))


@dataclass(frozen=True, slots=True)
class Said:
    """What has been said of a task."""

    parts: frozenset[str]
    moment: int | None = None
    """When it is to be, if that was said and could be."""
    place: str = ""
    """Where, if that was said."""

    def lacks(self, task: Task) -> tuple[str, ...]:
        return tuple(part for part in needs(task) if part not in self.parts)


def said_of(task: Task, lines: Sequence[str], minute: int, clock: Clock, places: Sequence[str] = ()) -> Said:
    """What ``lines``, said at ``minute``, tell of a task. ``places``: those that could be meant where the task names none."""
    parts: set[str] = set()
    moment, where = None, ""
    about = [line for line in lines if _is_about(task, line)]
    if about and task.type is not TaskType.HELP:
        parts.add(Part.ACTIVITY)
    if task.type is TaskType.HELP:
        whole = " ".join(lines)
        for number, subtask in enumerate(task.subtasks, start=1):
            if names(whole, subtask.signs) and names_place(whole, subtask.place):
                parts.add(f"step {number}")
    if not parts:
        return Said(frozenset())
    day: int | None = None
    for line in lines:
        # Of several the last that was said holds: a time is settled in the course of a conversation.
        possible = _possible(task, _moments(line, minute, clock, day))
        if possible is not None:
            parts.add(Part.TIME)
            moment = possible
        day = next((each for _, each in reversed(_days(line, minute // MINUTES_PER_DAY, clock))), day)
        for place in [task.place] if task.place else places:
            if place and names_place(line, place):
                parts.add(Part.PLACE)
                where = place
    return Said(frozenset(parts), moment, where)


def _is_about(task: Task, line: str) -> bool:
    return mentions(line, task.activity) or names(line, task.signs)


def _possible(task: Task, moments: Sequence[Sequence[int]]) -> int | None:
    """The first of the moments at which the task can begin; where the half of the day was not said, either."""
    fixed = task.type in (TaskType.PUBLIC, TaskType.ONLINE)
    for moment in (each for candidates in moments for each in candidates):
        if (fixed and moment == task.start) or (not fixed and task.start <= moment < task.end):
            return moment
    return None
