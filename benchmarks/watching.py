"""The processor time that it takes to keep a run's status, and to look at it.

    python benchmarks/watching.py [--runs 200]

A status is kept for a run that is as busy as can be: every count changes between one second and the next, and thirty estimates of
six metrics are there already. Then the folder is looked at, as `sociable status` does, while it is at work and afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sociable.api.watching import find_status
from sociable.core.records import Estimate, Usage
from sociable.core.run_folder import hold_lock
from sociable.engine.phases import Progress
from sociable.engine.status import POINTS, SECONDS_BETWEEN_LOOKS, State, StatusKeeper
from sociable.engine.watching import MOST_METRICS, SHARE_OF_TIME
from sociable.models.limits import Budget

SIGNS = 500
"""Times that the status is written."""


def measure_milliseconds(work: Callable[[], object], times: int) -> float:
    """Processor time of one call, that of the system included."""
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times * 1000


async def measure_keeping(folder: Path) -> float:
    """Milliseconds that one sign takes."""
    progress = Progress("episodes", 10_000)
    budget = Budget({}, limit=100.0)
    keeper = StatusKeeper(folder, budget, lambda: progress, lambda _: None)

    def sign() -> None:
        progress.count(f"a reason, number {progress.done % 10}")
        budget.book("a-model", "subject", Usage(calls=1, input_tokens=900, output_tokens=60))
        keeper._take_control()
        keeper._write(State.RUNNING)

    with keeper:
        for point in range(POINTS):
            half = 0.5 / (point + 1)
            some = [
                Estimate(metric=f"metric {each}", value=0.5, low=0.5 - half, high=0.5 + half, scored=point)
                for each in range(MOST_METRICS)
            ]
            keeper.note_estimates(some, point)
        spent = measure_milliseconds(sign, SIGNS)
        size = (folder / "status.json").stat().st_size / 1024
        looked = measure_milliseconds(lambda: find_status(folder), SIGNS)
    print(f"a sign:                  {spent:.2f} ms, {size:.0f} KB; {spent / SECONDS_BETWEEN_LOOKS / 10:.2f} % of a core")
    print(f"a look, run at work:     {looked:.2f} ms")
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="folders that are looked at")
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "manifest.json").write_text("{}")
        with hold_lock(folder):
            asyncio.run(measure_keeping(folder))
        spent = measure_milliseconds(lambda: find_status(folder), runs)
        print(f"a look, run that ended:  {spent:.2f} ms; {runs} folders {spent * runs:.0f} ms")
    print(f"estimates so far:        at most {100 * SHARE_OF_TIME:.0f} % of the time, by the pauses between them")


if __name__ == "__main__":
    main()
