"""A reviewer at the terminal: a real program on a pseudo-terminal, answered, interrupted, killed and gone on with."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sociable.cli.main import main

OpenTerminal = Callable[..., Any]
WHAT = "keep, fix or drop?"
TAGS = "Numbers or names"
NOTE = "Note (Enter"
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eevil"


@pytest.fixture(autouse=True)
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    folder.mkdir()
    records = [{"id": f"s{n}", "title": f"Title {n}", "cast": [{"goal": "ask"}]} for n in range(3)]
    lines = [json.dumps(record | {"text": HOSTILE, f"{HOSTILE}[red]": "word " * 60}) for record in records]
    (folder / "dataset.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def decisions(build: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (build / "review" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Ended:
    code: int
    said: str
    complained: str


@pytest.fixture
def sociable(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], build: Path) -> Callable[..., Ended]:
    """The program in this process, beside the folder, with keys typed ahead."""
    monkeypatch.chdir(build.parent)

    def run(*arguments: str, keys: str = "") -> Ended:
        monkeypatch.setattr(sys, "argv", ["sociable", "review", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(keys.encode())))
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Ended(stopped.value.code, said.out, " ".join(said.err.split()))

    return run


def test_a_session_is_answered_killed_and_gone_on_with(
    open_terminal: OpenTerminal, build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = build.parent / "editor.py"
    editor.write_text(
        "import sys, pathlib\nf = pathlib.Path(sys.argv[1])\nf.write_text(f.read_text().replace('\"ask\"', '\"tell\"'))\n"
    )
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' '{editor}'")

    first = open_terminal("review", "build", "--reviewer", "Ada")
    screen = first.wait_for(WHAT)
    assert "1 of 3: s" in screen and "goal: ask" in screen
    assert "\x1b" not in screen and "\x07" not in screen and "\u202e" not in screen
    assert "‹ESC›[2J" in screen and "[red]" in screen
    assert max(map(len, screen.splitlines())) <= 100
    first.type("x")
    first.wait_for("Please type k, f, d")
    first.type("?")
    first.wait_for("goal-unclear: a goal of which")
    first.wait_for(WHAT)
    first.type("keep")
    first.wait_for(TAGS)
    first.type("1 2")
    first.wait_for("exclude each other")
    first.type("2 not-l")
    first.wait_for(NOTE)
    first.type("good")
    first.wait_for("2 of 3")
    first.wait_for(WHAT)
    # It is on disk already.
    first.process.send_signal(signal.SIGKILL)
    (kept,) = decisions(build)
    assert (kept["decision"], kept["tags"], kept["note"]) == ("keep", ["goals-valid", "not-lifelike"], "good")
    assert kept["seconds"] >= 0

    second = open_terminal("review", "build", "--reviewer", "Ada")
    screen = second.wait_for(WHAT)
    assert "1 of 2: s" in screen and f": {kept['item']} " not in screen
    second.type("f")
    second.wait_for("How?")
    second.type("e")
    second.wait_for(TAGS)
    second.type("")
    second.wait_for(NOTE)
    second.type("")
    second.wait_for(WHAT)
    second.type("u")
    second.wait_for("Taken back: s")
    second.wait_for(WHAT)
    second.type("f")
    second.wait_for("How?")
    second.type("f")
    second.wait_for("Field (")
    second.type("cast.7")
    second.wait_for("There is no field")
    second.wait_for("Field (")
    second.type("title")
    second.wait_for("It is now: ")
    second.wait_for("New value")
    second.type("")
    second.wait_for("Field (")
    second.type("title")
    second.wait_for("New value")
    second.type("=Better")
    second.wait_for("Field (")
    second.type("")
    second.wait_for(NOTE.replace("Note", "names"))
    second.type("")
    second.wait_for(NOTE)
    second.type("")
    second.wait_for("2 of 2")
    second.wait_for(WHAT)
    second.type("q")
    second.wait_for("1 decided in this session; 1 left.")
    assert second.end() == 0
    edited, taken_back, fixed = decisions(build)[1:]
    assert edited["fixed"]["cast"] == [{"goal": "tell"}] and edited["fixed"]["text"] == HOSTILE
    assert taken_back["decision"] is None and taken_back["item"] == edited["item"]
    assert fixed["fixed"]["title"] == "=Better" and fixed["item"] == edited["item"]


def test_an_interruption_says_how_to_go_on(open_terminal: OpenTerminal, build: Path, sociable: Callable[..., Ended]) -> None:
    terminal = open_terminal("review", "build", "--reviewer", "Ada B", "--limit", "2")
    assert "1 of 2" in terminal.wait_for(WHAT)
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("Go on with: sociable review build --reviewer 'Ada B'")
    assert terminal.end() == 130
    # A pipe that ends is one too.
    ended = sociable("build", "--reviewer", "Ada B", keys="k\n\n\n")
    assert (ended.code, "Every decision so far is kept" in ended.complained) == (130, True)
    assert len(decisions(build)) == 1


def test_three_review_a_fourth_settles_and_it_is_applied(build: Path, sociable: Callable[..., Ended]) -> None:
    for name, key in (("Ada", "k"), ("Ben", "d"), ("Eve", "f\nn")):
        done = sociable("build", "--reviewer", name, "--second-panel", "1", keys=f"{key}\n\n\n" * 3)
        assert "3 decided in this session; nothing is left for you." in done.said
        # Blind: whoever comes later sees the item, and nothing that was said of it.
        assert not any(other in done.said for other in ("Ada", "Ben", "Eve") if other != name)
    refused = sociable("build", "--apply")
    assert (refused.code, "3 for the second" in refused.complained) == (2, True)
    second = sociable("build", "--reviewer", "Zoe", "--group", "2", keys="d\n9\ndull\n" + "k\n\n\n" * 2)
    assert second.code == 0
    assert not any(other in second.said for other in ("Ada", "Ben", "Eve"))
    status = sociable("build", "--status").said
    assert "Krippendorff" in status
    assert "Ada, Ben" in status
    assert "2 kept, 0 fixed, 1 dropped, 0 undecided: build/dataset.reviewed.jsonl" in sociable("build", "--apply").said
    assert len((build / "dataset.reviewed.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    (dropped,) = [json.loads(line) for line in (build / "review" / "dropped.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (dropped["tags"], dropped["reasons"]) == (["goal-unclear"], ["dull"])


def test_a_sheet_from_the_command_line(build: Path, sociable: Callable[..., Ended]) -> None:
    assert "3 items for Ada to review: ada.csv" in sociable("build", "--reviewer", "Ada", "--export", "ada.csv").said
    sheet = build.parent / "ada.csv"
    text = sheet.read_text(encoding="utf-8-sig")
    assert "\x1b" not in text and "\u202e" not in text
    sheet.write_text(text.replace(",,,,,,Ada", ",keep,,,,,Ada"), encoding="utf-8")
    assert "3 new decisions" in sociable("build", "--import", "ada.csv").said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("build",), "--reviewer NAME"),
        (("build", "--status"), "Nobody has begun"),
        (("build", "--status", "--apply"), "one at a time"),
        (("build", "--reviewer", "Ada", "--anyway"), "goes with --apply"),
        (("nowhere", "--reviewer", "Ada"), "no such file"),
        (("build", "--reviewer", "Ada", "--tags", "nowhere.json"), "no such file"),
        (("build", "--reviewer", "A|B"), "--reviewer takes a name"),
        (("build", "--reviewer", "Ada", "--export", "ada.xlsx"), "is a .csv file"),
        (("build", "--import", "nowhere.csv"), "no such file"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], words: str, sociable: Callable[..., Ended]) -> None:
    ended = sociable(*arguments)
    assert ended.code == 2
    assert words in ended.complained


def test_an_editor_that_cannot_be_run_changes_nothing(
    build: Path, sociable: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    for editor, words in (
        ("no-such-editor", "Name an editor in the environment variable EDITOR"),
        ("false", "false ended with 1"),
        ("an 'unfinished name", "No closing quotation"),
    ):
        monkeypatch.setenv("VISUAL", editor)
        ended = sociable("build", "--reviewer", "Ada", keys="f\ne\nb\n\nq\n")
        assert ended.code == 0
        assert words in " ".join(ended.said.split())
        assert "Nothing is changed" in ended.said
    assert not (build / "review" / "decisions.jsonl").exists()
