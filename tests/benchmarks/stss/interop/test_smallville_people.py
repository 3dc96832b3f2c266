"""Smallville's people: what their files say in prose becomes hours, ties and habits, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sociable.benchmarks.stss.interop.smallville_people import (
    find_ties,
    is_smallville_people,
    load_smallville_people,
    parse_hours_of_sleep,
)
from sociable.benchmarks.stss.keywords import is_doing
from sociable.benchmarks.stss.task import Signs
from sociable.core.errors import DataError
from sociable.town.clock import format_time_of_day
from sociable.town.interop.smallville import SmallvillePersona
from sociable.town.map import Address, Tile, TownMap
from sociable.town.persona import Habit, Persona
from sociable.town.town_file import load_map

SMALLVILLE = Path(__file__).parents[5] / "shared" / "data" / "smallville"
needs_shared = pytest.mark.skipif(not SMALLVILLE.is_dir(), reason="needs ../shared/data/smallville")

ANN = SmallvillePersona(
    name="Ann Ferry", age=30, innate="calm", learned="Ann Ferry is a potter.", currently="", lifestyle="any",
    living_area="the Ville:Ann's house:main room",
)  # fmt: skip


@pytest.mark.parametrize(
    ("lifestyle", "wakes", "sleeps"),
    [
        ("Ann goes to bed around 11pm, awakes around 6am, has her dinner at 5pm.", "06:00", "23:00"),
        ("Ann wakes up at 6:30 and goes to bed at 10.", "06:30", "22:00"),
        ("Ann gets up at 5 a.m., goes to sleep at 9:15 p.m.", "05:00", "21:15"),
        ("Ann is up by 07:15. She is in bed by 22:45.", "07:15", "22:45"),
        # A slip of the pen, as it stands in the data.
        ("Ann goes to sleep around 11pm and wakes about 7amam", "07:00", "23:00"),
    ],
)
def test_hours_of_sleep(lifestyle: str, wakes: str, sleeps: str) -> None:
    hours = parse_hours_of_sleep(lifestyle)
    assert (format_time_of_day(hours.wakes), format_time_of_day(hours.sleeps), hours.missing) == (wakes, sleeps, ())


@pytest.mark.parametrize(("bed", "minute"), [("midnight", 24 * 60), ("12am", 24 * 60), ("2am", 26 * 60), ("1:30", 25 * 60 + 30)])
def test_after_midnight_is_the_next_day(bed: str, minute: int) -> None:
    assert parse_hours_of_sleep(f"to bed around {bed}, up and awake around 10am").sleeps == minute


def test_whoever_works_at_night_sleeps_by_day() -> None:
    # To bed at 9:00 of the next day, up at 17:00.
    assert parse_hours_of_sleep("goes to bed at 9am, wakes up at 5pm")[:2] == (17 * 60, 24 * 60 + 9 * 60)


def test_hours_that_are_not_said() -> None:
    assert parse_hours_of_sleep("eats dinner around 5pm") == (7 * 60, 23 * 60, ("waking up", "going to bed"))


def test_ties_are_those_who_are_named() -> None:
    bo, cy = (ANN.model_copy(update={"name": name}) for name in ("Bo Harker", "Cyrus Harker"))
    dora = ANN.model_copy(update={"name": "Dora Quayle"})
    facts = ("The Harker family are odd, Bo above all", "You and Dora Quail play chess", "Ann Ferry is you")
    who = ANN.model_copy(update={"facts": facts, "currently": "Cyrus the Great is her hero."})
    # A first name counts beside the family name, and alone for nobody; one letter may be wrong, not two.
    assert find_ties(who, [who, bo, cy, dora]) == (("Bo Harker",), {})
    who = ANN.model_copy(update={"facts": ("You and Dora Quaile's cat",)})
    assert (
        find_ties(who, [who, dora]) == (("Dora Quayle",), {"Dora Quaile": "Dora Quayle"})
        or find_ties(who, [who, dora]).names == ()
    )
    who = ANN.model_copy(update={"facts": ("You and Dora Quale are friends",)})
    assert find_ties(who, [who, dora]) == (("Dora Quayle",), {"Dora Quale": "Dora Quayle"})


# A town of two houses, a café, a college with two rooms and a park: each a row of ten tiles, over a street.

ROWS = (
    Address("Ann's house", "main room"),
    Address("Bo's house", "main room"),
    Address("Gull Cafe", "cafe"),
    Address("Salt College", "library"),
    Address("Salt College", "classroom"),
    Address("Reed Park", "park"),
)


@pytest.fixture(scope="module")
def town() -> TownMap:
    places: dict[Address, list[Tile]] = {}
    for row, address in enumerate(ROWS):
        tiles = [Tile(x, row) for x in range(10)]
        places[address] = tiles
        places.setdefault(Address(address.sector), []).extend(tiles)
    return TownMap("the quay", np.zeros((len(ROWS) + 1, 10), bool), places, {})


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A folder of two people; keywords are fields of Ann's, ``facts`` what she knows."""

    def write(facts: str = "You like rain", **fields: str) -> Path:
        ann = {
            "name": "Ann Ferry", "age": 30, "innate": "calm", "learned": "Ann Ferry is a potter. She is patient.", "currently": "",
            "lifestyle": "Ann goes to bed about 11pm and gets up about 7am.", "living_area": "the quay:Ann's house:main room",
            "daily_plan_req": "",
        } | fields  # fmt: skip
        bo = ann | {"name": "Bo Harker", "learned": "Bo.", "living_area": "the quay:Bo's house:main room", "daily_plan_req": ""}
        starts = {}
        for who in (ann, bo):
            folder = tmp_path / "personas" / str(who["name"]) / "bootstrap_memory"
            folder.mkdir(parents=True)
            (folder / "scratch.json").write_text(json.dumps(who))
            starts[who["name"]] = {"x": 1, "y": 1}
        (tmp_path / "environment").mkdir()
        (tmp_path / "environment" / "0.json").write_text(json.dumps(starts))
        (tmp_path / "agent_history_init_n2.csv").write_text(f'Name,Whisper\nAnn Ferry,"{facts}"\nBo Harker,"You hum"\n')
        return tmp_path

    return write


