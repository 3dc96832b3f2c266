"""How long the local virtual dungeon master takes to learn and to read. See README.md.

python benchmarks/dungeon_masters.py [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import time

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.masters.local import LocalKind
from sociable.benchmarks.anteval.ieg.protocol import load_ieg_prompts, run_session
from sociable.benchmarks.anteval.ieg.real import EVEN
from sociable.benchmarks.anteval.ieg.records import IegOptions
from sociable.benchmarks.anteval.ieg.scenario import draw_scenarios, make_log
from sociable.benchmarks.anteval.ieg.windows import cut_windows
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling

WINDOWS = (100, 600, 3500)
"""A few episodes; the paper's sessions; all calls that 159 episodes of CRD3 would give."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="without the largest")
    sizes = WINDOWS[:-1] if arguments.parse_args().quick else WINDOWS
    print("| windows | first training, s | another training, s | ms to read a window | s, of a run with 100 resamples |")
    print("|---|---|---|---|---|")
    for size in sizes:
        windows = cut_windows(asyncio.run(sessions(size, 1)), 30)
        test = cut_windows(asyncio.run(sessions(200, 2)), 30)
        with threadpool_limits(1):
            began = time.perf_counter()
            LocalKind().train(windows, 0, "first")
            first = time.perf_counter() - began
            began = time.perf_counter()
            master = LocalKind().train(windows, 1, "another")
            another = time.perf_counter() - began
            began = time.perf_counter()
            master.predict(test)
            read = time.perf_counter() - began
        # Six masters, three of them again on a hundred halves, forty halves for the floor, and some five for the curve.
        whole = 2 * first + (9 + 0.5 * (3 * 100 + 40)) * another
        print(f"| {len(windows):,} | {first:.2f} | {another:.2f} | {1000 * read / len(test):.2f} | {whole:.0f} |")


async def sessions(count: int, seed: int) -> list[Log]:
    """Of the expressive reference agent."""
    seats = Seats(Seat(Role.SUBJECT, "reference/expressive", None, Sampling()))
    drawn = draw_scenarios(load_sheets(None).items, count, EVEN, IegOptions(), seed)
    return [make_log(each, await run_session(each, 0, seats, load_ieg_prompts(), seed=seed)) for each in drawn]


if __name__ == "__main__":
    main()
