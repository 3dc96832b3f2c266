"""A mind without a model that follows its day and talks of the weather: the base of reference residents and performers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sociable.benchmarks.stss.task import DAYS, LAST_MINUTE
from sociable.core.seeding import make_generator
from sociable.town.clock import MINUTES_PER_DAY, Clock, time_of_day
from sociable.town.events import Agreed, AnyEvent, Planned
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Activity, Decision, TakenAway, Talk, Utterance, View
from sociable.town.persona import Block, Persona, make_ordinary_day

EARLY_MINUTES = 2
"""The time before a thing begins at which people want to be there."""

PAUSE_MINUTES = 20
"""The shortest time for which people go home in between."""

MEETING_MINUTES = 50
"""The length of a thing that has no end of its own."""

LEAST_MINUTES = 25
"""The shortest time for which people go to an event."""

AT_HOME = "seeing to one thing and another"


@dataclass(frozen=True, slots=True)
class World:
    """Everything that people without a model know of the town."""

    town: TownMap
    clock: Clock
    tiles_per_minute: int
    seed: int
    label: str
    """The episode's: draws in two episodes are independent."""

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
        spans, at = [], start
        for begin, until in [*sorted(each for each in busy if each[0] < end), (end, end)]:
            spans.append((at, begin))
            at = max(at, until)
        return [(begin, until) for begin, until in spans if until - begin >= max(minutes, 1)]

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
                return Activity(engagement.doing, engagement.end, engagement.place)
        limit = min((max(self._find_departure(each), minute + 1) for each in coming), default=LAST_MINUTE)
        if wakes := self.find_waking(minute):
            return Activity(
                "sleeping", max(min(wakes, limit), minute + 1), str(find_bed(self.persona, self.world.town)), asleep=True
            )
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
        return Decision(activity, self.whom_to_address(view) if talks else "", notes)

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
        blocks = sorted((each.start, each.end, each.doing, each.place) for each in [*self._find_habits(minute), *engaged])
        lines = [f"{time_of_day(start)}-{time_of_day(end)} {doing} @ {place}" for start, end, doing, place in blocks]
        return [Planned(minute=minute, resident=self.persona.name, plan="\n".join(lines))]

    def whom_to_address(self, view: View) -> str:
        """Somebody in sight whom it wants to talk to, or the empty string."""
        return ""

    def say_little(self, talk: Talk) -> Utterance:
        """Says something about nothing: an opening or a reply, and after that a goodbye, which ends the conversation."""
        draw = self.world.make_generator("says", self.persona.name, talk.partner, talk.minute, talk.place_in_turn)
        if talk.place_in_turn:
            return Utterance(draw.choice(CLOSINGS), ends=True)
        return Utterance(draw.choice(OPENINGS if talk.began else REPLIES))

    def note_agreement(self, talk: Talk, engagement: Block) -> None:
        """Notes for the log that it has agreed to something in this conversation."""
        self.agreed_now.append(
            Agreed(
                minute=talk.minute,
                resident=self.persona.name,
                partner=talk.partner,
                doing=engagement.doing,
                place=engagement.place,
                start=engagement.start,
                end=engagement.end,
            )
        )

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        notes, self.agreed_now = self.agreed_now, []
        return TakenAway(notes)


# The words of people without a model who have nothing to tell.

OPENINGS = (
    "Morning. You look as if you had slept, which is more than I can say.",
    "There you are. I was just thinking about the price of leeks.",
    "Hello. Mind the step, it is slippery today.",
    "Have you got a minute? No? Nor have I. How are things?",
    "You have had your hair cut, or you have not. Something is different.",
    "What a wind. My hat is in the river, I should think.",
    "I could do with a hot drink. And you?",
    "Nice to see a face that is not on an invoice.",
    "Did you hear the foghorn in the night?",
    "Well, if it is not you. Busy?",
    "They say it will freeze again before the week is out.",
    "I owe you a conversation, I believe. Here it is.",
    "Has the post come at your end?",
    "My knees tell me it is going to rain. They are seldom wrong.",
    "You would not believe what I paid for a light bulb.",
    "Good to see you. I have been talking to myself since seven.",
)

REPLIES = (
    "Oh, the usual, and then the other thing as well.",
    "Can't complain. I do, but I can't.",
    "Well enough. The days are getting longer, if you look closely.",
    "Tired, but in a good way.",
    "Much the same as yesterday, only with more gulls.",
    "Don't get me started, I have to be somewhere.",
    "Better now that the heating works.",
    "Yes, I noticed that too.",
    "Ask me again in spring.",
    "I have been worse, and warmer.",
    "You know how it is: one thing mended, the next one drips.",
    "All right. My sister rang for an hour, so I am up to date with everything.",
)

CLOSINGS = (
    "Well, I must get on. Take care.",
    "I won't keep you. Mind how you go.",
    "Right, back to it. See you about.",
    "Good talking to you.",
    "I had better go before I forget what I came for.",
    "Give my regards to everybody.",
    "Until next time, then.",
    "Off I go. Keep warm.",
)
