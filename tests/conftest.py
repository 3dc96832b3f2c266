"""What several rooms' tests use: a chat completions server of their own over a real socket."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before numpy is loaded, here and in processes that tests start: on small matrices its threads wait for each other longer than
# one of them works, and every core has a worker of its own.
for each in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(each, "1")

# A shared machine is too noisy to pass or fail by time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    # What was imported and collected stays to the end: there is no need to look through it again and again for what can go.
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write the lists of metrics and the digests of scores as they are now")


CHAT_SERVER = Path(__file__).parent / "chat_server.py"


class ChatServer:
    """A running ``chat_server.py``; which model names it knows stands there."""

    def __init__(self, latency_ms: float = 0.0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHAT_SERVER), "--latency-ms", str(latency_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        port = self._process.stdout.readline().decode().strip()
        assert port.isdigit(), "the chat server did not start; run it by hand to see why"
        self.address = f"http://127.0.0.1:{port}"
        self.url = f"{self.address}/v1"
        """For ``--base-url``."""
        # A proxy of the environment is not for the loopback.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def requests(self, model: str | None = None) -> dict[str, Any]:
        """What was asked, by one model or all: ``total``, ``models`` (requests, peak at once, connections), ``requests``."""
        query = f"?{urllib.parse.urlencode({'model': model})}" if model else ""
        with self._opener.open(f"{self.address}/requests{query}", timeout=10) as response:
            found: dict[str, Any] = json.load(response)
        return found

    def stop(self) -> None:
        """Twice does no harm."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="session")
def chat_server() -> Iterator[ChatServer]:
    """One server for all tests of a process (under xdist, of each worker)."""
    with pytest.MonkeyPatch.context() as environment:
        # A proxy or a .netrc of whoever runs the tests changes nothing, in subprocesses neither.
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            environment.delenv(name, raising=False)
            environment.delenv(name.upper(), raising=False)
        environment.setenv("NETRC", os.devnull)
        server = ChatServer()
        yield server
        server.stop()


@pytest.fixture
def start_chat_server(chat_server: ChatServer) -> Iterator[Callable[[float], ChatServer]]:
    """Starts further servers like ``chat_server``, with a latency in milliseconds: a test's own, to count what one run asks."""
    servers: list[ChatServer] = []

    def start(latency_ms: float) -> ChatServer:
        servers.append(ChatServer(latency_ms))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


class ReadOnlyFolder:
    """``path`` is to be filled by the test; ``use`` runs code that may only read there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def use(self, code: str, hidden: Sequence[str] = ()) -> str:
        """What ``main(path)``, defined by ``code``, prints. It may not even read what is ``hidden``."""
        for path in (self.path, *self.path.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        for name in hidden:
            (self.path / name).chmod(0)
        # Root may write anywhere, so it steps down, after everything has been imported.
        step_down = "import os, pathlib, sys\nif os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)"
        done = subprocess.run(
            [sys.executable, "-c", f"{code}\n{step_down}\nmain(pathlib.Path(sys.argv[1]))", str(self.path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def read_only_folder() -> Iterator[ReadOnlyFolder]:
    """A folder for one test, read-only as soon as it is used. Not in ``tmp_path``, which other users cannot reach."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs POSIX permissions")
    path = Path(tempfile.mkdtemp(prefix="sociable-read-only-"))
    yield ReadOnlyFolder(path)
    for folder, _, files in os.walk(path):
        for each in (folder, *(os.path.join(folder, file) for file in files)):
            os.chmod(each, 0o755)
    shutil.rmtree(path)


PATIENCE_SECONDS = 30


class Terminal:
    """A program with a terminal of its own."""

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self.master, other = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from sociable.cli.main import main; main()", *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(other)
        self.seen = self.before = ""

    def wait_for(self, words: str) -> str:
        """Reads until ``words`` are on the screen; returns what came before, and forgets it."""
        self._read_until(words)
        assert words in self.seen, self.seen[-2000:]
        before, _, self.seen = self.seen.partition(words)
        return before

    def wait_for_either(self, *words: str) -> str:
        """Which of ``words`` came first; what came before stands in ``before``."""
        self._read_until(*words)
        found = min((place, each) for each in words if (place := self.seen.find(each)) >= 0)[1]
        self.before, _, self.seen = self.seen.partition(found)
        return found

    def _read_until(self, *words: str) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not any(each in self.seen for each in words):
            assert time.monotonic() < until, f"{words} never came; there was: {self.seen[-2000:]}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
                except OSError:  # the program has ended
                    break

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def end(self) -> int:
        with contextlib.suppress(AssertionError):
            self.wait_for("\x00 never printed")
        return self.process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts the program with its arguments in a terminal of its own, in ``tmp_path``."""
    terminals: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        terminals.append(Terminal(arguments, tmp_path))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()
