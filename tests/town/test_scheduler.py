"""The log is the same whatever the scheduler, so long as its rule is right; and rules that are not right are found out."""

from __future__ import annotations

import math

import pytest
from lives import generative_lives, hashing_lives, lived
from small_town import Scripted, small_town

from sociable.town.bodies import Body, Physics, Scheduler, ahead, count_steps_to_sight, lockstep
from sociable.town.map import Address, Tile, TownMap
from sociable.town.minds import Activity
from sociable.town.simulation import Simulation

SEEDS = range(20)


@pytest.mark.parametrize("tiles_per_minute", [6, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_running_ahead_changes_nothing(seed: int, tiles_per_minute: int) -> None:
    in_step, _ = lived(hashing_lives(seed, lockstep, tiles_per_minute=tiles_per_minute))
    assert sum(event.kind == "talked" for event in in_step) > 5
    assert lived(hashing_lives(seed, ahead, tiles_per_minute=tiles_per_minute))[0] == in_step
    for slow in (1, 2):
        assert lived(hashing_lives(seed, ahead, slow=slow, tiles_per_minute=tiles_per_minute))[0] == in_step
    assert lived(hashing_lives(seed, lockstep, slow=1, tiles_per_minute=tiles_per_minute))[0] == in_step


@pytest.mark.parametrize(("seed", "tiles_per_minute"), [(0, 6), (1, 6), (2, 1)])
def test_running_ahead_shows_no_model_another_prompt(seed: int, tiles_per_minute: int) -> None:
    """The replies, and with them the log, are a pure function of all prompts."""
    in_step, _ = lived(generative_lives(seed, lockstep, latency_seed=0, tiles_per_minute=tiles_per_minute))
    assert sum(event.kind == "talked" for event in in_step) > 5
    for latency_seed in (1, 2):
        found, _ = lived(generative_lives(seed, ahead, latency_seed=latency_seed, tiles_per_minute=tiles_per_minute))
        assert found == in_step


def test_running_ahead_saves_time() -> None:
    in_step, found = (sum(lived(hashing_lives(seed, rule, slow=1))[1] for seed in range(5)) for rule in (lockstep, ahead))
    assert found < 0.9 * in_step


# Rules that are wrong by a little.


def take_walkers_for_slow(town: TownMap, physics: Physics, lagging: Body, other: Body, enough: float) -> float:
    """Those who lag behind are taken to walk one tile a minute less than they can."""
    return count_steps_to_sight(town, physics.radius, lagging, other) * physics.tiles_per_minute / (physics.tiles_per_minute - 1)


def forget_the_radius(town: TownMap, physics: Physics, lagging: Body, other: Body, enough: float) -> float:
    """The radius of sight is forgotten: only who comes to the very spot could be met."""
    return count_steps_to_sight(town, 0, lagging, other, enough)


def heed_the_room_only(town: TownMap, physics: Physics, lagging: Body, other: Body, enough: float) -> float:
    """Who is in another arena now is taken to stay there."""
    return ahead(town, physics, lagging, other, enough) if lagging.zone == other.zone else math.inf


class OthersWishesDoNotMatter(Simulation):
    """Who wants to talk to nobody goes on, though somebody in its sight may still want to talk to it."""

    def _find_linked(self, body: Body, minute: int) -> tuple[list[Body], Body | None]:
        members, other = super()._find_linked(body, minute)
        if other is not None and other.perceived and not (body.decision and body.decision.talk_to):
            return [body], None
        return members, other


class GoesOnUnseen(Simulation):
    """Nobody waits for those in its sight who have not perceived it yet, if they cannot want to talk to it."""

    def _find_linked(self, body: Body, minute: int) -> tuple[list[Body], Body | None]:
        members, other = super()._find_linked(body, minute)
        if other is not None and not other.perceived and not body.is_free(minute - 1):
            return [body], None
        return members, other


class TalksArePromisedTooLong(Simulation):
    """A talk is taken to last at least four minutes."""

    def _meet(self, first: Body, second: Body, minute: int) -> None:
        super()._meet(first, second, minute)
        for body in (first, second):
            self._reach(body, minute + 4)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (take_walkers_for_slow, Simulation),
        (forget_the_radius, Simulation),
        (heed_the_room_only, Simulation),
        (ahead, OthersWishesDoNotMatter),
        (ahead, GoesOnUnseen),
        (ahead, TalksArePromisedTooLong),
    ],
)
def test_a_weakened_rule_is_found_out(rule: Scheduler, kind: type[Simulation]) -> None:
    for seed in SEEDS:
        in_step, _ = lived(hashing_lives(seed, lockstep))
        try:
            weakened, _ = lived(hashing_lives(seed, rule, slow=1, kind=kind))
        except (AssertionError, KeyError):
            continue  # the town itself came apart; what is asked for is a difference
        if weakened != in_step:
            return
    pytest.fail("the comparison saw nothing wrong with it")


# The bound.


@pytest.mark.parametrize("radius", [1, 2, 3, 8])
def test_nobody_comes_into_sight_in_fewer_steps_than_that(radius: int) -> None:
    """Against all tiles from which one sees the other, and a search of the way to each of them."""
    town = small_town()
    free = [Tile(x, y) for y in range(town.height) for x in range(town.width) if town.is_free(Tile(x, y))]
    bodies = [Body("R", None, None, 0, tile, town.find_zone(tile)) for tile in free]  # type: ignore[arg-type]
    exact = 0
    for other in bodies[::3]:
        seeing = [
            body
            for body in bodies
            if body.zone == other.zone and math.dist(body.tile, other.tile) <= radius  # as in Simulation._see
        ]
        for body in bodies:
            fewest = min(town.measure_distance(body.tile, one.tile) or 0 for one in seeing)
            bound = count_steps_to_sight(town, radius, body, other)
            assert bound <= fewest + 1e-9
            exact += math.ceil(bound) == fewest
    # It is worth something too: 79 to 100 percent are exact here.
    assert exact > 0.75 * len(bodies) * len(bodies[::3])


def test_without_a_way_nobody_ever_meets() -> None:
    town = small_town()
    table = Body("R", None, None, 0, Tile(17, 1), town.find_zone(Tile(17, 1)))  # type: ignore[arg-type]
    hall = Body("S", None, None, 1, Tile(1, 1), town.find_zone(Tile(1, 1)))  # type: ignore[arg-type]
    assert count_steps_to_sight(town, 8, table, hall) == math.inf
    assert ahead(town, Physics(), table, hall, 10**6) == math.inf
    assert lockstep(town, Physics(), table, hall, 1) == 0


def test_who_is_far_away_is_not_waited_for() -> None:
    """One resident whose mind takes an hour for its first answer holds up nobody who is out of its reach."""
    slow = Scripted({0: Activity("thinking", 60)}, wait=3600.0)
    quick = Scripted({minute: Activity(f"doing {minute}", minute + 1) for minute in range(60)}, wait=1.0)
    residents = [("Ann", Address("Hall", "room", "bed"), slow), ("Ben", Address("Den", "room", "chair"), quick)]
    physics = Physics(tiles_per_minute=1)
    simulation = Simulation(small_town(), residents, scheduler=ahead, physics=physics, minutes=60)
    _, seconds = lived(simulation)
    # From (1, 2) into the Den, at (12, 2), are 11 steps, and from there she would see the chair at (17, 2): minutes 0 to 10
    # are lived within the hour, the other 49 after it, a second each.
    assert seconds == pytest.approx(3600 + 49)
