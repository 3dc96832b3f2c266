"""A person in the model's place: a real program on a pseudo-terminal, answered, interrupted and resumed."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

PATIENCE_SECONDS = 30
PROGRAM = [sys.executable, "-c", "from sociable.cli.main import main; main()"]
WHOM = "Whom do you address now?"
WHAT = "What do you say"


class Terminal:
    """A program with a terminal of its own."""

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self.master, other = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments], stdin=other, stdout=other, stderr=other, cwd=folder, env=environment, start_new_session=True
        )
        os.close(other)
        self.seen = ""

    def wait_for(self, words: str) -> str:
        """Reads until ``words`` are on the screen; returns what came before, and forgets it."""
        until = time.monotonic() + PATIENCE_SECONDS
        while words not in self.seen:
            assert time.monotonic() < until, f"'{words}' never came; there was: {self.seen[-2000:]}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
                except OSError:  # the program has ended
                    break
        assert words in self.seen, self.seen[-2000:]
        before, _, self.seen = self.seen.partition(words)
        return before

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
def opened(tmp_path: Path) -> Iterator[list[Terminal]]:
    terminals: list[Terminal] = []
    yield terminals
    for terminal in terminals:
        terminal.close()


def start(opened: list[Terminal], folder: Path, *arguments: str) -> Terminal:
    opened.append(Terminal(arguments, folder))
    return opened[-1]


RUN = ("run", "hsii", "--model", "human", "--limit", "1", "--stages", "1,2,3", "--out", "mine")


def test_a_person_answers_is_interrupted_and_goes_on(opened: list[Terminal], tmp_path: Path) -> None:
    first = start(opened, tmp_path, *RUN)
    screen = first.wait_for(WHOM)
    assert "→" in screen  # the conversation so far
    assert '{"topic"' not in screen  # and not the prompt of a model
    first.type("99")
    first.wait_for("number from 1 to")
    first.type("1")
    first.wait_for(WHAT)
    first.type("I am with you.")
    first.wait_for(WHOM)
    first.process.send_signal(signal.SIGINT)
    first.wait_for("sociable resume mine")
    assert first.end() == 130

    second = start(opened, tmp_path, "resume", "mine")
    while True:
        second.wait_for(WHOM)
        second.type("2")
        second.wait_for(WHAT)
        second.type("Come with me.")
        until = time.monotonic() + PATIENCE_SECONDS
        while "Report:" not in second.seen and WHOM not in second.seen:
            assert time.monotonic() < until
            if select.select([second.master], [], [], 0.2)[0]:
                second.seen += os.read(second.master, 65536).decode("utf-8", "replace")
        if "Report:" in second.seen:
            break
    assert second.end() == 0
    episodes = [json.loads(line) for line in (tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()]
    assert [episode["turns"][0]["content"] for episode in episodes].count("I am with you.") == 1
    assert all(episode["strict_format"] for episode in episodes)
    manifest = json.loads((tmp_path / "mine" / "manifest.json").read_text())
    assert manifest["models"]["subject"] == "human"
    assert manifest["seconds"]["human"]["median"] > 0
    assert manifest["usage"]["subject"]["calls"] == len(episodes)


def test_the_long_run_is_answered_turn_by_turn(opened: list[Terminal], tmp_path: Path) -> None:
    terminal = start(
        opened, tmp_path, "run", "hsii", "--model", "human", "--limit", "1", "--forced-target", "--partner",
        "reference/heuristic", "--option", "long_run_turns=2", "--out", "mine",
    )  # fmt: skip
    terminal.wait_for(WHAT)
    terminal.type("First words.")
    terminal.wait_for("It goes on")
    screen = terminal.wait_for(WHAT)
    assert "→" in screen  # what the partner said
    terminal.type("Second words.")
    terminal.wait_for(WHAT)
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    (episode,) = [json.loads(line) for line in (tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()]
    assert [turn["content"] for turn in episode["turns"]][::2] == ["First words.", "Second words."]


def test_a_pipe_that_ends_is_an_interruption(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*PROGRAM, *RUN], input="1\nHello.\n", cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert ended.returncode == 130
    assert "The input ended." in ended.stderr
    assert len((tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()) == 1


def test_a_person_is_no_judge(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*PROGRAM, "run", "hsii", "--model", "reference/oracle", "--judge", "human"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "judge by sheets" in ended.stderr
