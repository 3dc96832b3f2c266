"""``sociable export``: several runs into one set of files, and what cannot be exported."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from pathlib import Path

import pytest
from tests.cli.conftest import sociable

import sociable as package
from sociable import export
from sociable.api import tournaments
from sociable.core.tables import TableFormat


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(out: str) -> None:
    """A run, made without the report that the command draws."""
    package.run("hsii", "reference/oracle", out=out, limit=1, options={"stages": [1]})


def read(table: str, folder: str = "tables") -> list[dict[str, object]]:
    return [json.loads(line) for line in (Path(folder) / f"{table}.jsonl").read_text().splitlines()]


def test_runs_and_tournaments_go_into_one_set_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    run("one")
    league = Path("league")
    tournaments.write_tournament(
        league, tournaments.plan_tournament("agentsense", ["reference/concede", "reference/random"], folder=league, limit=1)
    )
    tournaments.resume_tournament(league)
    assert sociable("export", "one", "league", "--format", "jsonl", "--out", "tables") == 0
    shown = capsys.readouterr().out
    assert [(row["run"], row["benchmark"]) for row in read("runs")] == [
        ("one", "hsii"),
        ("reference-concede--reference-random", "agentsense-duels"),
    ]
    assert f"tables/scores.jsonl: {len(read('scores'))} rows" in shown
    assert {row["run"] for row in read("turns")} == {row["run"] for row in read("runs")}


def test_a_run_that_is_named_in_two_ways_is_exported_once(tmp_path: Path) -> None:
    run("one")
    exported = export(["one", tmp_path / "one", "./one/../one"], "tables", "jsonl")
    assert exported.files["tables/runs.jsonl"] == 1
    assert read("runs")[0]["planned"] == len(read("episodes")) == exported.files["tables/episodes.jsonl"]


def test_runs_of_a_study_without_scores_are_left_out_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("few.toml").write_text('models = ["reference/oracle", "reference/silent"]\nbenchmarks = ["hsii-memory"]\nlimit = 1\n')
    package.study("few.toml", out="few")
    left = Path("few/hsii-memory-reference-silent")
    (left / "scores.json").unlink()
    assert sociable("export", "few", "--format", "jsonl", "--out", "tables") == 0
    assert f"{left} is left out: it has no scores yet." in capsys.readouterr().out
    assert len(read("runs")) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("one",), "Name a --format for the tables: parquet, csv, jsonl."),
        (("absent", "--format", "csv"), "absent is not a run folder"),
        (("absent", "--format", "xlsx"), "There is no format 'xlsx'; there are: parquet, csv, jsonl."),
    ],
)
def test_what_cannot_be_exported_is_told_in_a_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sociable("export", *arguments) == 2
    assert said in capsys.readouterr().err


def test_a_journal_of_any_length_is_read_call_by_call(tmp_path: Path) -> None:
    run("one")
    with sqlite3.connect("one/calls.sqlite") as database:
        row = ("item", "subject", "", "a model", "{}", "x" * 10_000, "", "stop", 1, 1, 0.0, None, None)
        places = ", ".join("?" * (len(row) + 1))
        database.executemany(f"INSERT INTO calls VALUES ({places})", ((str(number).encode(), *row) for number in range(1000)))
    database.close()
    tracemalloc.start()
    try:
        exported = export("one", "tables", TableFormat.CSV)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert exported.files["tables/calls.csv"] == 1000
    assert Path("tables/calls.csv").stat().st_size > 10_000_000
    assert peak < 5_000_000, peak
