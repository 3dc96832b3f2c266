"""Runs that are begun again, in part, or elsewhere: what is offered, refused, kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api.folders import find_same_run
from sociable.api.results import load_result
from sociable.api.runs import make_settings
from sociable.core.errors import InputError, RunFolderError, RunStopped
from sociable.core.run_folder import RunFolder
from sociable.models import limits

SILENT = "def reply(messages):\n    return 'I would rather not say.'\n"
OPTIONS: dict[str, Any] = {"stages": [1, 2]}


@pytest.fixture(autouse=True)
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(SILENT)
    return "python:agent.py:reply"


@pytest.fixture
def dataset() -> Path:
    """Data of the user's own: one dialogue of the bundled data."""
    import sociable.benchmarks.hsii as hsii

    path = Path("mine.json")
    shutil.copy(sorted(Path(hsii.__file__).parent.joinpath("data").rglob("*.json"))[0], path)
    return path


def test_only_the_named_scenarios_are_run(agent: str) -> None:
    result = sociable.run("hsii", agent, scenarios=["clause-two:9", "clause-two:6"], options=OPTIONS, out="few")
    assert [episode.scenario for episode in result.episodes()] == ["clause-two:6", "clause-two:9"]
    assert result.manifest["episodes"] == 2
    with pytest.raises(InputError, match=r"no scenario 'clause-two:5'; did you mean 'clause-two:"):
        sociable.run("hsii", agent, scenarios="clause-two:5", options=OPTIONS)
    with pytest.raises(InputError, match="not both"):
        sociable.run("hsii", agent, scenarios=["clause-two:6"], limit=1, options=OPTIONS)


def test_a_run_with_the_same_settings_is_found(agent: str) -> None:
    wanted = make_settings("hsii", None, model=agent, limit=1, options=OPTIONS)
    assert find_same_run(wanted) is None
    sociable.run("hsii", agent, limit=1, options=OPTIONS, out="runs/first")
    assert find_same_run(wanted) == Path("runs/first")
    # How fast it is asked changes no reply; a seed does.
    assert find_same_run(make_settings("hsii", None, model=agent, limit=1, options=OPTIONS, max_connections=3)) == Path(
        "runs/first"
    )
    assert find_same_run(make_settings("hsii", None, model=agent, limit=1, options=OPTIONS, seed=1)) is None
    # Where nothing is bought, nothing is offered.
    sociable.run("hsii", "reference/silent", limit=1, options=OPTIONS, out="runs/second")
    assert find_same_run(make_settings("hsii", None, model="reference/silent", limit=1, options=OPTIONS)) is None


def test_a_folder_that_is_damaged_does_not_keep_others_from_being_found(agent: str) -> None:
    sociable.run("hsii", agent, limit=1, options=OPTIONS, out="runs/first")
    for name, text in {"empty": "", "other": "{}", "strange": '{"format": 1}'}.items():
        Path("runs", name).mkdir()
        Path("runs", name, "manifest.json").write_text(text)
    assert find_same_run(make_settings("hsii", None, model=agent, limit=1, options=OPTIONS)) == Path("runs/first")


