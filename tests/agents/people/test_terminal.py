"""A person in the model's place: a real program on a pseudo-terminal, answered, interrupted and resumed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sociable.agents.people.terminal import PersonAtTerminal
from sociable.core.form import Form, Question
from sociable.models.protocol import Request, Scope

PATIENCE_SECONDS = 120
WHOM = "Whom do you address now?"
WHAT = "What do you say"
PROGRAM = ["-c", "from sociable.cli.main import main; main()"]
OpenTerminal = Callable[..., Any]
RUN = ("run", "hsii", "--model", "human", "--limit", "1", "--stages", "1,2,3", "--out", "mine")


def test_a_person_answers_is_interrupted_and_goes_on(open_terminal: OpenTerminal, tmp_path: Path) -> None:
    first = open_terminal(*RUN)
    screen = first.wait_for(WHOM)
    # What a model is told, and no more: role and task; how many cases there are, and how to stop.
    told = " ".join(screen.split())
    assert "You help several people at once" in told and "at most 120 words" in told
    assert re.search(r"0 of \d+ done", told) and "Ctrl-C stops" in told
    assert "→" in screen  # the conversation so far
    assert '{"topic"' not in screen  # and not the prompt of a model
    first.type("99")
    first.wait_for("number from 1 to")
    first.type("1")
    first.wait_for(WHAT)
    first.type("I am with you.")
    screen = first.wait_for(WHOM)
    assert " done; " in screen and "as you have seen it" in screen and "New since your last case" in screen
    first.process.send_signal(signal.SIGINT)
    first.wait_for("sociable resume mine")
    assert first.end() == 130

    second = open_terminal("resume", "mine")
    second.wait_for(WHOM)
    while True:
        second.type("2")
        second.wait_for(WHAT)
        second.type("Come with me.")
        if second.wait_for_either("Report:", WHOM) == "Report:":
            break
    assert second.end() == 0
    episodes = [json.loads(line) for line in (tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()]
    assert [episode["turns"][0]["content"] for episode in episodes].count("I am with you.") == 1
    assert all(episode["strict_format"] for episode in episodes)
    manifest = json.loads((tmp_path / "mine" / "manifest.json").read_text())
    assert manifest["models"]["subject"] == "human"
    assert manifest["seconds"]["subject"]["median"] > 0
    assert manifest["usage"]["subject"]["calls"] == len(episodes)


def test_the_long_run_is_answered_turn_by_turn(open_terminal: OpenTerminal, tmp_path: Path) -> None:
    terminal = open_terminal(
        "run", "hsii", "--model", "human", "--limit", "1", "--forced-target", "--partner",
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


def test_a_person_plays_the_npc_of_a_game(open_terminal: OpenTerminal, tmp_path: Path) -> None:
    terminal = open_terminal(
        "run", "anteval-iep", "--model", "reference/oracle", "--partner", "human", "--judge", "reference/rule", "--limit", "1",
        "--option", "turns=8", "--out", "mine",
    )  # fmt: skip
    screen = terminal.wait_for("What do you do and say?")
    # What a model would be told, and what players have said so far.
    assert "You sit at the table" in screen and "| " in screen
    terminal.type("*shrugs* Who knows.")
    terminal.wait_for("It goes on")
    terminal.wait_for("What do you do and say?")
    terminal.type("PASS")
    terminal.wait_for("Report:")
    assert terminal.end() == 0
    (episode,) = [json.loads(line) for line in (tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()]
    assert [(turn["act"], turn["words"]) for turn in episode["turns"]][3::4] == [("shrugs", "Who knows."), ("", "")]


def test_a_pipe_that_ends_is_an_interruption(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, *PROGRAM, *RUN],
        input="1\nHello.\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.returncode == 130
    assert "The input ended." in ended.stderr
    assert len((tmp_path / "mine" / "episodes.jsonl").read_text().splitlines()) == 1


def test_a_person_is_no_judge_to_be_audited(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, *PROGRAM, "audit-judge", "hsii", "--judge", "human"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "An audit is for models and rules" in ended.stderr


def test_a_number_that_no_choice_has_is_asked_for_again() -> None:
    keyboard, typed = os.pipe()
    os.write(typed, b"9" * 5000 + b"\n0\n3\n\xd9\xa2\n")  # the last one is an Arabic 2
    said: list[str] = []
    person = PersonAtTerminal(lambda _: None, said.append, keyboard)
    form = Form("One", [], [Question("Which?", ("left", "right"))])
    reply = asyncio.run(person.generate(Request([], Scope("case#0", "subject", ""), form=lambda: form)))
    os.close(keyboard)
    os.close(typed)
    assert reply.text == "right"
    assert sum("number from 1 to 2" in line for line in said) == 3
