"""Runs in processes of their own: started, looked at, told to stop, killed. Real processes, a real server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sociable.api import processes, watching
from sociable.api.runs import make_settings, resume
from sociable.core.errors import InputError, RunFolderError
from sociable.core.run_folder import STATUS_FILE
from sociable.engine.status import State, Status
from sociable.models.journal import Journal
from sociable.models.limits import Price

KEY = "a-key-that-nobody-may-find"
PATIENCE_SECONDS = 60


@pytest.fixture
def server(start_chat_server: Callable[[float], Any]) -> Any:
    """Slow enough to be caught in the middle of something."""
    return start_chat_server(150.0)


@pytest.fixture(autouse=True)
def nobody_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    for _, status in watching.list_statuses([tmp_path]):
        if status.state.is_at_work:
            os.kill(status.pid, signal.SIGKILL)


def wait_for(folder: Path, met: Callable[[Status], bool]) -> Status:
    until = time.monotonic() + PATIENCE_SECONDS
    while not met(status := watching.find_status(folder)):
        assert time.monotonic() < until, (status, processes.read_log(folder))
        time.sleep(0.02)
    return status


def settings_for(server: Any, **more: Any) -> Any:
    model = f"openai-compatible/social@{server.url}"
    return make_settings("hsii", None, model=model, limit=24, max_connections=3, options={"stages": "1,2"}, **more)


def count_calls(folder: Path) -> int:
    with Journal(folder / "calls.sqlite", replay_only=True) as journal:
        return sum(usage.calls for _, _, usage in journal.sum_usage())


STARTER = """
import sys
from pathlib import Path
from sociable.api import processes
from sociable.engine.settings import RunSettings

processes.begin(RunSettings.model_validate_json(sys.argv[1]), Path(sys.argv[2]))
"""


def test_a_run_outlives_who_started_it_and_keeps_what_was_paid(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    folder = tmp_path / "run"
    subprocess.run([sys.executable, "-c", STARTER, settings_for(server).model_dump_json(), str(folder)], check=True, timeout=60)
    status = wait_for(folder, lambda status: status.state is State.RUNNING and status.done > 10)
    assert os.getsid(status.pid) == status.pid
    assert status.usage.calls >= status.done
    assert 0 < status.under_way <= 3
    with pytest.raises(RunFolderError, match="sociable stop"):
        processes.go_on(folder)

    watching.stop(folder)
    status = wait_for(folder, lambda status: not status.state.is_at_work)
    assert (status.state, status.reason) == (State.STOPPED, "Interrupted.")
    assert status.done < status.total
    wait_for(folder, lambda _: "Everything so far is kept" in processes.read_log(folder))
    bought = count_calls(folder)
    assert bought == status.usage.calls == server.requests()["total"]

    processes.go_on(folder)
    status = wait_for(folder, lambda status: status.state is State.RUNNING and status.done > bought + 5)
    os.kill(status.pid, signal.SIGKILL)
    status = wait_for(folder, lambda status: not status.state.is_at_work)
    assert status.state is State.KILLED
    assert str(status.pid) in status.reason
    assert status.under_way == 0
    # Also at the command line.
    told = subprocess.run([sys.executable, "-m", "sociable", "status", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    assert "killed" in told.stdout

    resume(folder)
    status = watching.find_status(folder)
    assert (status.state, status.done) == (State.FINISHED, status.total)
    assert status.history
    for file in folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_limit_is_raised_whether_the_run_is_at_work_or_stopped(server: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    prices = {"openai-compatible/social": Price(input=1.0, output=0.0)}
    processes.begin(settings_for(server, max_cost=0.01, prices=prices), folder)
    status = wait_for(folder, lambda status: status.state is State.STOPPED)
    assert status.is_at_limit
    assert 0 < status.spend <= status.limit == 0.01
    share = status.done / status.total
    assert 0 < share < 0.5

    assert processes.raise_limit(folder, 1.4 * 0.01 / share) is not None, "it has ended and is started again"
    wait_for(folder, lambda status: status.state is State.RUNNING and status.under_way > 0)
    assert processes.raise_limit(folder, 50.0) is None, "it is told"
    status = wait_for(folder, lambda status: not status.state.is_at_work)
    assert (status.state, status.limit, status.remark) == (State.FINISHED, 50.0, "")
    assert json.loads((folder / "manifest.json").read_text())["settings"]["max_cost"] == 50.0


class Waiting:
    """A process that ends when it is told to."""

    pid = 4242

    def __init__(self, *_: Any, **__: Any) -> None:
        self.code, self.over = 0, threading.Event()

    def wait(self) -> int:
        self.over.wait(PATIENCE_SECONDS)
        return self.code


def test_a_process_that_ends_late_leaves_the_next_one_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Waiting] = []
    monkeypatch.setattr(processes.subprocess, "Popen", lambda *_, **__: begun.append(Waiting()) or begun[-1])
    (tmp_path / "manifest.json").write_text("{}")
    for _ in range(2):
        processes.start(tmp_path)
    (first, _) = (each for each in threading.enumerate() if each.name == f"waits for {Waiting.pid}")
    begun[0].over.set()
    first.join(PATIENCE_SECONDS)
    assert processes.is_starting(tmp_path)
    begun[1].over.set()


def test_a_process_with_the_number_of_an_earlier_one_has_said_nothing_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    before = datetime.now(UTC) - timedelta(hours=1)
    status = Status(state=State.STOPPED, pid=Waiting.pid, host=socket.gethostname(), begun=before, updated=before)
    (tmp_path / STATUS_FILE).write_text(status.model_dump_json())
    process = Waiting()
    monkeypatch.setattr(processes.subprocess, "Popen", lambda *_, **__: process)
    processes.start(tmp_path)
    assert processes.is_starting(tmp_path)
    process.code = 1
    process.over.set()
    status = wait_for(tmp_path, lambda status: status.state is State.FAILED)
    assert "ended with code 1" in status.reason


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai-compatible/x", "http://me:secret@127.0.0.1:9/v1"),
        ("openai-compatible/x@http://me:secret@127.0.0.1:9/v1", None),
        ("reference/oracle", "http://127.0.0.1:9/v1?key=secret"),
    ],
)
def test_an_address_with_a_password_is_refused_before_it_is_written(tmp_path: Path, model: str, address: str | None) -> None:
    with pytest.raises(InputError, match="must hold no name, password or query"):
        processes.begin(make_settings("hsii", None, model=model, base_url=address, options={"stages": "1"}), tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_process_that_cannot_begin_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "run"
    processes.begin(make_settings("hsii", None, model="openai/gpt-4o-mini", limit=1, options={"stages": "1"}), folder)
    status = wait_for(folder, lambda status: status.state is State.FAILED)
    assert "OPENAI_API_KEY" in status.reason
