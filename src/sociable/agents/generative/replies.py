"""Reading what models reply: JSON with the faults they make, times and days in their many spellings.

More lenient than the reading of verdicts: a plan that can be understood should be lived, and nothing is scored here.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import islice
from typing import Any

from sociable.core.prompts import defuse
from sociable.core.records import make_storable
from sociable.town.clock import MINUTES_PER_DAY, Clock

_LONGEST = 30_000
_ATTEMPTS = 8
_NESTED = re.compile(r"(?:[\[{]\s*){12}")
"""Deeper than any reply that means something; it would take long to find that out otherwise."""
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_SMART_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


def parse_value(text: str) -> dict[str, Any] | list[Any] | None:
    """The first object or list in a reply, whatever stands around it; keys in lower case. None where there is none.

    Code fences, prose before and after, trailing commas, single quotes and Python's words pass; of what was cut off, the
    part that is whole.
    """
    text = text[:_LONGEST]
    if _NESTED.search(text):
        return None
    for attempt, start in enumerate(match.start() for match in islice(re.finditer(r"[{\[]", text), _ATTEMPTS)):
        # The first one is mended before what stands inside it is taken for the whole.
        for read in (_parse_json, _parse_python, *([_parse_cut_off] if attempt == 0 else [])):
            found = _lower_keys(read(text[start:]))
            if found and isinstance(found, dict | list):
                return found
    return None


def _parse_json(text: str) -> Any:
    for each in (text, _TRAILING_COMMA.sub("", text), _TRAILING_COMMA.sub("", text.translate(_SMART_QUOTES))):
        with suppress(ValueError, RecursionError):
            return json.JSONDecoder(strict=False).raw_decode(each)[0]
    return None


def _parse_python(text: str) -> Any:
    """An object as Python writes it. Quotes are not understood in the search for the bracket that closes it."""
    depth = 0
    for match in re.finditer(r"[{}\[\]]", text):
        depth += 1 if match.group() in "{[" else -1
        if depth == 0:
            with warnings.catch_warnings(), suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                warnings.simplefilter("ignore")  # about escapes that Python does not know
                return ast.literal_eval(text[: match.end()])
            return None
    return None


def _parse_cut_off(text: str) -> Any:
    """The whole part of a text that ends too early: brackets are closed, if need be before its last commas."""
    for _ in range(_ATTEMPTS):
        if (found := _parse_json(text + _find_closing(text))) is not None:
            return found
        text = text.rpartition(",")[0]
    return None


def _find_closing(text: str) -> str:
    open_brackets, inside, escaped = [], False, False
    for sign in text:
        if inside:
            inside = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            inside = True
        elif sign in "{[":
            open_brackets.append("}" if sign == "{" else "]")
        elif sign in "}]" and open_brackets:
            open_brackets.pop()
    return ('"' if inside else "") + "".join(reversed(open_brackets))


def _lower_keys(value: Any, depth: int = 0) -> Any:
    """A value with its keys in lower case; what lies too deep in it is left out."""
    if depth > 5:
        return None
    if isinstance(value, dict):
        return {str(key).strip().lower(): _lower_keys(each, depth + 1) for key, each in value.items()}
    return [_lower_keys(each, depth + 1) for each in value] if isinstance(value, list | tuple) else value


def parse_fields(text: str) -> dict[str, Any]:
    """The object in a reply; a list counts as one without names. Empty where there is neither."""
    found = parse_value(text) or {}
    return found if isinstance(found, dict) else {"": found}


class Unreadable(Exception):
    """Raised when a reply cannot be read; the text tells the model what was wrong with it."""


def find_list(fields: Mapping[str, Any], name: str) -> list[Any]:
    """A field that is a list, or an object as its only item; where there is no such field, the only list there is."""
    value = fields.get(name)
    if isinstance(value, dict | list):
        return [value] if isinstance(value, dict) else value
    lists = [each for each in fields.values() if isinstance(each, list)]
    return lists[0] if value is None and len(lists) == 1 else []


def clean_text(value: Any, limit: int) -> str:
    """A value as one line without control words, at most ``limit`` characters; a list's items with semicolons."""
    if isinstance(value, list):
        value = "; ".join(filter(None, (clean_text(each, limit) for each in value[:20])))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = " ".join(defuse(make_storable(str(value))).split())
    return "" if text.lower().rstrip(".") in EXAMPLES else text[:limit].rstrip()


EXAMPLES = frozenset(
    {
        "what you do",
        "what you will do",
        "sector: arena",
        "your words",
        "your thought",
        "your thought, in one sentence",
        "a fact you were told",
        "the full name",
        "one sentence",
        "the day in broad strokes, 5 to 8 sentences",
        "what it was about and how it ended, 1 to 3 sentences, as you would remember it",
        "what it was about and how it ended, in 1 to 3 sentences, as you would remember it",
        "the day, the hours, what you have promised or mean to do because of it @ sector: arena",
        "a fact you were told, with names, places and times, that is worth keeping or passing on",
    }
)
"""What stands for an answer in the forms that are asked for, in lower case: whoever gives it back has answered nothing."""


