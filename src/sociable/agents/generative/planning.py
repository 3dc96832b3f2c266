"""A day's plan, as a resident means it: read out of a model's reply and mended, so that it can be lived. No model inside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sociable.agents.generative.plain_replies import read_plan_lines, read_step_lines
from sociable.agents.generative.replies import (
    Unreadable,
    clean_text,
    find_list,
    find_number,
    find_time,
    find_times,
    parse_fields,
)
from sociable.town.clock import MINUTES_PER_DAY, format_time_of_day
from sociable.town.persona import AT_HOME, Block, merge_blocks

SHORTEST_STEP, LONGEST_STEP = 5, 60
"""Minutes."""
MOST_IDLE = 180
"""Minutes before bedtime for which a plan may have nothing to do."""
SHORTEST_SLEEP = 60
"""Minutes between going to bed and getting up, whatever a plan says."""
AFTER_MIDNIGHT = 5 * 60
"""Times before this that have passed already belong to the night that follows."""
LATEST_BED = MINUTES_PER_DAY + AFTER_MIDNIGHT
MOST_PARTS, MOST_STEPS = 48, 60
DOING_LENGTH, PLACE_LENGTH, PLAN_LENGTH = 160, 80, 2000
"""Characters: what is longer is cut."""

_SLEEP = re.compile(r"\W*(?:sleep|asleep|(?:go|going|get|getting|head|heading|off|be|being|in)\b.{0,12}\b(?:bed|sleep)\b)", re.I)
_CLOCK_TIME = r"\d{1,2}(?:[:.h]\d{2})?\s*(?:[ap]m\b)?"
_IN_ONE_LINE = re.compile(rf"\W*{_CLOCK_TIME}\s*(?:(?:-|–|to|until)\s*{_CLOCK_TIME})?[\s:,–-]*(?P<doing>.*)", re.I)


_AT_ITS_END = re.compile(r",? at (?P<place>[^\W\d_][^:,]*: [^:,]+)$")
"""A place as habits and plans name it in prompts: "eating, at The Lantern: public bar"."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of time in minutes of the simulation, with a doing and a place; no place: wherever one is."""

    start: int
    end: int
    doing: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class DayPlan:
    """A day's parts from getting up to going to bed, without gaps."""

    words: str
    """The plan in broad strokes."""
    parts: tuple[Part, ...]
    bed: int
    wake: int
    """The next morning."""
    by_habit: bool = False
    """Whether no model made it: its parts are lived as they are."""

    def list_rest(self, minute: int) -> list[Part]:
        """The parts that are left of it at a minute."""
        return [replace(part, start=max(part.start, minute)) for part in self.parts if part.end > minute]

    @property
    def in_lines(self) -> str:
        """The plan as ``events.Planned`` has it."""
        return "\n".join(
            f"{format_time_of_day(part.start)}-{format_time_of_day(part.end)} {part.doing}"
            + (f" @ {part.place}" if part.place else "")
            for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """The bounds of a plan, in minutes of the simulation."""

    midnight: int
    """The beginning of the day that is planned."""
    now: int
    before: Part
    """The part that goes on until the first one begins."""
    bed: int
    wake: int
    """Bedtime and rising where the plan names none."""


def parse_day_plan(reply: str, frame: Frame) -> DayPlan:
    """The plan in a reply, mended: a part without an end lasts until the next begins, a gap is filled by the part before it,
    of two that overlap the later begins in time, and parts in the past are left out. Raises Unreadable.
    """
    fields = _find_plan(parse_fields(reply) or read_plan_lines(reply))
    parts = [part for item in _find_items(fields)[:MOST_PARTS] if (part := _parse_part(item, frame)) is not None]
    if not parts:
        raise Unreadable("it held no part of the day with a time and what you do.")
    parts.sort(key=lambda part: part.start)
    while len(parts) > 1 and _SLEEP.match(parts[0].doing) and parts[0].start <= frame.now:
        del parts[0]
    bed, wake = find_time(fields.get("bed")), find_time(fields.get("wake"))
    if bed is not None:
        # Nobody goes to bed for the night before noon.
        bed += frame.midnight + (MINUTES_PER_DAY if bed < MINUTES_PER_DAY // 2 else 0)
    while parts and _SLEEP.match(parts[-1].doing) and parts[-1].start > frame.now:
        night = parts.pop()
        bed = night.start
        if wake is None and night.end > frame.midnight + MINUTES_PER_DAY:
            wake = night.end
    if not parts and bed is not None and bed > frame.now + MOST_IDLE:
        raise Unreadable("it held nothing to do until the night.")
    if bed is None:
        bed = max(frame.bed, parts[-1].end) if parts else frame.bed
    elif parts and bed <= parts[-1].start:
        bed = parts[-1].end
    bed = max(frame.now + 1, min(bed, frame.midnight + LATEST_BED))
    wake = frame.wake if wake is None else frame.midnight + MINUTES_PER_DAY + wake % MINUTES_PER_DAY
    words = clean_text(fields.get("plan"), PLAN_LENGTH)
    return DayPlan(words, _close_gaps(parts, frame, bed), bed, max(wake, bed + SHORTEST_SLEEP))


def make_habitual_plan(blocks: Sequence[Block], frame: Frame) -> DayPlan:
    """What is left of a day for whoever cannot plan it: what was agreed, and else its habits, in this order in ``blocks``."""
    bed = max(frame.now + 1, frame.bed)
    at_home = Block(frame.now, bed, AT_HOME, frame.before.place, work=False)
    lived = [replace(block, start=max(block.start, frame.now), end=min(block.end, bed)) for block in (*blocks, at_home)]
    merged = merge_blocks([block for block in lived if block.start < block.end])
    parts = tuple(Part(block.start, block.end, block.doing, block.place) for block in merged)
    return DayPlan("", parts, bed, max(frame.wake, bed + SHORTEST_SLEEP), by_habit=True)


def _find_plan(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a plan; they may stand in one called "plan", and so may the hours alone."""
    plan = fields.get("plan")
    if "hours" not in fields and isinstance(plan, dict | list):
        return {**fields, **(plan if isinstance(plan, dict) else {"hours": plan})}
    return fields


def _find_items(fields: Mapping[str, Any]) -> list[Any]:
    """The parts of a plan, in whatever form they came."""
    hours = fields.get("hours")
    if isinstance(hours, dict) and "doing" not in hours:
        # {"08:00": "breakfast"} and {"08:00": {"doing": "breakfast"}}.
        return [{"from": time} | (what if isinstance(what, dict) else {"doing": what}) for time, what in hours.items()]
    return find_list(fields, "hours")


def _parse_part(item: Any, frame: Frame) -> Part | None:
    if isinstance(item, str):
        # 08:00-09:00 breakfast @ Home: kitchen
        words, _, place = item.partition("@")
        if not place and (at := _AT_ITS_END.search(words)):
            words, place = words[: at.start()], at["place"]
        found = _IN_ONE_LINE.fullmatch(words)
        item = {"from": item[:24], "doing": found["doing"] if found else words, "place": place}
    if not isinstance(item, dict):
        return None
    times = find_times(item.get("from", item.get("start", item.get("time"))))
    end_time = find_time(item.get("to", item.get("end")))
    doing = clean_text(item.get("doing", item.get("activity")), DOING_LENGTH)
    if not times or not doing:
        return None
    start = _put_on_day(times[0], frame)
    end = _put_on_day(end_time if end_time is not None else times[-1], frame)
    if end <= start:
        over_midnight = (end_time is not None or len(times) > 1) and end + MINUTES_PER_DAY - start < MINUTES_PER_DAY // 2
        end = end + MINUTES_PER_DAY if over_midnight else start + 1
    return Part(start, end, doing, clean_text(item.get("place"), PLACE_LENGTH))


def _put_on_day(time: int, frame: Frame) -> int:
    minute = frame.midnight + time
    return minute + MINUTES_PER_DAY if minute < frame.now and time < AFTER_MIDNIGHT else minute


def _close_gaps(parts: Sequence[Part], frame: Frame, bed: int) -> tuple[Part, ...]:
    """The parts from now to bedtime; each part lasts until the next begins."""
    if not parts or parts[0].start > frame.now:
        parts = [replace(frame.before, start=frame.now), *parts]
    ends = [*(part.start for part in parts[1:]), bed]
    lived = (replace(part, start=max(part.start, frame.now), end=min(end, bed)) for part, end in zip(parts, ends, strict=True))
    return tuple(part for part in lived if part.end > part.start)


def parse_steps(reply: str, parts: Sequence[Part]) -> list[Part]:
    """The steps of ``parts``, which follow each other without gaps. Each part's steps begin and end with it.

    Steps that do not name their part follow each other through all of them. A step without a place is where its part
    is; the last step of a part goes on to its end. Raises Unreadable.
    """
    fields = parse_fields(reply) or read_step_lines(reply)
    steps = [item for item in find_list(fields, "steps")[:MOST_STEPS] if isinstance(item, dict)]
    steps = [item for item in steps if clean_text(item.get("doing"), DOING_LENGTH)]
    if not steps:
        raise Unreadable("it held no step with its minutes and what you do.")
    numbers = [find_number(item.get("part")) for item in steps]
    if any(number is None or not 1 <= number <= len(parts) for number in numbers):
        return _fill(steps, parts)
    found: list[Part] = []
    for number, part in enumerate(parts, start=1):
        own = [item for item, of in zip(steps, numbers, strict=True) if int(of or 0) == number]
        found += _fill(own, [part]) if own else [part]
    return found


def _fill(items: Sequence[Mapping[str, Any]], parts: Sequence[Part]) -> list[Part]:
    minute, end = parts[0].start, parts[-1].end
    steps: list[Part] = []
    for item in items:
        if minute >= end:
            break
        wanted = find_number(item.get("minutes"))
        length = int(min(LONGEST_STEP, max(SHORTEST_STEP, wanted))) if wanted is not None else SHORTEST_STEP * 3
        place = clean_text(item.get("place"), PLACE_LENGTH)
        if not place:
            place = next(part.place for part in parts if part.start <= minute < part.end)
        steps.append(Part(minute, min(minute + length, end), clean_text(item.get("doing"), DOING_LENGTH), place))
        minute = steps[-1].end
    steps[-1] = replace(steps[-1], end=end)
    return steps
