"""Runs on a real cluster of Ray on this machine: equal to runs on one machine, also when a node or the driver dies."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import pooled_runs, studies
from sociable.cluster import on_ray
from sociable.cluster.crew import Crew
from sociable.cluster.messages import Item, RunSpecification
from sociable.cluster.on_ray import Hirer, connect
from sociable.cluster.worker import Worker
from sociable.core.errors import CostLimitReached, InputError, RunStopped, SociableError
from sociable.models.limits import Price

psutil = pytest.importorskip("psutil")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]  # Ray's files

RECORDS = ("references.jsonl", "episodes.jsonl", "judgments.jsonl", "scores.json")
CONNECTIONS = 6
COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def read_records(folder: str | Path) -> dict[str, bytes]:
    return {name: (Path(folder) / name).read_bytes() for name in RECORDS if (Path(folder) / name).exists()}


def run_hsii(server: Any, out: str, **more: Any) -> Any:
    model = f"openai-compatible/social@{server.url}"
    settings = {"limit": 1, "max_connections": CONNECTIONS} | more
    return sociable.run("hsii", model, partner=model, reference=model, judges=(model,), out=out, **settings)


def count_asked(server: Any) -> Counter[str]:
    return Counter({request["digest"]: request["count"] for request in server.requests()["requests"]})


def list_calls(folder: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(Path(folder) / "calls.sqlite")) as journal:
        return sorted(journal.execute("SELECT key, item, role, participant, model, request, reply, input_tokens FROM calls"))


@pytest.mark.parametrize(
    "benchmark, model, more",
    [
        ("hsii", "reference/oracle@0.3", {"judges": ("reference/rule",), "options": {"stages": "1,2"}, "limit": 2}),
        ("stss", "reference/heuristic", {"limit": 1}),
    ],
)
def test_reference_agents_do_the_same_on_a_cluster(cluster: Any, benchmark: str, model: str, more: dict[str, Any]) -> None:
    sociable.run(benchmark, model, out="alone", **more)
    sociable.run(benchmark, model, out="together", cluster="ray", **more)
    assert read_records("together") == read_records("alone")


def test_models_are_asked_from_the_nodes_and_all_is_kept_in_one_folder(
    cluster: Any, start_chat_server: Callable[[float], Any]
) -> None:
    server, whole = start_chat_server(5.0), start_chat_server(0.0)
    alone, together = run_hsii(whole, "alone"), run_hsii(server, "together", cluster="ray")
    assert read_records("together") == read_records("alone")
    assert list_calls("together") == list_calls("alone")
    assert together.manifest["usage"] == alone.manifest["usage"]
    assert count_asked(server) == count_asked(whole)
    assert 1 < server.requests()["models"]["social"]["peak"] <= CONNECTIONS


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_driver_outside_of_the_cluster_joins_it_by_address(cluster: Any, chat_server: Any) -> None:
    """In a process of its own: Ray keeps what it was in one."""
    model = f"openai-compatible/social@{chat_server.url}"
    arguments = ("hsii-cot", "--model", model, "--limit", "1", "--cycle-cap", "2")
    driver = start("run", *arguments, "--cluster", cluster.client, "--workers", "1", "--out", "together")
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode == 0, errors.decode()[-3000:]
    sociable.run("hsii-cot", model, limit=1, options={"cycle_cap": 2}, out="alone")
    assert read_records("together") == read_records("alone")


def wait_until(server: Any, total: int) -> None:
    until = time.monotonic() + 60
    while server.requests()["total"] < total:
        assert time.monotonic() < until, f"only {server.requests()['total']} calls of {total}"
        time.sleep(0.01)


def test_a_node_that_dies_costs_the_calls_under_way_and_nothing_else(
    cluster: Any, chat_server: Any, start_chat_server: Callable[[float], Any]
) -> None:
    server = start_chat_server(15.0)
    whole = start_chat_server(0.0)
    run_hsii(whole, "alone")
    expected = count_asked(whole)

    def lose_a_node() -> None:
        wait_until(server, sum(expected.values()) // 2)
        cluster.lose_node()

    losing = threading.Thread(target=lose_a_node)
    losing.start()
    run_hsii(server, "together", cluster="ray")
    losing.join()
    assert read_records("together") == read_records("alone")
    check_asked(server, expected)


def check_asked(server: Any, expected: Counter[str]) -> None:
    """All was asked, and of it no more a second time than calls may be under way: their places are kept until all is on disk."""
    repeated = count_asked(server) - expected
    assert count_asked(server) - repeated == expected
    assert sum(repeated.values()) <= CONNECTIONS


def list_workers() -> list[int]:
    """The processes of workers on the nodes that this process has begun."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "ray::Worker" in "".join(each.cmdline()[:1]):
                found.append(each.pid)
    return found


def kill(driver: subprocess.Popen[bytes]) -> None:
    """Kills a driver, and waits until its workers have ended."""
    assert list_workers()
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    until = time.monotonic() + 15
    while list_workers():
        assert time.monotonic() < until, "workers outlive their driver"
        time.sleep(0.1)


