"""The native layout: strict where it matters, tolerant in documented ways, every complaint with its place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.agentsense.dataset import load_scenarios, read_scenario, select_scenarios
from sociable.benchmarks.agentsense.label import to_native_record
from sociable.benchmarks.agentsense.scenario import CharacterRole, Domain, Scenario, list_distinct_questions
from sociable.core.errors import DataError, InputError

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"
Read = Callable[[dict[str, Any]], Scenario]


def test_the_layout_as_the_authors_have_it(scenario: Scenario) -> None:
    assert (scenario.id, scenario.template, scenario.names) == ("3:7", "3", (ANN, BEN, CARA))
    goal = scenario.by_name[ANN].goals[0]
    assert [each.obj for each in goal.eval_questions.others or ()] == [BEN, CARA]
    assert [each.question for each in goal.eval_questions.judge or ()] == ["Did Ben lend Ann the boat?"]
    assert scenario.by_name[ANN].info_reason_questions[0].answer == "Debts"


def test_whatever_is_neither_self_nor_others_is_for_the_judges(native: dict[str, Any], read: Read) -> None:
    questions = native["characters"][0]["goals"][0]["eval_questions"]
    questions["external"] = questions.pop("judge")
    asked = read(native).by_name[ANN].goals[0].eval_questions.judge
    assert asked is not None
    assert asked[0].question == "Did Ben lend Ann the boat?"


def test_absent_questions_are_made_from_the_goal_and_empty_ones_are_asked_of_nobody(native: dict[str, Any], read: Read) -> None:
    made = read(native).by_name[BEN].goals[0].eval_questions
    assert [each.question for each in made.own or ()] == [
        "Have you reached this goal of yours: To be thanked by Cara. canary-ben-goal"
    ]
    assert [each.obj for each in made.others or ()] == [ANN, CARA]
    assert len(made.judge or ()) == 1
    native["characters"][0]["goals"][0]["eval_questions"]["others"] = []
    assert read(native).by_name[ANN].goals[0].eval_questions.others == ()


def test_whose_secret_a_question_is_about_is_told_by_the_one_other_name_in_it(scenario: Scenario) -> None:
    alone, both = scenario.by_name[ANN].info_reason_questions
    assert (alone.about, both.about) == (BEN, "")


def test_what_is_absent_is_tolerated(read: Read) -> None:
    scenario = read({"background": "A quay.", "characters": [{"name": "Ann"}, {"name": "Ben", "private_info": None}]})
    assert (scenario.id, scenario.template) == ("unnamed:unnamed", "unnamed")
    assert scenario.characters[1].private_info == ""


def test_roles_of_the_second_file(native: dict[str, Any], read: Read) -> None:
    native["roles"] = {ANN: "sender", BEN: "receiver", CARA: "receiver"}
    scenario = read(native)
    assert scenario.by_name[BEN].role is CharacterRole.RECEIVER
    native["roles"][ANN] = "boss"
    with pytest.raises(DataError, match=r"roles.*'sender' or 'receiver'"):
        read(native)


def test_fields_nobody_knows_are_ignored_and_named(native: dict[str, Any]) -> None:
    native["script"] = "x"
    native["characters"][0]["goals"][0]["abuot"] = "y"
    unknown: Counter[str] = Counter()
    read_scenario(native, "test", "unnamed", unknown)
    native["characters"][0]["goals"][0]["eval_questions"]["slef"] = []
    unknown = Counter()
    read_scenario(native, "test", "unnamed", unknown)
    assert unknown == {"script": 1, "characters.goals.abuot": 1, "characters.goals.eval_questions.slef": 1}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda r: r["characters"].pop(), None),
        (lambda r: r.update(characters=r["characters"][:1]), r"characters.*needs at least 2 entries, and has 1"),
        (lambda r: r["characters"][1].update(name="ANN  LEE."), r"characters\.1\.name.*two people"),
        (lambda r: r["characters"][1].update(short="Ann Lee"), r"characters\.1\.short.*two people"),
        (lambda r: r.pop("background"), "background"),
        (lambda r: r["characters"][0]["info_reason_questions"][0].update(answer_label=4), "answer_label 4 is no index"),
        (
            lambda r: r["characters"][0]["info_reason_questions"][0].update(options=["a", "A.", "b", "c"]),
            "two options are the same",
        ),
        (lambda r: r["characters"][0]["info_reason_questions"][0].update(about="Zoe"), r"about.*'Zoe' is nobody here"),
        (
            lambda r: r["characters"][0]["goals"][0]["eval_questions"]["others"][0].update(obj="Zoe"),
            r"goals\.0\.eval_questions\.others\.0\.obj.*'Zoe'",
        ),
        (lambda r: r["characters"][0]["goals"][0].update(type="glory"), r"characters\.0\.goals\.0\.type"),
        (lambda r: r["characters"][0]["goals"][0]["signs"][0].update(by="Zoe"), r"signs\.0\.by.*'Zoe'"),
    ],
)
def test_complaints_name_the_field(
    native: dict[str, Any], read: Read, change: Callable[[Any], Any], complaint: str | None
) -> None:
    change(native)
    if complaint is None:
        # Cara, who is left out, is asked about Ann's goal.
        complaint = r"eval_questions\.others\.1\.obj.*'Cara Diaz' is nobody here"
    with pytest.raises(DataError, match=complaint):
        read(native)


def test_titles_tell_people_apart(read: Read) -> None:
    scenario = read(
        {
            "background": "A quay.",
            "characters": [
                {
                    "name": "Mr. Smith",
                    "goals": [{"goal": "To wait.", "eval_questions": {"others": [{"obj": "mrs smith", "question": "Did he?"}]}}],
                },
                {"name": "Mrs. Smith"},
            ],
        }
    )
    assert [each.obj for each in scenario.characters[0].goals[0].eval_questions.others or ()] == ["Mrs. Smith"]


def test_a_question_is_the_same_for_every_cast_by_whatever_name_it_calls_them(read: Read) -> None:
    def cast(sample: int, first: str) -> dict[str, Any]:
        question = {
            "question": f"What is true of {first}?",  # one name after the other: the first option begins with it
            "options": [f"{first} fears dogs", f"{first}'s debts"],
            "answer_label": 0,
        }
        people = [{"name": f"{first} Lee"}, {"name": "Ben", "info_reason_questions": [question]}]
        return {"template_idx": 1, "sample_idx": sample, "background": "A quay.", "characters": people}

    scenarios = [read(cast(1, "Ann")), read(cast(2, "Zoe"))]
    assert len(list_distinct_questions(scenarios)) == 1
    assert scenarios[1].characters[1].info_reason_questions[0].about == "Zoe Lee"


def test_a_question_about_ones_own_goal_is_put_to_its_owner(native: dict[str, Any], read: Read) -> None:
    native["characters"][0]["goals"][0]["eval_questions"]["self"][0]["obj"] = BEN
    with pytest.raises(DataError, match=r"self\.0\.obj.*belongs under 'others'"):
        read(native)


def test_a_file_with_bad_lines_names_them_or_leaves_them_out(native: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "final_data.jsonl"
    file.write_text("\n".join([json.dumps(native), "{", json.dumps({"background": "x"}), json.dumps(native | {"sample_idx": 8})]))
    with pytest.raises(DataError, match="line 2"):
        load_scenarios(file)
    loaded = load_scenarios(file, skip_invalid=True)
    assert [scenario.id for scenario in loaded.items] == ["3:7", "3:8"]
    assert loaded.notes[0].startswith("2 bad records")
    # The same question under the same template is one question, whoever is asked it.
    assert len(list_distinct_questions(loaded.items)) == 3
    assert any("1 distinct quiz questions name nobody" in note for note in loaded.notes)


def test_an_empty_file_says_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text("")
    with pytest.raises(InputError, match="scenarios with background and characters"):
        load_scenarios(tmp_path / "data.jsonl")


def test_a_limit_takes_whole_templates_spread_over_domains(native: dict[str, Any], read: Read) -> None:
    scenarios = [
        read(native | {"template_idx": f"{domain}-{number}", "sample_idx": cast, "domain": domain})
        for domain in Domain
        for number in range(3)
        for cast in range(2)
    ]
    chosen = select_scenarios(scenarios, 3, 0)
    assert len(chosen) == 6
    assert {scenario.domain for scenario in chosen} == set(Domain)
    assert select_scenarios(scenarios, None, 0) == tuple(scenarios)


def test_what_is_written_out_reads_back_the_same(native: dict[str, Any], read: Read) -> None:
    native["roles"] = {ANN: "sender", BEN: "receiver", CARA: "receiver"}
    scenario = read(native)
    again = read(json.loads(json.dumps(to_native_record(scenario))))
    assert again.model_dump(exclude={"id"}) == scenario.model_dump(exclude={"id"})
