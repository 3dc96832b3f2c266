"""Scenes out of runs: which conversations, with what state, how many, and the file they are written to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.stss.conversations.dataset import load_scenes
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.errors import InputError
from sociable.datasets.recipes.stss.freeze import Frozen, TownRun, freeze_scenes, write_scenes
from sociable.town.events import Agreed, AnyEvent, Began, Line, Remembered, Talked
from sociable.town.map import Address, TownMap
from sociable.town.persona import Persona


@pytest.fixture(scope="session")
def frozen(runs: list[TownRun]) -> Frozen:
    return freeze_scenes(runs, 60)


def talk_of(scene: Any, runs: list[TownRun]) -> tuple[StssEpisode, Talked]:
    """The conversation that a scene was taken from."""
    (run,) = [run for run in runs if run.name == scene.source.run]
    episode = run.episodes.read(scene.source.episode)
    pair = {scene.performer.name, scene.target.name}
    (talk,) = [
        event
        for event in episode.events
        if isinstance(event, Talked) and event.minute == scene.minute and {event.resident, event.partner} == pair
    ]
    return episode, talk


def test_scenes_are_conversations_of_the_performer_before_the_day_of_the_event(frozen: Frozen, runs: list[TownRun]) -> None:
    assert len(frozen.scenes) > 40
    assert {scene.type for scene in frozen.scenes} == set(TaskType)
    for scene in frozen.scenes:
        episode, talk = talk_of(scene, runs)
        assert episode.task is not None
        assert (scene.performer.name, scene.source.episode) == (episode.task.performer, episode.id)
        assert scene.minute < episode.task.day * 24 * 60
        assert scene.performer_begins == (talk.resident == scene.performer.name)
        assert not scene.task.target or scene.target.name == scene.task.target
        assert not scene.address or Address.parse(scene.address) in runs[0].town.places
        assert scene.source.agent in ("reference/oracle", "reference/heuristic")
        assert scene.reference_residents


def test_a_pair_has_at_most_two_scenes_in_one_task_and_no_two_share_pair_and_memories(frozen: Frozen) -> None:
    pairs = Counter((scene.task.model_dump_json(), scene.target.name) for scene in frozen.scenes)
    assert max(pairs.values()) <= 2
    lived = Counter(
        (
            frozenset((scene.performer.name, scene.target.name)),
            frozenset((m.resident, m.text) for side in (scene.performer, scene.target) for m in side.memories),
        )
        for scene in frozen.scenes
    )
    assert max(lived.values()) == 1


def test_nothing_of_the_conversation_itself_nor_of_what_came_after_is_known(frozen: Frozen, runs: list[TownRun]) -> None:
    promises = 0
    for scene in frozen.scenes:
        episode, talk = talk_of(scene, runs)
        for side in (scene.performer, scene.target):
            assert all(memory.minute <= scene.minute < talk.until for memory in side.memories)
            mine = [e for e in episode.events if isinstance(e, Agreed) and e.resident == side.name]
            later = [
                e
                for e in mine
                if e.minute > scene.minute or (e.minute == scene.minute and e.partner in (talk.resident, talk.partner))
            ]
            assert list(side.agreed) == [e for e in mine if e not in later]
            promises += len(side.agreed)
    assert promises, "somebody must have promised something before, or this shows nothing"


def test_what_is_remembered_of_conversations_was_said(frozen: Frozen, runs: list[TownRun]) -> None:
    checked = 0
    for scene in frozen.scenes:
        episode, _ = talk_of(scene, runs)
        talks = [event for event in episode.events if isinstance(event, Talked)]
        for side in (scene.performer, scene.target):
            for memory in side.memories:
                if memory.memory != "conversation":
                    continue
                partner = memory.text.partition(":")[0]
                (talk,) = [t for t in talks if {t.resident, t.partner} == {side.name, partner} and t.until == memory.minute]
                quoted = memory.text.partition("“")[2].rstrip("”")
                assert not quoted or any(line.says == quoted and line.speaker == partner for line in talk.lines)
                checked += 1
    assert checked > 50


def test_the_same_runs_give_the_same_scenes_in_any_order_evenly_over_templates(runs: list[TownRun]) -> None:
    some = freeze_scenes(runs, 15).scenes
    assert some == freeze_scenes(runs[::-1], 15).scenes
    # 15 scenes of five templates: three of each, of everybody whom the two seeds drew.
    assert set(Counter(scene.template for scene in some).values()) == {3}
    drawn: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for episode in map(run.episodes.read, run.episodes.list_ids()):
            assert episode.task is not None
            drawn[episode.task.template].add(episode.task.performer)
    for template, performers in drawn.items():
        assert {scene.performer.name for scene in some if scene.template == template} == performers


def test_what_is_written_is_read_as_the_same_scenes(runs: list[TownRun], town: TownMap, tmp_path: Path) -> None:
    said = write_scenes(runs, tmp_path / "scenes.jsonl", 15)
    loaded, clock = load_scenes(tmp_path / "scenes.jsonl", town)
    assert list(loaded.items) == freeze_scenes(runs, 15).scenes
    assert clock == runs[0].clock
    assert "15 scenes of 5 templates" in said
    assert "15 of them were made with reference residents" in said
    assert "left out" in said
    assert "more than were asked for" in said
    assert "fewer than 3 performers" in said


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda runs: [runs[0], runs[0]], "Two runs are called oracle-0"),
        (lambda runs: [runs[0], _with(runs[1], people={})], "different towns, people or days"),
    ],
)
def test_runs_that_cannot_be_frozen_together(
    change: Callable[[list[TownRun]], list[TownRun]], complaint: str, runs: list[TownRun], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=complaint):
        write_scenes(change(runs), tmp_path / "scenes.jsonl")
    assert not (tmp_path / "scenes.jsonl").exists()


def test_a_file_that_is_there_stays(runs: list[TownRun], tmp_path: Path) -> None:
    (tmp_path / "scenes.jsonl").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write_scenes(runs, tmp_path / "scenes.jsonl")
    assert (tmp_path / "scenes.jsonl").read_text() == "mine"


def _with(run: TownRun, **changes: Any) -> TownRun:
    return TownRun(**{**vars(run), **changes})


# By hand.


@pytest.fixture
def by_hand(
    make_task: Callable[..., Task],
    make_persona: Callable[..., Persona],
    make_run: Callable[..., TownRun],
    town: TownMap,
) -> Callable[..., list[Any]]:
    """Scenes of one episode with these events; everybody stands in the hall all the time."""
    x, y = town.find_free_tiles(Address.parse("The Guildhall: hall"))[0]

    def freeze(
        events: list[AnyEvent], played_by: str = "reference/residents", runs: tuple[str, ...] = ("a",), **task: Any
    ) -> list[Any]:
        made = make_task(**task)
        names = ("Pia", "Ann", "Ben", "Cy", "Dee")
        doing: list[AnyEvent] = [Began(minute=0, resident=name, doing=f"being {name}", until=2880) for name in names]
        episode = StssEpisode(
            id="soup#0",
            scenario="soup",
            cluster="soup",
            task=made,
            starts=dict.fromkeys(names, (x, y)),
            minutes=2880,
            events=(*doing, *sorted(events, key=lambda event: event.minute)),
            played_by=dict.fromkeys(names, played_by),
        )
        people: Mapping[str, Persona] = {name: make_persona(name, facts=(f"I am {name}.",)) for name in names}
        return freeze_scenes([make_run(name, episode, people=people) for name in runs]).scenes

    return freeze


def talked(minute: int, first: str, second: str, says: str = "Hello.") -> Talked:
    return Talked(minute=minute, resident=first, partner=second, until=minute + 2, lines=(Line(speaker=first, says=says),))


def test_the_third_conversation_of_a_pair_is_left_out_and_so_is_the_event_day(by_hand: Callable[..., list[Any]]) -> None:
    # Three with Ann on Monday, one with Ann on Tuesday (from minute 1440), one begun by Ben, one without Pia.
    events = [talked(600, "Pia", "Ann"), talked(700, "Ann", "Pia"), talked(800, "Pia", "Ann"), talked(1500, "Pia", "Ann")]
    scenes = by_hand([*events, talked(650, "Ben", "Pia"), talked(660, "Ann", "Ben")])
    assert [(scene.minute, scene.target.name, scene.performer_begins) for scene in scenes] == [
        (600, "Ann", True),
        (650, "Ben", False),
        (700, "Ann", False),
    ]
    # Ann remembers the talks with Pia and with Ben when Pia meets her again.
    (again,) = [scene for scene in scenes if scene.minute == 700]
    assert [m.minute for m in again.target.memories if m.memory == "conversation"] == [602, 662]
    assert again.target.doing == "being Ann"
    assert again.address == "The Guildhall: hall"


def test_of_an_appointment_only_conversations_with_the_target_count(by_hand: Callable[..., list[Any]]) -> None:
    scenes = by_hand([talked(600, "Pia", "Ben"), talked(700, "Pia", "Ann")], kind=TaskType.APPOINTMENT)
    assert [scene.target.name for scene in scenes] == ["Ann"]


def test_two_meetings_of_people_who_remember_the_same_are_one_scene(by_hand: Callable[..., list[Any]]) -> None:
    # The same day in two runs: nothing new was lived in the second. A minute later they remember one another, and it is another.
    assert len(by_hand([talked(600, "Pia", "Ann")], runs=("a", "b"))) == 1
    assert len(by_hand([talked(600, "Pia", "Ann"), talked(602, "Pia", "Ann")])) == 2


def test_a_generative_agents_memory_is_taken_from_the_log(by_hand: Callable[..., list[Any]]) -> None:
    def remembered(minute: int, kind: Any, text: str) -> Remembered:
        return Remembered(minute=minute, resident="Ann", memory=kind, text=text, importance=4)

    log: list[AnyEvent] = [
        remembered(0, "fact", "I am Ann."),
        remembered(500, "thought", "Soup matters."),
        remembered(600, "seen", "Pia: being Pia"),
        remembered(602, "conversation", "Pia: we spoke of soup."),
        remembered(700, "thought", "Too late."),
        talked(600, "Pia", "Ann", "Come to the soup swap!"),
    ]
    (scene,) = by_hand(log, played_by="openai/m")
    # The fact stands in her persona; what she takes from the conversation, dated at its end, is still to come.
    assert [memory.text for memory in scene.target.memories] == ["Soup matters.", "Pia: being Pia"]
    assert [event.text for event in scene.target.past] == ["I am Ann.", "Soup matters.", "Pia: being Pia"]
    assert not scene.reference_residents


def test_who_was_told_remembers_it(by_hand: Callable[..., list[Any]]) -> None:
    invitation = "Do come to my soup swap on Tuesday at 17:00, at The Guildhall (hall)."
    promise = Agreed(minute=600, resident="Ann", partner="Pia", doing="tasting soup", start=2460, end=2580)
    scenes = by_hand(
        [talked(600, "Pia", "Ann", invitation), promise, talked(900, "Ann", "Ben", invitation), talked(1000, "Ben", "Pia")]
    )
    (second,) = [scene for scene in scenes if scene.minute == 1000]
    told = [m.text for m in second.target.memories if m.memory == "told"]
    assert told == ["Ann told me: the soup swap, Tuesday at 17:00, at The Guildhall (hall); it is Pia's idea"]
    of_ann = [m.text for m in second.performer.memories if m.memory == "conversation" and m.text.startswith("Ann:")]
    assert "soup swap" in of_ann[0]
    assert "Ann agreed, on Tuesday at 17:00" in of_ann[0]
    assert second.performer.agreed == second.target.agreed == ()
