"""Inspect AI at work on the tests' own model server."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _without_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in os.environ if each.startswith("INSPECT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def evaluate(chat_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a task of ours in Inspect, as ``inspect eval sociable/NAME`` does, and returns its log.

    Models are ``openai-api/chat/BEHAVIOUR`` of the tests' server, or ``reference/AGENT``.
    """
    inspect_ai = pytest.importorskip("inspect_ai")
    # Where the package is not installed with its entry point, this registers the same.
    from sociable.inspect.registry import TASKS

    monkeypatch.setenv("CHAT_BASE_URL", chat_server.url)
    monkeypatch.setenv("CHAT_API_KEY", "none")

    def run(benchmark: str, model: str, *, task_args: dict[str, Any], **settings: Any) -> Any:
        settings = {"log_dir": str(tmp_path / "logs"), "display": "none", "log_level": "error", **settings}
        (log,) = inspect_ai.eval(TASKS[benchmark], model=model, task_args=task_args, **settings)
        return log

    return run
