"""The best that can be done in a task of level 2 or 3, found by search over the town's timetable.

1. Who could be there: by habits, sleep and work, at every time at which the event could be.
2. Who must be spoken to: each of them; first whoever each comes along with, and somebody who knows a reason that is not told.
3. Whether the performer can reach them all in time, one after the other, where their habits have them, within its budget.

The largest set of people that passes is the best, however many are expected. That somebody is told by others is not counted on,
so that a run can do better than the plan; its share of the best is at most 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from sociable.benchmarks.stss.residents import (
    LEAST_MINUTES,
    MEETING_MINUTES,
    RoutineMind,
    World,
    count_errand_minutes,
)
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.map import Tile

TALK_MINUTES = 6
"""The time that a conversation takes."""

LOOK_MINUTES = 5
"""The step in which the timetable is looked through."""

SETS_TRIED = 300
"""The number of sets of people of one size, for one time of the event, after which a smaller one is tried."""

ARRIVES_LATER = 5
"""The minutes that somebody may arrive after whoever does not stay without them."""


class Best(NamedTuple):
    people: int
    """The number of people who can be won; of an appointment and of help 1, or 0 where nothing can be done."""
    moment: int
    """The event's beginning."""
    plan: tuple[str, ...]
    """The people who are won, in the order in which they are spoken to."""


def find_best(task: Task, minds: Mapping[str, RoutineMind], world: World) -> Best:
    """The most people that can be won for a task, and a way to it. ``minds``: everybody's habits, by name."""
    return _Search(task, minds, world).find()


def find_free_start(task: Task, mind: RoutineMind, moment: int) -> int | None:
    """The minute from which on somebody has the time for a task that begins at ``moment``; None: it has not."""
    minutes, end = MEETING_MINUTES, moment + MEETING_MINUTES
    if task.has_fixed_time:
        minutes, end = LEAST_MINUTES, task.end
    elif task.type is TaskType.HELP:
        minutes, end = count_errand_minutes(task.subtasks), task.end
    spans = mind.find_free_spans(minutes, moment, end)
    return spans[0][0] if spans else None


def list_moments(task: Task) -> Sequence[int]:
    """The minutes at which a task could begin: of a time to be settled every half hour."""
    if task.type in (TaskType.COMPANIONS, TaskType.APPOINTMENT):
        return range(-(-task.start // 30) * 30, task.end - MEETING_MINUTES, 30)
    return (task.start,)


class _Search:
    def __init__(self, task: Task, minds: Mapping[str, RoutineMind], world: World) -> None:
        assert task.obstacles is not None, "a task of level 1 is not searched"
        self._task = task
        self._obstacles = task.obstacles
        self._minds = minds
        self._world = world

    def find(self) -> Best:
        task = self._task
        performer, settles = self._minds[task.performer], task.type in (TaskType.COMPANIONS, TaskType.APPOINTMENT)
        possible = (each for each in list_moments(task) if not settles or performer.is_free(MEETING_MINUTES, each))
        able = {moment: self._find_able(moment) for moment in possible}
        # Where most can, the largest set is found soonest.
        moments = sorted(able, key=lambda moment: (-len(able[moment]), moment))
        most = 1 if task.type in (TaskType.APPOINTMENT, TaskType.HELP) else max(map(len, able.values()), default=0)
        for size in range(most, 0, -1):
            for moment in moments:
                for people in islice(combinations(able[moment], size), SETS_TRIED):
                    plan = self._plan_talks(people, moment) if self._is_closed(people, able[moment]) else ()
                    if plan:
                        return Best(size, moment, tuple(name for name in plan if name in people))
        return Best(0, task.start, ())

    def _find_able(self, moment: int) -> dict[str, int]:
        """Everybody who could be there, or do it, and from when on."""
        task, skill, secret = self._task, self._obstacles.skill, self._obstacles.secret
        found = {}
        for name in (task.target,) if task.target else task.cast:
            lacks = skill is not None and name not in skill.held_by
            if lacks or (secret is not None and name == secret.keeps_from):
                continue
            start = find_free_start(task, self._minds[name], moment)
            if start is not None:
                found[name] = start
        return found

    def _find_third(self, name: str) -> str:
        will = self._obstacles.find_will(name)
        return will.third if will is not None else ""

    def _is_closed(self, people: Sequence[str], able: Mapping[str, int]) -> bool:
        """Whether with everybody whoever it comes along with is there, too, and in time."""
        pairs = ((name, self._find_third(name)) for name in people)
        return all(third in people and able[third] <= able[name] + ARRIVES_LATER for name, third in pairs if third)

    def _plan_talks(self, people: Sequence[str], moment: int) -> tuple[str, ...]:
        """The order in which everybody can be spoken to in time, who is found soonest first; empty: there is none."""
        before = {name: {third} if (third := self._find_third(name)) else set() for name in people}
        for name in people:
            will = self._obstacles.find_will(name)
            knowing = [each for each in will.known_by if each in self._minds] if will is not None and not will.tells else []
            if knowing and not any(each in people for each in knowing):
                before.setdefault(knowing[0], set())
            if knowing:
                before[name].add(next((each for each in knowing if each in before), knowing[0]))
        if self._obstacles.budget is not None and len(before) > self._obstacles.budget:
            return ()
        deadline = self._task.end if self._task.type is TaskType.HELP else moment
        deadline = min(deadline, deadline if self._obstacles.notice is None else self._obstacles.notice)
        minute, tile, plan = 0, self._minds[self._task.performer].tile, list[str]()
        while len(plan) < len(before):
            open_to = [name for name, first in before.items() if name not in plan and first <= set(plan)]
            meetings = [(self._find_meeting(name, minute, tile, deadline), name) for name in open_to]
            found = min(((met, name) for met, name in meetings if met is not None), default=None)
            if found is None:
                return ()
            met, name = found
            plan.append(name)
            minute, tile = met + TALK_MINUTES, self._world.find_tile(self._find_place(name, met))
        return tuple(plan)

    def _find_place(self, name: str, minute: int) -> str:
        mind = self._minds[name]
        block = mind.find_habit(minute)
        return block.place if block else mind.persona.home

    def _find_meeting(self, name: str, minute: int, tile: Tile, deadline: int) -> int | None:
        """The first minute at which the performer, from a tile, can speak to somebody where its habits have it."""
        performer, mind = self._minds[self._task.performer], self._minds[name]
        for met in range(minute + 1, deadline - TALK_MINUTES, LOOK_MINUTES):
            if performer.find_waking(met) is None and mind.find_waking(met) is None:
                way = self._world.count_travel_minutes(tile, self._find_place(name, met))
                if minute + way <= met:
                    return met
        return None
