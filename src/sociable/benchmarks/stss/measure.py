"""Measures an episode from its event log: who was where, when, doing what (App. A.1). Rules are applied, and no opinion.

1. The log is read back: where everybody stood in every minute, and what it had turned to.
2. Attendance: on the task's date, within its window, at its place, doing the activity, for so many minutes in a row.
3. The score: a share of the people expected, or what was reached of an appointment or of help.
4. Conversations: who told whom of the event, and what was missing with everybody who did not come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sociable.benchmarks.stss.keywords import is_doing
from sociable.benchmarks.stss.obstacles import Obstacles, Will
from sociable.benchmarks.stss.records import (
    ActivityText,
    Attendance,
    Hindered,
    JudgedText,
    Measured,
    NoteCount,
    PerformerTalk,
    Persuaded,
    Stage,
    StssEpisode,
    StssOptions,
    Told,
)
from sociable.benchmarks.stss.reluctant import sets_right
from sociable.benchmarks.stss.speech import parse_speech
from sociable.benchmarks.stss.task import Signs, Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day
from sociable.town.events import Agreed, AnyEvent, Noted, Planned, Talked, read_timelines
from sociable.town.map import Address, Tile, TownMap

HALVED = 0.5
"""The share of a score that is left when the one whom a surprise is for has learnt of it."""

HALF = 0.5
"""The share of a background's plans, or of its words, that may come to nothing before an episode is left unscored."""

ATTENDANCE_MINUTES = 10
"""The length of the shortest stay that counts (appointment and companions: together)."""

SIGHT_TILES = 8
"""Two people in no arena are at the same place within so many tiles, in a straight line."""

AS_AUTHORS = "Scored as the authors score (options place or attendance), which sociable by default does not."
"""A note on runs with such options."""


Decide = Callable[[str, Signs], bool]
"""Tells whether the text of an activity is a thing; by default the keyword filter does."""


def measure_episode(
    episode: StssEpisode,
    town: TownMap,
    clock: Clock,
    options: StssOptions,
    decisions: Mapping[ActivityText, bool] = MappingProxyType({}),
) -> Measured:
    """Measures an episode that was finished. Pure: the same log, options and ``decisions`` of judges give the same record."""
    assert episode.task is not None
    known = {(each.text, each.find_signs(episode.task)): decided for each, decided in decisions.items()}

    def decide(text: str, signs: Signs) -> bool:
        return known[text, signs] if (text, signs) in known else is_doing(text, signs)

    measured = _Measurement(episode, town, clock, options, decide).measure()
    judged = [
        JudgedText(text=each.text, step=each.step, by_filter=is_doing(each.text, each.find_signs(episode.task)), by_judge=decided)
        for each, decided in decisions.items()
    ]
    return measured.model_copy(update={"judged": tuple(judged)})


def list_activity_texts(episode: StssEpisode, town: TownMap, clock: Clock, options: StssOptions) -> list[ActivityText]:
    """The different texts of those who were at the place while the thing could be done, which decide the score."""
    assert episode.task is not None
    steps = {step.signs: number for number, step in enumerate(episode.task.subtasks, start=1)}
    found: dict[ActivityText, None] = {}

    def note(text: str, signs: Signs) -> bool:
        found[ActivityText(steps.get(signs, 0), text)] = None
        return True

    _Measurement(episode, town, clock, options, note).measure()
    return list(found)


def find_background_failure(episode: StssEpisode) -> str:
    """Tells why the background cannot be trusted: most of its plans, or of its words, came to nothing. Empty: it can."""
    assert episode.task is not None
    plans, lines = _find_readable(episode.events, episode.task.cast)
    if plans.count(False) > HALF * len(plans):
        return f"the background's plans could not be read ({plans.count(False)} of {len(plans)})"
    if lines.count(False) > HALF * len(lines):
        return f"the background said nothing in {lines.count(False)} of {len(lines)} turns"
    return ""


def _find_readable(events: Sequence[AnyEvent], names: Collection[str]) -> tuple[list[bool], list[bool]]:
    """Whether each plan of some people could be read, and whether each of their turns has words."""
    own = [event for event in events if isinstance(event, Planned | Noted) and event.resident in names]
    plans = [isinstance(each, Planned) for each in own if isinstance(each, Planned) or each.about.startswith("unreadable plan")]
    lines = [line for event in events if isinstance(event, Talked) for line in event.lines]
    return plans, [bool(line.says.strip()) for line in lines if line.speaker in names]


