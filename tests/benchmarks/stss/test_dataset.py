"""Templates and residents: what draws make of them, and complaints that name place and field."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.stss.dataset import BUNDLED, load_residents, load_templates
from sociable.benchmarks.stss.drawing import draw_task, is_solvable
from sociable.benchmarks.stss.residents import LEAST_MINUTES, MEETING_MINUTES, RoutineMind, World
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.benchmarks.stss.templates import CAST, TaskTemplate
from sociable.core.errors import DataError, InputError
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.map import TownMap
from sociable.town.persona import Habit, Persona

SEEDS = range(20)
People = Mapping[str, Persona]
Templates = Mapping[str, TaskTemplate]


@pytest.fixture(scope="module")
def draws(templates: Templates, people: People, town: TownMap, clock: Clock) -> Mapping[str, list[Task]]:
    """Of every template twenty tasks."""
    return {name: [draw_task(template, people, town, clock, seed) for seed in SEEDS] for name, template in templates.items()}


def test_thirty_templates_of_five_types(templates: Templates) -> None:
    # Table 2.
    assert Counter(template.type for template in templates.values()) == {
        TaskType.PUBLIC: 10,
        TaskType.APPOINTMENT: 5,
        TaskType.COMPANIONS: 5,
        TaskType.ONLINE: 5,
        TaskType.HELP: 5,
    }


@pytest.mark.parametrize(
    ("kind", "background", "expected"),
    [
        # App. A.1: half (public, online) and a third (companions) of the background characters, rounded up.
        (TaskType.PUBLIC, 10, 5),
        (TaskType.PUBLIC, 11, 6),
        (TaskType.PUBLIC, 12, 6),
        (TaskType.ONLINE, 11, 6),
        (TaskType.COMPANIONS, 10, 4),
        (TaskType.COMPANIONS, 11, 4),
        (TaskType.COMPANIONS, 12, 4),
        (TaskType.COMPANIONS, 9, 3),
        (TaskType.APPOINTMENT, 12, 1),
        (TaskType.HELP, 12, 1),
    ],
)
def test_expected_participants(kind: TaskType, background: int, expected: int) -> None:
    assert kind.count_expected(background) == expected


def test_every_template_can_be_drawn_and_says_what_was_drawn(draws: Mapping[str, list[Task]], templates: Templates) -> None:
    for name, tasks in draws.items():
        template = templates[name]
        for task in tasks:
            assert len(task.cast) in range(CAST[0], CAST[1] + 1)
            assert task.performer not in task.cast
            assert task.performer in template.performers
            assert not re.search(r"[{}]", task.goal + task.first_person)
            assert task.performer in task.goal
            assert task.day == 1  # Tuesday
            assert task.expected == task.type.count_expected(len(task.cast))
            if task.type in (TaskType.PUBLIC, TaskType.COMPANIONS):
                assert task.place in template.places
                assert task.place in task.goal
                assert str(task.expected) in task.goal
            else:
                assert task.place == ""
            if task.type is TaskType.APPOINTMENT:
                assert task.target in template.targets[task.performer]
                assert task.target in task.cast
                assert task.target in task.goal
                assert task.places == template.places
            else:
                assert task.target == ""
            assert bool(task.subtasks) is (task.type is TaskType.HELP)


def test_draws_differ(draws: Mapping[str, list[Task]]) -> None:
    """Twenty seeds give a template more than one performer, cast, time, and place where it has several."""
    for name, tasks in draws.items():
        assert len({task.performer for task in tasks}) >= 3, name
        assert len({task.cast for task in tasks}) >= 18, name
        assert len({task.start for task in tasks}) >= 2, name
        if tasks[0].place:
            assert len({task.place for task in tasks}) >= 2, name


def test_the_same_seed_draws_the_same_task(
    templates: Templates, people: People, town: TownMap, clock: Clock, draws: Mapping[str, list[Task]]
) -> None:
    for name in ("soup-swap", "first-three-chords"):
        assert draw_task(templates[name], people, town, clock, 3) == draws[name][3]
        # The order in which people stand in the file does not matter.
        backwards = dict(reversed(list(people.items())))
        assert draw_task(templates[name], backwards, town, clock, 3) == draws[name][3]


def test_what_is_drawn_can_be_solved(draws: Mapping[str, list[Task]], people: People, town: TownMap, clock: Clock) -> None:
    """Counted again by hand from everybody's free time."""
    for tasks in draws.values():
        for task in tasks[:5]:
            world = World(town, clock, 6, 0, "test")
            minds = {name: RoutineMind(people[name], world) for name in task.residents}
            if task.type in (TaskType.PUBLIC, TaskType.ONLINE):
                able = [name for name in task.cast if minds[name].is_free(LEAST_MINUTES, task.start, task.end)]
                assert len(able) > task.expected
                assert minds[task.performer].is_free(task.end - task.start, task.start)
            elif task.type is TaskType.HELP:
                able = [name for name in task.cast if minds[name].is_free(74, task.start, task.end)]
                assert len(able) >= 2
            else:
                wanted = [task.target] if task.target else task.cast
                most = max(
                    sum(minds[name].is_free(MEETING_MINUTES, at) for name in wanted)
                    for at in range(task.start, task.end - MEETING_MINUTES)
                    if minds[task.performer].is_free(MEETING_MINUTES, at)
                )
                assert most >= (1 if task.target else task.expected + 1)


