"""Reference residents: background characters without a model.

They follow their day and talk when they meet. They accept an invitation that names what its type needs, does not clash with
what they have agreed to and does not fall in their sleep or work; else they refuse, or propose another time; and then they
really go. They do not ask back. They tell others what they were told to pass on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sociable.benchmarks.stss.answers import assents, place_in_words
from sociable.benchmarks.stss.routine import Engagement, RoutineMind, World
from sociable.benchmarks.stss.small_talk import CLOSINGS, OPENINGS, REPLIES
from sociable.benchmarks.stss.speech import Said, moments_in, said_of
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import day_number, time_of_day
from sociable.town.events import Agreed, AnyEvent, Remembered
from sociable.town.minds import TakenAway, Talk, Utterance, View
from sociable.town.persona import Persona

MEETING_MINUTES = 50
"""How long a thing without an end of its own is given."""

LEAST_MINUTES = 25
"""For less nobody goes to an event."""

QUIET_MINUTES = 240
"""For so long two people who have talked need not talk again, unless one has something to tell."""

_PASS_ON = re.compile(
    r"\b(pass (?:it|this|the word) on|spread the word|tell (?:\w+ )?(?:others|everybody|everyone|friends|people)|"
    r"bring (?:\w+ )?(?:friends|others|people|somebody|someone))\b",
    re.IGNORECASE,
)


_REMEMBERS = "Yes, I remember. I will be there."


class ReferenceResident(RoutineMind):
    """A background character. It reads what it is told by rule (speech.py)."""

    def __init__(self, persona: Persona, world: World, task: Task, acquaintances: Sequence[str]) -> None:
        super().__init__(persona, world)
        self.task = task
        self._knows = frozenset(acquaintances)
        self._talked: dict[str, int] = {}
        self.agreement: Engagement | None = None
        self._steps: list[Engagement] = []
        self._told: set[str] = set()
        """Who knows of the event from or before it."""
        self._news: Said | None = None
        """What it was told to pass on."""
        self._proposal: Said | None = None
        """The invitation that it answered with a time of its own, at that time."""
        self._agreed_now: list[AnyEvent] = []

    # Meeting.

    def whom_to_address(self, view: View) -> str:
        for sighting in view.sightings:
            if sighting.free and self._wants(sighting.name, view.minute):
                return sighting.name
        return ""

    def _wants(self, name: str, minute: int) -> bool:
        if self._has_news_for(name, minute):
            return True
        if minute - self._talked.get(name, -QUIET_MINUTES) < QUIET_MINUTES:
            return False
        # Once an hour for every pair, so that looking again does not make talking likelier.
        chance = 0.5 if name in self._knows else 0.15
        return self.world.generator("greets", self.persona.name, name, minute // 60).random() < chance

    def _has_news_for(self, name: str, minute: int) -> bool:
        """While somebody who hears of it can still come."""
        return self._news is not None and name not in self._told and minute + LEAST_MINUTES <= self.task.end

    # Talking.

    def speak(self, talk: Talk) -> Utterance:
        said = self._said(talk)
        draw = self.world.generator("says", self.persona.name, talk.partner, talk.minute, talk.place_in_turn)
        if talk.began and talk.place_in_turn == 0:
            self._agreed_now = []
            if self._news is not None and self._has_news_for(talk.partner, talk.minute):
                self._told.add(talk.partner)
                return Utterance(self._pass_on(self._news))
            return Utterance(draw.choice(OPENINGS))
        if talk.place_in_turn == 0:
            self._agreed_now = []
        answer = self._answer(talk, said)
        if answer is not None:
            return Utterance(answer)
        if talk.place_in_turn == 0:
            return Utterance(draw.choice(REPLIES))
        return Utterance(draw.choice(CLOSINGS), ends=True)

    def _said(self, talk: Talk) -> Said:
        lines = [line.says for line in talk.lines if line.speaker == talk.partner]
        return said_of(self.task, lines, talk.minute, self.world.clock, self.task.places)

    def _answer(self, talk: Talk, said: Said) -> str | None:
        """To an invitation; None where there is none, or all has been said about it."""
        task = self.task
        heard = [line.says for line in talk.lines if line.speaker == talk.partner]
        if not said.parts or not heard or (task.target and task.target != self.persona.name):
            return None
        self._told.add(talk.partner)
        if self.agreement is not None or self._steps:
            known = any(line.says == _REMEMBERS for line in talk.lines)
            return None if self._agreed_now or known else _REMEMBERS
        if self._proposal is not None and assents(heard[-1]) and not moments_in(heard[-1], talk.minute, self.world.clock):
            return self._accept(talk, self._proposal)
        if said.lacks(task):
            return None
        if task.type is TaskType.HELP:
            return self._promise_help(talk)
        return self._accept(talk, said)

    def _accept(self, talk: Talk, said: Said) -> str:
        """Agrees if it can; if not, and the time is not fixed, proposes another."""
        task, clock = self.task, self.world.clock
        assert said.moment is not None
        fixed = task.type in (TaskType.PUBLIC, TaskType.ONLINE)
        place = task.place or said.place
        begin, end = (task.start, task.end) if fixed else (said.moment, said.moment + MEETING_MINUTES)
        span = self.free_for(LEAST_MINUTES if fixed else MEETING_MINUTES, max(begin, talk.minute), end)
        if span is None and fixed:
            return "That is kind of you, but I cannot make it then. I hope it goes well."
        if span is None:
            other = self._other_time(talk.minute)
            if other is None:
                return "I am sorry, I have no hour free for that."
            self._proposal = replace(said, moment=other)
            when = f"{clock.day_in_words(other).split()[0]} at {time_of_day(other)}"
            return f"I would like to, but I cannot at that time. Could we say {when} instead?"
        self._proposal = None
        self.agreement = Engagement(span[0], span[1], self._wording(task.wordings or (task.activity,)), place)
        self.engage(self.agreement, talk.minute)
        if fixed and any(_PASS_ON.search(line.says) for line in talk.lines if line.speaker == talk.partner):
            self._news = said
            self._told |= {task.performer, talk.partner}
        self._agreed_now = [self._agreed(talk, self.agreement)]
        when = f"{clock.day_in_words(span[0]).split()[0]} at {time_of_day(span[0])}"
        return f"Yes, gladly: {task.activity}, {when}{f', at {place_in_words(place)}' if place else ''}. I will be there."

    def _other_time(self, minute: int) -> int | None:
        """A time of its own: on a half hour, as early as it is free."""
        task = self.task
        for begin, end in self.free_spans(max(task.start, minute + 60), task.end):
            start = -(-(begin + 10) // 30) * 30
            if start + MEETING_MINUTES <= end:
                return start
        return None

    def _promise_help(self, talk: Talk) -> str:
        """Fits every step into a free time, in order, with the ways between."""
        task, world = self.task, self.world
        whole = sum(step.minutes + 27 for step in task.subtasks)
        span = self.free_for(whole + 10, max(task.start, talk.minute + 10), task.end)
        if span is None:
            return "I would if I could, but I have no time for it that day. I am sorry."
        at = span[0] + 10
        for number, step in enumerate(task.subtasks):
            way = world.travel_minutes(world.tile_of(task.subtasks[number - 1].place), step.place) if number else 0
            at += way
            self._steps.append(Engagement(at, at + step.minutes + 10, self._wording(step.wordings or (step.doing,)), step.place))
            at += step.minutes + 12
        for engagement in self._steps:
            self.engage(engagement, talk.minute)
        self._agreed_now = [self._agreed(talk, engagement) for engagement in self._steps]
        when = f"{world.clock.day_in_words(span[0]).split()[0]} at about {time_of_day(self._steps[0].start)}"
        return f"Of course I will do that for you, one after the other: {when}. Do not worry about it."

    def _agreed(self, talk: Talk, engagement: Engagement) -> Agreed:
        return Agreed(
            minute=talk.minute,
            resident=self.persona.name,
            partner=talk.partner,
            doing=engagement.doing,
            place=engagement.place,
            start=engagement.start,
            end=engagement.end,
        )

    def _wording(self, wordings: Sequence[str]) -> str:
        """In words of its own: everybody describes the thing differently."""
        return self.world.generator("wording", self.persona.name, wordings[0]).choice(wordings)

    def _pass_on(self, news: Said) -> str:
        task = self.task
        assert news.moment is not None
        when = f"{self.world.clock.day_in_words(news.moment).split()[0]} at {time_of_day(news.moment)}"
        where = f" at {place_in_words(task.place)}" if task.place else ", from wherever you are"
        return f"Have you heard? There is the {task.activity}, {when}{where}. {task.performer.split()[0]} is putting it on."

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        self._talked[talk.partner] = until
        notes: list[AnyEvent] = list(self._agreed_now)
        if self._agreed_now:
            text = f"I agreed with {talk.partner} on the {self.task.activity}."
            notes.append(Remembered(minute=until, resident=self.persona.name, memory="conversation", text=text, importance=6))
        self._agreed_now = []
        return TakenAway(notes)

    # Outside the simulation.

    async def interview(self, question: str, minute: int) -> str:
        """What it would say of itself; it understands no question."""
        doing = self.due(minute).doing
        known = [f"{each.doing}, day {day_number(each.start)} at {time_of_day(each.start)}" for each in self.engagements]
        agreed = f" I have agreed to this: {'; '.join(known)}." if known else " I have agreed to nothing with anybody."
        return f"(A reference resident, without a model.) At this hour I am usually {doing}.{agreed}"
