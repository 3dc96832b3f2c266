"""What can be done with a run of a town: watch it, live it again with something changed, ask a resident, export it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sociable
from sociable.api import cases, reports, results, runs, towns
from sociable.core.errors import InputError
from sociable.town.clock import Clock

if TYPE_CHECKING:
    from tests.conftest import ChatServer

TASK = "soup-swap"


def model(server: ChatServer, name: str = "resident") -> str:
    return f"openai-compatible/{name}@{server.url}"


@pytest.fixture(scope="module")
def run(chat_server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One task, every resident a model behind a real socket."""
    folder = tmp_path_factory.mktemp("town") / "run"
    options = {"tasks": [TASK], "agent": "generative+tdp"}
    runs.run("stss", model(chat_server), partner=model(chat_server), out=folder, options=options)
    return folder


def calls(folder: Path) -> set[bytes]:
    with contextlib.closing(sqlite3.connect(folder / "calls.sqlite")) as database:
        if not database.execute("SELECT 1 FROM sqlite_master").fetchall():
            return set()
        return {key for (key,) in database.execute("SELECT key FROM calls")}


def events(folder: Path) -> list[dict[str, object]]:
    episode = json.loads((folder / "episodes.jsonl").read_text())
    found: list[dict[str, object]] = episode["events"]
    return found


@pytest.mark.parametrize(
    ("text", "minute"),
    [("14:30", 870), ("1 14:30", 870), ("2 00:05", 1445), ("day 2 09:00", 1980), ("Tuesday 09:00", 1980), ("tue, 9:00", 1980)],
)
def test_moments(text: str, minute: int) -> None:
    assert towns.parse_moment(text, Clock()) == minute