def test_what_nobody_has_time_for_cannot_be_solved(
    make_task: Callable[..., Task], make_persona: Callable[..., Persona], town: TownMap, clock: Clock
) -> None:
    """Four people, two expected, 17:00 to 19:00; so three must have the time."""
    work = Habit(days=("Tue",), start=9 * 60, end=18 * 60 + 40, doing="baking", place="Salt & Rye: shop", work=True)

    def solvable(task: Task, *busy: str) -> bool:
        world = World(town, clock, 6, 0, "test")
        minds = {name: RoutineMind(make_persona(name, habits=(work,) if name in busy else ()), world) for name in task.residents}
        return is_solvable(task, minds)

    assert solvable(make_task(), "Ann")
    assert not solvable(make_task(), "Ann", "Ben")
    assert not solvable(make_task(), "Pia")  # the performer of a public activity is there all the time
    assert solvable(make_task(TaskType.COMPANIONS), "Ann")
    assert not solvable(make_task(TaskType.COMPANIONS), "Ann", "Ben")
    assert not solvable(make_task(TaskType.APPOINTMENT), "Ann")
    assert solvable(make_task(TaskType.APPOINTMENT), "Ben", "Cy", "Dee")
    assert solvable(make_task(TaskType.HELP), "Ann", "Ben", "Pia")
    assert not solvable(make_task(TaskType.HELP), "Ann", "Ben", "Cy")


def test_a_template_that_cannot_be_solved_is_given_up(templates: Templates, people: People, town: TownMap, clock: Clock) -> None:
    template = templates["soup-swap"]
    night = template.times[0].model_copy(update={"start": "02:00", "end": "03:00"})
    with pytest.raises(InputError, match=r"soup-swap.*other times, places or performers"):
        draw_task(template.model_copy(update={"times": (night,)}), people, town, clock, 0)


def test_nobody_can_be_cast_where_one_lives_alone(templates: Templates, people: People, town: TownMap, clock: Clock) -> None:
    name = templates["soup-swap"].performers[0]
    with pytest.raises(InputError, match=r"soup-swap.*nobody lives there beside"):
        draw_task(templates["soup-swap"], {name: people[name]}, town, clock, 0)


# The bundled residents.


def test_everybody_has_a_bed_of_their_own_and_ties(people: People, town: TownMap) -> None:
    assert len(people) == 25
    for persona in people.values():
        assert set(persona.ties) <= set(people) - {persona.name}
        assert all(persona.name in people[other].ties for other in persona.ties)
        assert persona.wakes < persona.sleeps < persona.wakes + MINUTES_PER_DAY
        assert len(persona.facts) >= 8


def test_whoever_goes_to_bed_after_midnight_does_so_on_the_next_day(people: People) -> None:
    # Hedvig Lindqvist sleeps from 00:30 to 07:30.
    assert (people["Hedvig Lindqvist"].sleeps, people["Hedvig Lindqvist"].wakes) == (24 * 60 + 30, 7 * 60 + 30)


# Complaints.