def test_the_panel_of_an_unfinished_run_stays(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = pytest.MonkeyPatch()
    admitted = 0

    async def admit(self: limits.Budget, *_: Any) -> float:
        nonlocal admitted
        admitted += 1
        if admitted > 2:
            self.interrupt()
        self.check()
        self._under_way += 1
        return 0.0

    stopping.setattr(limits.Budget, "admit", admit)
    given: dict[str, Any] = {"limit": 1, "options": {"stages": [1, 2, 3]}, "max_connections": 1}
    with pytest.raises(RunStopped):
        sociable.run("hsii", agent, judges=["reference/rule"], out="half", **given)
    stopping.undo()
    before = Path("half/manifest.json").read_bytes()
    with pytest.raises(
        InputError, match=r"half is not finished: 2 of 4 episodes are missing.*Finish it first: sociable resume half"
    ):
        sociable.judge("half", [agent])
    assert Path("half/manifest.json").read_bytes() == before
    sociable.resume("half")
    assert sociable.judge("half", [agent]).manifest["models"]["judges"] == [agent]


@pytest.mark.parametrize("lost", ["data moved", "data changed", "folder moved"])
def test_a_run_keeps_what_it_was_made_of(agent: str, dataset: Path, lost: str) -> None:
    result = sociable.run("hsii", agent, dataset=dataset, options=OPTIONS, out="mine")
    assert result.manifest["settings"]["dataset"] == str(dataset.resolve())
    folder, before, count = Path("mine"), Path("mine/scores.json").read_bytes(), len(list(result.episodes()))
    if lost == "data changed":
        dataset.write_text("{}\n")
    else:
        dataset.unlink()
    if lost == "folder moved":
        folder = Path(shutil.move("mine", "elsewhere"))
    sociable.score(folder)
    assert (folder / "scores.json").read_bytes() == before
    assert sociable.report([folder]).stat().st_size > 10_000
    assert len(list(load_result(folder).episodes())) == count
    # What it was made of stays on record as it was given.
    assert json.loads((folder / "manifest.json").read_text())["settings"]["dataset"] == str(dataset.resolve())


def test_prompts_of_ones_own_are_kept_too(agent: str) -> None:
    import sociable.benchmarks.hsii as hsii

    shutil.copytree(Path(hsii.__file__).parent / "prompts", "prompts")
    sociable.run("hsii", agent, prompts="prompts", limit=1, options=OPTIONS, out="mine")
    shutil.rmtree("prompts")
    assert sociable.score("mine").estimate("r1") is not None


def test_a_run_is_read_where_prompts_are_others_by_now_and_does_not_go_on(agent: str) -> None:
    sociable.run("hsii", agent, limit=1, options=OPTIONS, out="mine")
    path, before = Path("mine/manifest.json"), Path("mine/scores.json").read_bytes()
    manifest = json.loads(path.read_text())
    manifest["digests"]["prompts"] = "of an earlier version"
    path.write_text(json.dumps(manifest))
    sociable.score("mine")
    assert Path("mine/scores.json").read_bytes() == before
    assert sociable.report(["mine"]).stat().st_size > 10_000
    for goes_on in (lambda: sociable.resume("mine"), lambda: sociable.judge("mine", [agent])):
        with pytest.raises(
            RunFolderError, match=r"The prompts changed since mine was begun with sociable .* Restore what it was"
        ):
            goes_on()


def test_inputs_that_are_too_large_are_left_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sociable.core.run_folder.LARGEST_INPUT_BYTES", 10)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.jsonl").write_text("x" * 11)
    with RunFolder.create(tmp_path / "run") as folder:
        assert folder.keep_input("dataset", tmp_path / "data") is None
        assert folder.keep_input("dataset", tmp_path / "agent.py") is None
        (tmp_path / "small.json").write_text("{}")
        assert folder.keep_input("town", tmp_path / "small.json") == "inputs/town.json"


def test_a_probe_tells_what_a_run_will_take_and_the_run_goes_on_from_it(agent: str) -> None:
    document = sociable.estimate("hsii", agent, probe=3, limit=4, options=OPTIONS, out="probed")
    assert document.summary is not None and "as 3 cases took" in document.summary.caption
    assert "one call at a time" in (document.summary.note or "") and "sociable resume probed" in (document.summary.note or "")
    estimated = int(document.summary.rows[0].cells[2].replace(",", ""))
    assert len(list(load_result("probed", scored=False).episodes())) == 3
    result = sociable.resume("probed")
    assert len(list(result.episodes())) == result.manifest["episodes"] == 16
    used = result.manifest["usage"]["subject"]
    # The agent never gets beyond its first reply, as the probe has found out.
    assert used["calls"] == estimated == 16
