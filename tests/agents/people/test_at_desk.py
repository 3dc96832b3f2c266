"""People at a desk, who answer a run that is another process: same records as at the terminal, and nothing lost by a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.agents.people.desk import Desk, Link, OpenQuestion
from sociable.core.errors import InputError
from sociable.core.form import Form

PATIENCE_SECONDS = 120
PROGRAM = ["-c", "from sociable.cli.main import main; main()"]
TWO_CASES = ("--scenario", "eighteen-souls-to-caucal:10", "--scenario", "eighteen-souls-to-caucal:17", "--stages", "1,2,3")
HSII = ("run", "hsii", "--model", "human", *TWO_CASES)
SCENE = (
    "run", "agentsense", "--scenario", "four-lines-for-a-ginger:1", "--option", "turns=10", "--max-connections", "4",
)  # fmt: skip


@contextmanager
def start(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run of its own; it is killed if it has not ended."""
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_question(desk: Desk, link: Link) -> OpenQuestion:
    until = time.monotonic() + PATIENCE_SECONDS
    while (found := desk.find_open_question(link)) is None:
        assert time.monotonic() < until, "no question came"
        time.sleep(0.05)
    return found


def answer_first(form: Form) -> list[str]:
    return [question.choices[0] if question.choices else "I am with you." for question in form.questions]


def sit(
    process: subprocess.Popen[str],
    desk: Desk,
    links: Sequence[Link],
    answer: Callable[[Form], list[str]] = answer_first,
) -> dict[str, list[OpenQuestion]]:
    """Answers what each person is asked until the run ends well; returns it, by person."""
    asked: dict[str, list[OpenQuestion]] = {link.person: [] for link in links}
    until = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None:
        assert time.monotonic() < until, (
            f"the run does not end; {desk.list_waiting()}, {desk.read_run()}, {desk.list_places(links[0])}"
        )
        for link in links:
            if question := desk.find_open_question(link):
                desk.answer(link, question.id, answer(question.form))
                asked[link.person].append(question)
        time.sleep(0.02)
    assert process.returncode == 0, process.stdout and process.stdout.read()
    return asked


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def read_calls(folder: Path) -> list[tuple[Any, ...]]:
    """The journal's rows without the times that calls took."""
    with closing(sqlite3.connect(folder / "calls.sqlite")) as database:
        return sorted(row[:-2] for row in database.execute("SELECT * FROM calls"))


def make_desk(folder: Path) -> Desk:
    folder.mkdir()
    return Desk(folder)


