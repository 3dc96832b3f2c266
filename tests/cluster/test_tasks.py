"""Work that asks no model, on a real cluster of Ray on this machine: the same as in one process, also when a node dies."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import datasets
from sociable.benchmarks.anteval.ieg.experiment import run_experiment
from sociable.benchmarks.anteval.ieg.logs import Call, Check, Log, Spoken
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.real import RealSessions, SplitSessions
from sociable.benchmarks.anteval.ieg.records import IegOptions
from sociable.cluster import tasks
from sociable.cluster.joining import join_cluster
from sociable.cluster.tasks import spread_over
from sociable.core import spreading
from sociable.core.errors import InputError, RunStopped

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]  # Ray's files

COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")


def write_news(file: Path) -> Path:
    """Reports of made-up words, some of them nearly the same as an earlier one, some toxic, some of people at odds."""
    generator, lines = random.Random(5), list[str]()
    for number in range(60):
        words = [f"w{generator.randrange(400)}" for _ in range(80)]
        if number % 6 == 5:
            words = [*json.loads(lines[-1])["text"].split()[:-1], "other"]
        if number % 7 == 0:
            words += ["asshole", "moron", "idiot", "bastard"]
        lines.append(json.dumps({"id": f"a{number}", "text": " ".join([*words, *["protest"] * (number % 5)])}))
    file.write_text("\n".join(lines) + "\n")
    return file


def read_build(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.jsonl")}


def test_a_build_is_the_same_byte_for_byte(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "CHARACTERS", 2000)  # twenty batches
    build = partial(datasets.construct, "hsii", write_news(tmp_path / "news.jsonl"), options={"spread": 20})
    build(tmp_path / "alone")
    build(tmp_path / "together", cluster="ray")
    alone = read_build(tmp_path / "alone")
    assert list(map(alone["2-distinct.jsonl"].count, [b'"rejected":"nearly', b'"made":[{'])) == [10, 50]
    assert b'"rejected":"toxic"' in alone["3-harmless.jsonl"] and b'"rejected":"others' in alone["4-spread.jsonl"]
    assert read_build(tmp_path / "together") == alone


def construct(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = (*COMMAND, "construct", "hsii", str(write_news(folder / "news.jsonl")), *arguments)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_a_driver_outside_of_the_cluster_builds_the_same(cluster: Any, tmp_path: Path) -> None:
    done = construct("--out", "together", "--cluster", cluster.client, "--workers", "1", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    datasets.construct("hsii", tmp_path / "news.jsonl", tmp_path / "alone")
    assert read_build(tmp_path / "together") == read_build(tmp_path / "alone") != {}


def test_a_cluster_that_cannot_be_reached_is_told_before_there_is_a_folder(tmp_path: Path) -> None:
    done = construct("--out", "never", "--cluster", "ray://127.0.0.1:1", folder=tmp_path)
    assert done.returncode == 2
    assert "127.0.0.1:1 cannot be reached" in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
    assert not (tmp_path / "never").exists()


def test_a_recipe_that_has_nothing_for_a_cluster_says_so(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'anteval-characters' has no step that a cluster could do"):
        datasets.construct("anteval-characters", [], tmp_path / "never", cluster="ray")
    assert not (tmp_path / "never").exists()


def square(number: int) -> int:
    return number * number


def square_slowly(number: int) -> int:
    time.sleep(0.3)
    return number * number


def test_results_come_in_order_and_little_is_taken_ahead(cluster: Any) -> None:
    taken = 0

    def take() -> Iterator[int]:
        nonlocal taken
        while taken < 40:
            taken += 1
            yield taken - 1

    with join_cluster("ray") as joined:
        assert joined is not None
        for place, found in enumerate(joined.spread(square, take())):
            assert found == place * place
            assert taken <= place + 2 * tasks.AHEAD
    assert taken == 40


def test_what_a_lost_node_had_in_work_goes_to_another(cluster: Any) -> None:
    with join_cluster("ray") as joined:
        assert joined is not None
        squares = joined.spread(square_slowly, range(12))
        found = [next(squares)]
        cluster.lose_node()
        assert [*found, *squares] == [number * number for number in range(12)]


def raise_it(problem: Exception, _: int) -> None:
    raise problem


def end_the_process(_: int) -> None:
    os._exit(1)


def test_what_goes_wrong_is_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_LOST", 1)
    with join_cluster("ray") as joined:
        assert joined is not None

        def work(function: Any) -> None:
            list(joined.spread(function, [0]))

        with pytest.raises(InputError, match=r"^On the node .*: no data$"):
            work(partial(raise_it, InputError("no data")))
        with pytest.raises(InputError, match="install the same on every node"):
            work(partial(raise_it, ModuleNotFoundError("No module named 'rensa'")))
        with pytest.raises(RunStopped, match="KeyError: 'planted'"):
            work(partial(raise_it, KeyError("planted")))
        with pytest.raises(RunStopped, match="A worker was lost"):
            work(end_the_process)
        monkeypatch.setattr(tasks, "_list_versions", lambda: {"rensa": "9.9"})
        with pytest.raises(InputError, match=r"has rensa [\d.]+, and .* has 9\.9: install the same"):
            work(square)
        monkeypatch.setattr(tasks, "SECONDS_TO_BEGIN", 0.0)
        with pytest.raises(InputError, match="no processor of the cluster is free"):
            list(spread_over(1, 3, square, [0]))


def make_log(name: str, skill: str) -> Log:
    turns = tuple(Spoken(speaker=("Ann", "GM", "Bo")[number % 3], text=f"{name} {skill} {number}") for number in range(24))
    calls = [Call(before=6 * place, checks=(Check(character=("Ann", "Bo")[place % 2], skill=skill),)) for place in range(1, 5)]
    return Log(id=name, players=("Ann", "Bo"), master="GM", turns=turns, calls=tuple(calls))


def test_virtual_dungeon_masters_are_made_elsewhere_and_kept_here(cluster: Any, tmp_path: Path) -> None:
    skills = ("Stealth", "Arcana", "Perception")
    generated, training, held_out = ([make_log(f"{kind}{number}", skills[number % 3]) for number in range(6)] for kind in "gth")
    options = IegOptions(window=6, resamples=12, curve=False, quiet=0.5)
    sessions = SplitSessions(RealSessions((), "logs", {}, ""), training, held_out, options)

    class Forgetful(LocalKind):
        """It cannot train."""

        train = None  # type: ignore[assignment]

    run = partial(run_experiment, [[each] for each in generated], sessions)
    alone = run(LocalKind(), 0, tmp_path / "alone")
    steps: list[int] = []
    with join_cluster("ray") as joined:
        assert joined is not None
        together = run(LocalKind(), 0, tmp_path / "together", begin=lambda _: lambda: steps.append(1), spread=joined.spread)
        assert together == alone and len(steps) == 2 + 2 * 12 + 1
        kept, made = (
            {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.json")} for folder in tmp_path.iterdir()
        )
        assert kept == made and len(kept) == 6
        again = SplitSessions(sessions.real, training, held_out, options.model_copy(update={"resamples": 0}))
        found = run_experiment([[each] for each in generated], again, Forgetful(), 0, tmp_path / "together", spread=joined.spread)
        assert found is not None and found.confusion == alone.confusion


def test_a_run_has_its_virtual_dungeon_masters_trained_on_the_cluster(cluster: Any, tmp_path: Path) -> None:
    options = {"real": "stand-in", "resamples": 0, "turns": 6, "curve": False}
    run = partial(sociable.run, "anteval-ieg", "reference/expressive", options=options, limit=4)
    alone, together = run(out=tmp_path / "alone"), run(out=tmp_path / "together", cluster="ray")
    for name in ("scores.json", "masters/results.json", "masters/f_g/made_of.json"):
        assert Path(together.folder, name).read_bytes() == Path(alone.folder, name).read_bytes()
