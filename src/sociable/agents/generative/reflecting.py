"""Ratings and reflections: when they are due, and what is read out of a reply. No model inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.agents.generative.plain_replies import read_rating_lines, read_thought_lines
from sociable.agents.generative.replies import (
    Unreadable,
    clean_text,
    find_importance,
    find_list,
    parse_fields,
)
from sociable.town.memory import Memory

REFLECTION_THRESHOLD = 150.0
"""Importance gathered since the last reflection (Park et al. 2023, section 4.2)."""
RATED_AT_ONCE = 20
"""Memories in one call: enough to make calls rare, few enough for a small model to keep count."""
LOOKED_BACK_ON = 100
"""The latest memories that a reflection is made of (Park et al., section 4.2)."""
LOOKED_BACK_LETTERS = 8000
"""The most characters of those memories, for a window of 4096 tokens."""
MOST_THOUGHTS = 5
EVERYDAY = 3.0
"""The importance of what stays unrated because a reply could not be read."""
MIDDLE_IMPORTANCE = 5.0
"""The importance of what nobody rates: facts from the beginning, plans, a thought that comes without one."""


@dataclass(frozen=True, slots=True)
class Thought:
    text: str
    importance: float


def choose_latest(memories: Sequence[Memory]) -> Sequence[Memory]:
    """The latest memories, oldest first, without those that were there from the beginning."""
    found: list[Memory] = []
    letters = 0
    for memory in reversed(memories[-LOOKED_BACK_ON:]):
        letters += len(memory.text)
        if letters > LOOKED_BACK_LETTERS:
            break
        if memory.kind != "fact":
            found.append(memory)
    return found[::-1]


def parse_ratings(reply: str, count: int) -> list[float]:
    """A rating from 1 to 10 for each memory; missing ones are everyday. Raises Unreadable where there are none."""
    fields = parse_fields(reply) or read_rating_lines(reply, count)
    found = find_list(fields, "ratings")
    if len(found) == 1 and isinstance(found[0], dict) and len(found[0]) > 1:
        # {"ratings": {"1": 3, "2": 5}}
        found = list(found[0].values())
    elif not found:
        found = [fields[key] for key in map(str, range(1, count + 1)) if key in fields]
    ratings = [find_importance(_find_rating(each)) for each in found[:count]]
    if not any(ratings):
        raise Unreadable("it held no numbers.")
    return [rating or EVERYDAY for rating in ratings] + [EVERYDAY] * (count - len(ratings))


def _find_rating(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return next((value[key] for key in ("importance", "rating", "score") if key in value), None)


def parse_thoughts(reply: str) -> Sequence[Thought]:
    """The thoughts in a reply. Raises Unreadable where there are none."""
    thoughts = []
    for item in find_list(parse_fields(reply) or read_thought_lines(reply), "thoughts")[:MOST_THOUGHTS]:
        fields = item if isinstance(item, dict) else {"text": item}
        if said := clean_text(fields.get("text", fields.get("thought")), 400):
            thoughts.append(Thought(said, find_importance(fields.get("importance")) or MIDDLE_IMPORTANCE))
    if not thoughts:
        raise Unreadable("it held no thoughts.")
    return thoughts
