"""Reference residents: background characters without a model.

They follow their day and talk when they meet. They accept an invitation that names what its type needs, does not clash with
what they have agreed to and does not fall in their sleep or work; else they refuse, or propose another time; and then they
really go. They do not ask back. They tell others what they were told to pass on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sociable.benchmarks.stss.routine import LEAST_MINUTES, MEETING_MINUTES, RoutineMind, World
from sociable.benchmarks.stss.speech import Said, find_moments, is_assent, parse_speech, say_moment, say_place
from sociable.benchmarks.stss.task import Subtask, Task, TaskType
from sociable.town.clock import day_number, time_of_day
from sociable.town.events import Remembered
from sociable.town.minds import TakenAway, Talk, Utterance, View
from sociable.town.persona import Block, Persona

QUIET_MINUTES = 240
"""The time for which two people who have talked need not talk again, unless one has something to tell."""

_PASS_ON = re.compile(
    r"\b(pass (?:it|this|the word) on|spread the word|tell (?:\w+ )?(?:others|everybody|everyone|friends|people)|"
    r"bring (?:\w+ )?(?:friends|others|people|somebody|someone))\b",
    re.IGNORECASE,
)
_REMEMBERS = "Yes, I remember. I will be there."


def count_errand_minutes(steps: Sequence[Subtask]) -> int:
    """The minutes for which somebody must be free to promise all steps, with the ways between."""
    return sum(step.minutes + 27 for step in steps) + 10


class ReferenceResident(RoutineMind):
    """A background character. It reads what it is told by rule (speech.py)."""

    def __init__(self, persona: Persona, world: World, task: Task, acquaintances: Collection[str]) -> None:
        super().__init__(persona, world)
        self.task = task
        self.agreement: Block | None = None
        """The engagement that it has agreed to; of help the first step."""
        self._knows = acquaintances
        self._talked: dict[str, int] = {}
        """The minute at which it last talked with each person."""
        self._told: set[str] = set()
        """The people who know of the event from it, or before it."""
        self._news: Said | None = None
        """An invitation that it was told to pass on."""
        self._proposal: Said | None = None
        """The invitation that it answered with a time of its own, at that time."""

    # Meeting.

    def whom_to_address(self, view: View) -> str:
        return next((each.name for each in view.sightings if each.free and self._wants(each.name, view.minute)), "")

    def _wants(self, name: str, minute: int) -> bool:
        if self._has_news_for(name, minute):
            return True
        if minute - self._talked.get(name, -QUIET_MINUTES) < QUIET_MINUTES:
            return False
        # Once an hour for every pair, so that looking again does not make talking likelier.
        chance = 0.5 if name in self._knows else 0.15
        return self.world.make_generator("greets", self.persona.name, name, minute // 60).random() < chance

    def _has_news_for(self, name: str, minute: int) -> bool:
        """Whether it has news for somebody who can still come after hearing it."""
        return self._news is not None and name not in self._told and minute + LEAST_MINUTES <= self.task.end

    # Talking.

    def speak(self, talk: Talk) -> Utterance:
        heard = [line.says for line in talk.lines if line.speaker == talk.partner]
        if talk.began and talk.place_in_turn == 0:
            if self._news is None or not self._has_news_for(talk.partner, talk.minute):
                return self.say_little(talk)
            self._told.add(talk.partner)
            return Utterance(self._pass_on(self._news))
        answer = self._answer(talk, heard)
        return self.say_little(talk) if answer is None else Utterance(answer)

    def _answer(self, talk: Talk, heard: Sequence[str]) -> str | None:
        """Answers an invitation; None where there is none, or all has been said about it."""
        task, clock = self.task, self.world.clock
        said = parse_speech(task, heard, talk.minute, clock)
        if not said.parts or (task.target and task.target != self.persona.name):
            return None
        self._told.add(talk.partner)
        if self.agreement is not None:
            known = any(line.says == _REMEMBERS for line in talk.lines)
            return None if self.agreed_now or known else _REMEMBERS
        if self._proposal is not None and is_assent(heard[-1]) and not find_moments(heard[-1], talk.minute, clock):
            return self._accept(talk, self._proposal, heard)
        if said.lacks(task):
            return None
        return self._promise_help(talk) if task.type is TaskType.HELP else self._accept(talk, said, heard)

    def _accept(self, talk: Talk, said: Said, heard: Sequence[str]) -> str:
        """Agrees if it can; if not, and the time is not fixed, proposes another."""
        task, clock = self.task, self.world.clock
        assert said.moment is not None
        place, fixed = task.place or said.place, task.has_fixed_time
        begin, end = (task.start, task.end) if fixed else (said.moment, said.moment + MEETING_MINUTES)
        spans = self.find_free_spans(LEAST_MINUTES if fixed else MEETING_MINUTES, max(begin, talk.minute), end)
        if not spans:
            if fixed:
                return "That is kind of you, but I cannot make it then. I hope it goes well."
            # Another time of its own: on a half hour, as early as it is free.
            free = self.find_free_spans(MEETING_MINUTES, max(task.start, talk.minute + 60), task.end)
            starts = ((-(-(begin + 10) // 30) * 30, until) for begin, until in free)
            other = next((start for start, until in starts if start + MEETING_MINUTES <= until), None)
            if other is None:
                return "I am sorry, I have no hour free for that."
            self._proposal = said._replace(moment=other)
            return f"I would like to, but I cannot at that time. Could we say {say_moment(other, clock)} instead?"
        self._proposal = None
        start, end = spans[0]
        self.agreement = self.engage(self._word(task.wordings or (task.activity,)), start, end, place, talk.minute)
        self.note_agreement(talk, self.agreement)
        if fixed and any(map(_PASS_ON.search, heard)):
            self._news = said
            self._told |= {task.performer, talk.partner}
        where = f", at {say_place(place)}" if place else ""
        return f"Yes, gladly: {task.activity}, {say_moment(start, clock)}{where}. I will be there."

    def _promise_help(self, talk: Talk) -> str:
        """Fits every step into a free time, in order, with the ways between."""
        task, world = self.task, self.world
        spans = self.find_free_spans(count_errand_minutes(task.subtasks), max(task.start, talk.minute + 10), task.end)
        if not spans:
            return "I would if I could, but I have no time for it that day. I am sorry."
        at = spans[0][0] + 10
        for number, step in enumerate(task.subtasks):
            if number:
                at += world.count_travel_minutes(world.find_tile(task.subtasks[number - 1].place), step.place)
            doing = self._word(step.wordings or (step.doing,))
            engagement = self.engage(doing, at, at + step.minutes + 10, step.place, talk.minute)
            self.agreement = self.agreement or engagement
            self.note_agreement(talk, engagement)
            at += step.minutes + 12
        day, _, time = say_moment(spans[0][0] + 10, world.clock).partition(" at ")
        return f"Of course I will do that for you, one after the other: {day} at about {time}. Do not worry about it."

    def _word(self, wordings: Sequence[str]) -> str:
        """Describes the thing in words of its own."""
        return self.world.make_generator("wording", self.persona.name, wordings[0]).choice(wordings)

    def _pass_on(self, news: Said) -> str:
        task = self.task
        assert news.moment is not None
        where = f" at {say_place(task.place)}" if task.place else ", from wherever you are"
        when = say_moment(news.moment, self.world.clock)
        return f"Have you heard? There is the {task.activity}, {when}{where}. {task.performer.split()[0]} is putting it on."

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        self._talked[talk.partner] = until
        if self.agreed_now:
            text = f"I agreed with {talk.partner} on the {self.task.activity}."
            self.agreed_now.append(
                Remembered(minute=until, resident=self.persona.name, memory="conversation", text=text, importance=6)
            )
        return super().conclude(talk, until)

    # Outside the simulation.

    async def interview(self, question: str, minute: int) -> str:
        """Says what it usually does and has agreed to, whatever the question."""
        doing = self.find_due(minute).doing
        known = [f"{each.doing}, day {day_number(each.start)} at {time_of_day(each.start)}" for each in self.engagements]
        agreed = f" I have agreed to this: {'; '.join(known)}." if known else " I have agreed to nothing with anybody."
        return f"(A reference resident, without a model.) At this hour I am usually {doing}.{agreed}"
