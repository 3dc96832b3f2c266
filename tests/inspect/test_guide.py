"""The commands of the guide's page on Inspect are carried out, in their order, on the tests' own model server."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from sociable.cli.main import main

pytestmark = [
    pytest.mark.extra,
    # Inspect leaves streams of its own to be collected.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
pytest.importorskip("inspect_ai")

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "inspect.md"
SERVED = ("inspect view",)
"""Commands that serve until they are ended; the viewer has tests of its own."""


def list_commands() -> list[str]:
    text = re.sub(r"\\\n\s*", "", PAGE.read_text(encoding="utf-8"))
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def carry_out(program: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls a command's entry point: starting Python anew for each would take longer than all the rest."""
    from inspect_ai._cli.main import inspect

    import sociable.inspect.registry  # noqa: F401 - where the package is not installed with its entry point

    if program == "inspect":
        inspect(arguments, standalone_mode=False, auto_envvar_prefix="INSPECT")
        return
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None), arguments


def test_what_the_page_shows_can_be_done(chat_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("CHAT_BASE_URL", chat_server.url), ("CHAT_API_KEY", "none"), ("INSPECT_DISPLAY", "none")):
        monkeypatch.setenv(name, value)
    commands = [each for each in list_commands() if not each.startswith(SERVED)]
    assert {each.split()[0] for each in commands} == {"inspect", "sociable"}
    for command in commands:
        made = next(iter(sorted((tmp_path / "logs").glob("*_hsii_*.eval"))), Path("none"))
        program, *arguments = shlex.split(re.sub(r"openai/gpt-4o(-mini)?", r"openai-api/chat/social:4o\1", command))
        carry_out(program, [each.replace("logs/LOG.eval", str(made)) for each in arguments], monkeypatch)
    assert (tmp_path / "imported" / "scores.json").exists()
    assert (tmp_path / "logs" / "oracle.eval").exists()
