"""A run of others' conversations is a run like any other: it is rated, scored again, resumed, compared, shown and exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import sociable

import sociable as package
from sociable.api.importing import Imported

from .layouts import make_sotopia_log, make_tau2, write

JUDGE = """
import json
BEST = {"goal": 9, "believability": 9, "knowledge": 9, "secret": -1, "relationship": 4, "social_rules": -1, "financial": 4}
def judge(messages):
    with open("asked.txt", "a") as file:
        file.write(messages[-1]["content"] + "\\x00")
    return json.dumps({name: {"reason": "so", "rating": rating} for name, rating in BEST.items()})
"""


@pytest.fixture(autouse=True)
def in_a_folder_with_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("judge.py").write_text(JUDGE)


def import_tau2(out: str, agent: str = "model-a", **changes: Any) -> Imported:
    return package.import_conversations("tau2", write(Path(f"{out}.json"), make_tau2(agent, **changes)), out)


def test_an_imported_run_is_judged_by_a_rubric_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("results.json"), make_tau2())
    assert sociable("import", "tau2", "results.json", "--out", "run") == 0
    shown = capsys.readouterr().out
    assert "Left out: 1, no text of the agent, as in simulations by voice. The first: results.json" in shown
    assert "recorded/model-a" in shown and "reward" in shown
    assert sociable("judge", "run", "--judge", "python:judge.py:judge", "--rubric", "sotopia") == 0
    result = package.load_result("run")
    values = {each.metric: each.value for each in result.estimates}
    # "Hello, what can I do?" and "It is on Friday now."; the call of a tool is said to nobody.
    assert values["turns"] == 2 and values["words"] == 5 and values["reported_reward"] == 1.0
    assert values["sotopia_goal"] == values["sotopia_goal_partner"] == 9
    assert result.manifest["settings"]["options"] == {"format": "tau2", "file": "results.json"}
    assert "recorded/model-a" in Path("run/report.html").read_text()
    ratings = result.frame("judgments")
    assert set(ratings["participant"]) == {"agent", "customer"} and len(ratings) == 2 * 7


def test_judges_see_of_each_participant_only_what_it_knew() -> None:
    write(Path("episodes.jsonl"), make_sotopia_log(models=["gpt-4", "model-a", "model-b"]))
    package.import_conversations("sotopia", "episodes.jsonl", "run", model="model-a")
    package.judge("run", ["python:judge.py:judge"], rubric="sotopia")
    asked = {
        text.partition("You rate ")[2].partition(",")[0]: text for text in Path("asked.txt").read_text().split("\x00") if text
    }
    assert set(asked) == {"Ines Prat", "Omar Haddad"}
    assert "sold her car" in asked["Ines Prat"] and "sold her car" not in asked["Omar Haddad"]
    tau2 = import_tau2("tau2").result
    rated = tau2.study.list_rated_participants(next(tau2.episodes()))
    assert any("Monday" in words for _, words in rated["subject"].conversation)
    assert not any("Monday" in words for _, words in rated["partner"].conversation)


def test_a_stopped_judging_goes_on_and_scores_stay(tmp_path: Path) -> None:
    import_tau2("run")
    judged = package.judge("run", ["python:judge.py:judge"], rubric="sotopia")
    Path("run/rubrics.jsonl").unlink()
    assert package.resume("run").estimates == judged.estimates == package.score("run").estimates
    # What was paid for comes from the journal.
    assert Path("asked.txt").read_text().count("\x00") == 2


def test_two_models_on_the_same_tasks_are_compared() -> None:
    import_tau2("a", "model-a")
    import_tau2("b", "model-b")
    assert sociable("compare", "a", "b") == 0
    tasks = make_tau2()["tasks"]
    tasks[0]["user_scenario"]["instructions"]["reason_for_call"] = "cancel a booking"
    import_tau2("c", "model-c", tasks=tasks)
    assert sociable("compare", "a", "c") == 2


def test_a_run_is_not_written_over_and_a_recording_is_asked_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    import_tau2("run")
    before = Path("run/inputs/dataset.jsonl").read_bytes()
    with pytest.raises(package.InputError, match=r"run holds a run already. Choose another --out."):
        import_tau2("run", "model-b")
    assert Path("run/inputs/dataset.jsonl").read_bytes() == before
    assert sociable("run", "hsii", "--model", "recorded/model-a") == 2
    assert "spoke in conversations that were imported, and cannot be asked" in capsys.readouterr().err
    assert sociable("import", "diplomacy", "run.json", "--out", "other") == 2
    assert (
        "There is no format 'diplomacy'; there are: sotopia, concordia, tau2, social-reasoning-bench." in capsys.readouterr().err
    )
    assert not Path("other").exists()


def test_without_a_rubric_judges_have_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    import_tau2("run")
    assert sociable("judge", "run", "--judge", "python:judge.py:judge") == 2
    assert "add --rubric sotopia" in capsys.readouterr().err
    with pytest.raises(package.InputError, match="imported has no data of its own: sociable import FORMAT FILE"):
        package.audit("imported")


def test_the_folder_can_be_moved(tmp_path: Path) -> None:
    import_tau2("run")
    moved = Path("run").rename(tmp_path / "moved")
    (tmp_path / "run.json").unlink()
    assert package.score(moved).scores
    assert sociable("show", moved) == 0
    assert json.loads((moved / "manifest.json").read_text())["inputs"] == {"dataset": "inputs/dataset.jsonl"}
