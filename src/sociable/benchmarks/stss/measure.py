"""From the event log to attendance: who was where, when, doing what (App. A.1). A rule, applied; no opinion.

1. Timelines: where everybody stood in every minute, and what it had turned to.
2. Attendance: on the task's date, within its window, at its place, doing the activity, for so many minutes in a row.
3. The score: a share of the people expected, or what was reached of an appointment or of help.
4. Stages: what was missing with everybody else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.stss.keywords import is_doing
from sociable.benchmarks.stss.options import StssOptions
from sociable.benchmarks.stss.records import Stage, StssEpisode
from sociable.benchmarks.stss.speech import needs, said_of
from sociable.benchmarks.stss.task import Signs, Task, TaskType
from sociable.town.clock import Clock, time_of_day
from sociable.town.events import Agreed, AnyEvent, Noted, Planned, Talked
from sociable.town.map import Address, Tile, TownMap
from sociable.town.timeline import Timeline, read_timelines

HALF = 0.5
"""Of a background's plans, or of its words, that may come to nothing before an episode is left unscored."""

ATTENDANCE_MINUTES = 10
"""At least so long in a row (appointment and companions: together)."""

SIGHT_TILES = 8
"""Two people in no arena are at the same place within so many tiles, in a straight line."""


_SETTLED_BETWEEN_PEOPLE = (TaskType.APPOINTMENT, TaskType.COMPANIONS)
"""Of these the authors look at single minutes; of the others at when activities begin."""