def _write(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def raw_templates() -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in json.loads((BUNDLED / "tasks.json").read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def raw_people() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((BUNDLED / "residents.json").read_text(encoding="utf-8"))
    return records


def changed(path: list[str | int], value: object) -> Callable[[Any], None]:
    def change(record: Any) -> None:
        *way, last = path
        for key in way:
            record = record[key]
        record[last] = value

    return change


@pytest.mark.parametrize(
    ("template", "change", "complaint"),
    [
        ("soup-swap", changed(["places", 0], "Atlantis: quay"), "field 'places.0': there is no 'Atlantis: quay' in Tern Harbour"),
        ("soup-swap", changed(["places", 0], "The Guildhall: loft"), "field 'places.0': there is no 'The Guildhall: loft'"),
        ("soup-swap", changed(["performers", 0], "Nobody Known"), "field 'performers.0': nobody is called 'Nobody Known'"),
        (
            "first-three-chords",
            changed(["targets", "Nobody Known"], ["Esra Aydin"]),
            "field 'targets.Nobody Known.[key]': nobody is called 'Nobody Known'",
        ),
        ("first-three-chords", changed(["targets"], {}), "targets: nobody for"),
        ("soup-swap", changed(["times", 0, "to"], "15:00"), "'to' (15:00) must be later than 'from' (15:30)"),
        ("soup-swap", changed(["times", 0, "from"], "half past"), "'half past' is no time of day"),
        ("soup-swap", changed(["times", 0, "day"], 3), "day"),
        ("soup-swap", changed(["goal"], "{performer} wants {pudding}."), "unknown placeholder {pudding}; known are"),
        ("soup-swap", changed(["goal"], "{} wants soup."), "unknown placeholder {}; known are"),
        ("soup-swap", changed(["first_person"], "I want {place.sector}."), "unknown placeholder {place.sector}"),
        ("soup-swap", changed(["goal"], "{expected:d} people."), "{expected:d}: a placeholder is a name and nothing more"),
        ("soup-swap", changed(["goal"], "{performer!z} wants soup."), "{performer!z}: a placeholder is a name and nothing more"),
        ("soup-swap", changed(["keywords"], [["soup"], []]), "field 'keywords.1'"),
        ("soup-swap", changed(["keywords"], [["..."]]), "'...' has no word in it by which it could be found"),
        ("soup-swap", changed(["not_keywords"], ["..."]), "'...' has no word in it by which it could be found"),
        (
            "first-three-chords",
            lambda record: record["targets"].update({name: [name] for name in record["performers"]}),
            "own target",
        ),
        ("soup-swap", changed(["keywords"], []), "needs keywords, by which the activity is seen to be done"),
        ("soup-swap", changed(["places"], []), "public activity needs places"),
        ("soup-swap", changed(["type"], "party"), "type"),
        ("ducks-in-the-frost", changed(["subtasks"], []), "needs subtasks"),
        ("ducks-in-the-frost", changed(["subtasks", 0, "place"], "Atlantis: quay"), "there is no 'Atlantis: quay'"),
        ("ducks-in-the-frost", changed(["subtasks", 0, "keywords"], []), "subtasks.0.keywords"),
    ],
)
def test_a_bad_template_is_complained_of_by_place_and_field(
    template: str,
    change: Callable[[Any], None],
    complaint: str,
    raw_templates: dict[str, dict[str, Any]],
    town: TownMap,
    people: People,
    tmp_path: Path,
) -> None:
    bad = copy.deepcopy(raw_templates[template])
    change(bad)
    # The second of two records, so that its place says which.
    path = _write(tmp_path, [raw_templates["reel-and-jig"], bad])
    with pytest.raises(DataError) as caught:
        load_templates(path, town, people)
    assert complaint in str(caught.value)
    assert "data.json, line 1, record 2" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda record: record.pop("home"), "home"),
        (
            changed(["home", "place"], "Chandler's Row 99: bedroom"),
            "field 'home.place': there is no 'Chandler's Row 99: bedroom'",
        ),
        (changed(["work", 0, "place"], "Atlantis: quay"), "field 'work.0.place': there is no 'Atlantis: quay'"),
        (
            changed(["work", 0, "days"], ["Mon", "Someday"]),
            "field 'work.0.days.1': Input should be 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat' or 'Sun', found 'Someday'",
        ),
        (changed(["work", 0, "to"], "07:00"), "'to' (07:00) must be later than 'from' (08:00)"),
        (changed(["usual", 0, "at"], "25:00"), "'25:00' is no time of day"),
        (changed(["wakes"], "early"), "'early' is no time of day"),
        (
            changed(["ties", 0, "to"], "Stranger"),
            "field 'ties.0.to': nobody is called 'Stranger'; ties name people by their short names",
        ),
        (changed(["short"], "Nkechi"), "is called already"),
    ],
)
def test_a_bad_resident_is_complained_of_by_place_and_field(
    change: Callable[[Any], None], complaint: str, raw_people: list[dict[str, Any]], town: TownMap, tmp_path: Path
) -> None:
    records = copy.deepcopy(raw_people)
    change(records[0])
    with pytest.raises(DataError) as caught:
        load_residents(_write(tmp_path, records), town)
    assert complaint in str(caught.value)
    assert "data.json, line 1, record" in str(caught.value)