class _Score(NamedTuple):
    value: float
    reason: str
    attendance: Sequence[Attendance]


class _Measurement:
    """One episode as it is measured."""

    def __init__(self, episode: StssEpisode, town: TownMap, clock: Clock, options: StssOptions, decide: Decide) -> None:
        assert episode.task is not None, "only episodes that were finished are measured"
        self._episode = episode
        self._task: Task = episode.task
        self._town = town
        self._clock = clock
        self._decide = decide
        self._lives = read_timelines(
            episode.events, {name: Tile(*tile) for name, tile in episode.starts.items()}, episode.minutes
        )
        self._talks = [event for event in episode.events if isinstance(event, Talked)]
        self._window = range(self._task.start, min(self._task.end, episode.minutes))
        self._where_planned = options.place == "planned"
        self._as_authors = options.attendance == "authors"
        self._least = 1 if self._as_authors else ATTENDANCE_MINUTES
        self._discounted: Mapping[str, str] = {}

    def measure(self) -> Measured:
        task, events = self._task, self._episode.events
        ways = {
            TaskType.COMPANIONS: self._score_companions,
            TaskType.APPOINTMENT: self._score_appointment,
            TaskType.HELP: self._score_help,
        }
        told, talks = tuple(self._find_told()), tuple(self._find_talks())
        hindered = self._find_hindered(told, talks) if task.obstacles is not None else None
        if hindered is not None:
            self._discounted = hindered.discounted
        score = ways.get(task.type, self._score_collective)()
        if hindered is not None:
            share = self._find_share_of_best(score)
            promised = {each.resident for each in self._find_agreements()}
            left_out = [f"{name}, who {why}, is not counted" for name, why in self._discounted.items() if name in promised]
            score = score._replace(reason="; ".join([score.reason, *left_out]))
            if hindered.secret_out is not None:
                reason = f"{score.reason}; {hindered.secret_out.listener} learnt of it before, which halves it"
                score, share = score._replace(value=score.value * HALVED, reason=reason), share * HALVED
            hindered = hindered.model_copy(update={"of_best": share})
        met = {talk.partner for talk in talks if talk.minute < task.day * MINUTES_PER_DAY}
        ratio = float(task.target in met) if task.target else len(met) / task.expected
        readable = list(chain(*_find_readable(events, (task.performer,))))
        notes = Counter((event.about, event.resident == task.performer) for event in events if isinstance(event, Noted))
        return Measured(
            id=self._episode.id,
            failure=find_background_failure(self._episode),
            score=score.value,
            reason=score.reason,
            attendance=tuple(score.attendance),
            told=told,
            stages=dict(self._find_stages(told, {each.resident for each in score.attendance if each.counts})),
            conversation_ratio=None if task.type is TaskType.HELP else ratio,
            came_to_nothing=1 - sum(readable) / len(readable) if readable else None,
            talks=talks,
            notes=tuple(NoteCount(about=about, of_performer=own, count=n) for (about, own), n in notes.most_common()),
            hindered=hindered,
        )

    # 2. Attendance.

    def _find_address(self, name: str, minute: int) -> Address | None:
        """Somebody's place in a minute, or, as the authors have it, the one its plan names; None: the street, or no place."""
        life = self._lives[name]
        if not self._where_planned:
            return self._town.find_address(life.tiles[minute])
        activity = life.activities[minute]
        return Address.parse(activity.address) if activity is not None and activity.address else None

    def _find_presence(self, name: str, place: str, signs: Signs) -> NDArray[np.bool_]:
        """Tells for each minute of the window whether somebody is at a place (empty: anywhere), awake, and doing the thing."""
        if name in self._discounted:
            return np.zeros(len(self._window), bool)
        life, wanted = self._lives[name], Address.parse(place)

        def is_present(minute: int) -> bool:
            here = self._find_address(name, minute) if place else wanted
            activity = life.activities[minute]
            if here is None or not here.is_within(wanted) or activity is None or life.asleep[minute]:
                return False
            # The authors look at when an activity begins, and at nothing of how long it lasts; of two types at any minute.
            begins = not self._as_authors or self._task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS)
            is_in_time = begins or self._task.start <= activity.minute <= self._task.end
            return is_in_time and self._decide(activity.doing, signs)

        return np.array([is_present(minute) for minute in self._window], bool)

    def _find_stays(self, name: str, presence: NDArray[np.bool_], least: int | None = None, step: str = "") -> list[Attendance]:
        """The runs of minutes in which somebody was present; those of ``least`` minutes count."""
        least = least or self._least
        found = []
        for start, end in _find_runs(presence):
            why = ", ".join(filter(None, (step, "" if end - start >= least else f"less than {least} minutes")))
            begin = self._task.start
            found.append(Attendance(resident=name, start=begin + start, end=begin + end, counts=end - start >= least, why=why))
        return found

    # 3. The score.

    def _score_collective(self) -> _Score:
        """Public and online activities: those who attend, over those expected, at most 1."""
        task = self._task
        stays = [stay for name in task.cast for stay in self._find_stays(name, self._find_presence(name, task.place, task.signs))]
        came = len({stay.resident for stay in stays if stay.counts})
        return _Score(min(came / task.expected, 1.0), f"{came} people took part; {task.expected} were expected", stays)

    def _score_companions(self) -> _Score:
        """The most people who are present at once with the performer, who is not counted."""
        task = self._task
        own, *others = (self._find_presence(name, task.place, task.signs) for name in task.residents)
        together = np.array(others) & own
        counted = set()
        if together.shape[1] >= self._least:
            stayed: NDArray[np.bool_] = np.all(sliding_window_view(together, self._least, axis=1), axis=2)
            first = int(stayed.sum(axis=0).argmax())
            counted = {name for name, stays in zip(task.cast, stayed[:, first], strict=True) if stays}
        found = []
        for stay in (stay for name, each in zip(task.cast, others, strict=True) for stay in self._find_stays(name, each)):
            missed = {"counts": False, "why": stay.why or "not together with the others"}
            found.append(stay if stay.resident in counted else stay.model_copy(update=missed))
        reason = "the performer was not there"
        if own.any():
            reason = f"{len(counted)} people were there at once with the performer; {task.expected} were expected"
        return _Score(min(len(counted) / task.expected, 1.0), reason, [*found, *self._find_stays(task.performer, own)])

    def _score_appointment(self) -> _Score:
        """1 for the same thing at the same time in the same place; half a point if only the place differs."""
        task = self._task
        pair = (task.performer, task.target)
        one, other = (self._find_presence(name, "", task.signs) for name in pair)
        both = one & other
        same = [bool(each) and self._are_together(*pair, minute) for minute, each in zip(self._window, both, strict=True)]
        stays = [*self._find_stays(task.performer, one), *self._find_stays(task.target, other)]
        for flags, value, where in ((same, 1.0, " in the same place"), (both, 0.5, ", in different places")):
            if any(end - start >= self._least for start, end in _find_runs(flags)):
                return _Score(value, f"both did it at the same time{where}", stays)
        reason = "both did it, not at the same time for long enough"
        if absent := [name for name, did in zip(pair, (one, other), strict=True) if not did.any()]:
            reason = f"{' and '.join(absent)} did not do it"
        return _Score(0.0, reason, [stay.model_copy(update={"counts": False, "why": "not together"}) for stay in stays])

    def _are_together(self, one: str, other: str, minute: int) -> bool:
        """Whether two people are in the same arena, or out of doors in sight of each other."""
        here, there = self._find_address(one, minute), self._find_address(other, minute)
        if here is not None and there is not None:
            return (here.sector, here.arena) == (there.sector, there.arena)
        return here is there and not self._where_planned and self._are_near(one, other, minute)

    def _are_near(self, one: str, other: str, minute: int) -> bool:
        here, there = self._lives[one].tiles[minute], self._lives[other].tiles[minute]
        return (here.x - there.x) ** 2 + (here.y - there.y) ** 2 <= SIGHT_TILES**2

    def _score_help(self) -> _Score:
        """1 when one person did all steps in order; half a point when at least one step was done; else 0."""
        task = self._task
        attendance: list[Attendance] = []
        best, steps_done = 0, set()
        for name in task.cast:
            after, in_order = task.start, 0
            for number, step in enumerate(task.subtasks, start=1):
                least = 1 if self._as_authors else step.minutes
                presence = self._find_presence(name, step.place, step.signs)
                if (why := task.obstacles and task.obstacles.skill) and why.step == number and name not in why.held_by:
                    presence[:] = False
                stays = self._find_stays(name, presence, least, f"step {number}")
                attendance += stays
                steps_done |= {number for stay in stays if stay.counts}
                ends = [max(stay.start, after) + least for stay in stays if stay.end - max(stay.start, after) >= least]
                if in_order == number - 1 and ends:
                    after, in_order = min(ends), number
            best = max(best, in_order)
        count, done = len(task.subtasks), len(steps_done)
        if best == count:
            return _Score(1.0, f"one person did all {count} steps in order", attendance)
        reason = f"{done} of {count} steps were done, not all by one person in order" if done else "no step was done"
        return _Score(0.5 if done else 0.0, reason, attendance)

    # 4. Conversations.

    def _find_parts(self, talk: Talked, *speakers: str) -> frozenset[str]:
        """The parts of the task that the words of some people in a conversation name."""
        lines = [line.says for line in talk.lines if line.speaker in speakers]
        return parse_speech(self._task, lines, talk.minute, self._clock).parts

    def _find_told(self) -> Iterator[Told]:
        """Everybody who named the activity, or a step of help, to somebody who knew less of it before."""
        known: dict[str, set[str]] = {self._task.performer: set(self._task.needed_parts)}
        for talk in self._talks:
            for teller, listener in ((talk.resident, talk.partner), (talk.partner, talk.resident)):
                if listener == self._task.performer or talk.minute >= self._task.end or teller not in known:
                    continue
                parts = self._find_parts(talk, teller)
                if parts - known.get(listener, set()):
                    known.setdefault(listener, set()).update(parts)
                    yield Told(minute=talk.minute, teller=teller, listener=listener, parts=tuple(sorted(parts)))

    def _find_stages(self, told: Sequence[Told], done: Collection[str]) -> Iterator[tuple[str, Stage]]:
        """Everybody who could have come, and how far the task came with them."""
        task = self._task
        agreed = {event.resident for event in self._find_agreements()}
        for name in (task.target,) if task.target else task.cast:
            heard = {part for each in told if each.listener == name for part in each.parts}
            if name in done or name in agreed:
                yield name, Stage.DONE if name in done else Stage.NOT_DONE
            elif heard.issuperset(task.needed_parts):
                yield name, Stage.NOT_AGREED
            else:
                yield name, Stage.NOT_TOLD if heard or self._has_met(name) else Stage.NOT_MET

    def _find_agreements(self) -> Iterator[Agreed]:
        return (event for event in self._episode.events if isinstance(event, Agreed) and self._is_event(event))

    def _is_event(self, agreed: Agreed) -> bool:
        """Whether something agreed is the task: it begins within its time, and is the activity by its words or its place."""
        task = self._task
        if agreed.start is not None and not task.start - 60 <= agreed.start < task.end:
            return False
        there = bool(task.place) and agreed.start is not None and agreed.place == task.place
        return there or any(is_doing(agreed.doing, signs) for signs in [step.signs for step in task.subtasks] or [task.signs])

    def _has_met(self, name: str) -> bool:
        """Whether somebody and the performer were in each other's sight, both awake, before the event was over."""
        performer = self._task.performer
        one, other = self._lives[performer], self._lives[name]
        awake = (minute for minute in range(self._window.stop) if not (one.asleep[minute] or other.asleep[minute]))
        near = (minute for minute in awake if self._are_near(performer, name, minute))
        return any(self._town.find_zone(one.tiles[minute]) == self._town.find_zone(other.tiles[minute]) for minute in near)

    def _find_talks(self) -> Iterator[PerformerTalk]:
        """The performer's conversations, and whether either of the two spoke of the task."""
        performer = self._task.performer
        for talk in self._talks:
            if performer in (talk.resident, talk.partner):
                here = self._town.find_address(self._lives[performer].tiles[talk.minute])
                yield PerformerTalk(
                    minute=talk.minute,
                    until=talk.until,
                    partner=talk.partner if talk.resident == performer else talk.resident,
                    place=str(Address(here.sector, here.arena)) if here else "",
                    is_about_task=bool(self._find_parts(talk, talk.resident, talk.partner)),
                    lines=talk.lines,
                )

    # 5. What stood in the way.

    def _find_hindered(self, told: Sequence[Told], talks: Sequence[PerformerTalk]) -> Hindered:
        """What became of everything that makes a task of level 2 or 3 hard."""
        task, obstacles = self._task, self._task.obstacles
        assert obstacles is not None
        own = [talk for talk in talks if talk.minute < task.end and self._speaks_of_task(talk)]
        secret, rumour = obstacles.secret, obstacles.rumour
        misled = rumour.believed_by if rumour is not None else ()
        set_right = {name: self._find_set_right(name, talks) for name in misled}
        discounted: dict[str, str] = {}
        if obstacles.budget is not None:
            over = f"was won over only after {obstacles.budget} conversations"
            last = max((talk.until for talk in own[: obstacles.budget]), default=0)
            promised = {each.resident for each in self._find_agreements() if each.minute <= last}
            # Whoever still believes the rumour then has promised something else.
            promised -= {name for name in misled if (minute := set_right[name]) is None or minute > last}
            discounted |= {talk.partner: over for talk in own[obstacles.budget :] if talk.partner not in promised}
        if obstacles.notice is not None:
            when = format_time_of_day(obstacles.notice)
            # Whoever has agreed knows, even where it named the hour itself.
            agreed = {each.resident for each in self._find_agreements() if each.minute <= obstacles.notice}
            late = (name for name in task.cast if name not in agreed and not self._is_told_by(name, told, obstacles.notice))
            discounted |= dict.fromkeys(late, f"had not been told all by {when}")
        persuaded = tuple(self._find_persuaded(will, obstacles, talks) for will in obstacles.wills)
        untrue = {each.name for each in persuaded if not each.is_true}
        discounted |= {will.who: f"came for {will.third}, who did not" for will in obstacles.wills if will.who in untrue}
        out = (each for each in told if secret is not None and each.listener == secret.keeps_from and each.minute < task.start)
        return Hindered(
            persuaded=persuaded,
            discounted=discounted,
            has_secret=secret is not None,
            secret_out=next(out, None),
            set_right={name: minute for name, minute in set_right.items() if name in task.cast},
            talks=len(own),
        )

    def _find_share_of_best(self, score: _Score) -> float:
        task = self._task
        if task.type in (TaskType.APPOINTMENT, TaskType.HELP):
            return score.value
        assert task.obstacles is not None
        came = {each.resident for each in score.attendance if each.counts} - {task.performer}
        return min(len(came) / task.obstacles.best, 1.0)

    def _speaks_of_task(self, talk: PerformerTalk) -> bool:
        return bool(parse_speech(self._task, self._list_own_lines(talk), talk.minute, self._clock).parts)

    def _list_own_lines(self, talk: PerformerTalk) -> list[str]:
        return [line.says for line in talk.lines if line.speaker == self._task.performer]

    def _is_told_by(self, name: str, told: Sequence[Told], minute: int) -> bool:
        heard = {part for each in told if each.listener == name and each.minute <= minute for part in each.parts}
        return heard.issuperset(self._task.needed_parts)

    def _find_persuaded(self, will: Will, obstacles: Obstacles, talks: Sequence[PerformerTalk]) -> Persuaded:
        learnt = (
            (talk.minute, talk.partner)
            for talk in talks
            if talk.partner in (will.who, *will.known_by)
            if any(line.speaker == talk.partner and will.is_told_in(line.says) for line in talk.lines)
        )
        moved = (
            talk.minute
            for talk in talks
            if talk.partner == will.who
            and will.is_moved_by([each for each in self._list_own_lines(talk) if not obstacles.promises_everything(each)])
        )
        minute, teller = next(learnt, (None, ""))
        said = next(moved, None)
        came = True
        if will.third:
            presence = self._find_presence(will.third, self._task.place, self._task.signs)
            came = any(end - start >= self._least for start, end in _find_runs(presence))
        return Persuaded(
            name=will.who,
            kind=will.kind,
            learnt=minute,
            learnt_from=teller,
            moved=said,
            third=will.third,
            is_true=came or said is None,
        )

    def _find_set_right(self, name: str, talks: Sequence[PerformerTalk]) -> int | None:
        """The minute of the conversation in which the performer told somebody better than the rumour."""
        own = ((talk.minute, line) for talk in talks if talk.partner == name for line in talk.lines)
        said = (minute for minute, line in own if line.speaker == self._task.performer and sets_right(self._task, line.says))
        return next(said, None)


def _find_runs(flags: Sequence[bool] | NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first place of every run of True, and the first after it."""
    changes = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(start), int(end)) for start, end in changes.reshape(-1, 2)]
