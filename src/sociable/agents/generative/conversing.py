"""Conversations: the words in a reply, what is taken away, and the agenda of what was agreed. No model inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sociable.agents.generative.planning import DOING_LENGTH, PLACE_LENGTH, Unreadable
from sociable.agents.generative.replies import (
    day_in,
    fields_in,
    importance_in,
    minute_in,
    name_in,
    text_of,
    times_in,
    true,
)
from sociable.core.prompts import put_on_one_line, quote
from sociable.core.records import storable
from sociable.models.protocol import Reply
from sociable.town.clock import MINUTES_PER_DAY, Clock, time_of_day
from sociable.town.events import Line
from sociable.town.minds import Utterance

NOT_IN_FORM = "not in the form asked for"
SAYS_LENGTH, SUMMARY_LENGTH, FACT_LENGTH = 2000, 1000, 300
"""Characters: what is longer is cut."""
MOST_AGREEMENTS, MOST_FACTS = 5, 5
"""That one conversation can leave."""
MOST_SHOWN, MOST_OPEN_SHOWN = 12, 3
"""Of the agenda, in a prompt: of what has an hour, the soonest; of what has none, the latest agreed on."""
LATE = 60
"""Minutes after which something whose end is not known is over."""

_QUOTES_WITHIN = re.compile(r'"says"\s*:\s*"(?P<says>.*)"\s*(?:,\s*"ends"\s*:\s*"?(?P<ends>\w+)"?\s*)?\}', re.DOTALL)
"""Words with quotation marks that were not escaped, so that it is no JSON."""


def utterance_in(reply: Reply, speaker: str, *, plain: bool) -> Utterance:
    """What was said. Prose is taken for the words; JSON without words, and an empty reply, end the conversation."""
    said = _said(reply.text.strip(), speaker, plain=plain)
    return replace(said, note="; ".join(filter(None, (said.note, reply.defect))), defect=reply.defect)


def _said(text: str, speaker: str, *, plain: bool) -> Utterance:
    if plain:
        says = _without_frame(text, speaker)
        return Utterance(says, ends=not says)
    fields = fields_in(text)
    if not fields and (found := _QUOTES_WITHIN.search(text)):
        fields = {"says": found["says"], "ends": found["ends"]}
    says = _spoken(fields, speaker)
    if says:
        return Utterance(says, ends=true(fields.get("ends")))
    if fields or text.startswith(("{", "[", "```")):
        return Utterance("", ends=True, note="no words in it")
    says = _without_frame(text, speaker)
    return Utterance(says, ends=not says, note=NOT_IN_FORM if says else "")


def _spoken(fields: dict[str, Any], speaker: str) -> str:
    value = fields.get("says")
    return _without_frame(value, speaker) if isinstance(value, str) else ""


def _without_frame(text: str, speaker: str) -> str:
    """Words without the speaker's name before them and quotation marks around them."""
    text = storable(text).strip()
    text = re.sub(rf"^(?:{re.escape(speaker)}|{re.escape(speaker.split(' ')[0])})\s*:\s*", "", text, flags=re.IGNORECASE)
    if len(text) > 1 and (text[0], text[-1]) in (('"', '"'), ("“", "”")) and '"' not in text[1:-1]:
        text = text[1:-1].strip()
    return text[:SAYS_LENGTH].rstrip()


