"""Residents without a model: a mind that follows its day and talks of the weather, and the background characters.

The reference residents accept an invitation that names what its type needs, does not clash with what they have agreed to and
does not fall in their sleep or work, if it is anything for them: that depends on whom they know, what they do, and a draw for
each person and task. Few say yes at once. Most want to know something more first; some do not want it at all. Whoever
repeats itself is not listened to any longer. What is promised for another day can be forgotten, unless it is spoken of again.
They tell others what they were told to pass on.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sociable.benchmarks.stss.phrases import NEW_WORDS, Question, draw_opening, draw_phrase, find_question, find_words, is_answer
from sociable.benchmarks.stss.speech import Said, find_moments, is_assent, parse_speech, say_moment, say_place
from sociable.benchmarks.stss.task import DAYS, LAST_MINUTE, Subtask, Task, TaskType
from sociable.core.seeding import make_generator
from sociable.town.clock import MINUTES_PER_DAY, Clock, count_day, format_time_of_day
from sociable.town.events import Agreed, AnyEvent, Noted, Planned, Remembered
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Activity, Decision, TakenAway, Talk, Utterance, View
from sociable.town.persona import AT_HOME, Block, Persona, make_ordinary_day, merge_blocks

EARLY_MINUTES = 2
"""The time before a thing begins at which people want to be there."""

PAUSE_MINUTES = 20
"""The shortest time for which people go home in between."""

MEETING_MINUTES = 50
"""The length of a thing that has no end of its own."""

LEAST_MINUTES = 25
"""The shortest time for which people go to an event."""


_ON_THE_WAY = "being on the way"


@dataclass(frozen=True, slots=True)
class World:
    """Everything that people without a model know of the town."""

    town: TownMap
    clock: Clock
    tiles_per_minute: int
    seed: int
    label: str
    """The episode's: draws in two episodes are independent."""
    begins_there: bool = False
    """Whether people begin what they are engaged for when it begins, and until then are on the way; else when they set out."""

    def make_generator(self, *names: str | int) -> random.Random:
        return make_generator(self.seed, "reference", self.label, *names)

    def count_travel_minutes(self, start: Tile, goal: str) -> int:
        """The time that the way to a place takes, and a little more; 0 where the place is not known, or none is needed."""
        tiles = self.town.find_free_tiles(Address.parse(goal)) if goal else ()
        steps = self.town.measure_distance(start, tiles[0]) if tiles else None
        return 0 if steps is None else steps // self.tiles_per_minute + 1

    def find_tile(self, place: str) -> Tile:
        """A free tile of a place that is there."""
        return self.town.find_free_tiles(Address.parse(place))[0]


def find_bed(persona: Persona, town: TownMap) -> Address:
    """Somebody's bed, where the map has one, or else its room."""
    home = Address.parse(persona.home)
    bed = replace(home, thing="bed")
    return bed if bed in town.places else home


def find_gaps(busy: Iterable[tuple[int, int]], start: int, end: int, least: int) -> list[tuple[int, int]]:
    """The parts of a time, from ``start`` to ``end``, that nothing ``busy`` fills, each of ``least`` minutes or more."""
    gaps, at = [], start
    for begin, until in [*sorted(each for each in busy if each[0] < end), (end, end)]:
        gaps.append((at, begin))
        at = max(at, until)
    return [(begin, until) for begin, until in gaps if until - begin >= least]


