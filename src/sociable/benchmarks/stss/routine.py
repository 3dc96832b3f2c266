"""A mind without a model that follows its day: the ground that reference residents and reference performers stand on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sociable.core.seeding import make_generator
from sociable.town.clock import MINUTES_PER_DAY, Clock, time_of_day
from sociable.town.events import AnyEvent, Planned
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Activity, Decision, TakenAway, Talk, View
from sociable.town.persona import Block, Persona, ordinary_day

EARLY_MINUTES = 2
"""How long before a thing begins people want to be there."""

PAUSE_MINUTES = 20
"""For less nobody goes home in between."""

AT_HOME = "seeing to one thing and another"


@dataclass(frozen=True, slots=True)
class Engagement:
    """What somebody means to do at a time: agreed with others, and before any habit."""

    start: int
    end: int
    doing: str
    place: str


@dataclass(frozen=True, slots=True)
class World:
    """What everybody without a model knows of the town."""

    town: TownMap
    clock: Clock
    tiles_per_minute: int
    minutes: int
    seed: int
    label: str
    """Of the episode: draws in two episodes are independent."""

    def generator(self, *names: str | int) -> random.Random:
        return make_generator(self.seed, "reference", self.label, *names)

    def travel_minutes(self, start: Tile, goal: str) -> int:
        """To a place, a little more than it takes; 0 where the place is not known, or none is needed."""
        tiles = self.town.free_tiles(Address.parse(goal)) if goal else ()
        steps = self.town.distance(start, tiles[0]) if tiles else None
        return 0 if steps is None else steps // self.tiles_per_minute + 1

    def tile_of(self, place: str) -> Tile:
        """Somewhere in a place that is there."""
        return self.town.free_tiles(Address.parse(place))[0]


class RoutineMind:
    """Does what it usually does on such a day, and what it has agreed to."""

    def __init__(self, persona: Persona, world: World) -> None:
        self.persona = persona
        self.world = world
        self.alarm: int | None = None
        self.engagements: list[Engagement] = []
        self._home = self.tile = world.tile_of(persona.home)
        self._doing = ""
        self._days = [self._day(day) for day in range(world.minutes // MINUTES_PER_DAY + 1)]
        self._planned = -1

    # The day.

    def _day(self, day: int) -> Sequence[Block]:
        return ordinary_day(self.persona, self.world.clock, day)

    def asleep_at(self, minute: int) -> bool:
        return self.wakes_after(minute) is not None

    def wakes_after(self, minute: int) -> int | None:
        """When it gets up, if it is in bed at ``minute`` on an ordinary day."""
        today = minute // MINUTES_PER_DAY * MINUTES_PER_DAY
        persona = self.persona
        late = persona.sleeps - MINUTES_PER_DAY
        went_to_bed_after_midnight = late if late > 0 else 0
        if went_to_bed_after_midnight <= minute - today < persona.wakes or minute < persona.wakes:
            return today + persona.wakes
        if persona.sleeps < MINUTES_PER_DAY and minute - today >= persona.sleeps:
            return today + MINUTES_PER_DAY + persona.wakes
        return None

    def habit_at(self, minute: int) -> Block | None:
        day = min(minute // MINUTES_PER_DAY, len(self._days) - 1)
        return next((block for block in self._days[day] if block.start <= minute < block.end), None)

    def free_spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of a time in which it is neither asleep, at work, nor engaged."""
        busy = [(each.start, each.end) for each in self.engagements]
        busy += [(block.start, block.end) for day in self._days for block in day if block.work]
        for day in range(-1, self.world.minutes // MINUTES_PER_DAY + 1):
            night = day * MINUTES_PER_DAY + self.persona.sleeps
            busy.append((night, (day + 1) * MINUTES_PER_DAY + self.persona.wakes))
        spans, at = [], start
        for begin, until in sorted(each for each in busy if each[0] < end):
            if begin > at:
                spans.append((at, begin))
            at = max(at, until)
        if at < end:
            spans.append((at, end))
        return [(begin, until) for begin, until in spans if until > begin]

    def free_for(self, minutes: int, start: int, end: int) -> tuple[int, int] | None:
        """The first span of at least so many minutes, or None."""
        return next(((begin, until) for begin, until in self.free_spans(start, end) if until - begin >= minutes), None)

    def engage(self, engagement: Engagement, now: int) -> None:
        """Puts something before all habits."""
        self.engagements.append(engagement)
        self.engagements.sort(key=lambda each: each.start)
        self._set_alarm(now)

    def cancel(self, engagement: Engagement) -> None:
        self.engagements.remove(engagement)

    def _departure(self, engagement: Engagement) -> int:
        return engagement.start - self.world.travel_minutes(self.tile, engagement.place) - EARLY_MINUTES

    def _set_alarm(self, now: int) -> None:
        """It wants to be asked when it is time to leave for what comes next."""
        due = [self._departure(each) for each in self.engagements if each.end > now and each.doing != self._doing]
        self.alarm = max(now + 1, min(due)) if due else None

    def due(self, minute: int) -> Activity:
        """What it should be doing now, until something else is due."""
        coming = [each for each in self.engagements if each.end > minute]
        for engagement in coming:
            # Once on the way it goes on, though the way may be shorter by now.
            if self._departure(engagement) <= minute or engagement.doing == self._doing:
                return Activity(engagement.doing, engagement.end, engagement.place)
        limit = min((max(self._departure(each), minute + 1) for each in coming), default=self.world.minutes)
        if wakes := self.wakes_after(minute):
            return Activity("sleeping", max(min(wakes, limit), minute + 1), self.bed, asleep=True)
        today = self._days[min(minute // MINUTES_PER_DAY, len(self._days) - 1)]
        coming_home = self.world.travel_minutes(self.tile, self.persona.home)
        night = minute // MINUTES_PER_DAY * MINUTES_PER_DAY + self.persona.sleeps
        until = night
        for block in today:
            if block.end <= minute:
                continue
            leaves_home = block.start - self.world.travel_minutes(self._home, block.place) - EARLY_MINUTES
            if leaves_home - minute < coming_home + PAUSE_MINUTES:
                return Activity(block.doing, max(min(block.end, limit), minute + 1), block.place)
            until = min(until, leaves_home)
            break
        return Activity(AT_HOME, max(min(until, limit), minute + 1), self.persona.home)

    @property
    def bed(self) -> str:
        bed = replace(Address.parse(self.persona.home), thing="bed")
        return str(bed) if bed in self.world.town.places else self.persona.home

    # As a mind.

    def decide(self, view: View) -> Decision:
        self.tile = view.tile
        notes = self._plan_of_the_day(view.minute)
        chosen = self.chosen(view)
        talks = not (chosen.asleep if chosen else view.activity is not None and view.activity.asleep)
        return Decision(chosen, self.whom_to_address(view) if talks else "", notes)

    def chosen(self, view: View) -> Activity | None:
        """What it turns to now; None: it goes on."""
        over = view.activity is None or view.minute >= view.activity.until
        if not over and (self.alarm is None or view.minute < self.alarm):
            return None
        due = self.due(view.minute)
        changes = over or due.doing != self._doing
        self._doing = due.doing
        self._set_alarm(view.minute)
        return due if changes else None

    def _plan_of_the_day(self, minute: int) -> Sequence[AnyEvent]:
        """Its day, told once a day when it gets up."""
        day = minute // MINUTES_PER_DAY
        if day == self._planned or self.asleep_at(minute):
            return ()
        self._planned = day
        engaged = [each for each in self.engagements if each.start // MINUTES_PER_DAY == day]
        blocks = sorted(
            [(block.start, block.end, block.doing, block.place) for block in self._days[min(day, len(self._days) - 1)]]
            + [(each.start, each.end, each.doing, each.place) for each in engaged]
        )
        lines = [f"{time_of_day(start)}-{time_of_day(end)} {doing} @ {place}" for start, end, doing, place in blocks]
        return [Planned(minute=minute, resident=self.persona.name, plan="\n".join(lines))]

    def whom_to_address(self, view: View) -> str:
        """Somebody in sight whom it wants to talk to, or the empty string."""
        return ""

    def conclude(self, talk: Talk, until: int) -> TakenAway:
        return TakenAway()
