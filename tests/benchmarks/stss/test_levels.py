"""Tasks of levels 2 and 3: how they are drawn, the best that a search finds, what models are told, and what agents score."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from sociable.api import reports, runs
from sociable.benchmarks.stss.audit import make_audit
from sociable.benchmarks.stss.best import find_best
from sociable.benchmarks.stss.briefs import brief_residents, list_private
from sociable.benchmarks.stss.dataset import load_inputs, load_level, load_reasons
from sociable.benchmarks.stss.drawing import draw_level_task
from sociable.benchmarks.stss.measure import measure_episode
from sociable.benchmarks.stss.obstacles import Obstacles, Secret, Will
from sociable.benchmarks.stss.protocol import Setting, Town, run_task
from sociable.benchmarks.stss.records import Measured, StssEpisode, StssOptions
from sociable.benchmarks.stss.residents import RoutineMind, World
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.errors import InputError
from sociable.core.view import Table
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling
from sociable.render.html import render_html
from sociable.town.clock import Clock, parse_minute
from sociable.town.events import Talked
from sociable.town.map import TownMap
from sociable.town.persona import Habit, Persona
from sociable.town.places import PlaceFinder

RUMOUR = {"teller": "Linh Vo", "believed_by": ["Esra Aydin"], "says": ["So?"]}
WILL = {
    "who": "Linh Vo",
    "kind": "fear",
    "vague": ["No.", "No, no."],
    "reason": "Because.",
    "moved_by": "so",
    "wording": [["so"]],
    "say": "So.",
    "moved": "Well.",
}
Play = Callable[..., tuple[StssEpisode, Measured]]


@pytest.fixture(scope="session")
def draw(town: TownMap, clock: Clock, people: Mapping[str, Persona]) -> Callable[..., dict[str, Task]]:
    reasons = load_reasons(town, people).items

    @cache
    def draw_all(level: int, seed: int = 0) -> dict[str, Task]:
        templates = load_level(level, None, town, people).items
        return {each.id: draw_level_task(each, reasons, people, town, clock, seed, level) for each in templates}

    return draw_all


@pytest.fixture(scope="session")
def play(town: TownMap, clock: Clock, places: PlaceFinder, people: Mapping[str, Persona]) -> Play:
    played: dict[tuple[str, str, bool], tuple[StssEpisode, Measured]] = {}

    def run(task: Task, agent: str, *, ends_early: bool = True) -> tuple[StssEpisode, Measured]:
        assert task.obstacles is not None
        if found := played.get((task.id, agent, ends_early)):
            return found
        options = StssOptions(level=task.obstacles.level, ends_early=ends_early)
        seats = Seats(
            Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()),
            Seat(Role.PARTNER, "reference/residents", None, Sampling()),
        )
        episode = asyncio.run(run_task(Town(task, 0, seats, Setting(town, places, people, clock, options, 0))))
        played[task.id, agent, ends_early] = episode, measure_episode(episode, town, clock, options)
        return played[task.id, agent, ends_early]

    return run


# Drawing.


@pytest.mark.parametrize("level", [2, 3])
def test_two_tasks_of_each_type_in_which_nearly_everybody_has_a_reason(level: int, draw: Callable[..., dict[str, Task]]) -> None:
    tasks = draw(level).values()
    assert sorted(task.type for task in tasks) == sorted([*TaskType, *TaskType])
    for task in tasks:
        assert task.obstacles is not None
        wills, secret = task.obstacles.wills, task.obstacles.secret
        assert task.obstacles.best >= task.expected
        assert {will.who for will in wills} <= set(task.cast)
        assert all(will.tells or set(will.known_by) & set(task.cast) for will in wills), task.id
        assert len({will.kind for will in wills}) == len(wills) or len(wills) > 4
        if not task.target:
            # Few have a reason against every kind of thing.
            assert len(wills) >= len(task.cast) - 2 - bool(secret), task.id


def test_another_seed_draws_other_performers_and_reasons(draw: Callable[..., dict[str, Task]]) -> None:
    tasks = [list(draw(2, seed).values()) for seed in range(4)]
    assert len({task.performer for each in tasks for task in each}) > 8
    reasons = {will.reason for each in tasks for task in each for will in (task.obstacles.wills if task.obstacles else ())}
    assert len(reasons) > 50


@pytest.mark.parametrize("level", [2, 3])
def test_the_audit_finds_no_fault_in_the_bundled_tasks(level: int, clock: Clock) -> None:
    for seed in range(3):
        inputs = load_inputs(None, StssOptions(level=level), clock, seed=seed, limit=None)
        sections = {section.title: section.blocks for section in make_audit(inputs).sections}
        tables = [each.caption for each in sections["What stands in the way"] if isinstance(each, Table)]
        assert tables == ["As drawn by this seed"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"base": "soup"}, "there is no task 'soup' of level 1"),
        ({"base": ["soup"]}, "expected the name of a task of level 1"),
        ({"adds": "Within {hours}."}, "adds: unknown placeholder {hours}"),
        ({"adds_first": "Within {budget}.", "budget": None}, "adds_first: unknown placeholder {budget}"),
        ({"rumour": RUMOUR | {"time": "nine"}}, "rumour.time: 'nine' is no time of day"),
        ({"rumour": RUMOUR | {"place": "Moon: sea"}}, "rumour.place: there is no 'Moon: sea'"),
        ({"wills": [WILL | {"place": "Moon: sea"}]}, "the place of Linh Vo: there is no 'Moon: sea'"),
        ({"rumour": RUMOUR | {"time": "21:00", "place": "The Guildhall: hall"}}, "a wrong time or place, one of them"),
        ({"performers": ["Zoltan Farkas"]}, "Zoltan Farkas has a part in what stands in the way"),
        ({"rumour": RUMOUR}, "expected a wrong time or place"),
        ({"skill": {"step": 1, "held_by": ["Linh Vo"], "lacks": ["No."], "known_by": {}}}, "there is no step 1"),
        ({"secret": {"keeps_from": "Nobody Here"}}, "nobody is called 'Nobody Here'"),
    ],
)
def test_a_bad_template_is_refused_with_its_place(
    change: dict[str, object], complaint: str, tmp_path: Path, town: TownMap, people: Mapping[str, Persona]
) -> None:
    bundled = resources.files("sociable.benchmarks.stss").joinpath("data/tasks_level2.json").read_text(encoding="utf-8")
    path = tmp_path / "own.json"
    path.write_text(json.dumps([json.loads(bundled)[0] | change]), encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        load_level(2, path, town, people)


def test_levels_are_of_the_bundled_people(clock: Clock, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="about Tern Harbour's people"):
        load_inputs(None, StssOptions(level=2, residents=str(tmp_path)), clock, seed=0, limit=None)


# The best possible, derived by hand.


@pytest.fixture
def best(
    make_task: Callable[..., Task], make_persona: Callable[..., Persona], town: TownMap, clock: Clock
) -> Callable[..., tuple[int, tuple[str, ...]]]:
    def search(habits: Mapping[str, tuple[Habit, ...]] | None = None, **obstacles: object) -> tuple[int, tuple[str, ...]]:
        task = make_task(obstacles=Obstacles.model_validate({"level": 3, "wills": ()} | obstacles))
        world = World(town, clock, 6, 0, "test")
        own = {name: (habits or {}).get(name, ()) for name in task.residents}
        found = find_best(task, {name: RoutineMind(make_persona(name, habits=own[name]), world) for name in own}, world)
        return found.people, found.plan

    return search


def make_will(who: str, **changes: object) -> Will:
    fields: dict[str, object] = {
        "kind": "fear",
        "vague": ("No.", "No, no."),
        "reason": "Because.",
        "moved_by": "somebody says so",
    }
    fields |= {"wording": (("so",),), "say": "So.", "moved": "Well."}
    return Will.model_validate({"who": who} | fields | changes)


def test_the_best_of_four_people_who_are_free(best: Callable[..., tuple[int, tuple[str, ...]]]) -> None:
    busy = Habit(days=("Tue",), start=17 * 60, end=19 * 60, doing="baking", place="Salt & Rye: shop", work=True)
    away = Habit(days=("Mon",), start=0, end=20 * 60, doing="baking", place="Salt & Rye: shop")
    assert best()[0] == 4
    assert best({"Ann": (busy,)})[0] == 3  # Ann works while it lasts
    assert best(secret=Secret(keeps_from="Ben"))[0] == 3
    assert best(budget=2)[0] == 2
    # Ben only comes with Ann, who cannot: neither.
    assert best({"Ann": (busy,)}, wills=(make_will("Ben", third="Ann", wording=None),))[0] == 2
    # Ann first.
    people, plan = best(wills=(make_will("Ben", third="Ann", wording=None),))
    assert people == 4
    assert plan.index("Ann") < plan.index("Ben")
    # Three conversations: one of them with Cy, who alone knows what keeps Ben. Cy comes as well.
    people, plan = best(budget=3, wills=(make_will("Ben", tells=False, known_by={"Cy": "That."}),))
    assert people == 3
    # Everybody can be reached before seven in the morning only by whoever is up: nobody is.
    assert best({"Ann": (away,)}, notice=parse_minute("06:59"))[0] == 0


# What models are told.


def test_private_reasons_stand_in_one_persona_only(
    draw: Callable[..., dict[str, Task]], people: Mapping[str, Persona], clock: Clock
) -> None:
    for task in [*draw(2).values(), *draw(3).values()]:
        assert task.obstacles is not None
        briefed = brief_residents(task, {name: people[name] for name in task.residents}, clock)
        for will in task.obstacles.wills:
            assert [name for name, each in briefed.items() if will.reason in each.currently] == [will.who]
            for name, hint in will.known_by.items():
                assert hint in briefed[name].currently
        performer = briefed[task.performer].currently
        assert task.goal in performer
        # The noticeboard: everybody's places, as their habits have them.
        assert all(name in performer for name in task.cast)
        assert "Mon 0" in performer


def test_the_performer_is_shown_nobodys_reason(tmp_path: Path) -> None:
    model = f"python:{Path(__file__).parent / 'town_model.py'}:reply"
    options = {"level": 3, "ends_early": True, "tasks": ["a-dance-for-winifred"]}
    result = runs.run("stss", model, partner="reference/residents", out=tmp_path / "run", options=options)
    with closing(sqlite3.connect(tmp_path / "run" / "calls.sqlite")) as journal:
        asked = " ".join(request for (request,) in journal.execute("SELECT request FROM calls"))
    (episode,) = result.episodes()
    task = episode.task
    heard = {line.says for event in episode.events if isinstance(event, Talked) for line in event.lines}
    secrets = [text for will in task.obstacles.wills for text in (will.reason, will.moved_by, *will.known_by.values())]
    assert "It is generally known where people are to be found." in asked
    assert [text for text in secrets if text in asked and text not in heard] == []


def test_at_level_1_nobody_is_told_anything_new(
    make_task: Callable[..., Task], make_persona: Callable[..., Persona], clock: Clock
) -> None:
    task = make_task()
    people = {name: make_persona(name) for name in task.residents}
    assert list(list_private(task, "Ann", clock)) == []
    assert brief_residents(task, people, clock)["Pia"].currently == f"Pia is well. {task.goal}"
    assert "obstacles" not in task.model_dump()


def test_days_are_told_by_their_date(make_task: Callable[..., Task], clock: Clock) -> None:
    rumour = {"teller": "Cy", "believed_by": ["Ann"], "time": "21:00", "says": ["At nine."]}
    fields = {"level": 3, "wills": (), "rumour": rumour, "notice": parse_minute("20:00")}
    told = " ".join(list_private(make_task(obstacles=Obstacles.model_validate(fields)), "Ann", clock))
    assert "at 21:00 on Tuesday 14 February 2023" in told
    assert "after Monday 13 February 2023, 20:00" in told
    assert not re.search("today|tomorrow|day 2", told)


# Whole runs.


@pytest.mark.long
@pytest.mark.parametrize("level", [2, 3])
def test_agents_score_as_the_readme_says(level: int, draw: Callable[..., dict[str, Task]], play: Play) -> None:
    text = resources.files("sociable.benchmarks.stss").joinpath("README.md").read_text(encoding="utf-8")
    table = text.partition("| agent | of_best, level 2 |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert {row[0] for row in rows} >= {"oracle", "listener", "diligent", "comforter", "liar", "spammer", "silent"}
    for agent, *bounds, _ in rows:
        sign, bound = re.fullmatch(r"([<>]?) ?([\d.]+)", bounds[level - 2]).groups()  # type: ignore[union-attr]
        found = [play(task, agent)[1].hindered for task in draw(level).values()]
        value = mean(each.of_best for each in found if each is not None)
        assert {"<": value < float(bound), ">": value > float(bound), "": value == float(bound)}[sign], (agent, value)


def test_ending_early_changes_no_score(draw: Callable[..., dict[str, Task]], play: Play) -> None:
    for task in (draw(3)["a-dance-for-winifred"], draw(3)["the-baker-in-charcoal"], draw(2)["oats-for-nine-ducks"]):
        (short, early), (whole, late) = (play(task, "listener", ends_early=early) for early in (True, False))
        assert short.minutes == task.end < whole.minutes
        assert (early.score, early.hindered, early.stages) == (late.score, late.hindered, late.stages)
        assert [event for event in whole.events if event.minute < 600] == [event for event in short.events if event.minute < 600]


def test_what_stands_in_the_way_is_measured(draw: Callable[..., dict[str, Task]], play: Play) -> None:
    task = draw(3)["a-dance-for-winifred"]
    assert task.obstacles is not None and task.obstacles.budget is not None
    listener, liar = (play(task, agent)[1].hindered for agent in ("listener", "liar"))
    assert listener is not None and liar is not None
    assert listener.secret_out is None and listener.has_secret
    assert listener.talks <= task.obstacles.budget
    moved = [each for each in listener.persuaded if each.moved is not None]
    assert moved and all(each.learnt is not None and each.learnt <= each.moved for each in moved if each.moved is not None)
    # The liar tells everybody, her as well, and is discounted from the budget on.
    assert liar.secret_out is not None and liar.secret_out.listener == "Winifred Askew"
    assert any("won over only after" in why for why in liar.discounted.values())


def test_a_run_of_level_3_is_scored_and_reported(tmp_path: Path) -> None:
    options = {"level": 3, "ends_early": True, "tasks": ["half-a-tail"]}
    result = runs.run("stss", "reference/listener", partner="reference/residents", out=tmp_path / "run", options=options)
    found = {each.metric: each.value for each in result.estimates}
    assert found["of_best"] == found["score"] == 1.0
    assert found["reasons_learnt"] is not None
    assert runs.score(tmp_path / "run").estimates == result.estimates


def test_a_report_names_the_level_and_sets_no_published_figures_beside_it(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"partner": "reference/residents", "out": tmp_path / "run"}
    options = {"level": 3, "tasks": ["the-last-boat"]}
    runs.run("stss", "reference/listener", options=options, **settings)
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    assert "STSS, level 3" in page
    assert "(paper)" not in page