class RoutineMind:
    """Does what it usually does on such a day, and what it has agreed to. Says nothing of importance."""

    def __init__(self, persona: Persona, world: World) -> None:
        self.persona = persona
        self.world = world
        self.alarm: int | None = None
        self.engagements: list[Block] = []
        """Things that it means to do, before any habit; in order of time."""
        self.agreed_now: list[AnyEvent] = []
        """Agreements of the conversation that is going on."""
        self._home = self.tile = world.find_tile(persona.home)
        self._doing = ""
        self._days = [make_ordinary_day(persona, world.clock, day) for day in range(DAYS + 1)]
        self._planned = -1

    # The day.

    def find_waking(self, minute: int) -> int | None:
        """The minute at which it gets up, if it is in bed at ``minute`` on an ordinary day; else None."""
        persona, time = self.persona, minute % MINUTES_PER_DAY
        if max(persona.sleeps - MINUTES_PER_DAY, 0) <= time < persona.wakes or minute < persona.wakes:
            return minute - time + persona.wakes
        return minute - time + MINUTES_PER_DAY + persona.wakes if time >= persona.sleeps else None

    def _find_habits(self, minute: int) -> Sequence[Block]:
        return self._days[min(minute // MINUTES_PER_DAY, DAYS)]

    def find_habit(self, minute: int) -> Block | None:
        return next((block for block in self._find_habits(minute) if block.start <= minute < block.end), None)

    def find_free_spans(self, minutes: int, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of a time, each of so many minutes or more, in which it is neither asleep, at work, nor engaged."""
        busy = [(each.start, each.end) for each in self.engagements]
        busy += [(block.start, block.end) for day in self._days for block in day if block.work]
        for midnight in range(-MINUTES_PER_DAY, LAST_MINUTE + 1, MINUTES_PER_DAY):
            busy.append((midnight + self.persona.sleeps, midnight + MINUTES_PER_DAY + self.persona.wakes))
        return find_gaps(busy, start, end, max(minutes, 1))

    def is_free(self, minutes: int, start: int, end: int | None = None) -> bool:
        """Whether it is free for so many minutes at a stretch, from ``start`` on or, with an ``end``, anywhere before that."""
        return bool(self.find_free_spans(minutes, start, start + minutes if end is None else end))

    def engage(self, doing: str, start: int, end: int, place: str, now: int) -> Block:
        """Means to do something at a time, before all habits."""
        engagement = Block(start, end, doing, place, work=True)
        self.engagements.append(engagement)
        self.engagements.sort(key=lambda each: each.start)
        self._set_alarm(now)
        return engagement

    def _find_departure(self, engagement: Block) -> int:
        return engagement.start - self.world.count_travel_minutes(self.tile, engagement.place) - EARLY_MINUTES

    def _set_alarm(self, now: int) -> None:
        """Wants to be asked when it is time to leave for what comes next."""
        due = [self._find_departure(each) for each in self.engagements if each.end > now and each.doing != self._doing]
        self.alarm = max(now + 1, min(due)) if due else None

    def find_due(self, minute: int) -> Activity:
        """The activity that is due now, until something else is."""
        coming = [each for each in self.engagements if each.end > minute]
        for engagement in coming:
            # Once on the way it goes on, though the way may be shorter by now.
            if self._find_departure(engagement) <= minute or engagement.doing == self._doing:
                if self.world.begins_there and minute < engagement.start:
                    return Activity(_ON_THE_WAY, engagement.start, engagement.place)
                return Activity(engagement.doing, engagement.end, engagement.place)
        limit = min((max(self._find_departure(each), minute + 1) for each in coming), default=LAST_MINUTE)
        if wakes := self.find_waking(minute):
            bed = str(find_bed(self.persona, self.world.town))
            return Activity("sleeping", max(min(wakes, limit), minute + 1), bed, asleep=True)
        until = minute // MINUTES_PER_DAY * MINUTES_PER_DAY + self.persona.sleeps
        block = next((each for each in self._find_habits(minute) if each.end > minute), None)
        if block is not None:
            leaves_home = block.start - self.world.count_travel_minutes(self._home, block.place) - EARLY_MINUTES
            if leaves_home - minute < self.world.count_travel_minutes(self.tile, self.persona.home) + PAUSE_MINUTES:
                return Activity(block.doing, max(min(block.end, limit), minute + 1), block.place)
            until = min(until, leaves_home)
        return Activity(AT_HOME, max(min(until, limit), minute + 1), self.persona.home)

    # As a mind.

    def decide(self, view: View) -> Decision:
        self.tile = view.tile
        notes = self._note_plan(view.minute)
        activity = self.choose_activity(view)
        talks = not (activity.asleep if activity else view.activity is not None and view.activity.asleep)
        return Decision(activity, self.choose_addressee(view) if talks else "", notes)

    def choose_activity(self, view: View) -> Activity | None:
        """The activity that it turns to now; None: it goes on."""
        over = view.activity is None or view.minute >= view.activity.until
        if not over and (self.alarm is None or view.minute < self.alarm):
            return None
        due = self.find_due(view.minute)
        changes = over or due.doing != self._doing
        self._doing = due.doing
        self._set_alarm(view.minute)
        return due if changes else None

    def _note_plan(self, minute: int) -> Sequence[AnyEvent]:
        """Tells the log its day, once a day when it gets up."""
        day = minute // MINUTES_PER_DAY
        if day == self._planned or self.find_waking(minute):
            return ()
        self._planned = day
        engaged = [each for each in self.engagements if each.start // MINUTES_PER_DAY == day]
        lines = [
            f"{format_time_of_day(each.start)}-{format_time_of_day(each.end)} {each.doing} @ {each.place}"
            for each in merge_blocks([*engaged, *self._find_habits(minute)])
        ]
        return [Planned(minute=minute, resident=self.persona.name, plan="\n".join(lines))]

    def choose_addressee(self, view: View) -> str:
        """Somebody in sight whom it wants to talk to, or the empty string."""
        return ""

    def say_little(self, talk: Talk) -> Utterance:
        """Says something about nothing: an opening or a reply, and after that a goodbye, which ends the conversation."""
        draw = self.world.make_generator("says", self.persona.name, talk.partner, talk.minute, talk.place_in_turn)
        if talk.began and not talk.place_in_turn:
            return Utterance(draw_opening(talk.minute, self.persona.name, draw))
        kind = "closings" if talk.place_in_turn else "replies"
        return Utterance(draw_phrase(kind, self.persona.name, draw), ends=talk.place_in_turn > 0)

    def note_agreement(self, talk: Talk, engagement: Block) -> None:
        """Notes for the log that it has agreed to something in this conversation."""
        event = {"minute": talk.minute, "resident": self.persona.name, "partner": talk.partner}
        fields = {name: getattr(engagement, name) for name in ("doing", "place", "start", "end")}
        self.agreed_now.append(Agreed.model_validate(event | fields))

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        notes, self.agreed_now = self.agreed_now, []
        return TakenAway(notes)


# The background characters.

QUIET_MINUTES = 240
"""The time for which two people who have talked need not talk again, unless one has something to tell."""

REMINDED_MINUTES = 240
"""The time after which speaking of a promise again reminds of it."""

FORGOTTEN = 0.2
"""The share of promises for another day that are forgotten unless they are spoken of again."""

UNWILLING, CURIOUS, EAGER = 0.15, 0.35, 0.65
"""How far somebody leans to a thing, from 0 to 1: below the first it is not for them, from the last on they say yes at once, and
between they want to know one thing more, or two."""

UNHELPFUL = 0.3
"""The same below which somebody does no favour of several errands."""

KNOWN, OF_INTEREST = 0.25, 0.15
"""How much further somebody leans to what an acquaintance asks, and to what has to do with its own life."""

_PASS_ON = re.compile(
    r"\b(pass (?:it|this|the word) on|spread the word|tell (?:\w+ )?(?:others|everybody|everyone|friends|people)|"
    r"bring (?:\w+ )?(?:friends|others|people|somebody|someone))\b",
    re.IGNORECASE,
)


def count_errand_minutes(steps: Sequence[Subtask]) -> int:
    """The minutes for which somebody must be free to promise all steps, with the ways between."""
    return sum(step.minutes + 27 for step in steps) + 10


def answer_question(question: Question, task: Task, others: Sequence[str], clock: Clock) -> str:
    """What somebody who knows all about a task says to a question; ``others``: those who have promised to come."""
    coming = " and ".join(each.split()[0] for each in others[-2:])
    minutes = task.end - task.start if task.has_fixed_time else MEETING_MINUTES
    return {
        Question.WHO: f"{coming} promised, and I am asking a few more people."
        if coming
        else "You are among the first people I ask.",
        Question.HOW_LONG: f"It takes {minutes} minutes or so, and nobody minds if somebody slips out earlier.",
        Question.WHAT: f"You will see, it is simple. {task.description}",
        Question.WHY: "I have wished for this since last winter, and it would mean a lot to me.",
        Question.WHAT_TO_BRING: "You need nothing special, come just as you are, I have enough of everything to spare.",
        Question.FAVOUR: "I am tied up the whole day and cannot leave, otherwise I would never trouble anybody with my errands.",
    }[question]


class ReferenceResident(RoutineMind):
    """A background character. It reads what it is told by rule (speech.py, phrases.py)."""

    def __init__(
        self, persona: Persona, world: World, task: Task, acquaintances: Collection[str], leaning: float | None = None
    ) -> None:
        """``leaning``: how far it leans to the task, from 0 to 1; by default that is found out (``_find_leaning``)."""
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
        self._leaning = self._find_leaning() if leaning is None else leaning
        self._open = self._draw_questions()
        """What it wants to know before it promises anything."""
        self._asked: Question | None = None
        """The question it has asked in the conversation that is going on."""
        self._words: dict[str, set[str]] = defaultdict(set)
        """The words by speaker that it has heard about the task in earlier conversations."""
        self._repeated: dict[str, int] = defaultdict(int)
        """The number of conversations by speaker in which it was told what it had been told."""
        self._promises: list[Block] = []
        self._promised = 0
        """The minute of its promise."""
        self._forgets = self._reminded = False
        """Whether it will have forgotten its promise by then, unless somebody reminds it; and whether somebody has."""
        self._refused: tuple[str, int] | None = None
        """The conversation, by partner and minute, in which it last said that this is nothing for it."""
        self._heard_again: tuple[str, int] | None = None
        """The conversation, by partner and minute, in which it was last told of what it had promised."""

    # Whether it is anything for it.

    def _find_leaning(self) -> float:
        """Leans further to what somebody it knows asks, and to what has to do with its own life; the rest is a draw."""
        task, persona = self.task, self.persona
        own = find_words(
            [persona.innate, persona.learned, persona.currently, *persona.facts, *(each.doing for each in persona.habits)]
        )
        groups = [*task.signs.keywords, *(group for step in task.subtasks for group in step.signs.keywords)]
        is_of_interest = bool(own & find_words([task.activity, *(word for group in groups for word in group)]))
        # The target of an appointment is somebody who could well want it.
        least = UNWILLING if task.target else 0.0
        draw = self.world.make_generator("leans", persona.name, task.id).random()
        bonus = KNOWN * (task.performer in self._knows) + OF_INTEREST * is_of_interest
        return max(least, (1 - KNOWN - OF_INTEREST) * draw + bonus)

    def _draw_questions(self) -> list[Question]:
        if self._leaning >= EAGER:
            return []
        if self.task.type is TaskType.HELP:
            return [Question.FAVOUR]
        draw = self.world.make_generator("asks", self.persona.name, self.task.id)
        known = [Question.WHO, Question.HOW_LONG, Question.WHAT, Question.WHY, Question.WHAT_TO_BRING]
        # Between two there is nobody else.
        return draw.sample(known[1:] if self.task.target else known, 1 if self._leaning >= CURIOUS else 2)

    def _say(self, kind: str, talk: Talk, **slots: str) -> str:
        draw = self.world.make_generator("says", kind, self.persona.name, talk.partner, talk.minute, talk.place_in_turn)
        return draw_phrase(kind, self.persona.name, draw, **slots)

    # The day.

    def decide(self, view: View) -> Decision:
        promise = self.agreement
        if not self._forgets or promise is None or view.minute < self._find_departure(promise):
            return super().decide(view)
        self._forgets, self.tile = False, view.tile
        self.engagements.remove(promise)
        self._set_alarm(view.minute)
        decision = super().decide(view)
        note = Noted(minute=view.minute, resident=self.persona.name, about="forgot a promise", text=promise.doing)
        return replace(decision, notes=[*decision.notes, note])

    # Meeting.

    def choose_addressee(self, view: View) -> str:
        return next((each.name for each in view.sightings if each.free and self._is_willing_to_talk(each.name, view.minute)), "")

    def _is_willing_to_talk(self, name: str, minute: int) -> bool:
        if self._has_news_for(name, minute):
            return True
        if minute - self._talked.get(name, -QUIET_MINUTES) < QUIET_MINUTES or self._repeated[name] > 1:
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
            return Utterance(self._pass_on(self._news, talk))
        if self._news is not None and (question := find_question(heard[-1])) is not None:
            # Whoever has heard of it from this resident asks it.
            return Utterance(answer_question(question, self.task, [self.persona.name], self.world.clock))
        answer = self._answer(talk, heard)
        return self.say_little(talk) if answer is None else Utterance(answer)

    def _answer(self, talk: Talk, heard: Sequence[str]) -> str | None:
        """Answers an invitation; None where there is none, or all has been said about it."""
        task, clock, partner = self.task, self.world.clock, talk.partner
        said = parse_speech(task, heard, talk.minute, clock)
        if not said.parts or (task.target and task.target != self.persona.name):
            return None
        self._told.add(partner)
        known, asked, self._asked = self._words[partner], self._asked, None
        if self.agreement is not None:
            return self._hear_again(talk)
        if known and not self._is_new(heard, known):
            return self._lose_patience(talk)
        if self._proposal is not None and is_assent(heard[-1]) and not find_moments(heard[-1], talk.minute, clock):
            return self._accept(talk, self._proposal, heard)
        if said.list_missing(task):
            return None
        helps = task.type is TaskType.HELP
        if self._leaning < (UNHELPFUL if helps else UNWILLING):
            # Once in a conversation; then it says goodbye.
            if self._refused == (partner, talk.minute):
                return None
            self._refused = (partner, talk.minute)
            return self._say("cannot_help" if helps else "does_not_want", talk)
        if asked is not None:
            before = known | find_words(heard[:-1])
            if is_answer(asked, heard[-1], before, {each.split()[0] for each in task.residents}):
                self._open.remove(asked)
            elif not self._is_new(heard[-1:], before):
                return self._lose_patience(talk)
        if self._open:
            self._asked = self._open[0]
            return self._say(self._asked, talk)
        return self._promise_help(talk) if helps else self._accept(talk, said, heard)

    def _is_new(self, heard: Sequence[str], known: Collection[str]) -> bool:
        return len(find_words(heard) - set(known)) >= NEW_WORDS

    def _hear_again(self, talk: Talk) -> str | None:
        """Is told of what it has promised already: once that reminds it, and it can be once too often."""
        if self._heard_again == (talk.partner, talk.minute) or self.agreed_now:
            return None
        self._heard_again = (talk.partner, talk.minute)
        if talk.minute >= self._promised + REMINDED_MINUTES and not self._reminded:
            self._reminded, self._forgets = True, False
            return self._say("remembers", talk)
        self._repeated[talk.partner] += 1
        if self._repeated[talk.partner] > 1:
            self._leaning, self._open = 0.0, []
            self.engagements = [each for each in self.engagements if each not in self._promises]
            self.agreement = None
            text = f"{talk.partner} spoke of it too often"
            self.agreed_now.append(
                Noted(minute=talk.minute, resident=self.persona.name, about="takes its promise back", text=text)
            )
        return self._say("had_enough", talk)

    def _lose_patience(self, talk: Talk) -> str:
        self._repeated[talk.partner] += 1
        return self._say("had_enough", talk)

    def _promise(self, talk: Talk, engagement: Block) -> None:
        self._promises.append(engagement)
        self.note_agreement(talk, engagement)
        if self.agreement is None:
            self.agreement, self._promised = engagement, talk.minute
            is_later = engagement.start // MINUTES_PER_DAY > talk.minute // MINUTES_PER_DAY
            draw = self.world.make_generator("forgets", self.persona.name, self.task.id).random()
            self._forgets = is_later and self.task.type is not TaskType.HELP and draw < FORGOTTEN

    def _accept(self, talk: Talk, said: Said, heard: Sequence[str]) -> str:
        """Agrees if it can; if not, and the time is not fixed, proposes another."""
        task, clock = self.task, self.world.clock
        assert said.moment is not None
        place, fixed = task.place or said.place, task.has_fixed_time
        begin, end = (task.start, task.end) if fixed else (said.moment, said.moment + MEETING_MINUTES)
        spans = self.find_free_spans(LEAST_MINUTES if fixed else MEETING_MINUTES, max(begin, talk.minute), end)
        if not spans:
            if fixed:
                return self._say("cannot_come", talk)
            # Another time of its own: on a half hour, as early as it is free.
            free = self.find_free_spans(MEETING_MINUTES, max(task.start, talk.minute + 60), task.end)
            starts = ((-(-(begin + 10) // 30) * 30, until) for begin, until in free)
            other = next((start for start, until in starts if start + MEETING_MINUTES <= until), None)
            if other is None:
                return self._say("cannot_come", talk)
            self._proposal = said._replace(moment=other)
            return self._say("proposes", talk, when=say_moment(other, clock))
        self._proposal = None
        start, end = spans[0]
        self._promise(talk, self.engage(self._describe_thing(task.wordings or (task.activity,)), start, end, place, talk.minute))
        if fixed and any(map(_PASS_ON.search, heard)):
            self._news = said
            self._told |= {task.performer, talk.partner}
        where = f", at {say_place(place)}" if place else ""
        return self._say("accepts", talk, what=task.activity, when=say_moment(start, clock), where=where)

    def _promise_help(self, talk: Talk) -> str:
        """Fits every step into a free time, in order, with the ways between."""
        task, world = self.task, self.world
        spans = self.find_free_spans(count_errand_minutes(task.subtasks), max(task.start, talk.minute + 10), task.end)
        if not spans:
            return self._say("cannot_help", talk)
        at = spans[0][0] + 10
        for number, step in enumerate(task.subtasks):
            if number:
                at += world.count_travel_minutes(world.find_tile(task.subtasks[number - 1].place), step.place)
            doing = self._describe_thing(step.wordings or (step.doing,))
            self._promise(talk, self.engage(doing, at, at + step.minutes + 10, step.place, talk.minute))
            at += step.minutes + 12
        day, _, time = say_moment(spans[0][0] + 10, world.clock).partition(" at ")
        return self._say("promises_help", talk, day=f"on {day}", time=time)

    def _describe_thing(self, wordings: Sequence[str]) -> str:
        """Describes the thing in words of its own."""
        return self.world.make_generator("wording", self.persona.name, wordings[0]).choice(wordings)

    def _pass_on(self, news: Said, talk: Talk) -> str:
        task = self.task
        assert news.moment is not None
        where = f", at {say_place(task.place)}" if task.place else ", from wherever you are"
        when = say_moment(news.moment, self.world.clock)
        return self._say("passes_on", talk, what=task.activity, when=when, where=where, who=task.performer.split()[0])

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        self._talked[talk.partner], self._asked = until, None
        heard = [line.says for line in talk.lines if line.speaker == talk.partner]
        if parse_speech(self.task, heard, talk.minute, self.world.clock).parts:
            self._words[talk.partner] |= find_words(heard)
        if any(isinstance(each, Agreed) for each in self.agreed_now):
            text = f"I agreed with {talk.partner} on the {self.task.activity}."
            self.agreed_now.append(
                Remembered(minute=until, resident=self.persona.name, memory="conversation", text=text, importance=6)
            )
        return super().conclude(talk, until)

    # Outside the simulation.

    async def interview(self, question: str, minute: int) -> str:
        """Says what it usually does and has agreed to, whatever the question."""
        doing = self.find_due(minute).doing
        known = [f"{each.doing}, day {count_day(each.start)} at {format_time_of_day(each.start)}" for each in self.engagements]
        agreed = f" I have agreed to this: {'; '.join(known)}." if known else " I have agreed to nothing with anybody."
        return f"(A reference resident, without a model.) At this hour I am usually {doing}.{agreed}"
