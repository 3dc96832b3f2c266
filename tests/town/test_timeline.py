"""The log read back: by hand, and against where everybody really was."""

from __future__ import annotations

import pytest
from lives import hashing_lives, lived, town

from sociable.town.bodies import Body, ahead
from sociable.town.events import AnyEvent, Began, Line, Slept, Talked, Walked, read_timelines, trace_walk
from sociable.town.map import Tile
from sociable.town.simulation import Simulation

# From her bed at (1, 2) to the chair at (17, 2), stopped at (13, 2) by a talk of two minutes, and then asleep.
ANN: list[AnyEvent] = [
    Began(minute=1, resident="Ann", doing="going to bed", planned_place="Den", address="Den: room: chair", until=9, asleep=True),
    Walked(minute=1, resident="Ann", start=(1, 2), way="E12", tiles_per_minute=6),
    Talked(minute=3, resident="Ben", partner="Ann", until=5, lines=(Line(speaker="Ben", says="Good night."),)),
    Walked(minute=5, resident="Ann", start=(13, 2), way="E4", tiles_per_minute=6),
    Slept(minute=5, resident="Ann", until=9),
    Began(minute=9, resident="Ann", doing="getting up", until=20),
]
STARTS = {"Ann": Tile(1, 2), "Ben": Tile(13, 1)}


def test_where_somebody_was_minute_by_minute() -> None:
    ann = read_timelines(ANN, STARTS, 11)["Ann"]
    # Minute 0 in bed; 1 and 2 six steps each; 3 and 4 talking; 5 the last four steps; then there.
    assert [tile.x for tile in ann.tiles] == [1, 7, 13, 13, 13, 17, 17, 17, 17, 17, 17]
    assert {tile.y for tile in ann.tiles} == {2}
    assert [minute for minute, asleep in enumerate(ann.asleep) if asleep] == [5, 6, 7, 8]
    assert [event and event.doing for event in ann.activities] == [None, *["going to bed"] * 8, *["getting up"] * 2]


def test_who_talks_to_whom_whoever_began() -> None:
    both = read_timelines(ANN, STARTS, 11)
    assert [(talk.minute, talk.until) for talk in both["Ann"].talks] == [(3, 5)]
    assert both["Ben"].talks == both["Ann"].talks
    assert both["Ben"].tiles == [Tile(13, 1)] * 11


def test_what_goes_on_after_the_end_is_cut_off() -> None:
    ann = read_timelines(ANN, STARTS, 2)["Ann"]
    assert [tile.x for tile in ann.tiles] == [1, 7]
    assert (len(ann.asleep), len(ann.activities)) == (2, 2)


def test_a_way_is_runs_of_steps() -> None:
    walk = Walked(minute=0, resident="Ann", start=(3, 3), way="E2N1W12S1", tiles_per_minute=6)
    tiles = trace_walk(walk)
    assert tiles[:3] == [Tile(4, 3), Tile(5, 3), Tile(5, 2)]
    assert tiles[-2:] == [Tile(-7, 2), Tile(-7, 3)]
    assert len(tiles) == 16


class Watched(Simulation):
    """Notes where everybody stands after each minute they have lived."""

    def _reach(self, body: Body, minute: int) -> None:
        seen: dict[tuple[str, int], Tile] = self.__dict__.setdefault("seen", {})
        for lived_minute in range(body.minute, minute):
            seen[body.name, lived_minute] = body.tile
        super()._reach(body, minute)


@pytest.mark.parametrize("tiles_per_minute", [1, 6])
@pytest.mark.parametrize("seed", range(6))
def test_the_log_says_where_everybody_really_was(seed: int, tiles_per_minute: int) -> None:
    simulation = hashing_lives(seed, ahead, slow=1, tiles_per_minute=tiles_per_minute, kind=Watched)
    starts = {body.name: body.tile for body in simulation.bodies}
    events, _ = lived(simulation)
    read = read_timelines(events, starts, simulation.minutes)
    seen = simulation.__dict__["seen"]
    assert {name for name, _ in seen} == set(starts)
    assert len(set(seen.values())) > 50
    for (name, minute), tile in seen.items():
        if minute < simulation.minutes:
            assert read[name].tiles[minute] == tile, (name, minute)
    assert all(town().is_free(tile) for line in read.values() for tile in line.tiles)
