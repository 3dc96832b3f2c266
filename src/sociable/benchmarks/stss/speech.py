"""Times, days, places and consent in people's words, read by rule; and how times and places are said.

By these rules the reference residents understand an invitation, and reports tell who was told what. They know no grammar: a
time that is named counts as said, whatever is said about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from sociable.benchmarks.stss.keywords import find_stems, has_phrase, is_about
from sociable.benchmarks.stss.task import Part, Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day

_HOURS = ("twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_PAST = {"half past": 30, "quarter past": 15, "quarter to": -15, "fifteen": 15, "thirty": 30, "forty-five": 45, "forty five": 45}

# Parts of patterns: an hour in words or figures, the half of the day beside it, what stands between the two ends of a span.
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
"""The words that may follow a bare number that is an hour: "at one point" and "at 12 Chandler's Row" are no times."""

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


class TimeInText(NamedTuple):
    """A time of day that a text names."""

    place: int
    """Its position in the text."""
    minute: int
    """Minute of the day."""
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
def find_times(text: str) -> tuple[TimeInText, ...]:
    """The times of day that a text names, in their order."""
    found: dict[int, tuple[int, TimeInText]] = {}
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            place = match.start("noon" if "noon" in match.groupdict() else "hour")
            if not any(start < match.end() and place < end for start, (end, _) in found.items()):
                found[place] = (match.end(), _read_time(match, text, place))
    return tuple(time for _, (_, time) in sorted(found.items()))


def _read_time(match: re.Match[str], text: str, place: int) -> TimeInText:
    given = match.groupdict()
    if given.get("noon"):
        return TimeInText(place, 12 * 60, True)
    hour, half = _read_hour(given["hour"]), _read_half(given.get("half") or "")
    if given.get("end_half"):
        # "11 to 1 pm" begins in the morning.
        end_half, end = _read_half(given["end_half"]), _read_hour(given["end"])
        half = end_half if hour % 12 <= end % 12 or end_half == "am" else "am"
    minute = int(given.get("minute") or 0) + _PAST.get(" ".join((given.get("beside") or "").lower().split()), 0)
    sure = bool(half) or hour > 12 or (len(given["hour"]) == 2 and given["hour"].startswith("0"))
    if not sure:
        # "Tomorrow evening, at 8": the part of the day, where the sentence names only one.
        sentence = text[slice(*_find_sentence(text, place))]
        morning, later = bool(_MORNING.search(sentence)), bool(_LATER.search(sentence))
        sure = morning != later
        half = ("am" if morning else "pm") if sure else ""
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return TimeInText(place, hour * 60 + minute, sure)


def _read_hour(word: str) -> int:
    return (_HOURS.index(word.lower()) or 12) if word.lower() in _HOURS else int(word)


def _read_half(words: str) -> str:
    words = words.lower().replace(".", "")
    return "" if not words.strip() else "am" if "am" in words.split() or "morning" in words else "pm"


def _find_sentence(text: str, place: int) -> tuple[int, int]:
    """The positions at which the sentence around ``place`` and the one after it begin."""
    starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(text)), len(text) + 1]
    number = max(number for number, start in enumerate(starts[:-1]) if start <= place)
    return starts[number], starts[number + 1]


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
def find_days(text: str, today: int, clock: Clock) -> tuple[tuple[int, int], ...]:
    """The days that a text said on day ``today`` names, each after its position: of this week, or the day before. From 0."""
    week = [(day, clock.to_date(day * MINUTES_PER_DAY)) for day in range(max(today - 1, 0), today + 7)]
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
    if given.get("year") not in (None, str(day.year)):
        return False
    if given.get("number"):
        # 02/14/2023 as well as 14/02/2023.
        return {int(given["number"]), int(given["day"])} == {day.month, day.day}
    return f"{day:%b}".startswith((given.get("month") or "")[:3].title()) and int(given["day"]) == day.day


def find_moments(text: str, minute: int, clock: Clock) -> list[int]:
    """The moments that a text said at ``minute`` names, in their order.

    A time is taken on the day it belongs to, or when it comes next; without its half of the day it is one from 07:00 to 18:59.
    """
    return [candidates[0] for candidates in _find_candidates(text, minute, clock)]


def _find_candidates(text: str, minute: int, clock: Clock, day: int | None = None) -> list[tuple[int, ...]]:
    """The moments that a text names, each with its other half of the day where that was not said.

    ``day``: the last that was named earlier in the conversation.
    """
    today = minute // MINUTES_PER_DAY
    days = find_days(text, today, clock)
    found = []
    for time in find_times(text):
        named = _find_day(time, days, text)
        on = day if named is None else named
        moments = [(today if on is None else on) * MINUTES_PER_DAY + each for each in time.candidates]
        found.append(tuple(each + MINUTES_PER_DAY if on is None and each <= minute else each for each in moments))
    return found


def _find_day(time: TimeInText, days: Sequence[tuple[int, int]], text: str) -> int | None:
    """The day named last before a time in its sentence, or first after it there; else last before it, or first after it."""
    begin, end = _find_sentence(text, time.place)
    for among in ([each for each in days if begin <= each[0] < end], days):
        before = [day for place, day in among if place < time.place]
        after = [day for place, day in among if place > time.place]
        if before or after:
            return before[-1] if before else after[0]
    return None


# Places and consent.


@lru_cache(maxsize=4096)
def has_place(text: str, place: str) -> bool:
    """Whether a text names a place ``Sector: arena``: its sector, by name."""
    said = set(find_stems(text))
    wanted = [stem for stem in find_stems(place.partition(":")[0]) if stem not in _SMALL]
    return bool(wanted) and all(stem in said for stem in wanted)


_SMALL = frozenset(find_stems("the a of and at"))
_ASSENT = re.compile(
    r"\b(yes|yeah|sure|great|perfect|works|fine|good|okay|ok|agreed|deal|done|settled|gladly|wonderful|lovely|see you)\b",
    re.IGNORECASE,
)
_DISSENT = re.compile(
    r"\b(?:no(?! (?:problem|worries|trouble))|not(?! a problem)|never|cannot(?! wait)|(?!can['’]t wait)\w+n['’]t"
    r"|unfortunately)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"\b(cannot|can['’]t|could not|couldn['’]t|won['’]t|sorry|no time|declined|refused)\b", re.IGNORECASE)


def is_assent(text: str) -> bool:
    """Whether somebody agrees: "that works", and not "that's no good" or "I am not sure"."""
    return bool(_ASSENT.search(text)) and not has_denial(text)


def has_denial(text: str) -> bool:
    """Whether a sentence has a negation that may be a no: "I will not", and not "no problem"."""
    return bool(_DISSENT.search(text))


def is_refusal(text: str) -> bool:
    return bool(_REFUSAL.search(text))


def say_place(place: str) -> str:
    """Puts ``Sector: arena`` as people say it: The Guildhall (hall)."""
    sector, _, arena = place.partition(":")
    return f"{sector} ({arena.strip()})" if arena else sector


def say_moment(moment: int, clock: Clock) -> str:
    """Puts a minute of the simulation as people say it: Tuesday at 17:00."""
    return f"{clock.to_datetime(moment):%A} at {format_time_of_day(moment)}"


# Words about a task.


class Said(NamedTuple):
    """Everything that has been said of a task."""

    parts: frozenset[str]
    """See ``Task.needed_parts``."""
    moment: int | None = None
    """The minute at which it is to be, if that was said and could be."""
    place: str = ""
    """The place, if that was said."""

    def list_missing(self, task: Task) -> tuple[str, ...]:
        return tuple(part for part in task.needed_parts if part not in self.parts)


def parse_speech(task: Task, lines: Sequence[str], minute: int, clock: Clock) -> Said:
    """Reads what ``lines``, said at ``minute``, tell of a task."""
    parts: set[str] = set()
    if task.type is TaskType.HELP:
        whole = " ".join(lines)
        for part, step in zip(task.needed_parts, task.subtasks, strict=True):
            if is_about(whole, step.signs) and has_place(whole, step.place):
                parts.add(part)
    elif any(has_phrase(line, task.activity) or is_about(line, task.signs) for line in lines):
        parts.add(Part.ACTIVITY)
    if not parts:
        return Said(frozenset())
    moment, where = None, ""
    day: int | None = None
    for line in lines:
        # Of several the last that was said holds: a time is settled in the course of a conversation.
        for possible in (each for candidates in _find_candidates(line, minute, clock, day) for each in candidates):
            # Where the half of the day was not said, the thing can be in either.
            if possible == task.start or (not task.has_fixed_time and task.start <= possible < task.end):
                parts.add(Part.TIME)
                moment = possible
                break
        day = next((each for _, each in reversed(find_days(line, minute // MINUTES_PER_DAY, clock))), day)
        for place in [task.place] if task.place else task.places:
            if has_place(line, place):
                parts.add(Part.PLACE)
                where = place
    return Said(frozenset(parts), moment, where)
