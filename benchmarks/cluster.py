"""What a cluster costs and brings, on this machine: the overhead of a call, and what two workers do of towns and near-duplicates.

    python benchmarks/cluster.py [--quick] [--part calls|towns|duplicates]

Needs the extras sociable[datasets,ray]. Ray's own nodes are processes of this machine: a head without processors, and one of two.
What is timed are the episodes; until they begin, workers take some seconds, which is told apart.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from headlines import Headlines
from latency_server import serving

import sociable
from sociable.cluster.joining import join_cluster
from sociable.cluster.messages import Answered, Asked, Bought, GoAhead
from sociable.cluster.tasks import spread_over
from sociable.core.spreading import Spread, work_here
from sociable.datasets.duplicates import find_near_duplicates, import_rensa
from sociable.engine.phases import Progress
from sociable.engine.pool import EPISODES
from sociable.models.journal import Call, Journal
from sociable.models.limits import Budget

BENCHMARK = "hsii-cot"
"""Asks the model under test only, in four steps that follow one another."""
LATENCY_SECONDS = 0.5
CONNECTIONS = 100
WORKERS = 2
SAMPLE = 200
"""Calls whose messages are weighed."""
ORIGINALS, HEADLINES = 2_000, 45
"""Articles made afresh, each of so many headlines (3 KB). All others are one of these and a number: near-duplicates abound."""
ROUNDS = 5


@dataclass(frozen=True)
class Scale:
    """How much is asked and played."""

    repeats: int
    episodes: int
    towns: int
    articles: int


@dataclass(frozen=True)
class Measured:
    """One run: seconds until its first episode began, seconds of its episodes, of the driver's processor in them; calls."""

    begins: float
    wall: float
    processor: float
    calls: int


def measure(path: Path, benchmark: str, model: str, **settings: Any) -> Measured:
    """Carries out a run in a folder of its own, and times its episodes: neither its beginning nor its scoring."""
    began, moments = time.perf_counter(), list[tuple[float, float]]()

    def watch(counts: Progress, _: Budget) -> None:
        if counts.phase == EPISODES:
            moments.append((time.perf_counter(), time.process_time()))

    result = sociable.run(benchmark, model, out=path, watch=watch, **settings)
    (first, worked_first), (last, worked_last) = moments[0], moments[-1]
    calls = sum(usage["calls"] for usage in result.manifest["usage"].values())
    return Measured(first - began, last - first, worked_last - worked_first, calls)


def weigh_messages(call: Call) -> int:
    """The bytes that go over the network for a call, both ways, in as small groups as can be."""
    body = str(call.request).encode()
    asked = Asked(0, "runs/name", 0, (call.item, call.role, call.participant), bytes(20), body)
    messages = ([asked], [GoAhead(0, 0, 1, True)], [Bought(0, call.reply, ())], [Answered(0, None)])
    return sum(len(pickle.dumps(message)) for message in messages)


def measure_calls(folder: Path, scale: Scale, address: str) -> None:
    """Prints the overhead of a call to an endpoint of a fixed latency."""
    scenarios = list(sociable.load_study(BENCHMARK).scenarios)[: scale.episodes]
    model = f"openai-compatible/m@{address}"
    print(f"{scale.episodes * scale.repeats} episodes, {CONNECTIONS} calls at once, {LATENCY_SECONDS * 1000:.0f} ms each")
    walls: list[float] = []
    for name, where in (("one process", {}), (f"{WORKERS} workers", {"cluster": "ray", "workers": WORKERS})):
        settings = {"scenarios": scenarios, "repeats": scale.repeats, "max_connections": CONNECTIONS, **where}
        found = measure(folder / name, BENCHMARK, model, **settings)
        walls.append(found.wall)
        print(
            f"{name}: begins after {found.begins:.1f} s; {found.calls} calls in {found.wall:.1f} s, "
            f"{1000 * found.processor / found.calls:.2f} ms of the driver's processor a call",
            flush=True,
        )
    print(f"overhead: {walls[1] / walls[0]:.3f} times the wall of one process")
    with Journal(folder / "one process" / "calls.sqlite", replay_only=True) as journal:
        items = [f"{scenario}#0" for scenario in scenarios]
        calls_made = [call for item in items for call in journal.find_calls(item)][:SAMPLE]
    print(f"{sum(map(weigh_messages, calls_made)) / len(calls_made):,.0f} bytes a call between driver and worker")


def measure_towns(folder: Path, scale: Scale) -> None:
    """Prints how many times as fast two workers play towns of reference residents as one does."""
    walls: list[float] = []
    for workers in (1, WORKERS):
        where = {"cluster": "ray", "workers": workers}
        found = measure(folder / f"towns-{workers}", "stss", "reference/heuristic", repeats=scale.towns, **where)
        walls.append(found.wall)
        print(
            f"towns, {workers} workers: begins after {found.begins:.1f} s; then {found.wall:.1f} s, "
            f"{found.processor:.1f} s of the driver's processor in them",
            flush=True,
        )
    print(f"{walls[0] / walls[1]:.2f} times as fast with {WORKERS} workers")


def measure_duplicates(scale: Scale) -> None:
    """Prints how many times as fast near-duplicates are found with two workers as with one, and the driver's part in it."""
    make, numbers = Headlines(), iter(range(10**9))
    originals = [". ".join(make(number).text for number in islice(numbers, HEADLINES)) for _ in range(ORIGINALS)]
    texts = [(str(number), f"{originals[number % ORIGINALS]}. {number}") for number in range(scale.articles)]
    print(f"{scale.articles:,} articles of {statistics.fmean(len(text) for _, text in texts):,.0f} characters")

    def find(spread: Spread) -> tuple[float, float, int]:
        """Seconds, those of this process's processor, articles kept. Its workers have begun before."""
        list(spread(begin, range(WORKERS)))
        wall, processor = time.perf_counter(), time.process_time()
        kept = sum(kinship.is_kept for kinship in find_near_duplicates(texts, spread=spread))
        return time.perf_counter() - wall, time.process_time() - processor, kept

    wall, processor, kept = find(work_here)
    print(f"in this process: {wall:.1f} s, {1e6 * processor / scale.articles:.0f} µs of a processor each", flush=True)
    ratios = []
    with join_cluster("ray"):
        for _ in range(ROUNDS):
            # There is one worker where each task takes both processors.
            one, two = (find(partial(spread_over, workers, WORKERS // workers)) for workers in (1, WORKERS))
            if one[2] != kept or two[2] != kept:
                raise SystemExit("The cluster keeps other articles than one process.")
            ratios.append(one[0] / two[0])
            own = 1e6 * two[1] / scale.articles
            print(f"1 worker {one[0]:.1f} s, 2 workers {two[0]:.1f} s, {own:.0f} µs of the driver's processor each", flush=True)
    print(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) times as fast with {WORKERS} workers")


def begin(_: int) -> None:
    """Has a worker import what it needs, and holds it until others have begun."""
    import_rensa()
    time.sleep(1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a quarter of it")
    parser.add_argument("--part", choices=["calls", "towns", "duplicates"])
    asked = parser.parse_args(arguments)
    scale = Scale(1, 100, 1, 10_000) if asked.quick else Scale(10, 100, 6, 40_000)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        cluster.add_node(num_cpus=WORKERS)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if asked.part in (None, "calls"):
                measure_calls(folder, scale, stack.enter_context(serving(LATENCY_SECONDS)))
            if asked.part in (None, "towns"):
                measure_towns(folder, scale)
            if asked.part in (None, "duplicates"):
                measure_duplicates(scale)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
