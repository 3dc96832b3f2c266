"""Conversations that are there already to cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.api import datasets, runs
from sociable.benchmarks.hsii.briefing import render_setting
from sociable.benchmarks.hsii.dataset import ASSISTANT, load_dataset

GUM = Path(__file__).resolve().parents[5] / "shared" / "data" / "gum" / "dialogues_interview_court.jsonl"


def built(tmp_path: Path, *turns: tuple[str, str], **options: Any) -> dict[str, Any]:
    tmp_path.mkdir(exist_ok=True)
    record = {"id": "pier", "title": "fog", "turns": [{"speaker": who, "text": text} for who, text in turns]}
    (tmp_path / "talk.jsonl").write_text(json.dumps(record))
    datasets.construct("hsii-dialogues", tmp_path / "talk.jsonl", tmp_path / "build", options=options)
    cases = load_dataset(tmp_path / "build" / "dataset.jsonl").items if (tmp_path / "build" / "dataset.jsonl").read_text() else ()
    return {case.id: case for case in cases}


PIER = (
    ("Ann", "Bo, hold the rope."),
    ("Bo", "I have it."),
    ("Ann", "Cy, the lamp."),
    ("Cy", "It is out."),
    ("Ann", "And who let it go out?"),
    ("Bo", "Not me."),
)


def test_whoever_speaks_to_the_most_others_is_the_assistant(tmp_path: Path) -> None:
    cases = built(tmp_path, *PIER, inferred=True)
    assert [(case.golden.role_from, case.golden.role_to) for case in cases.values()] == [(ASSISTANT, "Cy"), (ASSISTANT, "Bo")]
    case = cases["pier-1-3"]
    # It is still called Ann in what was really said.
    assert case.background.scene.endswith(f"The {ASSISTANT} takes the part of Ann.")
    assert [(each.role_from, each.role_to) for each in case.messages] == [(ASSISTANT, "Bo"), ("Bo", ASSISTANT)]
    assert (case.dialogue, case.topic, case.why) == ("pier", "fog", "Whom it is for: named.")
    assert "is answered by" in cases["pier-1-5"].why


def test_cases_are_made_of_turns_of_which_it_is_known_whom_they_are_for(tmp_path: Path) -> None:
    assert list(built(tmp_path, *PIER)) == ["pier-1-3"]
    assert "| whom golden responses are for | named 1 |" in (tmp_path / "build" / "README.md").read_text()
    lines = (tmp_path / "build" / "3-cases.jsonl").read_text()
    assert json.loads(lines)["left_out"] == {"turn: whom it is for can only be guessed (--inferred)": 1}


def test_what_is_not_known_stays_unknown(tmp_path: Path) -> None:
    (case,) = built(tmp_path, *PIER[:4]).values()
    # Nothing tells whom Bo answered; with --inferred it is taken to be Ann.
    assert [(each.role_from, each.role_to) for each in case.messages] == [(ASSISTANT, "Bo"), ("Bo", "")]
    assert '{"role_from": "Bo", "content": "I have it."' in render_setting(case)
    (guessed,) = built(tmp_path / "again", *PIER[:4], inferred=True).values()
    assert guessed.messages[1].role_to == ASSISTANT


def test_two_who_speak_as_one_are_two(tmp_path: Path) -> None:
    turns = [("Ann", "Bo, hold the rope."), ("Bo", "I have it."), ("Bo and Cy", "We have it."), ("Ann", "Cy, the lamp.")]
    (case,) = built(tmp_path, *turns).values()
    assert case.characters == ("Bo", "Cy")
    assert [(each.role_from, each.content) for each in case.messages[2:]] == [("Bo", "We have it."), ("Cy", "We have it.")]
    # A firm, or a pair that never speaks apart, is one.
    alone = built(
        tmp_path / "firm", ("Ann", "Rock and Roll, come."), ("Rock and Roll", "Yes."), ("Bo", "No."), ("Ann", "Bo, go.")
    )
    assert any("Rock and Roll" in each.characters for each in alone.values())


def test_another_can_take_the_assistants_part(tmp_path: Path) -> None:
    assert built(tmp_path, *PIER, assistant="Bo") == {}
    rejected = (tmp_path / "build" / "2-stretches.jsonl").read_text()
    assert "nobody turns from one to another" in rejected


def test_a_long_conversation_is_cut(tmp_path: Path) -> None:
    cases = built(tmp_path, *(PIER * 10), inferred=True)
    assert {case.id.rpartition("-")[0] for case in cases.values()} == {"pier-1", "pier-2", "pier-3"}
    # They stay one cluster: what was said by the same people is no other sample.
    assert {case.dialogue for case in cases.values()} == {"pier"}


@pytest.mark.skipif(not GUM.is_file(), reason="needs ../shared/data/gum")
def test_real_conversations_become_cases_that_run(tmp_path: Path) -> None:
    document = datasets.construct("hsii-dialogues", GUM, tmp_path / "build", options={"inferred": True})
    funnel = {row.cells[0]: row.cells[2:] for row in document.summary.rows}
    assert funnel["addressees"] == ["28", "15", "13"]
    assert int(funnel["cases"][1]) == 0 and int(funnel["cases"][2]) > 60
    result = runs.run("hsii", "reference/oracle", dataset=str(tmp_path / "build" / "dataset.jsonl"), out=tmp_path / "run")
    assert result.estimate("r2").value == 1.0  # type: ignore[union-attr]


def test_a_stretch_ends_before_a_sixth_other_comes_in(tmp_path: Path) -> None:
    people = ("Bo", "Cy", "Di", "Ed", "Fay", "Gus")
    turns = [turn for name in people for turn in (("Ann", f"{name}, your turn."), (name, "Mine, then."))]
    cases = built(tmp_path, *turns, *PIER[:4])
    assert {len(case.characters) for case in cases.values()} == {5, 3}


def test_a_golden_response_that_was_given_away_makes_no_case(tmp_path: Path) -> None:
    told = ("Bo", "Cy, the lamp is out and the rope is wet.")
    cases = built(tmp_path, ("Ann", "Bo, hold it."), told, ("Ann", "Cy, the lamp is out and the rope is wet."), ("Cy", "I see."))
    assert cases == {} and "a golden response is given away" in (tmp_path / "build" / "4-checked.jsonl").read_text()