def ann(folder: Path, town: TownMap) -> Persona:
    return load_smallville_people(folder, town).people["Ann Ferry"]


def shown(habits: tuple[Habit, ...]) -> list[str]:
    return [
        f"{format_time_of_day(habit.start)}-{format_time_of_day(habit.end)} {habit.doing} @ {habit.place}{'!' if habit.work else ''}"
        for habit in habits
    ]


def test_a_person(write: Write, town: TownMap) -> None:
    folder = write("You and Bo Harker row; You like rain", daily_plan_req="Ann Ferry swims.")
    assert is_smallville_people(folder)
    person = ann(folder, town)
    assert (person.name, person.short, person.age, person.pronouns) == ("Ann Ferry", "Ann", 30, "she")
    assert (person.home, person.wakes, person.sleeps) == ("Ann's house: main room", 7 * 60, 23 * 60)
    assert (person.facts, person.ties) == (("You and Bo Harker row", "You like rain"), {"Bo Harker": ""})
    # What the original agents are told of their days is told.
    assert person.lifestyle.endswith("gets up about 7am. Ann Ferry swims.")
    assert person.habits == ()


@pytest.mark.parametrize(
    ("plan", "habits"),
    [
        ("Ann unlocks and opens Gull Cafe at 8am, stands by the till until 8pm, at which point she closes up.",
         ["08:00-20:00 seeing to those who come in @ Gull Cafe: cafe!"]),
        # Closed at 6, and then somewhere else for an hour and a half.
        ("Each day Ann opens Gull Cafe at 8am and closes it at 6pm, at which point, she goes to Reed Park to relax",
         ["08:00-18:00 seeing to those who come in @ Gull Cafe: cafe!", "18:00-19:30 relaxing @ Reed Park: park"]),
        ("Ann walks over to Salt college, teaches potters there from 10 am, goes on until 2pm, and returns home.",
         ["10:00-14:00 teaching @ Salt College: classroom!"]),
        ("In the library of Salt College Ann takes classes from 10am to 2pm, then spends her day studying in the library.",
         ["10:00-14:00 taking classes @ Salt College: library!", "14:00-17:00 studying @ Salt College: library"]),
        # No hours: as work usually is, and with a meal between.
        ("Ann goes to the library of Salt College in the morning, sits there writing letters, and eats at Gull Cafe.",
         ["09:00-12:00 writing @ Salt College: library", "12:00-13:30 having something to eat and drink @ Gull Cafe: cafe",
          "13:30-17:00 writing @ Salt College: library"]),
        # The afternoon ends what has no end.
        ("Ann has to take classes at Salt College from 10am. In the afternoon, she visits Gull Cafe to study glazes.",
         ["10:00-12:00 taking classes @ Salt College: classroom!", "13:30-14:00 taking classes @ Salt College: classroom!",
          "14:00-15:30 studying @ Gull Cafe: cafe"]),
        # A second visit without a time is made when there is room.
        ("Ann goes to walk the dog in Reed Park, and sits in Gull cafe reading.",
         ["12:00-13:30 taking a walk @ Reed Park: park", "15:00-16:30 reading @ Gull Cafe: cafe"]),
        ("Ann plays the fiddle for 3 hours a day.", []),
    ],
)  # fmt: skip
def test_a_plan_of_the_day(write: Write, town: TownMap, plan: str, habits: list[str]) -> None:
    assert shown(ann(write(daily_plan_req=plan), town).habits) == habits


