"""How fast the town lives: beside what the rule allows, beside lockstep, and in processor time. See README.md.

python benchmarks/town_speed.py [--quick] [--part waiting|wall|processor|lagging]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import multiprocessing
import random
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from critical_path import Trace
from towns import LatentModel, generative_town, helper, reference_town

from sociable.town.bodies import Scheduler, ahead, lockstep
from sociable.town.clock import MINUTES_PER_DAY

R = TypeVar("R")

TWO_DAYS = 2 * MINUTES_PER_DAY
ROUNDS = 3
"""Of measurements of processor time; the quickest counts, as a shared machine only ever adds to it."""
LATENCIES: dict[str, Callable[[random.Random], float]] = {
    "100 ms": lambda draw: 0.1,
    # Mean 100 ms, median 49 ms, one call in a hundred above 0.8 s.
    "heavy tail": lambda draw: 0.1 * draw.lognormvariate(-0.72, 1.2),
}
SCHEDULERS: dict[str, Scheduler] = {"ahead": ahead, "lockstep": lockstep}


@dataclass(frozen=True)
class Scale:
    waiting: Sequence[tuple[int, str]]
    """How many residents, and with which latency."""
    wall_residents: Sequence[int]
    wall_minutes: int
    """From midnight, what is lived in real time."""
    copies: Sequence[int]
    """Of the town of 25."""
    lagging: Sequence[int]
    """Copies in which minds take their time."""


FULL = Scale(
    waiting=[(12, "100 ms"), (12, "heavy tail"), (25, "100 ms"), (25, "heavy tail"), (100, "100 ms")],
    wall_residents=[12, 25],
    wall_minutes=11 * 60,
    copies=[1, 4, 16, 40],
    lagging=[1, 4, 16, 40],
)
QUICK = Scale(waiting=[(12, "100 ms")], wall_residents=[12], wall_minutes=9 * 60, copies=[1, 4], lagging=[1, 4])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures how fast the town lives.")
    parser.add_argument("--quick", action="store_true", help="little of everything, in about half a minute")
    parser.add_argument("--part", choices=["waiting", "wall", "processor", "lagging"], help="only one of the four tables")
    arguments = parser.parse_args()
    scale = QUICK if arguments.quick else FULL
    parts: dict[str, Callable[[Scale], None]] = {
        "waiting": measure_waiting,
        "wall": measure_wall,
        "processor": measure_processor,
        "lagging": measure_lagging,
    }
    for name, part in parts.items():
        if arguments.part in (None, name):
            part(scale)


# If nothing but waiting for a model took time.


@dataclass(frozen=True)
class Waited:
    seconds: float
    critical_seconds: float
    one_at_a_time_seconds: float
    calls: int
    log: str
    """A fingerprint of the event log."""


def measure_waiting(scale: Scale) -> None:
    print(f"\n## Waiting for a model, two days, by virtual clock\n\n{_heading('waiting')}")
    for residents, latency in scale.waiting:
        for tiles_per_minute in (1, 6):
            found = {name: in_process(waited, name, residents, latency, tiles_per_minute, TWO_DAYS) for name in SCHEDULERS}
            ahead, lockstep = found["ahead"], found["lockstep"]
            assert ahead.log == lockstep.log, "the two schedulers' logs differ"
            assert abs(ahead.critical_seconds - lockstep.critical_seconds) < 1e-6, "the critical path depends on the scheduler"
            print(
                f"| {residents} | {tiles_per_minute} | {latency} | {ahead.calls:,} | {ahead.critical_seconds:.0f} "
                f"| {ahead.seconds:.0f} | {lockstep.seconds:.0f} | {ahead.one_at_a_time_seconds:.0f} "
                f"| {ahead.seconds / ahead.critical_seconds:.2f} | {lockstep.seconds / ahead.seconds:.2f} "
                f"| {ahead.one_at_a_time_seconds / ahead.seconds:.1f} |",
                flush=True,
            )


def waited(scheduler: str, residents: int, latency: str, tiles_per_minute: int, minutes: int) -> Waited:
    model, trace = LatentModel(LATENCIES[latency]), Trace()
    simulation = generative_town(
        SCHEDULERS[scheduler], model, residents=residents, tiles_per_minute=tiles_per_minute, minutes=minutes, trace=trace
    )
    _, seconds = helper("town/virtual_time.py").run_in_virtual_time(simulation.run)
    log = hashlib.blake2b("\n".join(event.model_dump_json() for event in simulation.events).encode()).hexdigest()
    return Waited(seconds, trace.critical_seconds, model.seconds, model.calls, log)


# In real time.


def measure_wall(scale: Scale) -> None:
    end = scale.wall_minutes
    print(f"\n## Real time, 100 ms a call, the first {end // 60} hours\n\n{_heading('wall')}")
    for residents in scale.wall_residents:
        for tiles_per_minute in (1, 6):
            bound = in_process(waited, "ahead", residents, "100 ms", tiles_per_minute, end)
            wall, processor = in_process(lived, residents, tiles_per_minute, end)
            print(
                f"| {residents} | {tiles_per_minute} | {bound.calls:,} | {bound.seconds:.1f} | {wall:.1f} "
                f"| {wall / bound.seconds:.3f} | {1000 * processor / bound.calls:.2f} |",
                flush=True,
            )


def lived(residents: int, tiles_per_minute: int, minutes: int) -> tuple[float, float]:
    """Wall and processor seconds, after a warm-up."""
    waited("ahead", residents, "100 ms", tiles_per_minute, 8 * 60)
    model = LatentModel(LATENCIES["100 ms"])
    simulation = generative_town(ahead, model, residents=residents, tiles_per_minute=tiles_per_minute, minutes=minutes)
    wall, processor = time.perf_counter(), time.process_time()
    asyncio.run(simulation.run())
    return time.perf_counter() - wall, time.process_time() - processor


# Without a model.


def measure_processor(scale: Scale) -> None:
    print(f"\n## Processor time and memory, reference residents, two days\n\n{_heading('processor')}")
    first = 0.0
    for copies in scale.copies:
        runs = [in_process(processed, copies) for _ in range(ROUNDS)]
        residents, setup, seconds, kilobytes, events = min(runs, key=lambda run: run[2])
        micro = 1e6 * seconds / residents / TWO_DAYS
        first = first or micro
        print(
            f"| {residents:,} | {events:,} | {1000 * setup / residents:.2f} | {micro:.2f} | {micro / first:.2f} "
            f"| {kilobytes / residents:.0f} |",
            flush=True,
        )


def processed(copies: int) -> tuple[int, float, float, float, int]:
    """Residents, processor seconds to make the town and to live two days, and KB of memory that grew, after a warm-up."""
    asyncio.run(reference_town(ahead, copies=1).run(until=MINUTES_PER_DAY // 2))
    gc.collect()
    before = _peak_kilobytes()
    start = time.process_time()
    simulation = reference_town(ahead, copies=copies)
    made = time.process_time()
    asyncio.run(simulation.run())
    end = time.process_time()
    return len(simulation.bodies), made - start, end - made, _peak_kilobytes() - before, len(simulation.events)


# With minds that take their time.


def measure_lagging(scale: Scale) -> None:
    print(f"\n## Processor time where minds take their time, heavy tail, two days\n\n{_heading('lagging')}")
    first = 0.0
    for copies in scale.lagging:
        found = {name: in_process(lagged, name, copies) for name in SCHEDULERS}
        (residents, ahead, waited_ahead, log), (_, lockstep, waited_lockstep, other) = found["ahead"], found["lockstep"]
        assert log == other, "the two schedulers' logs differ"
        micro = 1e6 * ahead / residents / TWO_DAYS
        first = first or micro
        print(
            f"| {residents:,} | {micro:.2f} | {micro / first:.2f} | {ahead / lockstep:.2f} "
            f"| {waited_ahead:.0f} | {waited_lockstep:.0f} | {waited_lockstep / waited_ahead:.2f} |",
            flush=True,
        )


def lagged(scheduler: str, copies: int) -> tuple[int, float, float, str]:
    """Residents, processor seconds, seconds waited by virtual clock, and the log's fingerprint; after a warm-up."""
    asyncio.run(reference_town(ahead, copies=1).run(until=MINUTES_PER_DAY // 2))
    simulation = reference_town(SCHEDULERS[scheduler], copies=copies, latency=LATENCIES["heavy tail"])
    start = time.process_time()
    _, seconds = helper("town/virtual_time.py").run_in_virtual_time(simulation.run)
    end = time.process_time()
    digest = hashlib.blake2b()
    for event in simulation.events:
        digest.update(event.model_dump_json().encode())
    return len(simulation.bodies), end - start, seconds, digest.hexdigest()


def _peak_kilobytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def in_process(work: Callable[..., R], *arguments: object) -> R:
    """In a process that has done nothing before."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


_COLUMNS = {
    "waiting": "residents | tiles a minute | latency | calls | critical path, s | ahead, s | lockstep, s | one at a time, s "
    "| ahead / critical | lockstep / ahead | one at a time / ahead",
    "wall": "residents | tiles a minute | calls | bound, s | wall, s | wall / bound | CPU ms / call",
    "lagging": "residents | µs / resident-minute, ahead | × the smallest | ahead / lockstep | waited ahead, s | in lockstep, s "
    "| lockstep / ahead",
    "processor": "residents | events | ms to make one | µs / resident-minute | × the smallest | KB / resident",
}


def _heading(table: str) -> str:
    columns = _COLUMNS[table]
    return f"| {columns} |\n|{'---|' * (columns.count('|') + 1)}"


if __name__ == "__main__":
    main()