def choice_in(reply: str, names: Sequence[str]) -> str:
    """Whom somebody wants to talk to; empty for nobody. Raises Unreadable where there is no JSON."""
    fields = fields_in(reply)
    if not fields:
        raise Unreadable("there was no JSON in it.")
    return name_in(fields.get("talk_to"), names)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Something a resident has promised, or means to do."""

    partners: tuple[str, ...]
    doing: str
    place: str = ""
    start: int | None = None
    """In minutes of the simulation; None where no hour was settled."""
    end: int | None = None
    said: str = ""
    """The day and the hours in the words in which they were agreed on."""

    def is_over(self, minute: int) -> bool:
        last = self.end if self.end is not None else self.start + LATE if self.start is not None else None
        return last is not None and last <= minute

    def in_words(self, clock: Clock) -> str:
        when = self.said or "some time"
        if self.start is not None:
            until = f" to {time_of_day(self.end)}" if self.end is not None else ""
            when = f"{clock.day_in_words(self.start)}, {time_of_day(self.start)}{until}"
        place = f", at {self.place}" if self.place else ""
        open_hour = " (no hour settled)" if self.start is None else ""
        return put_on_one_line(f"{when}{open_hour}: {self.doing}{place} (agreed with {', '.join(self.partners)})")


@dataclass(frozen=True, slots=True)
class TakeAway:
    summary: str
    importance: float
    agreed: tuple[Agreement, ...]
    facts: tuple[str, ...]
    plan_anew: bool


def take_away_in(reply: str, partner: str, minute: int, clock: Clock) -> TakeAway:
    """Raises Unreadable where there is no summary in it."""
    fields = fields_in(reply)
    summary = text_of(fields.get("summary"), SUMMARY_LENGTH)
    if not summary:
        raise Unreadable('there was no "summary" in it.')
    agreed = fields.get("agreed")
    items = [agreed] if isinstance(agreed, dict) else agreed if isinstance(agreed, list) else []
    told = fields.get("remember")
    facts = [text_of(each, FACT_LENGTH) for each in (told if isinstance(told, list) else [told])]
    return TakeAway(
        summary,
        importance_in(fields.get("importance")),
        tuple(filter(None, (agreement_in(item, partner, minute, clock) for item in items[:MOST_AGREEMENTS]))),
        tuple(filter(None, facts))[:MOST_FACTS],
        true(fields.get("today")),
    )


def agreement_in(item: Any, partner: str, minute: int, clock: Clock) -> Agreement | None:
    """None where it says not what is to be done. An hour that has passed already, with no day said, is tomorrow's."""
    if not isinstance(item, dict):
        return None
    doing = text_of(item.get("doing"), DOING_LENGTH)
    if not doing:
        return None
    day_said = text_of(item.get("day"), 40)
    hours = item.get("from")
    said = " ".join(filter(None, (day_said, text_of(hours, 20))))
    # The day may stand with the hour.
    day = day_in(day_said, minute, clock) if day_said else day_in(hours, minute, clock)
    times = times_in(hours)
    agreement = Agreement((partner,), doing, text_of(item.get("place"), PLACE_LENGTH), said=said)
    if not times or (day is None and day_said):
        return agreement
    today = minute // MINUTES_PER_DAY
    start = (today if day is None else day) * MINUTES_PER_DAY + times[0]
    if day is None and start < minute:
        start += MINUTES_PER_DAY
    end_time = minute_in(item.get("to"))
    if end_time is None and len(times) > 1:
        end_time = times[1]
    end = None if end_time is None else start - times[0] + end_time
    if end is not None and end <= start:
        # Over midnight, or nonsense.
        end = end + MINUTES_PER_DAY if end + MINUTES_PER_DAY - start <= MINUTES_PER_DAY // 2 else None
    return replace(agreement, start=start, end=end)


class Agenda:
    """What a resident has agreed to."""

    def __init__(self) -> None:
        self._agreements: list[Agreement] = []

    @property
    def agreements(self) -> Sequence[Agreement]:
        return self._agreements

    def add(self, agreement: Agreement) -> bool:
        """Whether it is new. The same time and place agreed on with somebody else adds a name to what is there."""
        for place, known in enumerate(self._agreements):
            if _appointment(known) == _appointment(agreement):
                partners = tuple(dict.fromkeys((*known.partners, *agreement.partners)))
                self._agreements[place] = replace(known, partners=partners, end=known.end or agreement.end)
                return False
        self._agreements.append(agreement)
        return True

    def in_words(self, minute: int, clock: Clock) -> str:
        """What is still to come, the soonest first; what has no hour at the end."""
        coming = [each for each in self._agreements if each.start is not None and not each.is_over(minute)]
        coming.sort(key=lambda each: each.start or 0)
        without_hour = [each for each in self._agreements if each.start is None]
        shown = coming[:MOST_SHOWN] + without_hour[-MOST_OPEN_SHOWN:]
        return quote("\n".join(f"- {each.in_words(clock)}" for each in shown) or "(nothing)")


def _appointment(agreement: Agreement) -> tuple[object, ...]:
    what = agreement.place.casefold() or agreement.doing.casefold()
    if agreement.start is None:
        return (None, agreement.doing.casefold(), agreement.place.casefold(), agreement.said.casefold())
    return (agreement.start, what)


def remains_of(lines: Sequence[Line]) -> str:
    """What is remembered of a conversation whose summary cannot be read: its beginning."""
    return text_of(" / ".join(f"{line.speaker}: {line.says}" for line in lines if line.says.strip()), SUMMARY_LENGTH // 2)
