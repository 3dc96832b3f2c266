"""What several rooms' tests use: a chat completions server of their own over a real socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