@pytest.mark.parametrize("where", ["ray", None])
def test_the_driver_dies_and_the_run_goes_on_without_buying_anything_twice(
    cluster: Any, start_chat_server: Callable[[float], Any], where: str | None
) -> None:
    whole, server = start_chat_server(0.0), start_chat_server(15.0)
    run_hsii(whole, "alone")
    expected = count_asked(whole)
    model = f"openai-compatible/social@{server.url}"
    roles = ("--model", model, "--partner", model, "--reference", model, "--judge", model)
    more = ("--limit", "1", "--max-connections", str(CONNECTIONS), "--out", "killed", "--cluster", "ray", "--workers", "2")
    driver = start("run", "hsii", *roles, *more)
    wait_until(server, sum(expected.values()) // 2)
    kill(driver)
    sociable.resume("killed", cluster=where)
    assert read_records("killed") == read_records("alone")
    check_asked(server, expected)


def test_the_driver_of_a_study_dies_and_all_runs_go_on(
    cluster: Any, start_chat_server: Callable[[float], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled_runs, "report", lambda _: None)
    whole, server = start_chat_server(0.0), start_chat_server(15.0)
    for out, where in (("alone", whole), ("killed", server)):
        # Three models, each with a limit of its own.
        Path(f"{out}.toml").write_text(f"""models = ["openai-compatible/social:a", "openai-compatible/social:b"]
benchmarks = ["hsii"]
partner = "openai-compatible/social"
judges = ["openai-compatible/social"]
reference = "openai-compatible/social"
base_url = "{where.url}"
max_connections = {CONNECTIONS // 3}
limit = 1
""")
    sociable.study("alone.toml", out="alone")
    expected = count_asked(whole)
    driver = start("study", "killed.toml", "--out", "killed", "--cluster", "ray", "--workers", "2")
    wait_until(server, sum(expected.values()) // 2)
    kill(driver)
    assert not studies.resume_study(Path("killed"), cluster="ray").problems
    runs = sorted(path.parent.name for path in Path("alone").glob("*/scores.json"))
    assert len(runs) == 2
    for run in runs:
        assert read_records(Path("killed") / run) == read_records(Path("alone") / run)
    check_asked(server, expected)


def test_one_limit_in_dollars_holds_for_all_workers(
    cluster: Any, chat_server: Any, start_chat_server: Callable[[float], Any]
) -> None:
    prices, server = {"openai-compatible/social": Price(input=1.0, output=1.0)}, start_chat_server(5.0)
    with pytest.raises(CostLimitReached):
        run_hsii(server, "limited", cluster="ray", workers=2, max_cost=0.01, prices=prices)
    with closing(sqlite3.connect("limited/calls.sqlite")) as journal:
        calls, tokens = journal.execute("SELECT COUNT(*), SUM(input_tokens + output_tokens) FROM calls").fetchone()
    assert sum(count_asked(server).values()) == calls
    assert 0.005 < tokens / 1_000_000 <= 0.01
    done = sociable.resume("limited", cluster="ray", workers=2, max_cost=10.0)
    run_hsii(chat_server, "alone")
    assert read_records(done.folder) == read_records("alone")


def test_clusters_that_cannot_be_used_are_told_in_one_sentence(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(**more: Any) -> str:
        with pytest.raises(InputError) as told:
            sociable.run("hsii-cot", "reference/oracle", limit=1, out="never", **more)
        return str(told.value)

    assert "127.0.0.1:1 cannot be reached" in run(cluster="ray://127.0.0.1:1")
    assert not Path("never").exists()
    assert "write ray, or ray://HOST:PORT" in run(cluster="slurm")
    assert "--workers" in run(workers=2)
    monkeypatch.setattr("sociable.cluster.crew.describe_packages", lambda: {"sociable": "9.9"})
    assert "install the same" in run(cluster="ray")


def test_a_head_that_cannot_begin_the_process_for_a_driver_is_asked_again(caplog: Any) -> None:
    answers = iter([ConnectionAbortedError("Initialization failure from server:"), None, ConnectionError("no\nway")])

    def initialize(**_: Any) -> None:
        if problem := next(answers):
            raise problem

    ray: Any = types.SimpleNamespace(init=initialize)
    on_ray.join(ray, "ray://127.0.0.1:1")
    assert "trying again" in caplog.text
    with pytest.raises(InputError, match=r"cannot be reached \(way\)"):
        on_ray.join(ray, "ray://127.0.0.1:1")


def test_what_has_no_room_on_the_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small memory for objects, and no disk that may be used after it."""
    utilities = pytest.importorskip("ray.cluster_utils")
    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "_system_config": {"local_fs_capacity_threshold": 0.0}}
    cluster = utilities.Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **small})
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    large = bytes(100 * 2**20)
    specification = RunSpecification("runs/large", {}, (), "1", {}, {}, {"data.jsonl": large}, {}, {})

    async def deliver(hirer: Hirer) -> None:
        await hirer().deliver([Item(0, "runs/large", "judge", (large,))])

    try:
        with connect("ray", 1) as (ray, _):
            with pytest.raises(InputError, match="The data of the run runs/large are too large for the cluster to hold"):
                Hirer(ray).send(specification)
            hirer = Hirer(ray)
            hirer.send(replace(specification, files={}))
            gc.collect()
            assert not hirer._sent, "the data of runs that are over pile up"
            with pytest.raises(RunStopped, match="no room, in memory or on disk, for what goes to a worker"):
                asyncio.run(deliver(Hirer(ray)))
    finally:
        cluster.shutdown()


def test_a_node_without_sociable_is_told_and_so_is_a_bug(cluster: Any) -> None:
    """As if on the nodes a module of ours were missing, and a worker had a bug."""

    class Broken(Worker):
        async def describe(self) -> Any:
            raise KeyError("planted")

    async def begin(hirer: Hirer) -> None:
        async with Crew(hirer, 1):
            pass

    absent = types.ModuleType("absent_module")
    absent.Worker = type("Worker", (Worker,), {"__module__": "absent_module"})  # type: ignore[attr-defined]
    with connect("ray", 1) as (ray, _), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "absent_module", absent)
        for kind, problem in ((absent.Worker, "install the same version of sociable"), (Broken, "KeyError: 'planted'")):
            hirer = Hirer(ray)
            hirer._actor = ray.remote(num_cpus=1)(kind)
            with pytest.raises(SociableError, match=re.escape(problem)):
                asyncio.run(begin(hirer))
