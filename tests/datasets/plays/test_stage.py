"""Scenes by entrances and exits, and what makes a scenario."""

from __future__ import annotations

import pytest

from sociable.datasets.plays import Direction, InlineDirection, Play, PlayScene, Speech, french_scenes, scenarios_of


def said(speaker: str, *directions: str) -> Speech:
    return Speech(
        speaker=speaker,
        speakers=(speaker,),
        label=speaker.upper(),
        text="Yes.",
        directions=tuple(InlineDirection(text=each, at=4) for each in directions),
        place="p:1",
    )


def told(text: str) -> Direction:
    return Direction(text=text, place="p:1")


def talk(count: int, *speakers: str) -> list[Speech]:
    return [said(speakers[at % len(speakers)]) for at in range(count)]


def one_act(*entries: Speech | Direction, scene: str = "") -> Play:
    return Play(title="P", layout="plain text", scenes=(PlayScene(act="Act I", scene=scene, entries=entries),))


@pytest.mark.parametrize(
    "change",
    [
        [told("Enter Cy.")],
        [told("Cy comes in, with a letter.")],
        [told("Cy is shown in by the maid.")],
        [said("Ann", "Cy enters.")],
        [told("Exit Bob.")],
        [said("Bob", "Goes out.")],
        [told("Bob goes out.")],
        [told("Bob goes out as Cy comes in.")],
        [told("Exeunt all but Ann.")],
    ],
)
def test_an_act_is_cut_where_somebody_comes_or_goes(change: list[Speech | Direction]) -> None:
    act = one_act(*talk(12, "Ann", "Bob"), *change, *talk(12, "Ann", "Cy"))
    scenes = french_scenes(act).scenes
    assert [scene.scene for scene in scenes] == ["French scene I", "French scene II"]
    assert [entry for scene in scenes for entry in scene.entries] == list(act.scenes[0].entries)


@pytest.mark.parametrize(
    "nothing",
    [told("Ann sits down."), told("Ann looks at Bob."), told("Enter Bob."), said("Ann", "Rising."), told("Bob’s hat falls.")],
)
def test_nothing_is_cut_where_all_stay(nothing: Speech | Direction) -> None:
    (scene,) = french_scenes(one_act(*talk(12, "Ann", "Bob"), nothing, *talk(12, "Ann", "Bob"))).scenes
    assert scene.scene == ""
    assert scene.present == ("Ann", "Bob")


def test_scenes_do_not_splinter() -> None:
    act = one_act(*talk(12, "Ann", "Bob"), told("Enter Cy."), *talk(4, "Cy", "Ann"), told("Exit Cy."), *talk(12, "Ann", "Bob"))
    assert [len(scene.speeches) for scene in french_scenes(act).scenes] == [12, 16]
    assert [len(scene.speeches) for scene in french_scenes(act, minimum_speeches=4).scenes] == [12, 4, 12]
    assert len(french_scenes(act, minimum_speeches=17).scenes) == 1


def test_who_leaves_is_no_longer_present() -> None:
    act = one_act(*talk(12, "Ann", "Bob"), told("Exit Bob. Enter Cy."), *talk(12, "Ann", "Cy"))
    first, *_, last = french_scenes(act).scenes
    assert set(first.present) == {"Ann", "Bob"}
    assert set(last.present) == {"Ann", "Cy"}


def test_marked_scenes_stay_as_they_are() -> None:
    act = one_act(*talk(12, "Ann", "Bob"), told("Enter Cy."), *talk(12, "Ann", "Cy"), scene="Scene I")
    assert french_scenes(act) == act


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (talk(10, "Ann", "Bob"), [("Ann", "Bob")]),
        (talk(9, "Ann", "Bob"), []),
        (talk(20, "Ann"), []),
        ([*talk(12, "Ann"), said("Bob")], []),
        ([*talk(9, "Ann", "Bob", "Bob"), said("Cy")], [("Bob", "Ann")]),
    ],
)
def test_a_scenario_has_ten_speeches_and_two_active_speakers(entries: list[Speech], found: list[tuple[str, ...]]) -> None:
    assert [scenario.speakers for scenario in scenarios_of(one_act(*entries))] == found