@dataclass(frozen=True, slots=True)
class Attendance:
    """One resident's time at the event; of help: at one step."""

    resident: str
    start: int
    end: int
    counts: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One resident told another of the event."""

    minute: int
    teller: str
    listener: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    score: float
    reason: str
    attendance: Sequence[Attendance]
    told: Sequence[Told]
    stages: Mapping[str, Stage]
    """Of everybody who could have come: the cast; of an appointment the target."""
    conversation_ratio: float | None
    """None for help (Table 4's caption)."""
    came_to_nothing: float | None = None
    """Of the performer's plans and words the share in which nothing could be read; None: it made none."""


class Measurement:
    """One episode, measured."""

    def __init__(self, episode: StssEpisode, town: TownMap, clock: Clock, options: StssOptions) -> None:
        assert episode.task is not None
        self.episode = episode
        self.task: Task = episode.task
        self.town = town
        self.clock = clock
        self._options = options
        starts = {name: Tile(*tile) for name, tile in episode.starts.items()}
        self.timelines = read_timelines(episode.events, starts, episode.minutes)
        self._as_authors = options.attendance == "authors"
        self._least = 1 if self._as_authors else ATTENDANCE_MINUTES

    def result(self) -> Measured:
        score, reason, attendance = _SCORED_BY[self.task.type](self)
        done = {each.resident for each in attendance if each.counts}
        return Measured(
            score, reason, attendance, self.told, self._stages(done), self._conversation_ratio(), self._came_to_nothing()
        )

    # 2. Attendance.

    @cached_property
    def _addresses(self) -> dict[str, Sequence[Address | None]]:
        if self._options.place == "standing":
            return {name: timeline.addresses(self.town) for name, timeline in self.timelines.items()}
        return {
            name: [_planned(timeline, minute) for minute in range(self.episode.minutes)]
            for name, timeline in self.timelines.items()
        }

    def _is_at(self, name: str, minute: int, place: Address | None) -> bool:
        """``place`` None: anywhere."""
        if place is None:
            return True
        here = self._addresses[name][minute]
        return here is not None and here.within(place)

    def _does(self, name: str, minute: int, signs: Signs) -> bool:
        timeline = self.timelines[name]
        activity = timeline.activities[minute]
        if activity is None or timeline.asleep[minute] or not is_doing(activity.doing, signs):
            return False
        if self._as_authors and self.task.type not in _SETTLED_BETWEEN_PEOPLE:
            # They look at when an activity begins, and at nothing of how long it lasts.
            return self.task.start <= activity.minute <= self.task.end
        return True

    @property
    def _window(self) -> range:
        return range(self.task.start, min(self.task.end, self.episode.minutes))

    def _attends(self, name: str, place: Address | None, signs: Signs) -> list[bool]:
        return [self._is_at(name, minute, place) and self._does(name, minute, signs) for minute in self._window]

    def _presence(self, name: str, attends: Sequence[bool], least: int) -> Iterator[Attendance]:
        for start, end in _runs(attends):
            counts = end - start >= least
            why = "" if counts else f"less than {least} minutes"
            yield Attendance(name, self.task.start + start, self.task.start + end, counts, why)

    # 3. The score.

    def collective(self) -> tuple[float, str, list[Attendance]]:
        """Public and online activities: those who attend, over those expected, at most 1."""
        task = self.task
        attendance = [
            each
            for name in task.cast
            for each in self._presence(name, self._attends(name, task.address, task.signs), self._least)
        ]
        came = {each.resident for each in attendance if each.counts}
        return min(len(came) / task.expected, 1.0), f"{len(came)} people took part; {task.expected} were expected", attendance

    def companions(self) -> tuple[float, str, list[Attendance]]:
        """The best headcount present together with the performer, who is not counted."""
        task = self.task
        own = self._attends(task.performer, task.address, task.signs)
        at = {name: self._attends(name, task.address, task.signs) for name in task.cast}
        together = {name: [one and other for one, other in zip(own, attends, strict=True)] for name, attends in at.items()}
        best, when = 0, 0
        for first in range(max(len(own) - self._least + 1, 0)):
            there = sum(all(each[first : first + self._least]) for each in together.values())
            if there > best:
                best, when = there, first
        span = slice(when, when + self._least)
        counted = {name for name, each in together.items() if best and all(each[span])}
        attendance = [each for name, attends in at.items() for each in self._presence(name, attends, self._least)]
        attendance = [
            each
            if each.resident in counted
            else Attendance(each.resident, each.start, each.end, False, each.why or "not together with the others")
            for each in attendance
        ]
        attendance += list(self._presence(task.performer, own, self._least))
        if not any(own):
            reason = "the performer was not there"
        else:
            reason = f"{best} people were there at once with the performer; {task.expected} were expected"
        return min(best / task.expected, 1.0), reason, attendance

    def appointment(self) -> tuple[float, str, list[Attendance]]:
        """1 for the same thing at the same time in the same place; half a point if only the place differs."""
        task = self.task
        one = self._attends(task.performer, None, task.signs)
        other = self._attends(task.target, None, task.signs)
        both = [a and b for a, b in zip(one, other, strict=True)]
        same = [each and self._together(task.performer, task.target, task.start + at) for at, each in enumerate(both)]
        attendance = [*self._presence(task.performer, one, self._least), *self._presence(task.target, other, self._least)]
        if _longest(same) >= self._least:
            return 1.0, "both did it at the same time in the same place", attendance
        if _longest(both) >= self._least:
            return 0.5, "both did it at the same time, in different places", attendance
        if not any(one) or not any(other):
            absent = [name for name, did in ((task.performer, one), (task.target, other)) if not any(did)]
            reason = f"{' and '.join(absent)} did not do it"
        else:
            reason = "both did it, not at the same time for long enough"
        return 0.0, reason, [Attendance(each.resident, each.start, each.end, False, "not together") for each in attendance]

    def _together(self, one: str, other: str, minute: int) -> bool:
        """In the same arena; out of doors within sight."""
        here, there = self._addresses[one][minute], self._addresses[other][minute]
        if here is not None and there is not None:
            return (here.sector, here.arena) == (there.sector, there.arena)
        if here is not None or there is not None or self._options.place == "planned":
            return False
        a, b = self.timelines[one].tiles[minute], self.timelines[other].tiles[minute]
        return (a.x - b.x) ** 2 + (a.y - b.y) ** 2 <= SIGHT_TILES**2

    def help(self) -> tuple[float, str, list[Attendance]]:
        """1 when one person did all steps in order; half a point when at least one step was done; else 0."""
        task = self.task
        attendance: list[Attendance] = []
        best, steps_done = 0, set()
        for name in task.cast:
            after, in_order = task.start, 0
            for number, step in enumerate(task.subtasks, start=1):
                attends = self._attends(name, step.address, step.signs)
                least = 1 if self._as_authors else step.minutes
                runs = [(task.start + start, task.start + end) for start, end in _runs(attends)]
                for start, end in runs:
                    done = end - start >= least
                    why = f"step {number}" if done else f"step {number}, less than {least} minutes"
                    attendance.append(Attendance(name, start, end, done, why))
                    if done:
                        steps_done.add(number)
                if in_order == number - 1:
                    ends = [start + least for start, end in runs if start >= after and end - start >= least]
                    ends += [after + least for start, end in runs if start < after and end - after >= least]
                    if ends:
                        after, in_order = min(ends), number
            best = max(best, in_order)
        count = len(task.subtasks)
        if best == count:
            return 1.0, f"one person did all {count} steps in order", attendance
        if steps_done:
            return 0.5, f"{len(steps_done)} of {count} steps were done, not all by one person in order", attendance
        return 0.0, "no step was done", attendance

    # 4. Stages.

    @cached_property
    def _talks(self) -> list[Talked]:
        return [event for event in self.episode.events if isinstance(event, Talked)]

    @cached_property
    def told(self) -> list[Told]:
        """Who told whom of the event: whoever named the activity (of help: a step) to somebody who knew less of it before."""
        known: dict[str, set[str]] = {self.task.performer: set(needs(self.task))}
        found = []
        for talk in self._talks:
            for teller, listener in ((talk.resident, talk.partner), (talk.partner, talk.resident)):
                if listener == self.task.performer or talk.minute >= self.task.end or teller not in known:
                    continue
                lines = [line.says for line in talk.lines if line.speaker == teller]
                parts = said_of(self.task, lines, talk.minute, self.clock, self.task.places).parts
                if parts - known.get(listener, set()):
                    known.setdefault(listener, set()).update(parts)
                    found.append(Told(talk.minute, teller, listener, tuple(sorted(parts))))
        return found

    def _stages(self, done: set[str]) -> dict[str, Stage]:
        task = self.task
        wanted = (task.target,) if task.target else task.cast
        told: dict[str, set[str]] = {}
        for each in self.told:
            told.setdefault(each.listener, set()).update(each.parts)
        agreed = {event.resident for event in self.episode.events if isinstance(event, Agreed) and self._is_about(event)}
        stages = {}
        for name in wanted:
            if name in done:
                stages[name] = Stage.DONE
            elif name in agreed:
                stages[name] = Stage.NOT_DONE
            elif set(needs(task)) <= told.get(name, set()):
                stages[name] = Stage.NOT_AGREED
            elif told.get(name) or self._met(name):
                stages[name] = Stage.NOT_TOLD
            else:
                stages[name] = Stage.NOT_MET
        return stages

    def _is_about(self, event: Agreed) -> bool:
        """Whether something agreed is the task: it begins within its time, and is the activity by its words or its place."""
        task = self.task
        if event.start is not None and not task.start - 60 <= event.start < task.end:
            return False
        signs = [step.signs for step in task.subtasks] or [task.signs]
        there = bool(task.place) and event.start is not None and event.place == task.place
        return there or any(is_doing(event.doing, each) for each in signs)

    def _met(self, name: str) -> bool:
        """Whether it and the performer were in each other's sight, both awake, before the event was over."""
        one, other = self.timelines[self.task.performer], self.timelines[name]
        for minute in range(min(self.task.end, self.episode.minutes)):
            a, b = one.tiles[minute], other.tiles[minute]
            if (
                (a.x - b.x) ** 2 + (a.y - b.y) ** 2 <= SIGHT_TILES**2
                and not one.asleep[minute]
                and not other.asleep[minute]
                and self.town.zone_of(a) == self.town.zone_of(b)
            ):
                return True
        return False

    def _came_to_nothing(self) -> float | None:
        own = [event for event in self.episode.events if event.resident == self.task.performer]
        plans = [isinstance(event, Planned) for event in own if isinstance(event, Planned) or is_unread_plan(event)]
        words = [bool(line.says.strip()) for talk in self._talks for line in talk.lines if line.speaker == self.task.performer]
        read = [*plans, *words]
        return 1 - sum(read) / len(read) if read else None

    def _conversation_ratio(self) -> float | None:
        """Different people talked with before the event's day, whoever began, over the number expected."""
        task = self.task
        if task.type is TaskType.HELP:
            return None
        before = [talk for talk in self._talks if talk.minute < task.day * 24 * 60]
        people = {talk.partner for talk in before if talk.resident == task.performer}
        people |= {talk.resident for talk in before if talk.partner == task.performer}
        if task.target:
            return float(task.target in people)
        return len(people) / task.expected


_SCORED_BY: Mapping[TaskType, Callable[[Measurement], tuple[float, str, list[Attendance]]]] = {
    TaskType.PUBLIC: Measurement.collective,
    TaskType.ONLINE: Measurement.collective,
    TaskType.COMPANIONS: Measurement.companions,
    TaskType.APPOINTMENT: Measurement.appointment,
    TaskType.HELP: Measurement.help,
}


def _planned(timeline: Timeline, minute: int) -> Address | None:
    activity = timeline.activities[minute]
    return Address.parse(activity.address) if activity is not None and activity.address else None


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """(first, after the last) of every run of True."""
    found, start = [], None
    for place, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = place
        elif not flag and start is not None:
            found.append((start, place))
            start = None
    return found


def _longest(flags: Sequence[bool]) -> int:
    return max((end - start for start, end in _runs(flags)), default=0)


def is_unread_plan(event: AnyEvent) -> bool:
    """Whether a resident's model was asked for a plan and gave none that could be read."""
    return isinstance(event, Noted) and event.about.startswith("unreadable plan")


def in_words(attendance: Attendance) -> str:
    """``17:35-18:20, less than 10 minutes``."""
    span = f"{time_of_day(attendance.start)}–{time_of_day(attendance.end)}"
    return f"{span}, {attendance.why}" if attendance.why else span


def background_failure(episode: StssEpisode) -> str:
    """Why the background cannot be trusted: most of its plans, or of its words, came to nothing. Empty: it can."""
    assert episode.task is not None
    cast = set(episode.task.cast)
    plans = Counter(
        isinstance(event, Planned)
        for event in episode.events
        if event.resident in cast and (isinstance(event, Planned) or is_unread_plan(event))
    )
    if plans[False] > HALF * plans.total():
        return f"the background's plans could not be read ({plans[False]} of {plans.total()})"
    lines = [line for event in episode.events if isinstance(event, Talked) for line in event.lines if line.speaker in cast]
    empty = sum(not line.says.strip() for line in lines)
    if lines and empty > HALF * len(lines):
        return f"the background said nothing in {empty} of {len(lines)} turns"
    return ""
