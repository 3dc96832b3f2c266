"""Scenes by entrances and exits, and what makes a scenario."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from sociable.api import datasets
from sociable.datasets.plays import Direction, InlineDirection, Play, PlayScene, Speech, read_play
from sociable.datasets.recipes.agentsense.passages import cut_by_entrances, find_scenarios, read_passages


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
    scenes = cut_by_entrances(act).scenes
    assert [scene.scene for scene in scenes] == ["French scene I", "French scene II"]
    assert [entry for scene in scenes for entry in scene.entries] == list(act.scenes[0].entries)


@pytest.mark.parametrize(
    "nothing",
    [told("Ann sits down."), told("Ann looks at Bob."), told("Enter Bob."), said("Ann", "Rising."), told("Bob’s hat falls.")],
)
def test_nothing_is_cut_where_all_stay(nothing: Speech | Direction) -> None:
    (scene,) = cut_by_entrances(one_act(*talk(12, "Ann", "Bob"), nothing, *talk(12, "Ann", "Bob"))).scenes
    assert scene.scene == ""


@pytest.mark.parametrize(("while_there", "lengths"), [(4, [12, 16]), (10, [12, 10, 12]), (9, [12, 21])])
def test_scenes_do_not_splinter(while_there: int, lengths: list[int]) -> None:
    visit = [told("Enter Cy."), *talk(while_there, "Cy", "Ann"), told("Exit Cy.")]
    act = one_act(*talk(12, "Ann", "Bob"), *visit, *talk(12, "Ann", "Bob"))
    assert [len(scene.speeches) for scene in cut_by_entrances(act).scenes] == lengths


def test_whoever_left_may_come_again() -> None:
    act = one_act(*talk(12, "Ann", "Bob"), told("Exit Bob."), *talk(12, "Ann", "Cy"), told("Enter Bob."), *talk(12, "Bob", "Ann"))
    assert [len(scene.speeches) for scene in cut_by_entrances(act).scenes] == [12, 12, 12]


def test_marked_scenes_stay_as_they_are() -> None:
    act = one_act(*talk(12, "Ann", "Bob"), told("Enter Cy."), *talk(12, "Ann", "Cy"), scene="Scene I")
    assert cut_by_entrances(act) == act


@pytest.mark.parametrize(
    ("entries", "is_one"),
    [
        (talk(10, "Ann", "Bob"), True),
        (talk(9, "Ann", "Bob"), False),
        (talk(20, "Ann"), False),
        ([*talk(12, "Ann"), said("Bob")], False),
        ([*talk(9, "Ann", "Bob", "Bob"), said("Cy")], True),
    ],
)
def test_a_scenario_has_ten_speeches_and_two_active_speakers(entries: list[Speech], is_one: bool) -> None:
    assert len(find_scenarios(one_act(*entries))) == is_one


DOLLS_HOUSE = (
    Path(__file__).resolve().parents[5] / "shared/data/plays_public_domain/henrik-ibsen_a-dolls-house_r-farquharson-sharp"
)


@pytest.mark.skipif(not DOLLS_HOUSE.is_dir(), reason="needs plays in ../shared/data/plays_public_domain")
def test_real_acts_without_scenes_are_cut_into_scenarios() -> None:
    play = read_play(DOLLS_HOUSE)
    cut = cut_by_entrances(play)
    assert [scene.act for scene in play.scenes] == ["Act I", "Act II", "Act III"]
    assert len(cut.scenes) > 10
    assert all(len(scene.speeches) >= 10 for scene in cut.scenes)
    assert [*chain(*(s.entries for s in cut.scenes))] == [*chain(*(s.entries for s in play.scenes))]
    assert all(len(scene.speakers) >= 2 for scene in find_scenarios(play))
    (first, *_) = (scene for scene in cut.scenes if scene.act == "Act II")
    assert {"Nora", "Anne"} == set(first.speakers)


def test_readers_of_plays_are_loaded_when_a_play_is_read() -> None:
    told = "import sys, sociable.datasets.recipes.agentsense.scripts; sys.exit('sociable.datasets.plays' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told]).returncode == 0


TALK = "\n\n".join(f"{who}. Line {number} of the talk." for number in range(12) for who in ("ANN", "BOB"))
CHAPTER = """<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
<head><title>Act I</title></head><body epub:type="bodymatter z3998:fiction"><section id="act-1" epub:type="chapter z3998:drama">
<h2>Act I</h2><table><tbody>{rows}</tbody></table></section></body></html>"""


def test_a_folder_gives_all_its_plays_whatever_their_kind(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text(f"THE TALK\n\nACT I\n\n{TALK}\n")
    (tmp_path / "epub").mkdir()
    rows = "".join(
        f'<tr><td epub:type="z3998:persona">{who}</td><td>Line {number} of the epub.</td></tr>'
        for number in range(12)
        for who in ("Cy", "Dora")
    )
    (tmp_path / "epub" / "act-1.xhtml").write_text(CHAPTER.format(rows=rows))
    assert {passage.script for passage in read_passages(tmp_path)} == {"plain", "epub"}
    # An audit reads the folder that a build was made from.
    document = datasets.audit("agentsense", sources=[tmp_path])
    (table,) = next(section for section in document.sections if section.title == "Beside the sources").blocks
    assert {row.cells[1] for row in table.rows[2:]} <= {f"{tmp_path}: plain", f"{tmp_path}: epub"}  # type: ignore[union-attr]
