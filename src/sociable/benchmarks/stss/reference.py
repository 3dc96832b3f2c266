"""Reference performers: they may see the task, its signs, and everybody's habits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sociable.benchmarks.stss.keywords import is_doing
from sociable.benchmarks.stss.phrases import find_question
from sociable.benchmarks.stss.residents import MEETING_MINUTES, REMINDED_MINUTES, RoutineMind, World, answer_question
from sociable.benchmarks.stss.speech import find_moments, is_refusal, say_moment, say_place
from sociable.benchmarks.stss.task import LAST_MINUTE, Part, Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY
from sociable.town.minds import Activity, TakenAway, Talk, Utterance, View
from sociable.town.persona import Block, Persona

RESIDENTS = "residents"
"""The reference agent that plays everybody but the performer."""

_WAIT_MINUTES = 6
"""The time for which the oracle looks around for somebody before it tries elsewhere."""

_NOBODY = "taking a breath"
"""The oracle's activity when nobody can be found."""

_AGAIN_MINUTES = 60
"""The time after which the oracle looks for the same person again."""

CONSENT = re.compile(r"\b(yes|gladly|of course|i will|with pleasure|count me in)\b", re.IGNORECASE)
"""The words of a resident who agrees; in small talk much is good, and fine."""


class Performer(RoutineMind):
    """The heuristic: follows its day, and tells everything to whom it meets. The other performers differ from it."""

    negotiates = False
    reminds = False

    def __init__(self, persona: Persona, world: World, task: Task, others: Mapping[str, RoutineMind], rate: float = 0.0) -> None:
        """``others``: everybody else's habits, by name; ``rate``: the share of invitations in which it errs."""
        super().__init__(persona, world)
        self.task = task
        self.others = others
        self.wanted = (task.target,) if task.target else task.cast
        """Everybody who is to be invited."""
        self.settled: list[str] = []
        """The people who have agreed."""
        self._settled_at: dict[str, int] = {}
        """The minute at which each of them agreed, so long as nobody has been reminded."""
        self.refused: set[str] = set()
        self.rate = rate
        self.place, self.moment = self._plan_event()
        """The place and the minute that it proposes."""
        self._tried: dict[str, int] = {}
        self._seeking = ""
        self._own: Block | None = None
        if task.type in (TaskType.PUBLIC, TaskType.ONLINE, TaskType.COMPANIONS):
            self._commit(0)

    # The event.

    def _plan_event(self) -> tuple[str, int]:
        """The event's own place and time, or, where these are to be settled, the first place and a time of its own."""
        task = self.task
        settles = task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS)
        return task.place or next(iter(task.places), ""), self._choose_moment() if settles else task.start

    def _choose_moment(self) -> int:
        """A half hour in the middle of its own free time."""
        spans = self.find_free_spans(MEETING_MINUTES, self.task.start, self.task.end)
        if not spans:
            return self.task.start
        begin, end = max(spans, key=lambda span: span[1] - span[0])
        return max(-(-begin // 30) * 30, ((begin + end - MEETING_MINUTES) // 2) // 30 * 30)

    def _commit(self, now: int) -> None:
        """Commits itself to be there."""
        task = self.task
        if self._own is not None:
            self.engagements.remove(self._own)
        end = task.end if self.moment == task.start and task.has_fixed_time else self.moment + MEETING_MINUTES
        wording = self.world.make_generator("wording", self.persona.name).choice(task.wordings or (task.activity,))
        self._own = self.engage(wording, self.moment, end, self.place, now)

    # Meeting.

    def is_open_to(self, name: str) -> bool:
        """Whether there is something to say to somebody."""
        if self.task.type is TaskType.HELP and self.settled:
            return False
        return name in self.wanted and name not in self.settled and name not in self.refused

    def choose_addressee(self, view: View) -> str:
        if view.minute >= self.task.end:
            return ""
        free = [each for each in view.sightings if each.free]
        # Whoever is there already need not be asked to come.
        wanted = (each.name for each in free if self.is_open_to(each.name) and not is_doing(each.doing, self.task.signs))
        return next(wanted, "") or next((each.name for each in free if self._wants_to_remind(each.name, view.minute)), "")

    def _wants_to_remind(self, name: str, minute: int) -> bool:
        """Whether somebody has promised so long ago that it could have been forgotten, and not been reminded."""
        return self.reminds and name in self.settled and minute >= self._settled_at[name] + REMINDED_MINUTES

    # Talking.

    def speak(self, talk: Talk) -> Utterance:
        says = ""
        if talk.place_in_turn == 0 and self._wants_to_remind(talk.partner, talk.minute):
            # Once for everybody.
            self._settled_at[talk.partner] = LAST_MINUTE
            says = self._remind()
        elif self.is_open_to(talk.partner) and talk.place_in_turn == 0:
            says = self.invite(talk, self._choose_omission(talk.partner))
        elif self.is_open_to(talk.partner):
            answer = talk.lines[-1].says if talk.lines and talk.lines[-1].speaker == talk.partner else ""
            says = self._settle(talk, answer)
        return Utterance(says) if says else self.say_little(talk)

    def _choose_omission(self, name: str) -> str:
        """The part that is left out of the invitation; the empty string: none."""
        if self.rate and self.world.make_generator("errs", self.persona.name, name).random() < self.rate:
            return self.world.make_generator("omits", self.persona.name, name).choice(self.task.needed_parts)
        return ""

    def invite(self, talk: Talk, omitted: str) -> str:
        """Names everything the type needs, but for what is ``omitted``."""
        task, clock = self.task, self.world.clock
        if task.type is TaskType.HELP:
            asked = "; then ".join(
                "a small thing" if part == omitted else f"{step.doing} ({step.place})"
                for part, step in zip(task.needed_parts, task.subtasks, strict=True)
            )
            when = say_moment(task.start, clock)
            return f"I need help, on {when} or later. Would you do this for me, in this order: {asked}?"
        what = "a little thing" if omitted == Part.ACTIVITY else task.activity
        when = "one of these days" if omitted == Part.TIME else f"on {say_moment(self.moment, clock)}"
        where = "somewhere" if omitted == Part.PLACE else f"at {say_place(self.place)}"
        words = {
            TaskType.PUBLIC: f"I am putting something on: {what}, {when}, {where}. Do come, and pass it on!",
            TaskType.APPOINTMENT: f"I wanted to ask you: would you have time for this with me: {what}, {when}, {where}?",
            TaskType.COMPANIONS: f"I am looking for company: {what}, {when}, {where}. Will you come?",
            TaskType.ONLINE: f"There is something on the internet: {what}, {when}. Join by the link from wherever you are. "
            "Do pass it on!",
        }
        return words[task.type]

    def _remind(self) -> str:
        where = f", at {say_place(self.place)}" if self.place else ""
        return f"You will not forget it? The {self.task.activity}, on {say_moment(self.moment, self.world.clock)}{where}."

    def _settle(self, talk: Talk, answer: str) -> str:
        """Takes the answer to an invitation. Returns a reply, or the empty string when nothing is left to say."""
        task, clock = self.task, self.world.clock
        if (question := find_question(answer)) is not None:
            return answer_question(question, task, self.settled, clock)
        if CONSENT.search(answer) and not is_refusal(answer):
            self._agree(talk)
            return ""
        moments = [moment for moment in find_moments(answer, talk.minute, clock) if task.start <= moment < task.end]
        # It moves its own time for somebody only where it has promised nobody another.
        if moments and self.negotiates and not self.settled and self.is_free(MEETING_MINUTES, moments[0]):
            self.moment = moments[0]
            self._agree(talk)
            where = f"at {say_place(self.place)}" if self.place else ""
            return f"Yes, let us say on {say_moment(self.moment, clock)}, {where}. For the {task.activity}."
        self.refused.add(talk.partner)
        return ""

    def _agree(self, talk: Talk) -> None:
        self.settled.append(talk.partner)
        self._settled_at[talk.partner] = talk.minute
        if self.task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS):
            self._commit(talk.minute)
        if self._own is not None:
            self.note_agreement(talk, self._own)

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        # Whoever gave no answer has been asked all the same.
        if talk.place_in_turn and self.is_open_to(talk.partner):
            self.refused.add(talk.partner)
        return super().conclude(talk, until)

    async def interview(self, question: str, minute: int) -> str:
        """Says what it has agreed so far, whatever the question."""
        agreed = ", ".join(self.settled) or "nobody"
        return f"(A reference performer, without a model.) {self.task.first_person} Agreed so far: {agreed}."


class Forgetful(Performer):
    """Leaves out one thing that the type needs, the same all the time."""

    def _choose_omission(self, name: str) -> str:
        return self.world.make_generator("omits", self.persona.name).choice(self.task.needed_parts)


class Oracle(Performer):
    """Knows where people usually are, goes there one by one with everything needed, and makes room for their times.

    ``oracle@p`` leaves something out in a share p of its invitations (the same ones for a smaller p).
    """

    negotiates = reminds = True

    def _choose_moment(self) -> int:
        """The half hour at which it and most of those it wants are free, the latest of several; for an appointment both."""
        starts = range(-(-self.task.start // 30) * 30, self.task.end - MEETING_MINUTES, 30)
        moments = [moment for moment in starts if self.is_free(MEETING_MINUTES, moment)] or [self.task.start]
        minds = [self.others[name] for name in self.wanted]
        return max(moments, key=lambda moment: (sum(mind.is_free(MEETING_MINUTES, moment) for mind in minds), moment))

    def choose_activity(self, view: View) -> Activity | None:
        """Goes looking for the next person, unless it sleeps or the event is due."""
        minute = view.minute
        open_to = [name for name in self.task.cast if self.is_open_to(name)]
        due = self.find_due(minute)
        if due.asleep or not open_to or minute >= self.task.end or any(each.doing == due.doing for each in self.engagements):
            self.alarm = minute if self._seeking else self.alarm
            self._seeking = ""
            return super().choose_activity(view)
        # It looks again every other minute: somebody it wants may be taken, or come in.
        self.alarm = minute + 2
        over = view.activity is None or minute >= view.activity.until
        if not over and self._seeking in open_to and self.choose_addressee(view) in ("", self._seeking):
            return None
        if over and self._seeking:
            self._tried[self._seeking] = minute
        self._seeking, place = self._find_next(minute, open_to)
        if not self._seeking and not over and self._doing == _NOBODY:
            return None
        self._doing = f"looking for {self._seeking.split()[0]}" if self._seeking else _NOBODY
        minutes = self.world.count_travel_minutes(self.tile, place) + _WAIT_MINUTES if self._seeking else 10
        departures = [self._find_departure(each) for each in self.engagements if each.start > minute]
        return Activity(self._doing, max(min(minute + minutes, *departures, LAST_MINUTE), minute + 1), place)

    def _find_next(self, minute: int, names: Sequence[str]) -> tuple[str, str]:
        """The person who can be found soonest by habit, and the place.

        Whoever would be asleep by then, or has been looked for in vain lately, is left out.
        """
        found = [(10**6, "", "")]
        for name in names:
            if minute - self._tried.get(name, -_AGAIN_MINUTES) < _AGAIN_MINUTES:
                continue
            mind = self.others[name]
            now = mind.find_habit(minute)
            then = minute + self.world.count_travel_minutes(self.tile, now.place if now else mind.persona.home) + 1
            block = mind.find_habit(then)
            place = block.place if block else mind.persona.home
            if not mind.find_waking(then) and (block is None or block.end - then >= 2):
                found.append((self.world.count_travel_minutes(self.tile, place), name, place))
        return min(found)[1:]


class RandomPerformer(Performer):
    """Invites at a random time to a random place."""

    def _plan_event(self) -> tuple[str, int]:
        draw = self.world.make_generator("random", self.persona.name)
        arenas = sorted(str(address) for address in self.world.town.places if address.arena and not address.thing)
        place = draw.choice(arenas) if self.task.type is not TaskType.ONLINE else ""
        return place, self.task.day * MINUTES_PER_DAY + draw.randrange(8 * 2, 22 * 2) * 30

    def invite(self, talk: Talk, omitted: str) -> str:
        if self.task.type is TaskType.HELP:
            draw = self.world.make_generator("random", self.persona.name, talk.partner)
            return f"Would you do something for me: {draw.choice(self.task.subtasks).doing} ({self.place})?"
        return super().invite(talk, omitted)


class Spammer(Performer):
    """Understands nothing: tells everybody its goal and its description, turn by turn, whatever they say, and again."""

    def is_open_to(self, name: str) -> bool:
        return True

    def speak(self, talk: Talk) -> Utterance:
        task = self.task
        texts = (f"{task.first_person} Please come!", task.description)
        return Utterance(texts[talk.place_in_turn % 2])


class Silent(Performer):
    """Talks to nobody, and does its own part."""

    def choose_addressee(self, view: View) -> str:
        return ""

    def speak(self, talk: Talk) -> Utterance:
        return Utterance("", ends=True)
