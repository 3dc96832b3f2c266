"""The scenes that come with the benchmark."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from sociable.benchmarks.stss.conversations.audit import find_alike_pairs
from sociable.benchmarks.stss.conversations.dataset import BUNDLED, load_scenes
from sociable.benchmarks.stss.conversations.records import Scene
from sociable.benchmarks.stss.task import TaskType
from sociable.town.map import Address, TownMap


@pytest.fixture(scope="module")
def scenes(town: TownMap) -> tuple[Scene, ...]:
    return load_scenes(None, town)[0].items


def test_there_are_more_than_the_paper_has_of_all_templates_and_several_performers(scenes: tuple[Scene, ...]) -> None:
    assert len(scenes) == 360
    counts = Counter(scene.template for scene in scenes)
    assert len(counts) == 30
    assert set(counts.values()) == {12}
    types = {kind: len({scene.template for scene in scenes if scene.type is kind}) for kind in TaskType}
    assert list(types.values()) == [10, 5, 5, 5, 5]
    performers: dict[str, set[str]] = defaultdict(set)
    for scene in scenes:
        performers[scene.template].add(scene.performer.name)
    assert min(map(len, performers.values())) >= 3


def test_every_scene_names_its_run_and_says_what_it_was_made_with(scenes: tuple[Scene, ...]) -> None:
    for scene in scenes:
        source = scene.source
        assert source.run == f"stss-{source.agent.removeprefix('reference/')}-seed-{source.seed}"
        assert source.episode == f"{scene.template}#0"
        assert source.residents == "reference/residents"
        assert scene.reference_residents


def test_the_rules_of_freezing_hold(scenes: tuple[Scene, ...], town: TownMap) -> None:
    pairs = Counter((scene.task.model_dump_json(), scene.target.name) for scene in scenes)
    assert max(pairs.values()) <= 2
    lived = [
        (
            frozenset((s.performer.name, s.target.name)),
            tuple(sorted((m.resident, m.text) for x in (s.performer, s.target) for m in x.memories)),
        )
        for s in scenes
    ]
    assert len(set(lived)) == len(scenes)
    for scene in scenes:
        assert scene.minute < scene.task.day * 24 * 60
        assert scene.target.name in scene.task.cast
        assert not scene.task.target or scene.task.target == scene.target.name
        assert not scene.address or Address.parse(scene.address) in town.places
        assert all(memory.minute <= scene.minute for side in (scene.performer, scene.target) for memory in side.memories)
        assert all(side.memories for side in (scene.performer, scene.target)), scene.id
        # Of oneself nothing is remembered as of another, and the performer's persona does not hold the task.
        assert scene.task.goal not in scene.performer.persona.currently


def test_hardly_any_two_scenes_are_nearly_the_same(scenes: tuple[Scene, ...]) -> None:
    assert len(find_alike_pairs(scenes)) <= 3


def test_the_file_is_small_enough_to_come_with_the_package() -> None:
    assert BUNDLED.stat().st_size < 2_000_000
