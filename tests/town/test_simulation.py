"""What happens in the town, tile by tile and minute by minute, on a map one can see through (``small_town.py``)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from lives import hashing_lives, lived, town
from small_town import Scripted, idle, of_kind, small_town
from virtual_time import run_in_virtual_time

from sociable.town.bodies import Closure, Injection, Physics, ahead, lockstep
from sociable.town.events import REFUSED, Agreed, AnyEvent, Began, Talked, Walked, read_timelines, trace_walk
from sociable.town.map import Address, Tile
from sociable.town.minds import IDLE, IDLE_MINUTES, Activity, Sighting, TakenAway, Talk, View
from sociable.town.simulation import Simulation

BED = Address("Hall", "room", "bed")
DEN = Address("Den", "room")
LAWN = Address("Green", "lawn")
CHAIR = "Den: room: chair"


def simulated(cast: Mapping[str, tuple[Address, Any]], minutes: int = 20, **options: Any) -> Simulation:
    residents = [(name, home, mind) for name, (home, mind) in cast.items()]
    return Simulation(small_town(), residents, scheduler=options.pop("scheduler", ahead), minutes=minutes, **options)


def live(cast: Mapping[str, tuple[Address, Any]], minutes: int = 20, **options: Any) -> list[AnyEvent]:
    return lived(simulated(cast, minutes, **options))[0]


def names_seen(view: View) -> list[str]:
    return [sighting.name for sighting in view.sightings]


# Walking and seeing.


@pytest.mark.parametrize("scheduler", [lockstep, ahead])
@pytest.mark.parametrize("wait", [-1.0, 0.0, 2.0])
def test_a_walk_through_the_town(scheduler: Any, wait: float) -> None:
    ann = Scripted(idle(place=CHAIR), wait=wait)
    ben = Scripted(idle(), wait=wait)
    cara = Scripted(idle())
    # Ann's bed is at (1, 2); the first free tiles of the Den and the lawn are (13, 1) and (7, 0).
    simulation = simulated({"Ann": (BED, ann), "Ben": (DEN, ben), "Cara": (LAWN, cara)}, 10, scheduler=scheduler)
    starts = {body.name: body.tile for body in simulation.bodies}
    assert starts == {"Ann": Tile(1, 2), "Ben": Tile(13, 1), "Cara": Tile(7, 0)}
    events, _ = lived(simulation)
    # Sixteen steps to the east, six a minute: after minute 0 at x = 7, on the lawn; after 1 at 13, in the Den; after 2 at 17.
    (walk,) = of_kind(events, "walked")
    assert (walk.minute, walk.resident, walk.start, walk.way, walk.tiles_per_minute) == (0, "Ann", (1, 2), "E16", 6)
    assert [tile.x for tile in read_timelines(events, starts, 4)["Ann"].tiles] == [7, 13, 17, 17]
    # In minute 1 she sees Cara, in minute 2 Ben, and each of them her; Ben and Cara are never in one room.
    assert {minute: names_seen(view) for minute, view in ann.views.items()} == {0: [], 1: ["Cara"], 2: ["Ben"]}
    assert {minute: names_seen(view) for minute, view in ben.views.items()} == {0: [], 2: ["Ann"]}
    assert {minute: names_seen(view) for minute, view in cara.views.items()} == {0: [], 1: ["Ann"]}
    assert ann.views[1] == View(
        minute=1,
        tile=Tile(7, 2),
        address=LAWN,
        activity=Activity("reading", 10_000, CHAIR),
        walking=True,
        sightings=[Sighting("Cara", "reading")],
        news=[Sighting("Cara", "reading")],
    )


def test_at_one_tile_a_minute() -> None:
    ann, ben = Scripted(idle(place=CHAIR)), Scripted(idle())
    events = live({"Ann": (BED, ann), "Ben": (DEN, ben)}, physics=Physics(tiles_per_minute=1))
    assert of_kind(events, "walked")[0].way == "E16"
    # After minute m she is at x = 2 + m: in the Den, whose door is at 12, from the end of minute 10 on.
    assert sorted(ben.views) == [0, 11]
    assert ann.views[11].tile == Tile(12, 2)


def test_what_was_seen_already_is_no_news() -> None:
    ann = Scripted({0: Activity("reading", 5), 5: Activity("sweeping", 50), 9: Activity("reading", 50)})
    ben = Scripted(idle())
    live({"Ann": (DEN, ann), "Ben": (DEN, ben)})
    # Nobody was doing anything before minute 0. Ben sees her reading from 1 on, sweeping from 6 on; at 10 she reads again.
    assert {minute: [each.doing for each in view.news] for minute, view in ben.views.items()} == {
        0: [""],
        1: ["reading"],
        6: ["sweeping"],
    }


def test_attention_holds_the_nearest_by_name() -> None:
    cast = {name: (DEN, Scripted(idle())) for name in ("Dan", "Cara", "Ben", "Ann")}
    live(cast, physics=Physics(bandwidth=2, retention=2))
    # They stand at x = 13, 14, 15, 16 in the order of names. Ben is one step from Ann and Cara, and two from Dan.
    assert [names_seen(cast[name][1].views[0]) for name in ("Ann", "Ben", "Dan")] == [
        ["Ben", "Cara"],
        ["Ann", "Cara"],
        ["Cara", "Ben"],
    ]


def test_the_radius_of_sight() -> None:
    cast = {name: (DEN, Scripted(idle())) for name in ("Ann", "Ben", "Cara", "Dan")}
    live(cast, physics=Physics(tiles_per_minute=1, radius=2))
    assert names_seen(cast["Ann"][1].views[0]) == ["Ben", "Cara"]


def test_a_mind_is_asked_when_it_wanted_to_be() -> None:
    ann = Scripted(idle(), looks_at=(4, 7))
    live({"Ann": (BED, ann)})
    assert sorted(ann.views) == [0, 4, 7]


def test_a_place_nobody_knows_is_noted_and_it_stays() -> None:
    events = live({"Ann": (BED, Scripted(idle(place="the moon")))})
    (noted,) = of_kind(events, "noted")
    assert noted.about == "unknown place"
    assert "'the moon'" in noted.text
    (began,) = of_kind(events, "began")
    assert (began.planned_place, began.address) == ("the moon", "")
    assert not of_kind(events, "walked")


def test_a_mind_that_names_no_activity() -> None:
    events = live({"Ann": (BED, Scripted({}))}, minutes=2 * IDLE_MINUTES)
    assert [(event.minute, event.about) for event in of_kind(events, "noted")] == [(0, "no activity"), (60, "no activity")]
    assert [(event.minute, event.doing, event.until) for event in of_kind(events, "began")] == [(0, IDLE, 60), (60, IDLE, 120)]


class Forger(Scripted):
    """Writes into the log, when it decides and when a conversation is over, what it was given."""

    def __init__(self, *forged: AnyEvent, **more: Any) -> None:
        super().__init__(idle(), **more)
        self.forged = forged

    def decide(self, view: View) -> Any:
        return replace(super().decide(view), notes=self.forged)

    def conclude(self, talk: Talk, until: int) -> Any:
        return TakenAway(self.forged)


def test_a_mind_writes_what_it_thinks_and_not_what_happens() -> None:
    own = Agreed(minute=1, resident="Ann", partner="Ben", doing="soup")
    forged = (
        Began(minute=1, resident="Ann", doing="soup", until=99),
        Began(minute=1, resident="Ben", doing="soup", until=99),
        own.model_copy(update={"resident": "Ben"}),
    )
    ann = Forger(own, *forged, talks={1: "Ben"}, words=(3,))
    events = live({"Ann": (DEN, ann), "Ben": (DEN, Scripted(idle()))}, minutes=5)
    assert not any(event.doing == "soup" for event in of_kind(events, "began"))
    assert {event.resident for event in of_kind(events, "agreed")} == {"Ann"}
    asked = len(ann.views) + 1
    assert of_kind(events, "agreed") == [own] * asked
    refused = [event for event in of_kind(events, "noted") if event.about == REFUSED]
    assert len(refused) == 3 * asked and {event.resident for event in refused} == {"Ann"}
    assert refused[1].text == "its mind wrote an event 'began' of Ben; it was left out"


# Seats.


def test_whoever_sees_that_a_seat_is_taken_takes_another() -> None:
    ann = Scripted(idle(place=CHAIR))
    ben = Scripted(idle(place=CHAIR))
    simulation = simulated({"Ann": (DEN, ann), "Ben": (BED, ben)}, 40, physics=Physics(tiles_per_minute=1))
    starts = {body.name: body.tile for body in simulation.bodies}
    events, _ = lived(simulation)
    read = read_timelines(events, starts, 40)
    assert read["Ann"].tiles[-1] == Tile(17, 2)
    assert Tile(17, 2) not in read["Ben"].tiles
    assert small_town().find_address(read["Ben"].tiles[-1]) == DEN


def test_of_two_who_come_to_one_seat_at_once_the_second_by_name_goes() -> None:
    # From (13, 1) and (14, 1) to (17, 2): five and four steps, both within minute 0.
    cast = {name: (DEN, Scripted(idle(place=CHAIR))) for name in ("Ann", "Ben")}
    simulation = simulated(cast, 10)
    starts = {body.name: body.tile for body in simulation.bodies}
    read = read_timelines(lived(simulation)[0], starts, 10)
    assert read["Ann"].tiles[0] == read["Ben"].tiles[0] == Tile(17, 2)
    assert read["Ann"].tiles[-1] == Tile(17, 2)
    assert read["Ben"].tiles[1] != Tile(17, 2)
    assert small_town().find_address(read["Ben"].tiles[-1]) == DEN


# Talking.


@pytest.mark.parametrize(("words", "until"), [(1, 2), (30, 2), (31, 3), (160, 3), (161, 4)])
def test_so_many_words_take_so_many_minutes(words: int, until: int) -> None:
    """100 of Ann's and ``words`` of Ben's at 130 a minute: 130 are one minute, 131 two."""
    ann = Scripted(idle(), talks={1: "Ben"}, words=(100, 1))
    ben = Scripted(idle(), words=(words,))
    (talk,) = of_kind(live({"Ann": (DEN, ann), "Ben": (DEN, ben)}), "talked")
    assert (talk.minute, talk.resident, talk.partner, talk.until) == (1, "Ann", "Ben", until)
    assert [line.speaker for line in talk.lines] == ["Ann", "Ben"]


def test_each_may_speak_so_often() -> None:
    ann, ben = (Scripted(idle(), talks={1: other}, words=[1] * 20) for other in ("Ben", ""))
    (talk,) = of_kind(live({"Ann": (DEN, ann), "Ben": (DEN, ben)}, physics=Physics(turns_each=3)), "talked")
    assert [line.speaker for line in talk.lines] == ["Ann", "Ben"] * 3


def test_silence_ends_it() -> None:
    ann = Scripted(idle(), talks={1: "Ben"}, words=(5, 5))
    ben = Scripted(idle(), words=(0, 5))
    (talk,) = of_kind(live({"Ann": (DEN, ann), "Ben": (DEN, ben)}), "talked")
    assert len(talk.lines) == 1


def test_a_talk_stops_both_and_then_they_go_on() -> None:
    """Ann is on her way to the chair when Ben speaks to her at (13, 2), for two minutes."""
    ann, ben = Scripted(idle(place=CHAIR)), Scripted(idle(), talks={2: "Ann"}, words=(200,))
    events = live({"Ann": (BED, ann), "Ben": (DEN, ben)})
    (talk,) = of_kind(events, "talked")
    assert (talk.minute, talk.until) == (2, 4)
    assert [(walk.minute, walk.start, walk.way) for walk in of_kind(events, "walked")] == [(0, (1, 2), "E12"), (4, (13, 2), "E4")]


def test_what_they_agree_on_comes_next() -> None:
    ann = Scripted(idle(), talks={1: "Ben"}, words=(5,), afterwards=Activity("going home", 100, "Hall: room: bed"))
    events = live({"Ann": (DEN, ann), "Ben": (DEN, Scripted(idle()))})
    assert [(began.minute, began.doing) for began in of_kind(events, "began") if began.resident == "Ann"] == [
        (0, "reading"),
        (2, "going home"),
    ]
    assert 2 not in ann.views


def test_talkers_are_seen_talking_and_cannot_be_spoken_to() -> None:
    ann, ben = Scripted(idle(), talks={1: "Ben"}, words=(500,)), Scripted(idle())
    cara = Scripted(idle(), talks={3: "Ann"}, looks_at=(2,))
    events = live({"Ann": (DEN, ann), "Ben": (DEN, ben), "Cara": (DEN, cara)})
    assert cara.views[2].sightings == [
        Sighting("Ben", "reading", "Ann", free=False),
        Sighting("Ann", "reading", "Ben", free=False),
    ]
    # 500 words: four minutes, 1 to 4. In minute 5 they are not free yet, as nobody can have seen it.
    assert [(talk.resident, talk.until) for talk in of_kind(events, "talked")] == [("Ann", 5)]


@pytest.mark.parametrize(
    ("wishes", "begun"),
    [
        # In the order of names of those who wish.
        ({"Ann": "Cara", "Ben": "Ann", "Cara": "Ben"}, [("Ann", "Cara")]),
        ({"Ben": "Ann", "Cara": "Ben"}, [("Ben", "Ann")]),
        ({"Cara": "Ann", "Dan": "Ben"}, [("Cara", "Ann"), ("Dan", "Ben")]),
        ({"Ann": "Dan", "Dan": "Ann"}, [("Ann", "Dan")]),
        # Ann has Ben; so Cara's wish for him fails, and Dan's for Cara comes true.
        ({"Ann": "Ben", "Cara": "Ben", "Dan": "Cara"}, [("Ann", "Ben"), ("Dan", "Cara")]),
        ({"Ann": "Ann", "Ben": "Eve", "Cara": ""}, []),
    ],
)
@pytest.mark.parametrize("slowest", ["Ann", "Ben", "Cara", "Dan", ""])
def test_who_talks_to_whom_is_settled_in_the_order_of_names(
    wishes: Mapping[str, str], begun: list[tuple[str, str]], slowest: str
) -> None:
    """Whoever answers last."""
    minds = {
        name: Scripted(idle(), talks={1: wishes.get(name, "")}, wait=5.0 if name == slowest else 1.0)
        for name in ("Ann", "Ben", "Cara", "Dan")
    }
    events = live({name: (DEN, mind) for name, mind in minds.items()})
    assert [(talk.resident, talk.partner) for talk in of_kind(events, "talked")] == begun


def test_nobody_talks_to_one_who_is_out_of_sight() -> None:
    ann = Scripted(idle(), talks={1: "Ben"})
    assert not of_kind(live({"Ann": (BED, ann), "Ben": (DEN, Scripted(idle()))}), "talked")


# Sleeping and what is injected.


@pytest.mark.parametrize("wait", [-1.0, 1.0])
def test_sleep_begins_at_the_end_of_the_way_and_cannot_be_interrupted(wait: float) -> None:
    ann = Scripted({0: Activity("sleeping", 15, CHAIR, asleep=True), 15: Activity("waking", 50)}, wait=wait)
    ben = Scripted(idle(), talks={5: "Ann"}, looks_at=(8,), wait=wait)
    events = live({"Ann": (BED, ann), "Ben": (DEN, ben)})
    (slept,) = of_kind(events, "slept")
    assert (slept.minute, slept.until) == (2, 15)  # sixteen steps end in minute 2
    assert ben.views[8].sightings == [Sighting("Ann", "sleeping", free=False)]
    assert not of_kind(events, "talked")
    assert sorted(ann.views) == [0, 2, 15]


def test_what_is_injected_reaches_a_sleeper_at_waking() -> None:
    ann = Scripted({0: Activity("sleeping", 15, asleep=True), 15: Activity("waking", 50)})
    ben, cara = Scripted(idle(), talks={1: "Cara"}, words=(500,)), Scripted(idle())
    injections = [Injection(9, "Ann", "the bridge is closed"), Injection(3, "Ben", "rain"), Injection(7, "Cara", "wind")]
    events = live({"Ann": (BED, ann), "Ben": (DEN, ben), "Cara": (DEN, cara)}, injections=injections)
    assert ann.heard == [(15, "the bridge is closed")]
    assert ben.heard == [(5, "rain")]  # after a talk of four minutes
    assert cara.heard == [(7, "wind")]
    assert [(event.minute, event.resident) for event in of_kind(events, "noted")] == [(5, "Ben"), (7, "Cara"), (15, "Ann")]


# Places that close.


def test_a_place_that_closes_is_left_and_entered_by_nobody_any_more() -> None:
    ann = Scripted({0: Activity("reading", 50, CHAIR), 10: Activity("reading", 50, CHAIR)})
    ben = Scripted({0: Activity("sweeping", 14), 14: Activity("dancing", 50, CHAIR)})
    cara = Scripted({0: Activity("sleeping", 20, asleep=True), 20: Activity("eating", 50)})
    homes = {"Ann": (DEN, ann), "Ben": (BED, ben), "Cara": (DEN, cara)}
    simulation = simulated(homes, 50, closures=[Closure(10, DEN)])
    starts = {body.name: body.tile for body in simulation.bodies}
    asyncio.run(simulation.run())
    events = simulation.events
    lives, town = read_timelines(events, starts, 50), simulation.town

    def is_inside(name: str, minute: int) -> bool:
        here = town.find_address(lives[name].tiles[minute])
        return here is not None and here.is_within(DEN)

    # Who is in it is told and asked at once, a sleeper at waking; they end up at the nearest tile that is no part of it.
    assert ann.heard[0] == (10, f"{DEN} is closed.") and 10 in ann.views
    assert cara.heard[0][0] == 20
    assert [is_inside("Ann", minute) for minute in (9, 15)] == [True, False]
    assert [is_inside("Cara", minute) for minute in (19, 25)] == [True, False]
    # Who wants to go there afterwards learns of it then, and stays.
    assert ben.heard == [(14, f"{DEN} is closed.")]
    assert not any(is_inside("Ben", minute) for minute in range(50))
    closed = [(event.minute, event.resident) for event in of_kind(events, "noted") if event.about == "closed place"]
    assert closed == [(10, "Ann"), (14, "Ben")]
    assert [event.address for event in of_kind(events, "began") if event.minute in (10, 14)] == ["", ""]


# The run.


class Broken(Scripted):
    """Fails when it is asked for the second time."""

    def _given(self, answer: Any) -> Any:
        if 3 not in self.views:
            return super()._given(answer)
        if self._wait < 0:
            raise ZeroDivisionError("in a mind")

        async def later() -> Any:
            await asyncio.sleep(self._wait)
            raise ZeroDivisionError("in a mind")

        return later()


@pytest.mark.parametrize("wait", [-1.0, 2.0])
def test_what_a_mind_raises_ends_the_run(wait: float) -> None:
    cast = {
        "Ann": (BED, Broken(idle(), looks_at=(3,), wait=wait)),
        "Ben": (DEN, Scripted(idle(), talks={1: "Cara"}, words=[5] * 8, wait=100.0)),
        "Cara": (DEN, Scripted(idle(), words=[5] * 8, wait=100.0)),
    }
    simulation = simulated(cast)

    async def run() -> None:
        with pytest.raises(ZeroDivisionError, match="in a mind"):
            await simulation.run()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_in_virtual_time(run)


def test_a_run_that_is_cancelled_leaves_no_task_behind() -> None:
    simulation = simulated({"Ann": (BED, Scripted(idle(), wait=3600.0))})

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(simulation.run(), 60)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_in_virtual_time(run)


@pytest.mark.parametrize("slow", [None, 1])
@pytest.mark.parametrize("seed", range(4))
def test_a_run_in_parts_is_the_same_run(seed: int, slow: int | None) -> None:
    at_once, _ = lived(hashing_lives(seed, lockstep))
    draw = random.Random(seed)
    stops = sorted(draw.sample(range(420), 6))
    simulation = hashing_lives(seed, ahead, slow=slow)

    async def in_parts() -> None:
        for stop in stops:
            await simulation.run(until=stop)
            assert all(body.minute >= stop for body in simulation.bodies)
        await simulation.run()

    run_in_virtual_time(in_parts)
    assert simulation.events == at_once


def test_two_seats_drawn_by_another_seed_are_another_town() -> None:
    def ways(seed: int) -> list[str]:
        simulation = simulated({"Ann": (BED, Scripted(idle(place="Den")))}, seed=seed)
        return [walk.way for walk in of_kind(lived(simulation)[0], "walked")]

    assert ways(1) == ways(1)
    assert len({tuple(ways(seed)) for seed in range(8)}) > 1


# What holds in every life.


@pytest.mark.parametrize("tiles_per_minute", [1, 6])
@pytest.mark.parametrize("seed", range(5))
def test_what_always_holds(seed: int, tiles_per_minute: int) -> None:
    simulation = hashing_lives(seed, ahead, slow=1, tiles_per_minute=tiles_per_minute, residents=11, minutes=700)
    starts = {body.name: body.tile for body in simulation.bodies}
    events, _ = lived(simulation)
    read = read_timelines(events, starts, simulation.minutes)
    assert len(of_kind(events, "talked")) > 20
    assert len(of_kind(events, "slept")) > 3
    for name, line in read.items():
        # One conversation at a time, and none asleep; whoever talks or sleeps stays where it is.
        engaged = [(talk.minute, talk.until) for talk in line.talks]
        engaged += [(event.minute, event.until) for event in of_kind(events, "slept") if event.resident == name]
        engaged.sort()
        assert all(until <= begin for (_, until), (begin, _) in pairwise(engaged))
        for begin, until in engaged:
            assert len(set(line.tiles[begin:until])) == 1
        before = [starts[name], *line.tiles]
        for talk in line.talks:
            assert line.tiles[talk.minute] == before[talk.minute]
        # Every step is to a neighbouring tile that can be stood on, and there are not too many in a minute.
        for walk in of_kind(events, "walked"):
            tiles = [Tile(*walk.start), *trace_walk(walk)]
            assert all(abs(one.x - two.x) + abs(one.y - two.y) == 1 for one, two in pairwise(tiles))
            assert all(town().is_free(tile) for tile in tiles)
        for one, two in pairwise(before):
            assert abs(one.x - two.x) + abs(one.y - two.y) <= tiles_per_minute
        # Its activities follow one another, and it is never without one.
        assert all(line.activities)
    for talk in of_kind(events, "talked"):
        assert talk.until > talk.minute
        first, second = (read[name].tiles[talk.minute] for name in (talk.resident, talk.partner))
        assert town().find_zone(first) == town().find_zone(second)
        assert (first.x - second.x) ** 2 + (first.y - second.y) ** 2 <= simulation.physics.radius**2


def test_the_log_is_in_order() -> None:
    events, _ = lived(hashing_lives(0, ahead, slow=1))
    assert [(event.minute, event.resident) for event in events] == sorted((event.minute, event.resident) for event in events)
    assert any(isinstance(event, Talked) for event in events)
    assert any(isinstance(event, Walked) for event in events)


def test_physics_that_would_make_the_rules_wrong_are_refused() -> None:
    with pytest.raises(AssertionError):
        Physics(tiles_per_minute=9, radius=8)
    with pytest.raises(AssertionError):
        Physics(bandwidth=9, retention=8)