@pytest.mark.parametrize("text", ["", "noon", "3 14:30", "Friday 14:30", "25:00", "14"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(InputError, match=r"expected a time|there is no day|no time of day"):
        towns.parse_moment(text, Clock())


def test_spend_is_told_by_role(run: Path) -> None:
    usage = json.loads((run / "manifest.json").read_text())["usage"]
    assert usage["subject"]["calls"] > 10
    assert usage["partner"]["calls"] > 10 * usage["subject"]["calls"] / 2


def test_a_run_killed_in_the_middle_goes_on_and_buys_nothing_twice(run: Path, tmp_path: Path, chat_server: ChatServer) -> None:
    folder, name = tmp_path / "killed", model(chat_server, "resident:killed")
    options = [f"--option=tasks={json.dumps([TASK])}", "--agent", "generative+tdp", "--partner", name, "--out", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-c", "from sociable.cli.main import main; main()", "run", "stss", "--model", name, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.05)
        if (folder / "calls.sqlite").exists() and len(calls(folder)) > 300:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = calls(folder)
    assert 300 < len(before) < len(calls(run)), "it was to be killed in the middle"
    runs.resume(folder)
    # The server has been asked once for each, but for what was under way when the process died.
    asked = chat_server.requests("resident:killed")["total"]
    assert len(calls(folder)) == len(calls(run)) <= asked <= len(calls(run)) + 30
    assert events(folder) == events(run)


def test_an_offline_replay_gives_the_same_log(run: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "calls.sqlite"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    runs.resume(tmp_path, offline=True)
    assert (tmp_path / "episodes.jsonl").read_bytes() == (run / "episodes.jsonl").read_bytes()


def test_a_fork_asks_only_what_has_changed(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "fork"
    towns.fork(run, TASK, folder, at="2 10:00", events=["The Guildhall is flooded."], resident=first_of_the_cast(run))
    # A walk that was begun before may end elsewhere: she is asked to plan the rest of her day anew.
    before, after = ([each for each in events(each) if each["kind"] != "walked"] for each in (run, folder))
    assert before != after
    changed = next(place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    assert after[changed]["minute"] >= 1440 + 10 * 60  # type: ignore[operator]
    assert any(event["kind"] == "planned" and event["minute"] == 1440 + 10 * 60 for event in after[changed:])
    told = [event for event in after if event.get("about") == "injected event"]
    assert [event["text"] for event in told] == ["The Guildhall is flooded."]
    assert calls(run) < calls(folder)
    assert len(calls(folder) - calls(run)) < len(calls(run))
    # A fork is a run like any other.
    assert runs.resume(folder).estimates == results.load_result(folder).estimates
    assert reports.report([folder]).exists()


def test_a_fork_in_which_a_place_closes(run: Path, tmp_path: Path) -> None:
    place = next(event["address"] for event in reversed(events(run)) if event["kind"] == "began" and event["minute"] > 2000)
    towns.fork(run, TASK, tmp_path / "fork", at="1 12:00", closed=[str(place).partition(":")[0]])
    after = [event for event in events(tmp_path / "fork") if event["minute"] > 730]  # type: ignore[operator]
    assert not any(str(event.get("address", "")).startswith(str(place)) for event in after)
    assert any(event.get("about") == "closed place" for event in after)
    with pytest.raises(InputError, match="there is no 'Atlantis' in Tern Harbour; its places are: "):
        towns.fork(run, TASK, tmp_path / "other", at="1 12:00", closed=["Atlantis"])


def test_a_fork_anew_asks_every_model_again(run: Path, tmp_path: Path) -> None:
    towns.fork(run, TASK, tmp_path / "fork", at="2 20:00", anew=True)
    with contextlib.closing(sqlite3.connect(tmp_path / "fork" / "calls.sqlite")) as database:
        items = dict(database.execute("SELECT item, COUNT(*) FROM calls GROUP BY item").fetchall())
    assert set(items) == {f"{TASK}#0", f"{TASK}#0@fork"}
    # The model is a pure function, so that asking it again changes nothing.
    assert events(tmp_path / "fork") == events(run)


def test_a_fork_says_what_is_wrong(run: Path, tmp_path: Path) -> None:
    for wrong, message in (
        ({"at": "14:30"}, "changes something"),
        ({"at": "14:30", "events": ["x"], "resident": "Nobody"}, "nobody in this episode"),
        ({"at": "never", "events": ["x"]}, "expected a time"),
    ):
        with pytest.raises(InputError, match=message):
            towns.fork(run, TASK, tmp_path / "fork", **wrong)
    for episode in ("no-such-task", f"{TASK}#1", f"{TASK}#²", f"{TASK}#"):
        with pytest.raises(InputError, match="no episode"):
            towns.fork(run, episode, tmp_path / "fork", at="14:30", anew=True)
        with pytest.raises(InputError, match="no episode"):
            towns.interview(run, episode, "Nobody", ["Who are you?"], at="14:30")
    assert not (tmp_path / "fork").exists()


def test_an_interview_leaves_nothing_behind(run: Path) -> None:
    before = (run / "episodes.jsonl").read_bytes()
    name = first_of_the_cast(run)
    (answer,) = towns.interview(run, TASK, name.split()[0], ["What are you doing tonight?"], at="2 12:00")
    assert answer.strip()
    assert (run / "episodes.jsonl").read_bytes() == before
    kept = json.loads((run / "interviews.jsonl").read_text().splitlines()[-1])
    assert kept == {
        "episode": f"{TASK}#0",
        "resident": name,
        "minute": 1440 + 720,
        "question": "What are you doing tonight?",
        "answer": answer,
    }
    # The run stays what it was: nothing of it has to be asked again.
    bought = calls(run)
    assert towns.interview(run, TASK, name, ["What are you doing tonight?"], at="2 12:00") == [answer]
    assert calls(run) == bought


def test_replay_and_export(run: Path, tmp_path: Path) -> None:
    page = towns.write_replay(run, TASK, tmp_path / "replay.html").read_text()
    assert "soup swap" in page
    towns.write_export(run, TASK, tmp_path / "export")
    assert any((tmp_path / "export").rglob("*.json"))
    with pytest.raises(InputError, match="there already"):
        towns.write_export(run, TASK, tmp_path / "export")


def test_a_task_may_have_the_sign_in_its_name_that_parts_it_from_its_repeat(tmp_path: Path) -> None:
    tasks = json.loads((Path(sociable.__file__).parent / "benchmarks" / "stss" / "data" / "tasks.json").read_text())
    (tmp_path / "tasks.json").write_text(json.dumps([tasks[0] | {"id": "soup#2"}]))
    run = tmp_path / "run"
    runs.run("stss", "reference/silent", dataset=str(tmp_path / "tasks.json"), out=run)
    for number, episode in enumerate(("soup#2", "soup#2#0")):
        towns.fork(run, episode, tmp_path / f"fork-{number}", at="14:30", events=["It rains."])
        assert towns.interview(run, episode, first_of_the_cast(run), ["Where are you?"], at="14:30")


def test_a_file_of_no_scenes_is_not_asked_for(tmp_path: Path) -> None:
    for count in (0, -3):
        with pytest.raises(InputError, match="at least one scene"):
            towns.construct_conversations([tmp_path], tmp_path / "scenes.jsonl", count=count)


def test_only_towns_have_residents(tmp_path: Path) -> None:
    runs.run("hsii", "reference/silent", out=tmp_path / "hsii", limit=1)
    with pytest.raises(InputError, match="runs of stss only"):
        towns.write_replay(tmp_path / "hsii", "x")


def first_of_the_cast(run: Path) -> str:
    episode = json.loads((run / "episodes.jsonl").read_text())
    name: str = episode["task"]["cast"][0]
    return name


def test_the_town_can_be_drawn_on_and_given_back(tmp_path: Path) -> None:
    drawn = towns.write_map(tmp_path / "town.json")
    given_back = cases.load_study("stss", options={"town": str(drawn)})
    assert given_back.scenarios == cases.load_study("stss").scenarios
    with pytest.raises(InputError, match="there already"):
        towns.write_map(drawn)
