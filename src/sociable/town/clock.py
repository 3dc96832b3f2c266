"""Simulated time: minutes from midnight of the first day, and their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

MINUTES_PER_DAY = 24 * 60

_TIME = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class Clock:
    """Minute 0 is midnight at the beginning of ``start``; the default is the paper's first day (App. A)."""

    start: date = date(2023, 2, 13)

    def to_datetime(self, minute: int) -> datetime:
        return datetime(self.start.year, self.start.month, self.start.day) + timedelta(minutes=minute)

    def to_date(self, minute: int) -> date:
        return self.start + timedelta(days=minute // MINUTES_PER_DAY)

    def render_day(self, minute: int) -> str:
        """The day of a minute: Tuesday 14 February 2023."""
        day = self.to_date(minute)
        return f"{day:%A} {day.day} {day:%B %Y}"

    def render_minute(self, minute: int) -> str:
        """The day and the time of a minute: Tuesday 14 February 2023, 19:05."""
        return f"{self.render_day(minute)}, {format_time_of_day(minute)}"


def format_time_of_day(minute: int) -> str:
    """The time of a minute: 19:05."""
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


def parse_minute(time: str, day: int = 1) -> int:
    """The minute of a time like 19:05 on a day counted from 1; 24:00 is the day's end. Raises ValueError."""
    found = _TIME.fullmatch(time.strip())
    if not found or (found[1] == "24" and found[2] != "00"):
        raise ValueError(f"'{time}' is no time of day; expected HH:MM, from 00:00 to 24:00")
    return (day - 1) * MINUTES_PER_DAY + int(found[1]) * 60 + int(found[2])


def count_day(minute: int) -> int:
    """The day of a minute, counted from 1."""
    return minute // MINUTES_PER_DAY + 1
