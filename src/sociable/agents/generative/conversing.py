"""Conversations: what is read out of replies, and the agenda of agreements. No model inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sociable.agents.generative.plain_replies import read_choice, read_conclusion_lines
from sociable.agents.generative.planning import DOING_LENGTH, PLACE_LENGTH
from sociable.agents.generative.replies import (
    EXAMPLES,
    Unreadable,
    clean_text,
    find_day,
    find_importance,
    find_name,
    find_times,
    is_yes,
    parse_fields,
)
from sociable.core.prompts import put_on_one_line, quote
from sociable.core.records import make_storable
from sociable.models.protocol import Reply
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day
from sociable.town.events import Line
from sociable.town.minds import Utterance

NOT_IN_FORM = "not in the form asked for"
SAYS_LENGTH, SUMMARY_LENGTH, FACT_LENGTH = 2000, 1000, 300
"""Characters: what is longer is cut."""
MOST_AGREEMENTS, MOST_FACTS = 5, 5
"""The most that one conversation can leave."""
MOST_SHOWN, MOST_OPEN_SHOWN = 12, 3
"""The most of the agenda in a prompt: the soonest of what has an hour, the latest of what has none."""
LATE = 60
"""Minutes after which something whose end is not known is over."""

_QUOTES_WITHIN = re.compile(r'"says"\s*:\s*"(?P<says>.*)"\s*(?:,\s*"ends"\s*:\s*"?(?P<ends>\w+)"?\s*)?\}', re.DOTALL)
"""Words with quotation marks that were not escaped, so that it is no JSON."""


_OVER = re.compile(r"\n?\s*\bEND\W*\Z")
"""The word by which somebody who answers in plain words ends a conversation."""


def parse_utterance(reply: Reply, speaker: str, *, plain: bool) -> Utterance:
    """The words in a reply. Prose is taken for words; JSON without words, and an empty reply, end the conversation."""
    text = reply.text.strip()
    fields = {} if plain else parse_fields(text)
    if not plain and not fields and (found := _QUOTES_WITHIN.search(text)):
        fields = found.groupdict()
    is_over = plain and bool(_OVER.search(text))
    text = _OVER.sub("", text) if is_over else text
    note, ends, says = "", is_yes(fields.get("ends")), fields.get("says")
    words = _strip_frame(says, speaker) if isinstance(says, str) else ""
    words = "" if words.lower() in EXAMPLES else words
    if not words and (fields or (not plain and text.startswith(("{", "[", "```")))):
        note, ends = "no words in it", True
    elif not words:
        words = _strip_frame(text, speaker)
        note, ends = NOT_IN_FORM if words and not plain else "", is_over or not words
    return Utterance(words, ends, "; ".join(filter(None, (note, reply.defect))), reply.defect)


def _strip_frame(text: str, speaker: str) -> str:
    """Words without the speaker's name before them and quotation marks around them."""
    text = make_storable(text).strip()
    text = re.sub(rf"^(?:{re.escape(speaker)}|{re.escape(speaker.split(' ')[0])})\s*:\s*", "", text, flags=re.IGNORECASE)
    if len(text) > 1 and (text[0], text[-1]) in (('"', '"'), ("“", "”")) and '"' not in text[1:-1]:
        text = text[1:-1].strip()
    return text[:SAYS_LENGTH].rstrip()


def parse_choice(reply: str, names: Sequence[str]) -> str:
    """The one of ``names`` that it goes up to; empty for nobody. Raises Unreadable where neither is said."""
    if not (fields := parse_fields(reply) or read_choice(reply)):
        raise Unreadable("it neither named somebody nor said nobody.")
    return find_name(fields.get("talk_to"), names)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Something a resident has promised, or means to do."""

    partners: tuple[str, ...]
    doing: str
    place: str = ""
    start: int | None = None
    """The start in minutes of the simulation; None where no hour was settled."""
    end: int | None = None
    said: str = ""
    """The day and the hours in the words in which they were agreed on."""

    def is_over(self, minute: int) -> bool:
        last = self.end if self.end is not None else self.start + LATE if self.start is not None else None
        return last is not None and last <= minute

    def render(self, clock: Clock) -> str:
        when = self.said or "some time"
        if self.start is not None:
            until = f" to {format_time_of_day(self.end)}" if self.end is not None else ""
            when = f"{clock.render_day(self.start)}, {format_time_of_day(self.start)}{until}"
        place = f", at {self.place}" if self.place else ""
        open_hour = " (no hour settled)" if self.start is None else ""
        return put_on_one_line(f"{when}{open_hour}: {self.doing}{place} (settled with {', '.join(self.partners)})")


@dataclass(frozen=True, slots=True)
class Conclusions:
    """A resident's conclusions from a conversation."""

    summary: str
    importance: float = 0.0
    agreed: tuple[Agreement, ...] = ()
    facts: tuple[str, ...] = ()
    plan_anew: bool = False