def test_the_records_of_the_terminal_and_of_the_desk_are_the_same(tmp_path: Path) -> None:
    typed = subprocess.run(
        [sys.executable, *PROGRAM, *HSII, "--out", "typed"],
        cwd=tmp_path, input="1\nI am with you.\n" * 40, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert typed.returncode == 0, typed.stderr
    with make_desk(tmp_path / "sent") as desk:
        links = [desk.make_link(name).link for name in ("Ada", "Ben")]
        with start(tmp_path, *HSII, "--people-at", "desk", "--out", "sent") as process:
            asked = sit(process, desk, links)
        answers = desk.list_answers()
        assert not desk.read_run().is_alive
    # Both had something to do; the times are those that the desk measured.
    assert all(asked.values())
    assert (tmp_path / "sent" / "episodes.jsonl").read_bytes() == (tmp_path / "typed" / "episodes.jsonl").read_bytes()
    assert read_calls(tmp_path / "sent") == read_calls(tmp_path / "typed")
    with closing(sqlite3.connect(tmp_path / "sent" / "calls.sqlite")) as database:
        took = database.execute("SELECT seconds FROM calls ORDER BY seconds").fetchall()
    assert [seconds for (seconds,) in took] == sorted(each.seconds for each in answers)


def test_people_judge_at_the_terminal_and_at_the_desk_alike(tmp_path: Path) -> None:
    judged = ("run", "hsii", "--model", "reference/heuristic", "--judge", "human", *TWO_CASES)
    typed = subprocess.run(
        [sys.executable, *PROGRAM, *judged, "--out", "typed"],
        cwd=tmp_path, input="1\n\n" * 100, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert typed.returncode == 0, typed.stderr
    with make_desk(tmp_path / "sent") as desk:
        links = [desk.make_link(name).link for name in ("Ada", "Ben")]
        with start(tmp_path, *judged, "--people-at", "desk", "--out", "sent") as process:
            asked = sit(process, desk, links, lambda form: [form.questions[0].choices[0], ""])
    # Each judges an episode from beginning to end, both orders of a pair.
    items = [{question.place.item for question in questions} for questions in asked.values()]
    assert all(items) and not items[0] & items[1]
    assert (tmp_path / "sent" / "judgments.jsonl").read_bytes() == (tmp_path / "typed" / "judgments.jsonl").read_bytes()
    given = read_lines(tmp_path / "sent" / "judgments.jsonl")
    pairs = [each for each in given if each["orders"]]
    assert pairs and {each["judge"] for each in given} == {"human"}
    # Whoever always prefers the first is inconsistent, not unreadable.
    assert {(each["verdict"], each["orders_disagree"]) for each in pairs} == {("tie", True)}
    assert {each["verdict"] for each in given if not each["orders"]} <= {"win"}


def test_two_people_sit_among_the_models_of_one_scene(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text("def reply(messages):\n    return 'A model says so.'\n")
    names = read_cast()
    with make_desk(tmp_path / "mixed") as desk:
        links = [desk.make_link("Ada").link, desk.make_link("Ben").link]
        arguments = [each for name in names[:2] for each in ("--person", name)]
        with start(
            tmp_path, *SCENE, "--model", "python:model.py:reply", *arguments, "--people-at", "desk", "--out", "mixed"
        ) as process:
            asked = sit(process, desk, links)
    # Each has one place, and keeps it.
    seats = {person: {question.place.participant for question in questions} for person, questions in asked.items()}
    assert sorted(seat for own in seats.values() for seat in own) == sorted(names[:2])
    (episode,) = read_lines(tmp_path / "mixed" / "episodes.jsonl")
    said = {(turn["speaker"] in names[:2], turn["content"]) for turn in episode["turns"][1:]}
    assert said == {(True, "I am with you."), (False, "A model says so.")}
    by_model = {row[4] for row in read_calls(tmp_path / "mixed") if row[3] not in names[:2]}
    by_people = {row[4] for row in read_calls(tmp_path / "mixed") if row[3] in names[:2]}
    assert (by_model, by_people) == ({"python:model.py:reply"}, {"human"})
    manifest = json.loads((tmp_path / "mixed" / "manifest.json").read_text())
    assert manifest["models"]["people"] == names[:2]
    assert f"people as {names[0]} and {names[1]}" in (tmp_path / "mixed" / "report.html").read_text()


def read_cast() -> list[str]:
    study = sociable.load_study("agentsense")
    return list(study.scenarios["four-lines-for-a-ginger:1"].names)


@pytest.mark.parametrize("answered_while_dead", [True, False])
def test_a_run_that_is_killed_asks_the_same_again_and_takes_what_was_answered(tmp_path: Path, answered_while_dead: bool) -> None:
    with make_desk(tmp_path / "mine") as desk:
        link = desk.make_link("Ada").link
        with start(tmp_path, *HSII, "--people-at", "desk", "--out", "mine") as process:
            first = wait_for_question(desk, link)
            desk.answer(link, first.id, answer_first(first.form))
            second = wait_for_question(desk, link)
            desk.keep_draft(link, second.id, [second.form.questions[0].choices[1], "Come wi"])
            assert desk.read_run().is_alive
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        mine = [second.form.questions[0].choices[1], "Come with me."]
        if answered_while_dead:
            desk.answer(link, second.id, mine)
        with start(tmp_path, "resume", "mine", "--people-at", "desk") as process:
            if not answered_while_dead:
                again = wait_for_question(desk, link)
                assert (again.id, again.shown, again.draft) == (second.id, second.shown, (mine[0], "Come wi"))
                desk.answer(link, again.id, mine)
            asked = sit(process, desk, [link])
        assert not {first.id, second.id} & {question.id for question in asked["Ada"]}
        assert desk.list_answers()[1].answers == tuple(mine)
    said = [episode["turns"][0]["content"] for episode in read_lines(tmp_path / "mine" / "episodes.jsonl")]
    assert said.count("Come with me.") == 1 and said.count("I am with you.") == len(said) - 1


def test_a_run_that_is_stopped_leaves_nothing_waiting(tmp_path: Path) -> None:
    with make_desk(tmp_path / "mine") as desk:
        link = desk.make_link("Ada").link
        with start(tmp_path, *HSII, "--people-at", "desk", "--out", "mine") as process:
            wait_for_question(desk, link)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130 and "sociable resume mine" in said
        assert desk.find_open_question(link) is None and desk.list_waiting() == []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"benchmark": "agentsense", "model": "human", "people": "Nobody Here"}, "Nobody in these cases is called 'Nobody Here'"),
        ({"benchmark": "agentsense", "model": "human", "people": "Vincent Lieu"}, "did you mean 'Vincent Liew'?"),
        ({"benchmark": "agentsense", "model": "reference/oracle", "people": "Vincent Liew"}, "played by a reference agent"),
        ({"benchmark": "hsii-memory", "model": "human", "people": "Ada"}, "nobody has a name of their own"),
    ],
)
def test_a_person_who_cannot_be_seated_is_told_at_once(tmp_path: Path, settings: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        sociable.run(**settings, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
