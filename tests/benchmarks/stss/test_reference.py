"""Reference performers: what each says and leaves out, and what each scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from sociable.api import runs
from sociable.benchmarks.stss.persuaders import make_performer
from sociable.benchmarks.stss.phrases import PHRASES
from sociable.benchmarks.stss.reference import Performer
from sociable.benchmarks.stss.residents import RoutineMind, World
from sociable.benchmarks.stss.speech import parse_speech
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.benchmarks.stss.templates import TaskTemplate
from sociable.core.errors import InputError
from sociable.town.clock import Clock, parse_minute
from sociable.town.events import Agreed, Began, Line, Talked
from sociable.town.map import TownMap
from sociable.town.minds import Sighting, Talk, View
from sociable.town.persona import Habit, Persona

MONDAY_AT_TEN = 10 * 60
MakePerformer = Callable[..., Performer]


@pytest.fixture
def performer(make_persona: Callable[..., Persona], town: TownMap, clock: Clock) -> MakePerformer:
    """Pia, by the name of a reference agent; ``habits`` of the others by name."""

    def make(agent: str, task: Task, habits: Mapping[str, tuple[Habit, ...]] | None = None, seed: int = 0) -> Performer:
        world = World(town, clock, 6, seed, "test")
        others = {name: RoutineMind(make_persona(name, habits=(habits or {}).get(name, ())), world) for name in task.cast}
        return make_performer(agent, make_persona("Pia"), world, task, others)

    return make


def first_words(pia: Performer, partner: str = "Ann", minute: int = MONDAY_AT_TEN) -> str:
    return pia.speak(Talk(minute, partner, None, (), True, 0, 8)).says


def hears(pia: Performer, answer: str, partner: str = "Ann", minute: int = MONDAY_AT_TEN) -> tuple[str, bool]:
    """After an invitation: what she says to the answer, and whether that ends it."""
    invitation = first_words(pia, partner, minute)
    lines = (Line(speaker="Pia", says=invitation), Line(speaker=partner, says=answer))
    said = pia.speak(Talk(minute, partner, None, lines, True, 1, 7))
    return said.says, said.ends


def sees(pia: Performer, *names: str, minute: int = MONDAY_AT_TEN) -> str:
    sightings = [Sighting(name, "standing about") for name in names]
    return pia.choose_addressee(View(minute, pia.tile, None, None, False, sightings, sightings))


@pytest.mark.parametrize(("agent", "kind"), list(product(("heuristic", "oracle"), TaskType)))
def test_a_full_invitation_names_everything(
    agent: str, kind: TaskType, make_task: Callable[..., Task], performer: MakePerformer, clock: Clock
) -> None:
    task = make_task(kind)
    said = first_words(performer(agent, task))
    assert parse_speech(task, [said], MONDAY_AT_TEN, clock).list_missing(task) == ()


@pytest.mark.parametrize("kind", TaskType)
def test_the_forgetful_one_leaves_out_the_same_thing_every_time(
    kind: TaskType, make_task: Callable[..., Task], performer: MakePerformer, clock: Clock
) -> None:
    task = make_task(kind)
    left_out = set()
    for seed in range(20):
        pia = performer("forgetful", task, seed=seed)
        wanted = [task.target] if task.target else task.cast
        (lacks,) = {parse_speech(task, [first_words(pia, name)], MONDAY_AT_TEN, clock).list_missing(task) for name in wanted}
        # One thing; without the activity, which comes first, nothing is said of the task at all.
        assert lacks in ((lacks[0],), task.needed_parts)
        left_out.add(lacks[0])
    assert left_out == set(task.needed_parts)


def test_the_random_one_names_a_time_and_a_place_at_random(
    make_task: Callable[..., Task], performer: MakePerformer, clock: Clock
) -> None:
    task = make_task()
    said = {first_words(performer("random", task, seed=seed)) for seed in range(10)}
    assert len(said) == 10
    assert sum(parse_speech(task, [each], MONDAY_AT_TEN, clock).list_missing(task) == () for each in said) <= 1


def test_the_silent_one_talks_to_nobody(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("silent", make_task())
    assert sees(pia, "Ann") == ""
    assert pia.speak(Talk(MONDAY_AT_TEN, "Ann", None, (Line(speaker="Ann", says="Hello."),), False, 0, 8)).says == ""


@pytest.mark.parametrize("kind", TaskType)
def test_a_larger_share_leaves_out_more_and_the_same(
    kind: TaskType, make_task: Callable[..., Task], performer: MakePerformer, clock: Clock
) -> None:
    cast = tuple(f"Person{number}" for number in range(12))
    task = make_task(kind, cast=cast, target=cast[0] if kind is TaskType.APPOINTMENT else "")
    wanted = [task.target] if task.target else cast
    failed: dict[float, set[tuple[str, int]]] = {}
    for rate in (0, 0.3, 0.6, 1):
        failed[rate] = {
            (name, seed)
            for name in wanted
            for seed in range(5)
            if parse_speech(
                task, [first_words(performer(f"oracle@{rate}", task, seed=seed), name)], MONDAY_AT_TEN, clock
            ).list_missing(task)
        }
    assert not failed[0]
    assert failed[0] <= failed[0.3] <= failed[0.6] <= failed[1]
    assert len(failed[1]) == 5 * len(wanted)
    if len(wanted) > 1:  # 60 draws: 18 and 36 are expected
        assert 8 <= len(failed[0.3]) <= 28
        assert 26 <= len(failed[0.6]) <= 46


@pytest.mark.parametrize("benchmark", ["stss", "stss-conversations"])
@pytest.mark.parametrize("agent", ["oracle@abc", "oracle@1.5", "heuristic@-0.1", "Oracle", "prophet"])
def test_an_unknown_agent_or_share_is_refused_before_anything_is_run(benchmark: str, agent: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=agent):
        runs.run(benchmark, f"reference/{agent}", out=tmp_path / "run")
    with pytest.raises(InputError, match=f"{agent}' cannot be the partner"):
        runs.run(benchmark, "reference/oracle", partner=f"reference/{agent}", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_whom_the_heuristic_addresses(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("heuristic", make_task())
    assert sees(pia, "Zoe", "Ben", "Ann") == "Ben"  # nobody outside the cast; the first in sight
    assert hears(pia, "Yes, gladly.", "Ben") and pia.settled == ["Ben"]
    assert hears(pia, "I am sorry, I cannot.", "Ann") and pia.refused == {"Ann"}
    assert sees(pia, "Ben", "Ann") == ""  # neither again
    assert sees(pia, "Cy", minute=parse_minute("19:00", 2)) == ""  # it is over
    # With those it has nothing to say to it talks of the weather.
    assert first_words(pia, "Ben") in PHRASES["openings_morning"] + PHRASES["openings_day"]
    assert (
        pia.speak(Talk(MONDAY_AT_TEN, "Ben", None, (Line(speaker="Ben", says="Hello."),), False, 0, 8)).says in PHRASES["replies"]
    )


def test_who_begins_does_not_matter(make_task: Callable[..., Task], performer: MakePerformer, clock: Clock) -> None:
    task = make_task()
    pia = performer("heuristic", task)
    said = pia.speak(Talk(MONDAY_AT_TEN, "Ann", None, (Line(speaker="Ann", says="Cold today."),), False, 0, 8)).says
    assert parse_speech(task, [said], MONDAY_AT_TEN, clock).list_missing(task) == ()


def test_one_helper_is_enough(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("heuristic", make_task(TaskType.HELP))
    hears(pia, "I would if I could, but I have no time for it.", "Ann")
    assert sees(pia, "Ben") == "Ben"
    hears(pia, "Of course I will do that for you.", "Ben")
    assert sees(pia, "Cy") == ""


def test_of_an_appointment_only_the_target_is_asked(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("oracle", make_task(TaskType.APPOINTMENT))
    assert sees(pia, "Ben", "Ann") == "Ann"


@pytest.mark.parametrize(("agent", "moves"), [("oracle", True), ("heuristic", False)])
def test_only_the_oracle_takes_another_time(
    agent: str, moves: bool, make_task: Callable[..., Task], performer: MakePerformer
) -> None:
    pia = performer(agent, make_task(TaskType.APPOINTMENT))
    answer, ends = hears(pia, "I would like to, but I cannot at that time. Could we say Tuesday at 18:00 instead?")
    if moves:
        assert "on Tuesday at 18:00" in answer and not ends
        assert (pia.moment, pia.settled) == (parse_minute("18:00", 2), ["Ann"])
    else:
        assert answer in PHRASES["closings"] and ends
        assert pia.refused == {"Ann"}


def test_the_oracle_moves_its_time_for_nobody_once_it_is_promised(
    make_task: Callable[..., Task], performer: MakePerformer
) -> None:
    pia = performer("oracle", make_task(TaskType.COMPANIONS))
    hears(pia, "Yes, gladly.", "Ann")
    promised = pia.moment
    hears(pia, "I cannot at that time. Could we say Tuesday at 17:00 instead?", "Ben")
    assert (pia.moment, pia.refused) == (promised, {"Ben"})


def test_the_oracle_proposes_a_time_at_which_most_can(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    # 17:00 to 19:00: three of four work until 17:30, one from 18:00 on. At 17:00 one can, at 17:30 three (and no 50 minutes for
    # the fourth), at 18:00 three; of those the latest.
    late = (Habit(days=("Tue",), start=9 * 60, end=17 * 60 + 30, doing="baking", place="Salt & Rye: shop", work=True),)
    early = (Habit(days=("Tue",), start=18 * 60, end=22 * 60, doing="pouring", place="The Lantern: public bar", work=True),)
    habits = {"Ann": late, "Ben": late, "Cy": late, "Dee": early}
    assert performer("oracle", make_task(TaskType.COMPANIONS), habits).moment == parse_minute("18:00", 2)


def test_the_oracle_looks_where_people_usually_are(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    work = Habit(days=("Mon",), start=9 * 60, end=17 * 60, doing="baking", place="Salt & Rye: shop", work=True)
    pia = performer("oracle", make_task(TaskType.APPOINTMENT), {"Ann": (work,)})
    chosen = pia.decide(View(MONDAY_AT_TEN, pia.tile, None, None, False, (), ())).activity
    assert chosen is not None
    assert (chosen.doing, chosen.place) == ("looking for Ann", "Salt & Rye: shop")
    # Nobody goes looking for people who are in bed.
    asleep = performer("oracle", make_task(TaskType.APPOINTMENT), {"Ann": (work,)})
    late = asleep.decide(View(parse_minute("23:30"), asleep.tile, None, None, False, (), ())).activity
    assert late is not None and late.asleep


@pytest.mark.parametrize("kind", [TaskType.PUBLIC, TaskType.ONLINE, TaskType.COMPANIONS])
@pytest.mark.parametrize("agent", ["oracle", "heuristic", "forgetful", "random", "silent"])
def test_each_does_its_own_part(agent: str, kind: TaskType, make_task: Callable[..., Task], performer: MakePerformer) -> None:
    task = make_task(kind)
    pia = performer(agent, task)
    (own,) = pia.engagements
    assert own.start < own.end
    assert own.doing == "tasting soup"
    if agent != "random":
        assert (own.place, task.start <= own.start < task.end) == (task.place, True)


def test_what_it_agreed_to_is_logged_once(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("heuristic", make_task())
    hears(pia, "Yes, gladly.")
    talk = Talk(MONDAY_AT_TEN, "Ann", None, (), True, 2, 6)
    (note,) = pia.conclude(talk, MONDAY_AT_TEN + 1).notes
    assert isinstance(note, Agreed)
    assert (note.partner, note.start, note.place) == ("Ann", parse_minute("17:00", 2), "The Guildhall: hall")
    assert pia.conclude(talk, MONDAY_AT_TEN + 1).notes == []


def test_whoever_gave_no_answer_has_been_asked(make_task: Callable[..., Task], performer: MakePerformer) -> None:
    pia = performer("heuristic", make_task())
    first_words(pia)
    pia.conclude(Talk(MONDAY_AT_TEN, "Ann", None, (), True, 1, 7), MONDAY_AT_TEN + 1)
    assert sees(pia, "Ann") == ""


# Whole runs. The acceptance of the benchmark: all templates, every performer, five seeds; a part of it is quick.

Scores = dict[tuple[str, TaskType], list[float]]


@pytest.fixture
def live_all(live: Callable[..., Any], templates: Mapping[str, TaskTemplate]) -> Callable[..., Scores]:
    """What performers score on half of all templates, which hold all types, by performer and type."""

    def live_half(half: int, performers: Sequence[str], seeds: Iterable[int]) -> Scores:
        scores: Scores = defaultdict(list)
        for agent, template, seed in product(performers, list(templates.values())[half::2], seeds):
            _, measured = live(template.id, agent, seed)
            scores[agent, template.type].append(measured.score)
        for kind in TaskType:
            assert mean(scores["oracle", kind]) >= 0.8, kind
        # Whoever only repeats itself stays far below who answers.
        spammed = [score for (agent, _), found in scores.items() if agent == "spammer" for score in found]
        assert mean(spammed) < 0.35
        return scores

    return live_half


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])
def test_oracle_and_spammer_on_every_template(half: int, live_all: Callable[..., Scores]) -> None:
    live_all(half, ("oracle", "spammer"), range(1))


@pytest.mark.long
@pytest.mark.parametrize("half", [0, 1])
def test_all_performers_on_every_template(half: int, live_all: Callable[..., Scores]) -> None:
    scores = live_all(half, ("oracle", "heuristic", "forgetful", "random", "spammer", "silent"), range(5))
    for kind in TaskType:
        assert set(scores["silent", kind]) == {0.0}, kind
        assert mean(scores["forgetful", kind]) <= mean(scores["heuristic", kind]) / 2, kind
        assert mean(scores["heuristic", kind]) <= mean(scores["oracle", kind]), kind
        assert mean(scores["random", kind]) <= mean(scores["heuristic", kind]) / 2, kind


def test_the_silent_one_is_there_and_says_nothing(live: Callable[..., Any]) -> None:
    episode, measured = live("soup-swap", "silent")
    task = episode.task
    began = [event.doing for event in episode.events if isinstance(event, Began) and event.resident == task.performer]
    assert set(began) & set(task.wordings)
    for talk in (event for event in episode.events if isinstance(event, Talked)):
        assert talk.resident != task.performer
        assert task.performer not in {line.speaker for line in talk.lines}
    assert measured.score == 0.0


def test_the_same_seed_gives_the_same_two_days(live: Callable[..., Any]) -> None:
    first, _ = live("first-three-chords", "heuristic", 3)
    assert live("first-three-chords", "heuristic", 3)[0].events == first.events
    assert live("first-three-chords", "heuristic", 4)[0].events != first.events