def parse_conclusions(reply: str, partner: str, minute: int, clock: Clock) -> Conclusions:
    """The conclusions in a reply. Raises Unreadable where there is no summary in it."""
    fields = parse_fields(reply) or read_conclusion_lines(reply, minute, clock)
    summary = clean_text(fields.get("summary"), SUMMARY_LENGTH)
    if not summary:
        raise Unreadable("there was no summary in it.")
    agreed, told = (each if isinstance(each, list) else [each] for each in (fields.get("agreed"), fields.get("remember")))
    agreements = (parse_agreement(item, partner, minute, clock) for item in agreed[:MOST_AGREEMENTS])
    facts = [fact for each in told if (fact := clean_text(each, FACT_LENGTH))]
    return Conclusions(
        summary,
        find_importance(fields.get("importance")),
        tuple(filter(None, agreements)),
        tuple(facts[:MOST_FACTS]),
        is_yes(fields.get("today")),
    )


def parse_agreement(item: Any, partner: str, minute: int, clock: Clock) -> Agreement | None:
    """The agreement in an item; None where it names nothing to do.

    An hour that has passed already, without a day, is tomorrow's.
    """
    if not isinstance(item, dict) or not (doing := clean_text(item.get("doing"), DOING_LENGTH)):
        return None
    day_said = clean_text(item.get("day"), 40)
    hours = item.get("from")
    said = " ".join(filter(None, (day_said, clean_text(hours, 20))))
    # The day may stand with the hour.
    day = find_day(day_said, minute, clock) if day_said else find_day(hours, minute, clock)
    times = find_times(hours)
    agreement = Agreement((partner,), doing, clean_text(item.get("place"), PLACE_LENGTH), said=said)
    if not times or (day is None and day_said):
        return agreement
    today = minute // MINUTES_PER_DAY
    start = (today if day is None else day) * MINUTES_PER_DAY + times[0]
    if day is None and start < minute:
        start += MINUTES_PER_DAY
    end_time = next(iter([*find_times(item.get("to"))[:1], *times[1:]]), None)
    end = None if end_time is None else start - times[0] + end_time
    if end is not None and end <= start:
        # Over midnight, or nonsense.
        end = end + MINUTES_PER_DAY if end + MINUTES_PER_DAY - start <= MINUTES_PER_DAY // 2 else None
    return replace(agreement, start=start, end=end)


class Agenda:
    """All that a resident has agreed to."""

    def __init__(self) -> None:
        self.agreements: list[Agreement] = []

    def add(self, agreement: Agreement) -> bool:
        """Adds an agreement and tells whether it is new. The same with another partner only adds a name to the known one."""
        for place, known in enumerate(self.agreements):
            if _make_key(known) == _make_key(agreement):
                partners = tuple(dict.fromkeys((*known.partners, *agreement.partners)))
                self.agreements[place] = replace(known, partners=partners, end=known.end or agreement.end)
                return False
        self.agreements.append(agreement)
        return True

    def list_coming(self, minute: int) -> list[Agreement]:
        """Those with an hour that are not over, the soonest first."""
        coming = [each for each in self.agreements if each.start is not None and not each.is_over(minute)]
        return sorted(coming, key=lambda each: each.start or 0)

    def render(self, minute: int, clock: Clock) -> str:
        """The agreements that are still to come, the soonest first, those without an hour at the end."""
        without_hour = [each for each in self.agreements if each.start is None]
        shown = self.list_coming(minute)[:MOST_SHOWN] + without_hour[-MOST_OPEN_SHOWN:]
        return quote("\n".join(f"- {each.render(clock)}" for each in shown) or "(nothing)")


def _make_key(agreement: Agreement) -> tuple[object, ...]:
    """A key that is the same for two agreements about the same."""
    place, doing = agreement.place.casefold(), agreement.doing.casefold()
    return (None, doing, place, agreement.said.casefold()) if agreement.start is None else (agreement.start, place or doing)


def render_beginning(lines: Sequence[Line]) -> str:
    """The beginning of a conversation, which is remembered if its summary cannot be read."""
    return clean_text(" / ".join(f"{line.speaker}: {line.says}" for line in lines if line.says.strip()), SUMMARY_LENGTH // 2)
