"""How long a study takes beside its slowest run: eight runs of fifty episodes, one endpoint ten times slower than the others.

    python benchmarks/study.py [--quick]

The endpoints are server processes of fixed latency. The bound is what the slow endpoint alone must take: its calls, so many at
once, one after the other. Beside the study stands what went before it: the same runs, one after the other.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from latency_server import serving

import sociable

BENCHMARK = "hsii-cot"
"""Asks the model under test only, in four steps that follow one another."""
STEPS = 4
CONNECTIONS = 5
SLOWER = 10
RUNS = 8


@dataclass(frozen=True)
class Scale:
    """How much is asked."""

    episodes: int
    seconds: float
    """The latency of the fast endpoints."""

    @property
    def bound_seconds(self) -> float:
        return self.episodes / CONNECTIONS * STEPS * SLOWER * self.seconds


def name_model(number: int, address: str) -> str:
    return f"openai-compatible/m{number}@{address}"


def time_study(folder: Path, models: Sequence[str], scenarios: Sequence[str]) -> float:
    """The seconds of all runs together."""
    file = folder / "study.toml"
    file.write_text(
        f"models = {list(models)}\nbenchmarks = ['{BENCHMARK}']\nscenarios = {list(scenarios)}\nmax_connections = {CONNECTIONS}\n"
    )
    began = time.perf_counter()
    result = sociable.study(file, out=folder / "study")
    seconds = time.perf_counter() - began
    assert all(run.is_finished for run in result.runs), result.problems
    return seconds


def time_loop(folder: Path, models: Sequence[str], scenarios: Sequence[str]) -> float:
    """The seconds of the same runs, one after the other."""
    began = time.perf_counter()
    for number, model in enumerate(models):
        path = folder / f"{number}"
        sociable.run(BENCHMARK, model, out=path, scenarios=scenarios, max_connections=CONNECTIONS)
        sociable.report(path)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of it")
    scale = Scale(10, 0.05) if parser.parse_args().quick else Scale(50, 0.05)
    scenarios = list(sociable.load_study(BENCHMARK).scenarios)[: scale.episodes]
    with ExitStack() as stack:
        latencies = [scale.seconds] * (RUNS - 1) + [SLOWER * scale.seconds]
        models = [name_model(number, stack.enter_context(serving(latency))) for number, latency in enumerate(latencies)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # Not measured: what a process does once.
        sociable.report(sociable.run(BENCHMARK, models[0], out=folder / "first", scenarios=scenarios[:1]))
        print(f"{RUNS} runs of {scale.episodes} episodes, {CONNECTIONS} calls at once to each endpoint")
        print(f"bound of the slowest: {scale.bound_seconds:.1f} s")
        for name, measure in (("study", time_study), ("one run after the other", time_loop)):
            seconds = measure(folder, models, scenarios)
            print(f"{name}: {seconds:.1f} s, {seconds / scale.bound_seconds:.2f} times the bound", flush=True)


if __name__ == "__main__":
    main()
