"""How fast the studio answers over a large folder: python benchmarks/studio_index.py [--episodes N] [--runs N] [--people N].

Writes runs of synthetic episodes (twelve turns of sixty words, three judges, ten metrics), serves them in a process of its own,
and asks it over a socket as a browser would: the list, each filter, one episode, and many people at once while a run grows.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

WORDS = ("deposit", "friday", "garden", "letter", "promise", "river", "ticket", "window", "answer", "secret", "uncle", "market")
JUDGES = ("judge-1", "judge-2", "judge-3")
METRICS = 10
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

SERVER = """
import sys
from pathlib import Path
from sociable.studio.server import StudioServer
server = StudioServer(Path(sys.argv[1]))
print(server.url, server.access.cookie, server.access.token, flush=True)
server.run()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--people", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_runs(folder, asked.episodes, asked.runs)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{asked.episodes} episodes in {asked.runs} runs, {size / 1e6:.0f} MB of records")
        with subprocess.Popen([sys.executable, "-c", SERVER, name], stdout=subprocess.PIPE, text=True) as process:
            try:
                measure(process, folder, asked.episodes, asked.people)
            finally:
                process.terminate()


def measure(process: subprocess.Popen[str], folder: Path, episodes: int, people: int) -> None:
    assert process.stdout is not None
    url, cookie, token = process.stdout.readline().split()

    def get(path: str) -> str:
        request = urllib.request.Request(url + path, headers={"Cookie": f"{cookie}={token}"})
        with OPENER.open(request, timeout=60) as answer:
            return str(answer.read().decode())

    started = time.perf_counter()
    while f"{episodes:,} episodes" not in get("/episodes"):
        time.sleep(0.25)
    while ">scored<" not in get("/") or get("/episodes?metric=metric-0").find(f"{episodes:,} episodes") < 0:
        time.sleep(0.25)
    print(f"index made in {time.perf_counter() - started:.1f} s; pages answered meanwhile")
    pages = {
        "runs": "/",
        "list of all": "/episodes",
        "last page": f"/episodes?page={episodes // 50}",
        "words": "/episodes?text=secret+uncle+garden",
        "score": "/episodes?metric=metric-0&low=0.2&high=0.4",
        "judges": "/episodes?judges=judges",
        "failure": "/episodes?failure=agent",
        "topic": "/episodes?topic=cluster-7",
        "all filters": "/episodes?metric=metric-0&low=0.2&judges=judges&topic=cluster&text=secret&failure=any",
        "one episode": "/episode?run=run-0&episode=case-0%230",
    }
    for name, path in pages.items():
        times = sorted(time_one(lambda path=path: get(path)) for _ in range(11))  # type: ignore[misc]
        print(f"{name:<12} median {times[5] * 1000:6.0f} ms, slowest {times[-1] * 1000:6.0f} ms")
    server = psutil.Process(process.pid)
    ask_at_once(get, list(pages.values())[:-1], folder, people, server)
    print(f"memory of the server {server.memory_info().rss / 2**20:.0f} MB")


def time_one(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ask_at_once(get: Callable[[str], str], paths: list[str], folder: Path, people: int, server: psutil.Process) -> None:
    """Fifty requests a second in all, while a run is appended to."""
    seconds, rate = 10, 50
    stopped = threading.Event()

    def append() -> None:
        with (folder / "run-0" / "episodes.jsonl").open("a") as stream:
            for number in count(1_000_000):
                if stopped.wait(0.1):
                    return
                stream.write(json.dumps(make_episode(random.Random(number), number)) + "\n")
                stream.flush()

    def ask(number: int, begin: float) -> float:
        time.sleep(max(0.0, begin + number / rate - time.perf_counter()))
        return time_one(lambda: get(paths[number % len(paths)]))

    writer = threading.Thread(target=append)
    writer.start()
    before = server.cpu_times()
    begin = time.perf_counter()
    with ThreadPoolExecutor(people) as pool:
        times = sorted(pool.map(lambda number: ask(number, begin), range(seconds * rate)))
    stopped.set()
    writer.join()
    after = server.cpu_times()
    used = (after.user + after.system - before.user - before.system) / len(times)
    p95 = statistics.quantiles(times, n=20)[-1]
    print(
        f"{rate} requests a second of {people} people: median {statistics.median(times) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms"
    )
    print(f"processor of the server {used * 1000:.1f} ms a request, the index's share among it")


def write_runs(folder: Path, episodes: int, runs: int) -> None:
    for run in range(runs):
        path = folder / f"run-{run}"
        path.mkdir()
        chance = random.Random(run)
        numbers = range(episodes // runs)
        models = {"subject": f"model-{run}", "judges": JUDGES}
        plain = {
            "format": 1,
            "benchmark": "synthetic",
            "version": "1",
            "created": f"2026-01-{run + 1:02}",
            "digests": {"dataset": "x"},
        }
        (path / "manifest.json").write_text(json.dumps({**plain, "episodes": len(numbers), "models": models, "settings": {}}))
        write_lines(path / "episodes.jsonl", (make_episode(chance, number) for number in numbers))
        write_lines(path / "judgments.jsonl", (each for number in numbers for each in make_judgments(chance, number)))
        scores = [each for number in numbers for each in make_scores(chance, number)]
        estimates = [{"metric": f"metric-{metric}", "value": 0.5, "low": 0.4, "high": 0.6} for metric in range(METRICS)]
        file = {"benchmark": "synthetic", "version": "1", "estimates": estimates, "scores": scores}
        (path / "scores.json").write_text(json.dumps(file, indent=1))


def write_lines(path: Path, records: Iterator[Any]) -> None:
    with path.open("w") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def make_episode(chance: random.Random, number: int) -> dict[str, Any]:
    turns: list[dict[str, Any]] = [
        {
            "index": index,
            "speaker": ("Ada", "Ben")[index % 2],
            "addressees": [],
            "content": " ".join(chance.choices(WORDS, k=60)),
            "thinking": "",
            "note": "cut off at its token limit" if chance.random() < 0.005 else "",
        }
        for index in range(12)
    ]
    return {
        "id": f"case-{number}#0",
        "scenario": f"case-{number}",
        "cluster": f"cluster-{number % 40}",
        "status": "completed",
        "turns": turns,
    }


def make_judgments(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    for criterion in ("fair", "kind", "goal"):
        for judge in JUDGES:
            ids = {
                "id": f"case-{number}#0|{criterion}|{judge}",
                "episode": f"case-{number}#0",
                "criterion": criterion,
                "judge": judge,
            }
            yield ids | {"verdict": chance.choice(["win", "tie", "loss"]), "reason": "", "orders_disagree": chance.random() < 0.2}


def make_scores(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    for metric in range(METRICS):
        ids = {"metric": f"metric-{metric}", "scenario": f"case-{number}", "cluster": f"cluster-{number % 40}", "repeat": 0}
        yield ids | {"outcome": "scored", "value": chance.random(), "reason": ""}


if __name__ == "__main__":
    main()
