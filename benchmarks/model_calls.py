"""What a model call costs beside the model's own time: see README.md in this folder.

    python benchmarks/model_calls.py [--quick]

Every measurement is a process of its own against a server process of fixed latency. The clients take turns, and what
counts is their ratio within one run: the machine may be slow or busy, it is so for all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from clients import CLIENTS, table_bytes
from latency_server import serving
from workload import Work, request_kilobytes

WARM_UP = Work(episodes=4, connections=4)


@dataclass(frozen=True)
class Measurement:
    """One client doing the work once."""

    client: str
    work: Work
    wall_seconds: float
    processor_seconds: float
    """Of the whole process, all its threads, the kernel's part included."""
    megabytes_before: float
    """Peak resident memory after the warm-up."""
    megabytes: float
    """Peak resident memory at the end."""
    table_bytes: int
    """Ids and offsets of the records, at the end."""

    @property
    def milliseconds_per_call(self) -> float:
        return 1000 * self.processor_seconds / self.work.calls


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rounds: int
    busy_episodes: int
    memory_episodes: tuple[int, int]


WHOLE = Scale(rounds=3, busy_episodes=200, memory_episodes=(1_000, 10_000))
QUICK = Scale(rounds=1, busy_episodes=40, memory_episodes=(200, 1_000))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one round and less work: about a minute")
    parser.add_argument("--rounds", type=int, help="rounds of the first two measurements; their medians are shown")
    parser.add_argument("--folder", type=Path, help="where runs are written meanwhile (default: the system's temporary folder)")
    options = parser.parse_args(arguments)
    scale = QUICK if options.quick else WHOLE
    scale = replace(scale, rounds=options.rounds or scale.rounds)
    measure_waiting(scale, options.folder)
    measure_streams(scale, options.folder)
    measure_busy(scale, options.folder)
    measure_memory(scale, options.folder)


def measure_waiting(scale: Scale, folder: Path | None) -> None:
    """How near a run comes to the least time the server's latency allows."""
    work, latency_seconds = Work(episodes=100, connections=100), 0.5
    ideal_seconds = work.rounds * latency_seconds
    print_heading(f"500 ms: ideal {work.rounds} × 0.5 = {ideal_seconds:.1f} s; aim 1.05 of it, at most 1.10", work)
    found = measure_in_turns(["sociable", "bare aiohttp"], work, latency_seconds, scale.rounds, folder)
    print_table(found, "wall / ideal", lambda measurement: measurement.wall_seconds / ideal_seconds)


def measure_streams(scale: Scale, folder: Path | None) -> None:
    """The same from a server that sends its replies word by word; bare aiohttp does not ask for that."""
    work, latency_seconds = Work(episodes=100, connections=100), 0.5
    ideal_seconds = work.rounds * latency_seconds
    print_heading(f"500 ms as a stream: ideal {ideal_seconds:.1f} s; aim 1.05 of it, at most 1.10", work)
    clients = ["sociable", "bare aiohttp"]
    found = measure_in_turns(clients, work, latency_seconds, scale.rounds, folder, streams=True)
    print_table(found, "wall / ideal", lambda measurement: measurement.wall_seconds / ideal_seconds)


def measure_busy(scale: Scale, folder: Path | None) -> None:
    """What a call costs when the server never makes anybody wait."""
    work = Work(episodes=scale.busy_episodes, connections=100)
    clients = [name for name in CLIENTS if not name.startswith("openai") or find_spec("openai")]
    print_heading("0 ms: aim 0.8 ms of processor time a call, at most 1.2, on a machine where bare aiohttp needs 0.18", work)
    found = measure_in_turns(clients, work, 0.0, scale.rounds, folder)
    print_table(found, "wall ms / call", lambda measurement: 1000 * measurement.wall_seconds / measurement.work.calls)


def measure_memory(scale: Scale, folder: Path | None) -> None:
    """Whether memory depends on how many episodes there are."""
    small, large = (Work(episodes, connections=100, turns=5, questions=0) for episodes in scale.memory_episodes)
    print_heading("Memory, 0 ms: peak flat within a few percent", small)
    with serving(0.0) as base_url:
        few, many = (measure_in_process("sociable", work, base_url, folder) for work in (small, large))
    print("| episodes | peak MB | ids and offsets, KB |\n|---|---|---|")
    for found in (few, many):
        print(f"| {found.work.episodes:,} | {found.megabytes:.1f} | {found.table_bytes / 1000:.0f} |")
    more = many.megabytes - few.megabytes
    tables = (many.table_bytes - few.table_bytes) / 1_000_000
    print(
        f"\n{large.episodes // small.episodes} times the episodes: peak × {many.megabytes / few.megabytes:.3f} (+{more:.1f} MB, "
        f"of which ids and offsets {tables:.1f} MB: {many.table_bytes / large.episodes:.0f} bytes an episode).\n"
    )


