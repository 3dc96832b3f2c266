"""Memories that people without a model would have of the hours before a scene: read from the event log, put into sentences.

A generative agent's memory stands in the log as it is. A reference resident keeps next to none, so that its plans, what it
did and saw, and whom it talked with about what, are worded here by rule. The same experience always reads the same, whatever
the seed: two scenes whose memories differ differ in what was lived.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from sociable.benchmarks.stss.measure import SIGHT_TILES
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.speech import Said, parse_speech, say_moment
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.town.clock import Clock
from sociable.town.events import Agreed, Planned, Remembered, Talked, Timeline, read_timelines
from sociable.town.map import Address, Tile, TownMap

MOST_MEMORIES = 24
"""The latest, beside the day's plan; a conversation is hardly ever about what was seen in the morning."""

MOST_BLOCKS = 4
"""Parts of a plan that are remembered: the longest."""

LEAST_MINUTES = 5
"""Doing something, or being in sight of somebody, is remembered from so many minutes on."""

PLAN, SEEN, SMALL_TALK, ABOUT_IT, TOLD = 5.0, 2.0, 3.0, 7.0, 7.0
"""The importance of memories, as a generative agent might rate it."""


class Recollection:
    """One episode up to a minute, as its people remember it; what comes later is not looked at."""

    def __init__(self, episode: StssEpisode, minute: int, town: TownMap, clock: Clock) -> None:
        assert episode.task is not None
        self.task: Task = episode.task
        self.minute = minute
        self._events = [event for event in episode.events if event.minute <= minute]
        self._played_by = episode.played_by
        self._town, self._clock = town, clock
        starts = {name: Tile(*tile) for name, tile in episode.starts.items()}
        self.timelines: Mapping[str, Timeline] = read_timelines(self._events, starts, minute + 1)

    def recall_before(self, name: str, partner: str) -> tuple[tuple[Remembered, ...], tuple[Agreed, ...]]:
        """All that ``name`` remembers and has promised when its conversation with ``partner`` begins."""
        own = [event for event in self._events if event.resident == name]
        # What a reference resident agrees to is dated with the beginning of the conversation: this one's is still to come.
        agreed = tuple(e for e in own if isinstance(e, Agreed) and (e.minute, e.partner) != (self.minute, partner))
        if self._played_by.get(name, "").startswith("reference/"):
            return self._derive_memories(name), agreed
        # What a generative agent knew from the beginning the persona has.
        known = (e for e in own if isinstance(e, Remembered) and (e.memory, e.minute) != ("fact", 0))
        return tuple(known), agreed

    def _derive_memories(self, name: str) -> tuple[Remembered, ...]:
        """The latest memories of somebody who keeps none, worded by rule."""
        ways = (self._remember_plans, self._remember_doings, self._remember_sightings, self._remember_conversations)
        # What is not over yet is no memory: an activity, a conversation.
        found = [event for remember in ways for event in remember(name) if event.minute <= self.minute]
        known = sorted(found, key=lambda event: event.minute)
        plans = [event for event in known if event.memory == "plan"][-1:]
        rest = [event for event in known if event.memory != "plan"][-MOST_MEMORIES:]
        return tuple(sorted([*plans, *rest], key=lambda event: event.minute))

    def _name_place(self, name: str, minute: int) -> str:
        where = self._town.find_address(self.timelines[name].tiles[minute])
        return _write_place(str(where)) if where is not None else "in the street"

    # The day.

    def _remember_plans(self, name: str) -> Iterator[Remembered]:
        for event in self._events:
            if isinstance(event, Planned) and event.resident == name and event.plan:
                blocks = [line.partition(" @ ") for line in event.plan.splitlines()]
                longest = sorted(blocks, key=lambda block: -_count_minutes(block[0]))[:MOST_BLOCKS]
                shown = [block for block in blocks if block in longest]
                parts = [f"{line[:5]} {line.partition(' ')[2]}, {_write_place(place)}" for line, _, place in shown]
                beginning = _choose(("My day", "Today", "What I mean to do today", "On the list for today"), name, event.plan)
                yield _make_memory(name, event.minute, "plan", f"{beginning}: {'; '.join(parts)}.", PLAN)

    def _remember_doings(self, name: str) -> Iterator[Remembered]:
        timeline = self.timelines[name]
        short = name.split()[0]
        for place, event in enumerate(timeline.began):
            end = timeline.began[place + 1].minute if place + 1 < len(timeline.began) else self.minute + 1
            if event.asleep or end - event.minute < LEAST_MINUTES or not event.address:
                continue
            where = _write_place(event.address)
            ways = (
                f"{short}, {where}: {event.doing}",
                f"{event.doing[:1].upper()}{event.doing[1:]}, {where}",
                f"{short} spent some time {where}, {event.doing}",
                f"{short} has been {event.doing}, {where}",
            )
            yield _make_memory(name, end, "seen", _choose(ways, name, event.doing, where), SEEN)

    # Others.

    @cached_property
    def _tracks(self) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Everybody's x, y, zone and whether asleep, by name and minute."""
        found = {}
        for name, timeline in self.timelines.items():
            zones = {tile: self._town.find_zone(tile) for tile in set(timeline.tiles)}
            x, y, zone = np.array([(tile.x, tile.y, zones[tile]) for tile in timeline.tiles]).T
            found[name] = (x, y, zone, np.array(timeline.asleep))
        return found

    def _remember_sightings(self, name: str) -> Iterator[Remembered]:
        """Memories of those who were in sight for a while: one for each thing that they did."""
        x, y, zone, asleep = self._tracks[name]
        for other, (their_x, their_y, their_zone, sleeps) in self._tracks.items():
            if other == name:
                continue
            near = (x - their_x) ** 2 + (y - their_y) ** 2 <= SIGHT_TILES**2
            together = near & (zone == their_zone) & ~asleep & ~sleeps
            activities = self.timelines[other].activities
            seen: dict[int, list[int]] = {}
            for minute in np.flatnonzero(together).tolist():
                if activities[minute] is not None:
                    seen.setdefault(id(activities[minute]), []).append(minute)
            for minutes in seen.values():
                if len(minutes) < LEAST_MINUTES:
                    continue
                activity = activities[minutes[0]]
                assert activity is not None
                noticed = minutes[LEAST_MINUTES - 1]
                ways = (f"{other}: {activity.doing}", f"{other}, {self._name_place(other, noticed)}: {activity.doing}")
                yield _make_memory(name, noticed + 1, "seen", _choose(ways, name, other, activity.doing), SEEN)

    def _remember_conversations(self, name: str) -> Iterator[Remembered]:
        for talk in self.timelines[name].talks:
            partner = talk.partner if talk.resident == name else talk.resident
            place = self._name_place(name, talk.minute)
            if teller := self._find_teller(talk):
                about = self._tell_about(talk, name, partner, teller)
                yield _make_memory(name, talk.until, "conversation", f"{partner}: {about}", ABOUT_IT)
                if teller == partner != self.task.performer:
                    news = f"{self._put_in_words(self._find_said(talk, partner))}; it is {self.task.performer.split()[0]}'s idea"
                    yield _make_memory(name, talk.until, "told", f"{partner} told me: {news}", TOLD)
                continue
            said = next((line.says for line in talk.lines if line.speaker == partner), "")
            ways = (
                f"{partner}: we passed the time of day {place}. “{said}”",
                f"{partner}: a few words {place}; “{said}”",
                f"{partner}: nothing much, {place}. They said: “{said}”",
                f"{partner}: met {place} and talked of this and that. “{said}”",
            )
            text = _choose(ways, name, partner, said) if said else f"{partner}: met {place}; they had nothing to say"
            yield _make_memory(name, talk.until, "conversation", text, SMALL_TALK)

    def _find_teller(self, talk: Talked) -> str:
        """The one who told the other of the task: the performer, or whoever named it first. Empty: it was about other things."""
        both = (talk.resident, talk.partner)
        able = (self.task.performer,) if self.task.performer in both else both
        return next((each for each in able if self._find_said(talk, each).parts), "")

    def _tell_about(self, talk: Talked, name: str, partner: str, teller: str) -> str:
        words = self._put_in_words(self._find_said(talk, teller))
        theirs = (e for e in self._events if isinstance(e, Agreed) and e.resident in (name, partner))
        agreed = next((e for e in theirs if (e.minute, e.partner) == (talk.minute, teller)), None)
        short = partner.split()[0]
        if teller == name:
            end = self._tell_end(agreed, f"{short} agreed", f"{short} said no, or nothing")
            ways = (
                f"I told them of {words}. {end}",
                f"I spoke of {words}; {end}",
                f"talked about {words}, which I brought up. {end}",
            )
        else:
            end = self._tell_end(agreed, "I said yes", "I did not promise anything")
            ways = (
                f"they told me of {words}. {end}",
                f"it was about {words}; {end}",
                f"talked about {words}, which {short} brought up. {end}",
            )
        return f"{_choose(ways, name, partner, words)}."

    def _tell_end(self, agreed: Agreed | None, yes: str, no: str) -> str:
        if agreed is None:
            return no
        if agreed.start is None or self.task.type is TaskType.HELP:
            return yes
        return f"{yes}, on {say_moment(agreed.start, self._clock)}"

    def _find_said(self, talk: Talked, teller: str) -> Said:
        lines = [line.says for line in talk.lines if line.speaker == teller]
        return parse_speech(self.task, lines, talk.minute, self._clock)

    def _put_in_words(self, said: Said) -> str:
        task = self.task
        if task.type is TaskType.HELP:
            steps = [step.doing for number, step in enumerate(task.subtasks, start=1) if f"step {number}" in said.parts]
            return f"a favour: {', then '.join(steps)}"
        when = f", {say_moment(said.moment, self._clock)}" if said.moment is not None else ""
        return f"the {task.activity}{when}{f', {_write_place(said.place)}' if said.place else ''}"


def _make_memory(name: str, minute: int, kind: str, text: str, importance: float) -> Remembered:
    return Remembered(minute=minute, resident=name, memory=kind, text=text, importance=importance)  # type: ignore[arg-type]


def _count_minutes(hours: str) -> int:
    """Minutes of ``08:30-12:00 …``."""
    begin, _, end = hours.partition(" ")[0].partition("-")
    return int(end[:2]) * 60 + int(end[3:5]) - int(begin[:2]) * 60 - int(begin[3:5])


def _write_place(place: str) -> str:
    """A place as people write it."""
    address = Address.parse(place)
    return f"at {address.sector} ({address.arena})" if address.arena else f"at {address.sector}"


def _choose(ways: Sequence[str], *about: str) -> str:
    """One of several wordings, chosen by the subject alone."""
    digest = hashlib.blake2b("\x1f".join(about).encode(), digest_size=8).digest()
    return ways[int.from_bytes(digest, "big") % len(ways)]