def is_yes(value: Any) -> bool:
    """Whether a field says yes."""
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes", "y"))


_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")


def find_number(value: Any) -> float | None:
    """The first number in a value."""
    if isinstance(value, str):
        found = _NUMBER.search(value)
        return float(found.group()) if found else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e6 else None


def find_importance(value: Any) -> float:
    """An importance from 1 to 10, or 0 where a value says none."""
    number = find_number(value)
    return 0.0 if number is None else min(10.0, max(1.0, number))


_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})\s*(?:[:.hH]\s*(?P<minute>[0-5]\d)(?::[0-5]\d)?)?\s*(?P<half>[ap]\.?\s?m\b\.?)?", re.I
)
_FOUR_DIGITS = re.compile(r"\s*(\d{1,2})([0-5]\d)\s*")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})T?")
_BARE_HOUR = re.compile(r"\s*(?:at\s+|by\s+)?\d{1,2}\s*(?:h|o['’]clock)?\s*", re.IGNORECASE)
_NAMED_TIMES = {"noon": 12 * 60, "midday": 12 * 60, "midnight": 24 * 60}


def find_times(value: Any) -> list[int]:
    """The times of day in a value, in minutes from 0 to 1440: 19:00, 7 pm, 19h30, 19.30, 1900, noon; a number is an hour."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(int(value)) if abs(value) < 10_000 else ""
    if not isinstance(value, str):
        return []
    text = _ISO_DATE.sub(" ", value[:80])
    if four := _FOUR_DIGITS.fullmatch(text):
        text = f"{four[1]}:{four[2]}"
    found = [
        (match.start(), minute)
        for match in _TIME.finditer(text)
        if (match["minute"] or match["half"] or _BARE_HOUR.fullmatch(text))
        if (minute := _parse_minute(match)) is not None
    ]
    found += [(text.lower().find(name), minute) for name, minute in _NAMED_TIMES.items() if name in text.lower()]
    return [minute for _, minute in sorted(found)]


def _parse_minute(match: re.Match[str]) -> int | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if half := (match["half"] or "").lower():
        if not 1 <= hour <= 12:
            # 19:00 pm says the same twice.
            return hour * 60 + minute if 12 < hour < 24 and half.startswith("p") else None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    total = hour * 60 + minute
    return total if total <= MINUTES_PER_DAY else None


def find_time(value: Any) -> int | None:
    """The first time of day in a value."""
    return next(iter(find_times(value)), None)


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_MONTH = re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{'|'.join(_MONTHS)})[a-z]*")
_MONTH_DAY = re.compile(rf"\b(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b")
_SOON = {"day after tomorrow": 2, "tomorrow": 1, r"\b(?:today|tonight|now|this (?:morning|afternoon|evening))\b": 0}
_WEEKDAY = re.compile(rf"\b({'|'.join((*_WEEKDAYS, 'tues', 'thurs?', *(day[:3] for day in _WEEKDAYS)))})\b")


def find_day(value: Any, minute: int, clock: Clock) -> int | None:
    """The day a value names, counted from 0: tomorrow, Tuesday (the next one, today included), 2023-02-14, 14 February.

    None where it names none.
    """
    if not isinstance(value, str):
        return None
    text, today = value[:80].lower(), minute // MINUTES_PER_DAY
    if found := _ISO_DATE.search(value[:80]):
        return _count_days(clock, int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_MONTH.search(text) or _MONTH_DAY.search(text):
        return _count_days(clock, clock.to_date(minute).year, _MONTHS.index(found["month"]) + 1, int(found["day"]))
    for words, days in _SOON.items():
        if re.search(words, text):
            return today + days
    if found := _WEEKDAY.search(text):
        wanted = next(place for place, day in enumerate(_WEEKDAYS) if day.startswith(found[1][:3]))
        return today + (wanted - clock.to_date(minute).weekday()) % 7
    return None


def _count_days(clock: Clock, year: int, month: int, day: int) -> int | None:
    try:
        return (date(year, month, day) - clock.start).days
    except ValueError:
        return None


def find_name(value: Any, names: Sequence[str]) -> str:
    """The one of ``names`` that is meant, by the whole name or a part that only one has; empty for nobody."""
    text = clean_text(value, 120).lower()
    whole = [name for name in names if name.lower() == text] or [name for name in names if _is_in(name.lower(), text)]
    parts = [name for name in names if any(_is_in(part, text) for part in name.lower().split() if len(part) > 1)]
    return next((found[0] for found in (whole, parts) if len(found) == 1), "")


def _is_in(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None
