"""The town lives: residents perceive, decide, talk, walk and sleep, minute by minute, and the log says what they did.

What a resident does in minute t depends on nothing but the state of the town after minute t - 1, within its reach: who is
near, awake and free. So residents need not take their minutes together. The scheduler says which ones may go on
(``bodies.py``); the log is the same whatever it says, so long as it is right.

1. Perceive: whoever stands in the same arena within the radius of sight, nearest first, ties by name, as many as attention
   holds. Seeing is mutual.
2. Decide: the mind is asked when its activity is over, when something new is in sight, or when it wanted to be.
3. Meet: wishes to talk come true in the order of names; whoever is taken already is not free any more. So nobody goes on
   before those in its sight have decided too.
4. Talk: neither moves nor can be interrupted; so many words take so many minutes.
5. Walk, or fall asleep: until when is known from then on.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import defaultdict, deque
from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sociable.core.seeding import make_generator
from sociable.town.bodies import Body, Closure, Injection, Physics, Scheduler, lockstep
from sociable.town.clock import MINUTES_PER_DAY
from sociable.town.events import AnyEvent, Began, Line, Slept, Talked, Walked, merge_logs, render_steps
from sociable.town.laggards import Laggards
from sociable.town.map import Address, Tile, TownMap, find_neighbours
from sociable.town.minds import (
    IDLE,
    IDLE_MINUTES,
    Activity,
    Decision,
    Injectable,
    Mind,
    Sighting,
    TakenAway,
    Talk,
    View,
    receive_answer,
)
from sociable.town.places import PlaceFinder

WORDS_PER_MINUTE = 130
"""The pace of speech at ease, which decides how long a conversation takes."""

_BATCHES_AT_ONCE = 16
_CELL = 4
"""The width of a cell, in radii of sight."""


class Simulation:
    """A town with its residents. ``run`` may be called again with a later minute."""

    def __init__(
        self,
        town: TownMap,
        residents: Sequence[tuple[str, Address, Mind]],
        *,
        scheduler: Scheduler,
        physics: Physics | None = None,
        places: PlaceFinder | None = None,
        minutes: int = 2 * MINUTES_PER_DAY,
        injections: Iterable[Injection] = (),
        closures: Iterable[Closure] = (),
        seed: int = 0,
        label: str = "",
    ) -> None:
        """``residents``: name, home (an arena, or a bed in one) and mind. ``label`` tells apart the randomness of two towns."""
        self.town = town
        self.physics = physics or Physics()
        self.places = places or PlaceFinder(town)
        self.minutes = minutes
        self.scheduler = scheduler
        self._seed = seed
        self._label = label
        self._radius_squared = self.physics.radius**2
        self.bodies: list[Body] = []
        taken: set[Tile] = set()
        for place, (name, home, mind) in enumerate(sorted(residents, key=lambda each: each[0])):
            tiles = town.find_free_tiles(home)
            tile = next((tile for tile in tiles if tile not in taken), tiles[0])
            taken.add(tile)
            self.bodies.append(Body(name, mind, home, place, tile, town.find_zone(tile)))
        self.by_name: Mapping[str, Body] = {body.name: body for body in self.bodies}
        for injection in sorted(injections, key=lambda each: each.minute):
            self.by_name[injection.resident].injections.append(injection)
        self._closures = sorted(closures, key=lambda each: each.minute)
        for body in self.bodies:
            body.closures.extend(self._closures)
        self._occupants: dict[tuple[int, int, int], set[Body]] = defaultdict(set)
        """The bodies in each cell, a part of a zone wider than anybody can see: a street may have the whole town in it."""
        for body in self.bodies:
            self._occupants[self._find_cell(body)].add(body)
        self._changed: dict[int, int] = dict.fromkeys((body.zone for body in self.bodies), -1)
        """The last minute in which something visible changed, by zone."""
        self._queue: list[tuple[int, int]] = []
        self._waiting: dict[Body, list[tuple[int, int]]] = defaultdict(list)
        """For each body those who wait for it, since it lags behind and could come into their sight, or is there and undecided.

        A heap of (the minute it must reach before it is worth looking again, or 0, place of the one who waits).
        """
        self._behind = Laggards(town, self.physics)
        """Residents who are asked, talk or wait."""
        self._open = 0
        """The number of answers that are awaited and conversations that are held."""
        self._begun = False
        """Whether one has begun that has not yet had a chance to be over at once."""
        self._wake = asyncio.Event()

    @property
    def events(self) -> list[AnyEvent]:
        """The log so far."""
        return merge_logs(body.log for body in self.bodies)

    async def run(self, until: int | None = None) -> None:
        """Lives until minute ``until``, by default the end. Raises what a mind raised; then the simulation is over."""
        self._end = min(self.minutes, until if until is not None else self.minutes)
        self._queue = [(body.minute, body.place) for body in self.bodies if body.minute < self._end]
        heapq.heapify(self._queue)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                batches = 0
                while self._queue or self._open:
                    if not self._queue:
                        self._wake.clear()
                        await self._wake.wait()
                        continue
                    self._live(self._take_batch())
                    batches += 1
                    # Minds that need no model answer before anybody has to wait for them; replies of models are let in.
                    if self._begun or (self._open and batches % _BATCHES_AT_ONCE == 0):
                        self._begun = False
                        await asyncio.sleep(0)
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        assert not self._behind, "somebody waits for nobody"
        if self._end == self.minutes:
            for body in self.bodies:
                self._end_leg(body)

    # Who may live the next minute.

    def _take_batch(self) -> list[Body]:
        """Takes everybody from the queue whose turn is in its earliest minute."""
        minute = self._queue[0][0]
        batch: list[Body] = []
        while self._queue and self._queue[0][0] == minute:
            body = self.bodies[heapq.heappop(self._queue)[1]]
            # Somebody may have been called up twice, or have been taken along by others meanwhile.
            if body.minute == minute and body not in self._behind and body not in batch[-1:]:
                batch.append(body)
        return batch

    def _live(self, batch: list[Body]) -> None:
        """One minute of those in ``batch`` who may live it; the others wait."""
        if not batch:
            return
        minute = batch[0].minute
        # All that is read of others is read before anybody moves.
        for body in batch:
            if not body.decided:
                self._perceive(body, minute)
        decided = [body for body in batch if body.decided]
        if self._queue and self._queue[0][0] == minute:
            decided += self._take_batch()  # who waited for one of these to decide
        concerned = self._find_concerned(decided, minute)
        self._go_on(minute, [body for body in decided if body not in concerned])
        for body in decided:
            if body in concerned and body.minute == minute:
                members, other = self._find_linked(body, minute)
                if other is None:
                    self._go_on(minute, members)
                else:
                    self._wait(body, other)

    def _find_concerned(self, decided: Iterable[Body], minute: int) -> set[Body]:
        """The residents who want to talk, and those to whom somebody wants to talk or still might."""
        decided = list(decided)
        undecided = self._behind.find_at(minute)
        if len(undecided) < len(decided):
            concerned = {other for body in undecided for other in self._see(body)}
        else:
            # Seeing is mutual.
            concerned = {body for body in decided if undecided and any(other in undecided for other in self._see(body))}
        for body in decided:
            if body.decision is not None and body.decision.talk_to:
                concerned.add(body)
                if (other := self.by_name.get(body.decision.talk_to)) is not None:
                    concerned.add(other)
        return concerned

    def _perceive(self, body: Body, minute: int) -> None:
        """Perceives and decides, or has its mind asked, unless somebody who lags behind could be in sight."""
        if self._behind and (blocker := self._find_blocker(body, minute)) is not None:
            self._wait(body, *blocker)
            return
        body.perceived = True
        body.seat = self._find_another_seat(body, minute)
        decision = self._decide(body, minute)
        if decision is None or isinstance(decision, Decision):
            body.decision, body.decided = decision, True
        else:
            self._behind.add(body)
            self._start(self._await_decision(body, decision))
        self._call_up(body)

    def _find_blocker(self, body: Body, minute: int) -> tuple[Body, int] | None:
        """Somebody who lags behind and could be in sight by then, and the minute it must reach to be looked at again."""
        if self.scheduler is lockstep:
            other = self._behind.find_before(minute)
            return None if other is None else (other, minute)
        pace = self.physics.tiles_per_minute
        for other in self._behind.find_near(body, minute):
            can = (minute - other.minute) * pace
            needs = self.scheduler(self.town, self.physics, other, body, can)
            if needs <= can:
                # Even if it walks away: every step off takes one off from those it has left, and adds one to those it needs.
                return other, min(minute, other.minute + int(can - needs) // (2 * pace) + 1)
        return None

    async def _await_decision(self, body: Body, answer: Awaitable[Decision]) -> None:
        body.decision = await answer
        body.decided = True
        self._behind.discard(body)
        self._queue_up(body)
        self._call_up(body)

    def _find_linked(self, body: Body, minute: int) -> tuple[list[Body], Body | None]:
        """The residents whom wishes to talk link to ``body``, itself included, and somebody for whom they must wait.

        Nobody goes on before everybody in its sight has seen it, and knows whether they want to talk to it.
        """
        found, spread = {body}, [body]
        while spread:
            one = spread.pop()
            for other in self._see(one):
                if other.minute != minute or other in found:
                    continue
                if not other.decided:
                    if not other.perceived or one.is_free(minute - 1) or _is_looking_for(one, other):
                        return [], other
                elif _is_looking_for(one, other) or _is_looking_for(other, one):
                    found.add(other)
                    spread.append(other)
        return list(found), None

    def _wait(self, body: Body, other: Body, until: int = 0) -> None:
        body.waits_for = other
        self._behind.add(body)
        heapq.heappush(self._waiting[other], (until, body.place))

    def _call_up(self, body: Body) -> None:
        """Lets everybody who waited for ``body`` to come so far look again whether it may go on."""
        waiting = self._waiting.get(body)
        while waiting and waiting[0][0] <= body.minute:
            other = self.bodies[heapq.heappop(waiting)[1]]
            if other.waits_for is body:
                other.waits_for = None
                self._behind.discard(other)
                self._queue_up(other)
        self._wake.set()

    def _reach(self, body: Body, minute: int) -> None:
        """The next minute it may live is ``minute``: more is known of it than before."""
        body.minute, body.perceived, body.decided, body.decision = minute, False, False, None
        if self._behind:
            self._behind.note_minute(body)
            self._call_up(body)

    def _queue_up(self, body: Body) -> None:
        if body.minute < self._end:
            heapq.heappush(self._queue, (body.minute, body.place))

    # One minute of one resident.

    def _see(self, body: Body) -> list[Body]:
        """The others within reach after the minute before, in no order.

        Whoever has lived this minute already was out of reach, or the scheduler would have made it wait; its tile of now does
        not count.
        """
        x, y = body.tile
        radius, minute = self.physics.radius, body.minute
        side, reach = _CELL * radius, self._radius_squared
        columns = {(x - radius) // side, (x + radius) // side}
        rows = {(y - radius) // side, (y + radius) // side}
        return [
            other
            for column in columns
            for row in rows
            for other in self._occupants.get((body.zone, column, row), ())
            if (other.tile.x - x) ** 2 + (other.tile.y - y) ** 2 <= reach
            and (other.minute == minute or other.busy_from < minute < other.minute <= other.busy_until)
            and other is not body
        ]

    def _find_cell(self, body: Body) -> tuple[int, int, int]:
        side = _CELL * self.physics.radius
        return body.zone, body.tile.x // side, body.tile.y // side

    def _attend(self, body: Body, minute: int) -> list[Sighting]:
        """The others it attends to, as they were after a minute."""
        x, y = body.tile
        near = sorted(self._see(body), key=lambda other: ((other.tile.x - x) ** 2 + (other.tile.y - y) ** 2, other.place))
        sightings = []
        for other in near[: self.physics.bandwidth]:
            doing, free = other.activity.doing if other.activity else "", other.is_free(minute)
            sightings.append(Sighting(other.name, doing, "" if free else other.talking_to, free, bool(other.route)))
        return sightings

    def _decide(self, body: Body, minute: int) -> Decision | Awaitable[Decision] | None:
        """Steps 1 and 2. None: the resident goes on as it was."""
        while body.closures and body.closures[0].minute <= minute:
            self._close(body, body.closures.popleft(), minute)
        mind, activity = body.mind, body.activity
        while body.injections and body.injections[0].minute <= minute:
            text = body.injections.popleft().text
            body.note(minute, "injected event", text)
            _tell(body, minute, text)
        over = activity is None or minute >= activity.until
        asked = over or (mind.alarm is not None and minute >= mind.alarm)
        if not asked and self._changed[body.zone] <= body.looked and body.next_activity is None:
            return None
        body.looked, body.last_acted = minute - 1, minute
        sightings = self._attend(body, minute - 1)
        now = {(sighting.name, sighting.doing, sighting.talking_to): sighting for sighting in sightings}
        news = [sighting for seen, sighting in now.items() if seen not in body.retained]
        # What is in sight is never forgotten while it is, so that looking twice at the same changes nothing.
        body.retained = [*(seen for seen in body.retained if seen not in now), *now][-self.physics.retention :]
        if body.next_activity is not None:
            decision, body.next_activity = Decision(body.next_activity), None
            return decision
        if not asked and not news:
            return None
        address = self.town.find_address(body.tile)
        return mind.decide(View(minute, body.tile, address, activity, bool(body.route), sightings, news))

    def _go_on(self, minute: int, members: Sequence[Body]) -> None:
        """Steps 3 to 5 for residents whose wishes have nothing to do with anybody else's."""
        for body in members:
            if body.waits_for is not None:
                body.waits_for = None
                self._behind.discard(body)
        pairs = self._pair_up(minute, members)
        talking = {body for pair in pairs for body in pair}
        for body in members:
            if (decision := body.decision) is not None:
                body.take_down(decision.notes, minute)
                if decision.activity is not None:
                    self._begin(body, decision.activity, minute)
            activity = body.activity
            if activity is None or minute >= activity.until:
                # The log tells that a mind broke its contract; the minute has to be spent somehow.
                body.note(minute, "no activity", "its activity was over and it named no other")
                self._begin(body, Activity(IDLE, minute + IDLE_MINUTES), minute)
        for body in members:
            if body in talking:
                continue
            if body.seat is not None and (body.decision is None or body.decision.activity is None):
                self._set_out(body, body.seat)
            if body.route:
                self._walk(body, minute)
            activity = body.activity
            assert activity is not None
            if activity.asleep and not body.route:
                body.busy_from, body.busy_until = minute, activity.until
                body.log.append(Slept(minute=minute, resident=body.name, until=activity.until))
                self._changed[body.zone] = max(self._changed[body.zone], minute)
                self._reach(body, body.busy_until)
            else:
                self._reach(body, minute + 1)
            self._queue_up(body)
        for first, second in pairs:
            self._meet(first, second, minute)

    # 3. and 4. Meeting and talking.

    def _pair_up(self, minute: int, members: Sequence[Body]) -> list[tuple[Body, Body]]:
        """The pairs who begin to talk: (who goes up to somebody, that somebody)."""
        taken: set[Body] = set()
        pairs = []
        wishes = [(body, body.decision.talk_to) for body in members if body.decision is not None and body.decision.talk_to]
        for body, name in sorted(wishes, key=lambda wish: wish[0].place):
            other = self.by_name.get(name)
            if other is None or other is body or other.minute != minute or not other.is_free(minute - 1):
                continue
            if body not in taken and other not in taken and other in self._see(body):
                taken |= {body, other}
                pairs.append((body, other))
        return pairs

    def _meet(self, first: Body, second: Body, minute: int) -> None:
        for body, other in ((first, second), (second, first)):
            self._end_leg(body)
            body.last_acted = minute
            body.busy_from, body.busy_until = minute, self.minutes * 2
            body.talking_to = other.name
            self._behind.add(body)
            self._reach(body, minute + 1)
        self._changed[first.zone] = max(self._changed[first.zone], minute)
        self._start(self._converse(first, second, minute))

    async def _converse(self, first: Body, second: Body, minute: int) -> None:
        """Turn by turn, until one ends it or both have said all they may; then each takes away what it will."""
        lines: list[Line] = []
        words = 0
        for turn in range(2 * self.physics.turns_each):
            speaker, listener = (first, second) if turn % 2 == 0 else (second, first)
            talk = self._make_talk(speaker, listener, minute, lines, began=speaker is first)
            said = await receive_answer(speaker.mind.speak(talk))
            if said.says.strip() or said.note:
                lines.append(Line(speaker=speaker.name, says=said.says, note=said.note))
                words += len(said.says.split())
            until = minute + max(1, math.ceil(words / WORDS_PER_MINUTE))
            for body in (first, second):
                if body.minute < until:
                    self._reach(body, until)
            if said.ends or not said.says.strip():
                break
        first.log.append(Talked(minute=minute, resident=first.name, partner=second.name, until=until, lines=tuple(lines)))
        for body in (first, second):
            body.busy_until = until
            self._changed[body.zone] = max(self._changed[body.zone], until)
        self._start(self._conclude(first, second, minute, lines, until, began=True))
        await self._conclude(second, first, minute, lines, until, began=False)

    async def _conclude(self, body: Body, other: Body, minute: int, lines: Sequence[Line], until: int, *, began: bool) -> None:
        talk = self._make_talk(body, other, minute, lines, began=began)
        taken: TakenAway = await receive_answer(body.mind.conclude(talk, until))
        body.take_down(taken.notes, until)
        body.next_activity = taken.activity
        self._behind.discard(body)
        self._reach(body, until)
        self._queue_up(body)

    def _make_talk(self, body: Body, other: Body, minute: int, lines: Sequence[Line], *, began: bool) -> Talk:
        here, spoken = self.town.find_address(body.tile), sum(line.speaker == body.name for line in lines)
        left = self.physics.turns_each - spoken
        return Talk(minute, other.name, here, tuple(lines), began, spoken, left, walking=bool(body.route))

    # 5. Walking.

    def _close(self, body: Body, closure: Closure, minute: int) -> None:
        """Ends what somebody does, or is on the way to do, at a place that closes."""
        here = self.town.find_address(body.tile)
        concerned = (body.goal, here) if body.route else (here,)
        if body.activity is not None and any(each is not None and each.is_within(closure.place) for each in concerned):
            body.activity, body.route, body.goal = replace(body.activity, until=minute), "", None
            _tell(body, minute, _say_closed(closure.place))

    def _find_closure(self, address: Address | None, minute: int) -> Closure | None:
        if address is None:
            return None
        return next((each for each in self._closures if each.minute <= minute and address.is_within(each.place)), None)

    def _find_exit(self, tile: Tile, minute: int) -> Tile:
        """The nearest free tile that is in no closed place; the tile itself where there is none."""
        seen, spread = {tile}, deque([tile])
        while spread:
            near = spread.popleft()
            if self._find_closure(self.town.find_address(near), minute) is None:
                return near
            ways = [each for each in find_neighbours(near) if each not in seen and self.town.is_free(each)]
            seen.update(ways)
            spread.extend(ways)
        return tile

    def _begin(self, body: Body, activity: Activity, minute: int) -> None:
        """Turns to an activity, and to the way there."""
        self._end_leg(body)
        body.activity, body.route, body.goal = activity, "", None
        address = self.places.find(activity.place, body.home, self.town.find_address(body.tile)) if activity.place else None
        if (closure := self._find_closure(address, minute)) is not None:
            address = None
            body.note(minute, "closed place", _say_closed(closure.place))
            _tell(body, minute, _say_closed(closure.place))
        tiles = self.town.find_free_tiles(address) if address is not None else ()
        if not tiles:
            address = None
            if self._find_closure(self.town.find_address(body.tile), minute) is not None:
                self._set_out(body, self._find_exit(body.tile, minute))
            if activity.place and closure is None:
                body.note(minute, "unknown place", f"'{activity.place}' is no place that can be reached; it stays where it is")
        elif address is not None and (body.tile not in tiles or address.thing):
            body.goal = address
            self._set_out(body, self._draw(tiles, body, minute))
        body.log.append(
            Began(
                minute=minute,
                resident=body.name,
                doing=activity.doing,
                planned_place=activity.place,
                address=str(address) if address else "",
                until=activity.until,
                asleep=activity.asleep,
            )
        )
        self._changed[body.zone] = max(self._changed[body.zone], minute)

    def _draw(self, tiles: Sequence[Tile], body: Body, minute: int) -> Tile:
        return make_generator(self._seed, "seat", self._label, body.name, minute).choice(tiles)

    def _set_out(self, body: Body, goal: Tile) -> None:
        body.route, body.bound_for = self.town.find_way(body.tile, goal) or "", goal

    def _find_another_seat(self, body: Body, minute: int) -> Tile | None:
        """A free tile within reach of the place it is going to, or is at, if somebody stands on the one it wants.

        Of two who have come to the same one the second by name goes.
        """
        if body.goal is None or len(body.route) > self.physics.tiles_per_minute or not (body.route or body.arrived == minute - 1):
            return None
        wanted, others = body.bound_for if body.route else body.tile, self._see(body)
        if not any(other.tile == wanted and (body.route or other.place < body.place) for other in others):
            return None
        taken = {other.tile for other in others}
        x, y = body.tile
        free = [
            tile
            for tile in self.town.find_free_tiles(Address(body.goal.sector, body.goal.arena))
            if tile not in taken and (tile.x - x) ** 2 + (tile.y - y) ** 2 <= self._radius_squared
        ]
        return self._draw(free, body, minute) if free else None

    def _walk(self, body: Body, minute: int) -> None:
        if not body.leg:
            body.leg_start, body.leg_minute = body.tile, minute
        pace = self.physics.tiles_per_minute
        steps, body.route = body.route[:pace], body.route[pace:]
        body.leg += steps
        self._changed[body.zone] = max(self._changed[body.zone], minute)
        before = self._find_cell(body)
        body.tile = body.tile.follow(steps)
        body.zone = self.town.find_zone(body.tile)
        self._changed[body.zone] = max(self._changed.get(body.zone, -1), minute)
        if (cell := self._find_cell(body)) != before:
            self._occupants[before].discard(body)
            self._occupants[cell].add(body)
        if not body.route:
            body.arrived = minute
            self._end_leg(body)

    def _end_leg(self, body: Body) -> None:
        """Writes down the walk so far."""
        if body.leg:
            start, way, pace = body.leg_start, render_steps(body.leg), self.physics.tiles_per_minute
            walk = Walked(minute=body.leg_minute, resident=body.name, start=start, way=way, tiles_per_minute=pace)
            body.log.append(walk)
            body.leg = ""

    # Waiting for minds.

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._open += 1
        self._begun = True
        self._tasks.create_task(work).add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._open -= 1
        self._wake.set()


def _tell(body: Body, minute: int, text: str) -> None:
    """Lets somebody know something that nobody told it, if its mind can be told."""
    if isinstance(body.mind, Injectable):
        body.mind.inject(minute, text)


def _say_closed(place: Address) -> str:
    return f"{place} is closed."


def _is_looking_for(body: Body, other: Body) -> bool:
    return body.decision is not None and body.decision.talk_to == other.name
