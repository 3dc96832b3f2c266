"""The commands of the guide's page on Inspect are carried out, in their order, on the tests' own model server."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.extra
pytest.importorskip("inspect_ai")

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "inspect.md"
PROGRAMS = {
    "sociable": "from sociable.cli.main import main; main()",
    # Where the package is not installed with its entry point, the import registers the same.
    "inspect": "import sociable.inspect.registry; from inspect_ai._cli.main import main; main()",
}
SERVED = ("inspect view",)
"""Commands that serve until they are ended; the viewer has tests of its own."""


def list_commands() -> list[str]:
    text = re.sub(r"\\\n\s*", "", PAGE.read_text(encoding="utf-8"))
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def test_what_the_page_shows_can_be_done(chat_server: Any, tmp_path: Path) -> None:
    environment = {**os.environ, "CHAT_BASE_URL": chat_server.url, "CHAT_API_KEY": "none", "INSPECT_DISPLAY": "plain"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    commands = [each for each in list_commands() if not each.startswith(SERVED)]
    assert {each.split()[0] for each in commands} == set(PROGRAMS)
    for command in commands:
        made = next(iter(sorted((tmp_path / "logs").glob("*_hsii_*.eval"))), Path("none"))
        program, *arguments = shlex.split(re.sub(r"openai/gpt-4o(-mini)?", r"openai-api/chat/social:4o\1", command))
        arguments = [each.replace("logs/LOG.eval", str(made)) for each in arguments]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[program], *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert (tmp_path / "imported" / "scores.json").exists()
    assert (tmp_path / "logs" / "oracle.eval").exists()
