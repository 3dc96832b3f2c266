"""A day without a model: habits, sleep, work, and what was agreed before all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sociable.benchmarks.stss.residents import AT_HOME, RoutineMind, World, find_bed
from sociable.town.clock import MINUTES_PER_DAY, Clock, parse_minute
from sociable.town.events import Planned
from sociable.town.map import TownMap
from sociable.town.minds import Activity, View
from sociable.town.persona import Habit, Persona

SHOP = "Salt & Rye: shop"
HALL = "The Guildhall: hall"
MakePersona = Callable[..., Persona]


def habit(start: str, end: str, doing: str = "baking", place: str = SHOP, *, work: bool = True, days: str = "Mon Tue") -> Habit:
    return Habit(days=tuple(days.split()), start=parse_minute(start), end=parse_minute(end), doing=doing, place=place, work=work)


@pytest.fixture
def mind(make_persona: MakePersona, town: TownMap, clock: Clock) -> Callable[..., RoutineMind]:
    """Up at 07:00, in bed at 23:00, with these habits."""

    def make(*habits: Habit, wakes: str = "07:00", sleeps: int = 23 * 60) -> RoutineMind:
        world = World(town, clock, 6, 0, "test")
        return RoutineMind(make_persona(habits=habits, wakes=parse_minute(wakes), sleeps=sleeps), world)

    return make


def view(mind: RoutineMind, minute: int, activity: Activity | None = None) -> View:
    return View(minute, mind.tile, None, activity, False, (), ())


@pytest.mark.parametrize(
    ("sleeps", "time", "wakes"),
    [
        # In bed from 23:00: up at 07:00 of the same night.
        (23 * 60, "23:00", parse_minute("07:00", 2)),
        (23 * 60, "22:59", None),
        (23 * 60, "06:59", parse_minute("07:00")),
        (23 * 60, "07:00", None),
        # In bed from midnight exactly.
        (24 * 60, "23:59", None),
        (24 * 60, "00:00", parse_minute("07:00")),
        # In bed half an hour after midnight; the first morning everybody is in bed.
        (24 * 60 + 30, "23:59", None),
        (24 * 60 + 30, "00:10", parse_minute("07:00")),
    ],
)
def test_sleep(sleeps: int, time: str, wakes: int | None, mind: Callable[..., RoutineMind]) -> None:
    assert mind(sleeps=sleeps).find_waking(parse_minute(time)) == wakes


def test_whoever_goes_to_bed_after_midnight_is_up_after_midnight(mind: Callable[..., RoutineMind]) -> None:
    late = mind(sleeps=24 * 60 + 30)
    assert late.find_waking(parse_minute("00:29", 2)) is None
    assert late.find_waking(parse_minute("00:30", 2)) == parse_minute("07:00", 2)


def test_free_is_neither_asleep_nor_at_work_nor_engaged(mind: Callable[..., RoutineMind]) -> None:
    # Tuesday: work from 09:00 to 12:00, an engagement from 15:00 to 16:00, a walk at 18:00 that can be left out.
    own = mind(habit("09:00", "12:00"), habit("18:00", "19:00", "walking", work=False))
    own.engage("soup", parse_minute("15:00", 2), parse_minute("16:00", 2), HALL, 0)
    spans = own.find_free_spans(1, parse_minute("06:00", 2), parse_minute("23:30", 2))
    named = [("07:00", "09:00"), ("12:00", "15:00"), ("16:00", "23:00")]
    assert spans == [(parse_minute(start, 2), parse_minute(end, 2)) for start, end in named]
    assert own.find_free_spans(121, parse_minute("06:00", 2), parse_minute("23:30", 2)) == [spans[1], spans[2]]
    assert not own.is_free(421, parse_minute("06:00", 2), parse_minute("23:30", 2))
    assert own.is_free(180, parse_minute("12:00", 2))
    assert not own.is_free(181, parse_minute("12:00", 2))
    own.engagements.clear()
    assert own.find_free_spans(181, parse_minute("06:00", 2), parse_minute("23:30", 2)) == [
        (parse_minute("12:00", 2), parse_minute("23:00", 2))
    ]


def test_nights_are_busy_on_every_day(mind: Callable[..., RoutineMind]) -> None:
    assert mind().find_free_spans(1, 0, 2 * MINUTES_PER_DAY) == [
        (parse_minute("07:00", day), parse_minute("23:00", day)) for day in (1, 2)
    ]


def test_what_it_does_now(mind: Callable[..., RoutineMind]) -> None:
    own = mind(habit("09:00", "12:00"))
    way = own.world.count_travel_minutes(own.tile, SHOP)
    leaves = parse_minute("09:00") - way - 2
    asleep = own.find_due(parse_minute("05:00"))
    assert (asleep.asleep, asleep.until, asleep.place) == (
        True,
        parse_minute("07:00"),
        str(find_bed(own.persona, own.world.town)),
    )
    # At home until it has to leave …
    assert own.find_due(parse_minute("07:00")) == Activity(AT_HOME, leaves, own.persona.home)
    # … at work to the end, then home until bed.
    assert own.find_due(leaves) == Activity("baking", parse_minute("12:00"), SHOP)
    assert own.find_due(parse_minute("11:59")) == Activity("baking", parse_minute("12:00"), SHOP)
    assert own.find_due(parse_minute("12:00")) == Activity(AT_HOME, parse_minute("23:00"), own.persona.home)
    # A habit of Tuesdays is none on a Monday.
    assert mind(habit("09:00", "12:00", days="Tue")).find_due(parse_minute("10:00")).doing == AT_HOME


def test_for_a_short_while_nobody_goes_home(mind: Callable[..., RoutineMind]) -> None:
    own = mind(habit("09:00", "12:00"), habit("12:30", "13:30", "eating", "Market Square: fountain", work=False))
    own.tile = own.world.find_tile(SHOP)
    assert own.find_due(parse_minute("12:00")) == Activity("eating", parse_minute("13:30"), "Market Square: fountain")


def test_an_engagement_comes_before_habits_and_it_leaves_in_time(mind: Callable[..., RoutineMind]) -> None:
    own = mind(habit("09:00", "12:00"))
    own.tile = own.world.find_tile(SHOP)
    soup = own.engage("soup", parse_minute("11:00"), parse_minute("11:45"), HALL, parse_minute("09:00"))
    leaves = soup.start - own.world.count_travel_minutes(own.tile, HALL) - 2
    assert own.alarm == leaves
    assert own.find_due(leaves - 1) == Activity("baking", leaves, SHOP)
    assert own.find_due(leaves) == Activity("soup", parse_minute("11:45"), HALL)
    assert own.find_due(parse_minute("11:45")) == Activity("baking", parse_minute("12:00"), SHOP)


def test_it_is_asked_again_only_when_something_is_due(mind: Callable[..., RoutineMind]) -> None:
    own = mind(habit("09:00", "12:00"))
    first = own.decide(view(own, parse_minute("07:00"))).activity
    assert first is not None
    assert first.doing == AT_HOME
    assert own.decide(view(own, parse_minute("08:00"), first)).activity is None
    assert own.decide(view(own, first.until, first)).activity == Activity("baking", parse_minute("12:00"), SHOP)


def test_the_plan_of_the_day_is_told_once_when_it_gets_up(mind: Callable[..., RoutineMind]) -> None:
    own = mind(habit("09:00", "12:00"))
    own.engage("soup", parse_minute("15:00"), parse_minute("16:00"), HALL, 0)
    assert own.decide(view(own, 0)).notes == ()
    (note,) = own.decide(view(own, parse_minute("07:00"))).notes
    assert isinstance(note, Planned)
    assert note.plan == f"09:00-12:00 baking @ {SHOP}\n15:00-16:00 soup @ {HALL}"
    assert own.decide(view(own, parse_minute("08:00"))).notes == ()


def test_travel_takes_a_minute_for_six_tiles_and_one_more(town: TownMap, clock: Clock) -> None:
    world = World(town, clock, 6, 0, "test")
    tile = world.find_tile(SHOP)
    steps = town.measure_distance(tile, world.find_tile(HALL))
    assert steps is not None
    assert world.count_travel_minutes(tile, HALL) == steps // 6 + 1
    assert world.count_travel_minutes(tile, "") == world.count_travel_minutes(tile, "Atlantis: quay") == 0
