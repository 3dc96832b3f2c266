"""A person who lives in the town in a resident's place.

A generative agent remembers, plans, rates and reflects by calls of its own; a person does that without being asked. What is
left are three questions: what to do next, what to say, and what to take from a conversation. They tell what a generative agent
in that place is told: who it is and what the town is like, its habits, and whatever it sees and hears.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Iterable, Sequence

from sociable.agents.architecture import Situation
from sociable.agents.generative import briefing
from sociable.core.form import Form, Question
from sociable.core.prompts import put_on_one_line, quote
from sociable.core.view import Line, Paragraph, Transcript
from sociable.town.clock import MINUTES_PER_DAY, count_day, format_time_of_day, parse_minute
from sociable.town.events import Agreed, AnyEvent, Remembered
from sociable.town.minds import Activity, Decision, TakenAway, Talk, Utterance, View

PAUSE_MINUTES = 30
"""The minutes before a person who does something is asked again about somebody in sight: else every passer-by is a question."""

HERE, NOBODY = "where you are", "nobody"
GO_ON, SOMETHING_ELSE = "go on", "do something else"
AWAKE, ASLEEP = "awake", "asleep"
_SPEAK_TO = "speak to "
_TODAY, _TOMORROW = "today", "tomorrow"


class PersonResident:
    """The mind of a resident who is a person."""

    def __init__(self, situation: Situation) -> None:
        self.alarm: int | None = None
        self._situation = situation
        self._persona = situation.persona
        self._asker = situation.high
        prompts = briefing.load_generative_prompts(situation.prompts)
        self._resident = briefing.render_resident(situation, prompts)
        self._places = sorted(str(address) for address in situation.town.places if address.is_arena)
        self._known = list(self._persona.facts)
        self._news: list[str] = []
        """What has come to its knowledge and was not shown yet."""
        self._day = -1
        """The day of which it was told its habits last."""
        self._is_told = False
        self._asked_about: dict[str, int] = {}
        """The minute by name at which it was last asked about somebody in sight."""

    # What the town asks.

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        if view.activity is None and view.minute < self._persona.wakes:
            return Decision(Activity("sleeping", self._persona.wakes, self._persona.home, asleep=True))
        over = view.activity is None or view.minute >= view.activity.until
        new = [
            each.name
            for each in view.news
            if each.free and view.minute - self._asked_about.get(each.name, -PAUSE_MINUTES) >= PAUSE_MINUTES
        ]
        if over:
            return self._choose_activity(view)
        return self._react(view, new) if new or self._news else Decision()

    async def _react(self, view: View, new: Sequence[str]) -> Decision:
        self._asked_about |= dict.fromkeys(new, view.minute)
        choices = (GO_ON, *(f"{_SPEAK_TO}{name}" for name in new), SOMETHING_ELSE)
        (chosen,) = await self._ask("decide", view.minute, self._describe(view), [Question("What now?", choices)])
        if chosen == SOMETHING_ELSE:
            return await self._choose_activity(view)
        return Decision(talk_to=chosen.removeprefix(_SPEAK_TO) if chosen.startswith(_SPEAK_TO) else "")

    async def _choose_activity(self, view: View) -> Decision:
        free = [each.name for each in view.sightings if each.free]
        self._asked_about |= dict.fromkeys(free, view.minute)
        questions = [
            Question("What do you do now?"),
            Question("Where?", (HERE, *self._places)),
            Question("Until when? (as 14:30)"),
            Question("Are you awake then?", (AWAKE, ASLEEP)),
            *([Question("Whom do you speak to first?", (NOBODY, *free))] if free else []),
        ]
        shown = self._describe(view)
        while True:
            doing, place, time, awake, *talk_to = await self._ask("decide", view.minute, shown, questions)
            until = _find_next(time, view.minute)
            if until is not None:
                break
            shown = _refuse_time(time)
        asleep = awake == ASLEEP
        named = "" if asleep or talk_to in ([], [NOBODY]) else talk_to[0]
        return Decision(Activity(doing, until, "" if place == HERE else place, asleep), named)

    async def speak(self, talk: Talk) -> Utterance:
        place = briefing.render_place(talk.address)
        beginning = "You have gone up to them." if talk.began else "They have come up to you."
        acquaintance = self._situation.acquaintances.get(talk.partner, "(only what you remember)")
        shown = f"You are {place}, with {talk.partner}: {put_on_one_line(acquaintance)}\n{beginning}"
        left = briefing.render_turns(talk.turns_left)
        questions = [
            Question(f"What do you say to {talk.partner}? (one line; you may speak {left})"),
            Question("Do you end the conversation with it?", ("no", "yes")),
        ]
        says, ends = await self._ask("speak", talk.minute, shown, questions, talk)
        return Utterance(says, ends == "yes")

    async def conclude(self, talk: Talk, until: int) -> TakenAway:
        questions = [
            Question("What is there to remember of it? (1 to 3 sentences; may be left out)", is_long=True, may_be_empty=True),
            Question("What have you promised to do, if anything? (nothing: leave it empty)", may_be_empty=True),
            Question("Where?", (HERE, *self._places)),
            Question("On which day?", (_TODAY, _TOMORROW)),
            Question("From when? (as 14:30; may be left out)", may_be_empty=True),
            Question("Until when? (may be left out)", may_be_empty=True),
        ]
        shown = f"The conversation with {talk.partner} is over."
        while True:
            remembered, promised, place, day, start, end = await self._ask("conclude", until, shown, questions, talk)
            if not (wrong := [time for time in (start, end) if time and _find_minute(time, 1) is None]):
                break
            shown = _refuse_time(wrong[0])
        name = self._persona.name
        notes: list[AnyEvent] = []
        if remembered:
            notes.append(Remembered(minute=until, resident=name, memory="conversation", text=remembered))
        if promised:
            number = count_day(until) + (day == _TOMORROW)
            agreed = Agreed(
                minute=until,
                resident=name,
                partner=talk.partner,
                doing=promised,
                place="" if place == HERE else place,
                start=_find_minute(start, number),
                end=_find_minute(end, number),
            )
            notes.append(agreed)
        return TakenAway(notes)

    def inject(self, minute: int, text: str) -> None:
        self._news.append(text)
        self.alarm = minute

    def restore(self, events: Iterable[AnyEvent]) -> None:
        self._known = [event.text for event in events if isinstance(event, Remembered)]

    # What is shown.

    def _describe(self, view: View) -> str:
        """Where it is, what it does and whom it sees; on a new day its habits as well."""
        activity = view.activity
        doing = briefing.render_doing(activity.doing, view.walking) if activity else ""
        parts = [f"You are {briefing.render_place(view.address)}." + (f" You do: {doing}" if doing else "")]
        day = view.minute // MINUTES_PER_DAY
        if day != self._day:
            self._day = day
            habits = briefing.render_habits(self._persona, self._situation.clock, day)
            parts.append(f"What you do on such a day:\n{habits}")
        seen = "\n".join(briefing.render_sighting(each) for each in view.sightings)
        parts.append(f"You see:\n{quote(seen)}" if seen else "You see nobody.")
        return "\n\n".join(parts)

    async def _ask(
        self, purpose: str, minute: int, shown: str, questions: Sequence[Question], talk: Talk | None = None
    ) -> list[str]:
        """The answers to the questions, beneath what is shown. The first time the person is told all that it knows."""
        news, self._news, self.alarm = self._news, [], None
        told = "\n\n".join(
            [
                *([] if self._is_told else [self._resident["content"], self._render_known()]),
                self._situation.clock.render_minute(minute),
                *([f"You have heard:\n{quote(chr(10).join(map(put_on_one_line, news)))}"] if news else []),
                shown,
            ]
        )
        self._is_told = True
        lines = [Line(line.speaker, "", line.says) for line in talk.lines if line.says.strip()] if talk else []
        title = f"{self._persona.name}, {format_time_of_day(minute)}"
        form = Form(title, [Paragraph(told), *([Transcript("", lines)] if lines else [])], questions, json.dumps)
        said = f"\n\n{briefing.render_transcript(talk.lines)}" if talk and lines else ""
        asked = "\n".join(each.text for each in questions)
        reply = await self._asker.ask(purpose, [{"role": "user", "content": f"{told}{said}\n\n{asked}"}], form=lambda: form)
        answers: list[str] = json.loads(reply.text)
        return answers

    def _render_known(self) -> str:
        known = "\n".join(f"- {put_on_one_line(each)}" for each in self._known)
        return f"What you know and remember:\n{quote(known or '(nothing in particular)')}"


def _find_minute(time: str, day: int) -> int | None:
    """The minute of a time on a day, counted from 1; None for what is no time."""
    with contextlib.suppress(ValueError):
        return parse_minute(time, day)
    return None


def _refuse_time(time: str) -> str:
    return f"'{put_on_one_line(time)}' is no time of day. Write it as 14:30."


def _find_next(time: str, minute: int) -> int | None:
    """The next minute that has this time of day; None for what is no time."""
    found = _find_minute(time, count_day(minute))
    return found + MINUTES_PER_DAY if found is not None and found <= minute else found