def measure_in_turns(
    clients: Iterable[str], work: Work, latency_seconds: float, rounds: int, folder: Path | None, *, streams: bool = False
) -> dict[str, list[Measurement]]:
    """By client, one measurement a round."""
    found: dict[str, list[Measurement]] = {client: [] for client in clients}
    with serving(latency_seconds, streams=streams) as base_url:
        for _ in range(rounds):
            for client, measurements in found.items():
                measurements.append(measure_in_process(client, work, base_url, folder))
    return found


def measure_in_process(client: str, work: Work, base_url: str, folder: Path | None) -> Measurement:
    """Measures in a process that has done nothing before."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, client, work, base_url, folder).result()


def measure(client: str, work: Work, base_url: str, folder: Path | None) -> Measurement:
    """Does the work once, after a warm-up, and checks with the server that it was done."""
    with tempfile.TemporaryDirectory(dir=folder) as warm, tempfile.TemporaryDirectory(dir=folder) as place:
        asyncio.run(_await(client, replace(WARM_UP, turns=work.turns), base_url, Path(warm)))
        before, megabytes_before = _asked_of(base_url), _peak_megabytes()
        wall, processor = time.perf_counter(), time.process_time()
        asyncio.run(_await(client, work, base_url, Path(place)))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        megabytes, after = _peak_megabytes(), _asked_of(base_url)
        calls, size = after["calls"] - before["calls"], after["bytes"] - before["bytes"]
        expected = 1000 * request_kilobytes(work) * work.calls
        assert calls == work.calls, f"{client} made {calls} calls instead of {work.calls}"
        # sociable asks for streams, which the ready-made requests do not.
        assert abs(size / expected - 1) < 0.04, f"{client} sent {size} bytes instead of {expected:.0f}"
        return Measurement(client, work, wall, processor, megabytes_before, megabytes, table_bytes(Path(place)))


async def _await(client: str, work: Work, base_url: str, folder: Path) -> None:
    await CLIENTS[client](work, base_url, folder)


def _asked_of(base_url: str) -> dict[str, int]:
    """What the server has been asked so far."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(base_url) as response:
        return dict(json.load(response))


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2 ** (20 if sys.platform == "darwin" else 10)


def print_heading(title: str, work: Work) -> None:
    calls = f"{work.turns} turns and {work.questions} questions" if work.questions else f"{work.turns} turns"
    print(f"## {title}\n")
    print(f"{work.connections} connections, episodes of {calls}, requests of {request_kilobytes(work):.1f} KB.\n", flush=True)


def print_table(found: dict[str, list[Measurement]], title: str, wall: Callable[[Measurement], float]) -> None:
    """Medians over the rounds, with lowest and highest; processor time beside that of the bare loop in the same round."""
    rounds = {len(measurements) for measurements in found.values()}
    print(f"{max(rounds)} round(s), {found['sociable'][0].work.calls:,} calls each.\n")
    print(f"| client | {title} | CPU ms / call | CPU / bare | peak MB | growth MB |\n|---|---|---|---|---|---|")
    for client, measurements in found.items():
        ratios = [
            own.processor_seconds / bare.processor_seconds for own, bare in zip(measurements, found["bare aiohttp"], strict=True)
        ]
        cells = [
            _spread([wall(measurement) for measurement in measurements], 3),
            _spread([measurement.milliseconds_per_call for measurement in measurements], 3),
            _spread(ratios, 2),
            f"{max(measurement.megabytes for measurement in measurements):.0f}",
            f"{max(measurement.megabytes - measurement.megabytes_before for measurement in measurements):.1f}",
        ]
        print(f"| {client} | {' | '.join(cells)} |")
    print(flush=True)


def _spread(values: Sequence[float], decimals: int) -> str:
    """The median; with several values also the lowest and the highest."""
    median = f"{statistics.median(values):.{decimals}f}"
    return median if len(values) == 1 else f"{median} ({min(values):.{decimals}f}–{max(values):.{decimals}f})"


if __name__ == "__main__":
    main()
