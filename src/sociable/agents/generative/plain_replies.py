"""Replies in plain lines, which a model too weak for JSON is asked for (App. A.2), read into the fields of the JSON forms.

Any model may reply so: what can be understood counts, whichever form was asked for. What has not the form gives no fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sociable.agents.generative.replies import find_day, find_number, find_times
from sociable.town.clock import Clock

_BULLET = re.compile(r"^\s*(?:[-*•]+|\d{1,2}[.)](?=\s))?\s*")
_TIMED = re.compile(r"\W*\d{1,2}(?:\s*[:.h]\s*\d{2}\b|\s*[ap]\.?m\b)", re.IGNORECASE)
_STEP = re.compile(
    r"\W*(?:part\s*)?(?:(?P<part>\d{1,2})\s*[,:;.)-]\s*)?(?P<minutes>\d{1,3})\s*min\w*\W*(?P<doing>[^@]+)(?:@(?P<place>.*))?",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\W*(summary|importance|agreed|remember|today|bed|wake)\b\W*?:\s*(.*)", re.IGNORECASE)
_RATINGS = re.compile(r"[\d\s,;:.()\[\]-]+")
_THOUGHT = re.compile(r"\W*(\d{1,2})\s*[:.)-]\s*(.+)")
_LONGEST_CHOICE = 8
"""Words of a line that is a name and little beside it: in a longer one the name may be that of somebody passed over."""


def _list_lines(text: str) -> list[str]:
    return list(filter(None, (line.replace("**", "").strip() for line in text.splitlines())))


def _list_labelled(text: str) -> Iterator[tuple[str, str]]:
    for line in _list_lines(text):
        if found := _LABELLED.match(line):
            yield found[1].lower(), found[2].strip()


def read_plan_lines(text: str) -> dict[str, Any]:
    """``08:00-09:00 breakfast @ Home: kitchen``; what stands before the first such line is the plan in broad strokes."""
    lines = [_BULLET.sub("", line) for line in _list_lines(text)]
    hours = [line for line in lines if _TIMED.match(line)]
    if not hours:
        return {}
    labelled = {name: value for name, value in _list_labelled(text) if name in ("bed", "wake")}
    return {"plan": " ".join(lines[: lines.index(hours[0])]), "hours": hours, **labelled}


def read_step_lines(text: str) -> dict[str, Any]:
    """``1, 20 minutes: frying eggs @ Home: kitchen``, with the part's number or without."""
    return {"steps": [found.groupdict() for line in _list_lines(text) if (found := _STEP.fullmatch(line))]}


def read_conclusion_lines(text: str, minute: int, clock: Clock) -> dict[str, Any]:
    """Lines of ``Summary``, ``Importance``, ``Agreed``, ``Remember`` and ``Today``."""
    found = list(_list_labelled(text))
    said = [(name, value) for name, value in found if value.strip(" .-").lower() not in ("", "none", "nothing", "no one")]
    fields: dict[str, Any] = dict(said)
    fields["agreed"] = [_read_agreement(value, minute, clock) for name, value in said if name == "agreed"]
    fields["remember"] = [value for name, value in said if name == "remember"]
    return fields


def _read_agreement(line: str, minute: int, clock: Clock) -> dict[str, str]:
    """``tomorrow, 18:00-19:00, rowing @ Boathouse: slip``."""
    said, _, place = line.partition("@")
    when: list[str] = []
    doing: list[str] = []
    for part in filter(None, map(str.strip, said.split(","))):
        is_when = len(part.split()) <= 5 and (find_times(part) or find_day(part, minute, clock) is not None)
        (when if is_when else doing).append(part)
    hours = " ".join(part for part in when if find_times(part))
    days = " ".join(part for part in when if find_day(part, minute, clock) is not None)
    return {"day": days, "from": hours, "doing": ", ".join(doing), "place": place.strip()}


def read_rating_lines(text: str, count: int) -> dict[str, Any]:
    """``3, 5, 2``, or a number after each line's own."""
    if not _RATINGS.fullmatch(text):
        return {}
    numbers = list(map(int, re.findall(r"\d+", text)))
    is_numbered = numbers[::2] == list(range(1, count + 1)) and len(numbers) == 2 * count
    return {"ratings": numbers[1::2] if is_numbered else numbers}


def read_thought_lines(text: str) -> dict[str, Any]:
    """``5: a thought``; numbers that only count the lines are no importance."""
    found: Sequence[re.Match[str]] = [match for line in _list_lines(text) if (match := _THOUGHT.fullmatch(line))]
    counts = [int(match[1]) for match in found] == list(range(1, len(found) + 1)) and len(found) > 1
    return {"thoughts": [{"text": match[2], "importance": None if counts else find_number(match[1])} for match in found]}


def read_choice(text: str) -> dict[str, Any]:
    """A name, or the word nobody."""
    first = next(iter(_list_lines(text)), "")
    if not first or len(first.split()) > _LONGEST_CHOICE:
        return {}
    return {"talk_to": "" if re.search(r"\b(?:nobody|no one|none)\b", first, re.IGNORECASE) else first}
