"""A benchmark of one's own: it runs, and ``sociable new benchmark`` writes it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.cli.new import write_benchmark
from sociable.core.errors import InputError
from sociable.engine.registry import find_benchmark

from .conftest import EXAMPLES

FOLDER = EXAMPLES / "own_benchmark"
GRATEFUL = "def reply(messages):\n    return 'Thank you!' if 'Jonas' in messages[-1]['content'] else 'Noted.'\n"


def files_of(folder: Path) -> dict[str, str]:
    """By name, the text of every file that is no by-product of Python's."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def test_the_example_is_what_the_command_writes(tmp_path: Path) -> None:
    write_benchmark("thanks", tmp_path / "thanks")
    assert files_of(tmp_path / "thanks") == files_of(FOLDER)


@pytest.mark.parametrize("name", ["json", "class", "sociable", "Thanks", "two words", "-a", "hsii"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name):
        write_benchmark(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is there already"):
        write_benchmark("thanks", tmp_path)
    assert not list(tmp_path.iterdir())


def test_it_runs_and_scores_what_was_said(
    tmp_path: Path, install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(FOLDER)
    monkeypatch.delitem(sys.modules, "thanks", raising=False)
    (tmp_path / "agent.py").write_text(GRATEFUL)
    result = sociable.run("thanks", f"python:{tmp_path / 'agent.py'}:reply", out=tmp_path / "run")
    estimate = result.estimate("thanks")
    assert estimate is not None
    # One favour of three is Jonas's.
    assert estimate.value == pytest.approx(1 / 3)


def test_it_runs_under_another_name(tmp_path: Path, install: Callable[[Path], None]) -> None:
    write_benchmark("good-manners", tmp_path / "new")
    install(tmp_path / "new")
    found = find_benchmark("good-manners")
    assert found.load_study_type().__name__ == "GoodMannersStudy"
    (tmp_path / "agent.py").write_text(GRATEFUL)
    result = sociable.run("good-manners", f"python:{tmp_path / 'agent.py'}:reply", out=tmp_path / "run")
    assert [score.value for score in result.scores] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("dataset", "talks.jsonl", "thanks reads no file of data: leave --dataset out"),
        ("prompts", ".", "thanks takes no other prompts: leave --prompts out"),
        ("judges", ["python:agent.py:reply"], "thanks has nothing that is judged: leave --judge out"),
    ],
)
def test_what_it_does_nothing_with_is_refused(
    name: str, given: Any, said: str, tmp_path: Path, install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(FOLDER)
    monkeypatch.delitem(sys.modules, "thanks", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(GRATEFUL)
    with pytest.raises(InputError, match=said):
        sociable.run("thanks", "python:agent.py:reply", **{name: given})
    assert not Path("runs").exists()


def test_a_limit_and_a_bug_are_told(tmp_path: Path, install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    write_benchmark("haste", tmp_path / "new")
    install(tmp_path / "new")
    (tmp_path / "agent.py").write_text(GRATEFUL)
    module = tmp_path / "new" / "haste.py"
    module.write_text(module.read_text().replace("        favour = self", "        {}['oops']\n        favour = self"))
    result = sociable.run("haste", f"python:{tmp_path / 'agent.py'}:reply", out=tmp_path / "run", limit=2)
    line = next(number for number, text in enumerate(module.read_text().splitlines(), start=1) if "oops" in text)
    assert [episode.error for episode in result.episodes()] == [f"bug: KeyError: 'oops' (haste.py, line {line})"] * 2