def test_work_that_is_a_persons_own(write: Write, town: TownMap) -> None:
    person = ann(write(learned="Ann Ferry is a student at Salt College."), town)
    assert shown(person.habits)[0] == "09:00-12:00 studying @ Salt College: library"


def test_what_somebody_else_does_there_is_no_habit(write: Write, town: TownMap) -> None:
    folder = write(
        "You know Bo Harker, who runs Gull Cafe; Ann is planning a dance at Gull Cafe",
        currently="Ann Ferry lives with Bo Harker, who is a shop keeper at Gull Cafe. She thinks of Reed Park.",
    )
    assert ann(folder, town).habits == ()
    assert "No place to go to is named for Ann Ferry, Bo Harker" in load_smallville_people(folder, town).remarks[-1]


def test_where_somebody_goes_by_its_facts(write: Write, town: TownMap) -> None:
    facts = (
        "Most days you often spend time at Gull Cafe when it's late, and the bartender there is a friend; You frequent Reed Park"
    )
    # Whoever knows a bartender is none.
    assert shown(ann(write(facts), town).habits) == [
        "12:00-13:30 spending some time @ Reed Park: park",
        "19:00-20:30 spending some time @ Gull Cafe: cafe",
    ]


def test_nobody_goes_out_asleep(write: Write, town: TownMap) -> None:
    lifestyle = "Ann goes to bed at 3pm, wakes up at 10am."
    habits = ann(write(lifestyle=lifestyle, learned="Ann is a student at Salt College."), town).habits
    assert [(format_time_of_day(habit.start), format_time_of_day(habit.end)) for habit in habits] == [
        ("10:30", "12:00"),
        ("13:30", "14:30"),
    ]


def test_what_is_missing_is_said(write: Write, town: TownMap) -> None:
    folder = write("You and Bo Harkor row", lifestyle="Ann is often late.")
    remarks = load_smallville_people(folder, town).remarks
    assert "Ann Ferry: lifestyle names no time of waking up; 07:00 is taken." in remarks
    assert "Ann Ferry: lifestyle names no time of going to bed; 23:00 is taken." in remarks
    assert "Ann Ferry: 'Bo Harkor' is taken for Bo Harker." in remarks


def test_a_home_that_is_not_on_the_map(write: Write, town: TownMap) -> None:
    with pytest.raises(
        DataError, match=r"Ann Ferry/bootstrap_memory/scratch\.json: field 'living_area': there is no 'Moon: crater'"
    ):
        load_smallville_people(write(living_area="the quay:Moon:crater"), town)


@needs_shared
@pytest.mark.parametrize("version", ["base_the_ville_n25", "clipped_the_ville_n25"])
def test_smallvilles_own(version: str) -> None:
    town = load_map(SMALLVILLE)
    people, remarks = load_smallville_people(SMALLVILLE / version, town)
    assert len(people) == 25
    assert not any("lifestyle" in remark for remark in remarks)
    assert all(person.ties and person.pronouns for person in people.values())
    assert people["Hailey Johnson"].sleeps == 26 * 60
    keepers = {name for name, person in people.items() if any(habit.work and "seeing" in habit.doing for habit in person.habits)}
    assert keepers == {"Arthur Burton", "Carmen Ortiz", "Isabella Rodriguez", "John Lin", "Tom Moreno"}
    # Both keep the same shop, by different names of it.
    assert people["John Lin"].habits[0].place == people["Tom Moreno"].habits[0].place
    # Being in a place is no sign of what is done there.
    signs = Signs(keywords=(("coffee", "cafe", "party", "shop", "exercise", "workshop", "buffet"),))
    assert not any(is_doing(habit.doing, signs) for person in people.values() for habit in person.habits)
