"""Reference performers: they may see the task, its signs, and everybody's habits.

* ``oracle`` invites everyone it can reach, with everything needed, and negotiates;
* ``oracle@p`` leaves something out in a share p of its invitations (the same ones for a smaller p);
* ``heuristic`` follows its day and invites whom it meets, with everything needed, and does not negotiate;
* ``forgetful`` does the same and always leaves out one thing that the type needs;
* ``random`` says a random time and place;
* ``silent`` talks to nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from sociable.benchmarks.stss.answers import place_in_words, refuses
from sociable.benchmarks.stss.residents import MEETING_MINUTES
from sociable.benchmarks.stss.routine import Engagement, RoutineMind, World
from sociable.benchmarks.stss.small_talk import CLOSINGS, OPENINGS, REPLIES
from sociable.benchmarks.stss.speech import Part, moments_in, needs
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.errors import InputError
from sociable.town.clock import time_of_day
from sociable.town.events import Agreed, AnyEvent
from sociable.town.minds import Activity, TakenAway, Talk, Utterance, View
from sociable.town.persona import Persona

RESIDENTS = "residents"
"""The reference agent that plays everybody but the performer."""

AGENTS = ("oracle", "heuristic", "forgetful", "random", "silent")

_WAIT_MINUTES = 6
"""How long the oracle looks around for somebody before it tries elsewhere."""

_NOBODY = "taking a breath"
"""What the oracle does when nobody can be found."""

_AGAIN_MINUTES = 60
"""After which it looks for the same person again."""

_CONSENT = re.compile(r"\b(yes|gladly|of course|i will|with pleasure|count me in)\b", re.IGNORECASE)
"""What a resident says who agrees; in small talk much is good, and fine."""


class Standing(StrEnum):
    """Where the performer is with somebody."""

    OPEN = "open"
    SETTLED = "settled"
    REFUSED = "refused"


class Performer(RoutineMind):
    """Follows its day; invites whom it meets. ``rate``: the share of invitations in which it errs."""

    negotiates = False

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        """``others``: everybody else's habits, by name."""
        super().__init__(persona, world)
        self.task = task
        self.others = others
        self.standing: dict[str, Standing] = {}
        self.rate = rate
        self.moment = self._time_of_its_own()
        self.place = task.place or (task.places[0] if task.places else "")
        self._own: Engagement | None = None
        self._agreed_now: list[AnyEvent] = []
        if task.type in (TaskType.PUBLIC, TaskType.ONLINE, TaskType.COMPANIONS):
            self._commit(0)

    # The event.

    def _time_of_its_own(self) -> int:
        """When it proposes to meet: on a half hour in the middle of its own free time."""
        task = self.task
        if task.type in (TaskType.PUBLIC, TaskType.ONLINE, TaskType.HELP):
            return task.start
        spans = [span for span in self.free_spans(task.start, task.end) if span[1] - span[0] >= MEETING_MINUTES]
        if not spans:
            return task.start
        begin, end = max(spans, key=lambda span: span[1] - span[0])
        return max(-(-begin // 30) * 30, ((begin + end - MEETING_MINUTES) // 2) // 30 * 30)

    @property
    def _is_fixed(self) -> bool:
        return self.task.type in (TaskType.PUBLIC, TaskType.ONLINE)

    def _commit(self, now: int) -> None:
        """Means to be there itself."""
        task = self.task
        if self._own is not None:
            self.cancel(self._own)
        end = task.end if self.moment == task.start and self._is_fixed else self.moment + MEETING_MINUTES
        wording = self.world.generator("wording", self.persona.name).choice(task.wordings or (task.activity,))
        self._own = Engagement(self.moment, end, wording, self.place)
        self.engage(self._own, now)

    # Meeting.

    def wanted(self, name: str) -> bool:
        """Whether there is something to say to somebody."""
        task = self.task
        if task.target and name != task.target:
            return False
        if task.type is TaskType.HELP and Standing.SETTLED in self.standing.values():
            return False
        return self.standing.get(name, Standing.OPEN) is Standing.OPEN and name in task.cast

    def whom_to_address(self, view: View) -> str:
        if view.minute >= self.task.end:
            return ""
        return next((each.name for each in view.sightings if each.free and self.wanted(each.name)), "")

    # Talking.

    def speak(self, talk: Talk) -> Utterance:
        draw = self.world.generator("says", self.persona.name, talk.partner, talk.minute, talk.place_in_turn)
        if talk.place_in_turn == 0:
            self._agreed_now = []
            if self.wanted(talk.partner):
                return Utterance(self.invitation(talk, self._omitted(talk.partner)))
            return Utterance(draw.choice(OPENINGS if talk.began else REPLIES))
        answer = talk.lines[-1].says if talk.lines and talk.lines[-1].speaker == talk.partner else ""
        if self.wanted(talk.partner):
            counter = self._settle(talk, answer)
            if counter:
                return Utterance(counter)
        return Utterance(draw.choice(CLOSINGS), ends=True)

    def _omitted(self, name: str) -> str:
        """What is left out of the invitation; the empty string: nothing."""
        if self.rate and self.world.generator("errs", self.persona.name, name).random() < self.rate:
            return self.world.generator("omits", self.persona.name, name).choice(needs(self.task))
        return ""

    def when(self, moment: int) -> str:
        return f"on {self.world.clock.day_in_words(moment).split()[0]} at {time_of_day(moment)}"

    def invitation(self, talk: Talk, omitted: str) -> str:
        """With everything the type needs, but for what is ``omitted``."""
        task = self.task
        if task.type is TaskType.HELP:
            steps = [
                "a small thing" if f"step {number}" == omitted else f"{step.doing} ({step.place})"
                for number, step in enumerate(task.subtasks, start=1)
            ]
            asked = "; then ".join(steps)
            return f"I need help, {self.when(self.task.start)} or later. Would you do this for me, in this order: {asked}?"
        what = "a little thing" if omitted == Part.ACTIVITY else task.activity
        when = "one of these days" if omitted == Part.TIME else self.when(self.moment)
        match task.type:
            case TaskType.APPOINTMENT:
                where = "somewhere" if omitted == Part.PLACE else f"at {place_in_words(self.place)}"
                return f"I wanted to ask you: would you have time for this with me: {what}, {when}, {where}?"
            case TaskType.COMPANIONS:
                where = "somewhere" if omitted == Part.PLACE else f"at {place_in_words(self.place)}"
                return f"I am looking for company: {what}, {when}, {where}. Will you come?"
            case TaskType.ONLINE:
                return (
                    f"There is something on the internet: {what}, {when}. Join by the link from wherever you are. Do pass it on!"
                )
            case _:
                where = "somewhere" if omitted == Part.PLACE else f"at {place_in_words(self.place)}"
                return f"I am putting something on: {what}, {when}, {where}. Do come, and pass it on!"

    def _settle(self, talk: Talk, answer: str) -> str:
        """Takes the answer; what to say to it, or the empty string when nothing is left to say."""
        moments = [
            moment for moment in moments_in(answer, talk.minute, self.world.clock) if self.task.start <= moment < self.task.end
        ]
        if _CONSENT.search(answer) and not refuses(answer):
            self._agreement(talk)
            return ""
        if moments and self.negotiates and self._accepts(talk.partner, moments[0]):
            self.moment = moments[0]
            self._agreement(talk)
            where = f"at {place_in_words(self.place)}" if self.place else ""
            return f"Yes, let us say {self.when(self.moment)}, {where}. {self._topic}"
        self.standing[talk.partner] = Standing.REFUSED
        return ""

    @property
    def _topic(self) -> str:
        return f"For the {self.task.activity}."

    def _accepts(self, name: str, moment: int) -> bool:
        """Whether it moves its own time for somebody: only where it has promised nobody another."""
        return (
            Standing.SETTLED not in self.standing.values()
            and self.free_for(MEETING_MINUTES, moment, moment + MEETING_MINUTES) is not None
        )

    def _agreement(self, talk: Talk) -> None:
        self.standing[talk.partner] = Standing.SETTLED
        task = self.task
        if task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS):
            self._commit(talk.minute)
        if task.type is not TaskType.HELP and self._own is not None:
            self._agreed_now = [
                Agreed(
                    minute=talk.minute,
                    resident=self.persona.name,
                    partner=talk.partner,
                    doing=self._own.doing,
                    place=self._own.place,
                    start=self._own.start,
                    end=self._own.end,
                )
            ]

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        # Whoever gave no answer has been asked all the same.
        if talk.place_in_turn and self.standing.get(talk.partner) is None and self.wanted(talk.partner):
            self.standing[talk.partner] = Standing.REFUSED
        notes, self._agreed_now = self._agreed_now, []
        return TakenAway(notes)

    async def interview(self, question: str, minute: int) -> str:
        """What it would say of itself; it understands no question."""
        settled = [name for name, standing in self.standing.items() if standing is Standing.SETTLED]
        return (
            f"(A reference performer, without a model.) {self.task.first_person} Agreed so far: {', '.join(settled) or 'nobody'}."
        )


class Heuristic(Performer):
    """A sensible rule: tell everything to whom one meets."""


class Forgetful(Performer):
    """Leaves out one thing, the same all the time."""

    def _omitted(self, name: str) -> str:
        return self.world.generator("omits", self.persona.name).choice(needs(self.task))


class Oracle(Performer):
    """Knows where people usually are, goes there one by one, and makes room for their times."""

    negotiates = True

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        self._tried: dict[str, int] = {}
        self._seeking = ""
        self.others = others
        super().__init__(persona, world, task, others, rate)

    def _time_of_its_own(self) -> int:
        """The half hour at which it and most of those it wants are free; for an appointment both."""
        task = self.task
        if task.type not in (TaskType.APPOINTMENT, TaskType.COMPANIONS):
            return task.start
        wanted = [task.target] if task.target else list(task.cast)

        def can(mind: RoutineMind, moment: int) -> bool:
            return mind.free_for(MEETING_MINUTES, moment, moment + MEETING_MINUTES) is not None

        moments = [m for m in range(-(-task.start // 30) * 30, task.end - MEETING_MINUTES, 30) if can(self, m)] or [task.start]
        return max(moments, key=lambda moment: (sum(can(self.others[name], moment) for name in wanted), moment))

    def chosen(self, view: View) -> Activity | None:
        """Goes looking for the next person, unless it sleeps or the event is due."""
        minute = view.minute
        open_to = [name for name in self.task.cast if self.wanted(name)]
        due = self.due(minute)
        if due.asleep or not open_to or minute >= self.task.end or any(each.doing == due.doing for each in self.engagements):
            self.alarm = minute if self._seeking else self.alarm
            self._seeking = ""
            return super().chosen(view)
        # It looks again every other minute: somebody it wants may be taken, or come in.
        self.alarm = minute + 2
        over = view.activity is None or minute >= view.activity.until
        if not over and self._seeking in open_to and self.whom_to_address(view) in ("", self._seeking):
            return None
        if over and self._seeking:
            self._tried[self._seeking] = minute
        self._seeking, place = self._next(minute, open_to)
        limit = min([self._departure(each) for each in self.engagements if each.start > minute], default=self.world.minutes)
        if not self._seeking:
            if not over and self._doing == _NOBODY:
                return None
            self._doing = _NOBODY
            return Activity(self._doing, max(min(minute + 10, limit), minute + 1))
        self._doing = f"looking for {self._seeking.split()[0]}"
        way = self.world.travel_minutes(self.tile, place)
        return Activity(self._doing, max(min(minute + way + _WAIT_MINUTES, limit), minute + 1), place)

    def _next(self, minute: int, names: Sequence[str]) -> tuple[str, str]:
        """Who can be found soonest, and where: by habit, awake when it would arrive, not looked for in vain lately."""
        best: tuple[int, str, str] | None = None
        for name in names:
            if minute - self._tried.get(name, -_AGAIN_MINUTES) < _AGAIN_MINUTES:
                continue
            mind = self.others[name]
            now = mind.habit_at(minute)
            then = minute + self.world.travel_minutes(self.tile, now.place if now else mind.persona.home) + 1
            block = mind.habit_at(then)
            place = block.place if block else mind.persona.home
            if mind.asleep_at(then) or (block is not None and block.end - then < 2):
                continue
            best = min(best or (10**6, "", ""), (self.world.travel_minutes(self.tile, place), name, place))
        return best[1:] if best else ("", "")


class RandomPerformer(Performer):
    """Invites at a random time to a random place."""

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        super().__init__(persona, world, task, others, rate)
        draw = world.generator("random", persona.name)
        arenas = sorted(str(address) for address in world.town.places if address.arena and not address.thing)
        self.place = draw.choice(arenas) if task.type is not TaskType.ONLINE else ""
        self.moment = task.day * 24 * 60 + draw.randrange(8 * 2, 22 * 2) * 30
        if self._own is not None:
            self._commit(0)

    def invitation(self, talk: Talk, omitted: str) -> str:
        if self.task.type is TaskType.HELP:
            draw = self.world.generator("random", self.persona.name, talk.partner)
            return f"Would you do something for me: {draw.choice(self.task.subtasks).doing} ({self.place})?"
        return super().invitation(talk, omitted)


class Silent(Performer):
    """Talks to nobody, and does its own part."""

    def whom_to_address(self, view: View) -> str:
        return ""

    def speak(self, talk: Talk) -> Utterance:
        return Utterance("", ends=True)


_KINDS: Mapping[str, type[Performer]] = {
    "oracle": Oracle,
    "heuristic": Heuristic,
    "forgetful": Forgetful,
    "random": RandomPerformer,
    "silent": Silent,
}


def reference_performer(agent: str, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind]) -> Performer:
    """Raises InputError naming those there are."""
    kind, _, rate = agent.partition("@")
    if kind not in _KINDS:
        raise InputError(f"stss has no reference agent '{agent}'; it has: {', '.join(AGENTS)}.")
    try:
        share = float(rate or 0.0)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise InputError(f"reference agent '{agent}': '{rate}' is no share of invitations; expected a number from 0 to 1.")
    return _KINDS[kind](persona, world, task, others, share)
