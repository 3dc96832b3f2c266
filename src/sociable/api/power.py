"""Power: what a comparison of two models could tell apart, and how many cases, repeats and judges it takes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from sociable.api.reports import write_document
from sociable.api.results import load_results
from sociable.api.runs import run
from sociable.core.errors import InputError
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document
from sociable.engine.benchmark import Benchmark
from sociable.engine.opening import Watch, make_study_options, read_settings, use_kept_inputs
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.engine.study import AnyStudy
from sociable.reports.comparison import find_differences
from sociable.reports.power import show_power
from sociable.statistics.power import POWER

DIFFERENCE = 0.05


def plan_power(
    benchmark: str,
    runs: Sequence[str | Path | RunResult] = (),
    *,
    difference: float = DIFFERENCE,
    power: float = POWER,
    out: str | Path | None = None,
    watch: Watch | None = None,
) -> Document:
    """Tells by metric how large a difference between two models must be to be told apart, and how many cases it takes.

    The variances are those of the difference of two ``runs``; of one run, as if two models like it were independent; without a
    run, those of a reference agent, which is run at once, offline. ``difference`` is in the unit of each metric, ``power`` a
    probability. Raises InputError for runs of another benchmark, or that cannot be compared, and for a difference that no two
    models can have.
    """
    if not 0 < difference < inf or not 0.05 < power < 1:
        raise InputError("--difference must be above 0, and --power between 0.05 and 1.")
    found = find_benchmark(benchmark)
    if not runs:
        return _plan_with_reference_agent(found, difference=difference, power=power, out=out, watch=watch)
    results = load_results(runs)
    _check(found, results)
    names = [result.manifest["models"]["subject"] for result in results]
    origin = f"{names[0]} and {names[1]}" if len(names) == 2 else f"two models like {names[0]}, independent of each other"
    study = _open_all_cases(found, results[0])
    return write_document(show_power(found, study, results, origin, difference=difference, power=power), out)


def _check(benchmark: Benchmark, runs: Sequence[RunResult]) -> None:
    if len(runs) > 2:
        raise InputError(f"Variances are those of one run, or of two that are compared; these are {len(runs)}.")
    for each in runs:
        if each.manifest["benchmark"] != benchmark.name:
            raise InputError(f"{each.folder} is a run of {each.manifest['benchmark']}, not of {benchmark.name}.")
    if len(runs) == 2 and (different := find_differences(*runs)):
        raise InputError(f"{runs[0].folder} and {runs[1].folder} are not comparable. They differ in: {'; '.join(different)}.")


def _open_all_cases(benchmark: Benchmark, run_: RunResult) -> AnyStudy:
    """The study of a run with all the cases of its data, of which the run may have taken a part."""
    path = Path(run_.folder)
    manifest = RunFolder.open(path, lock=False).read_manifest()
    settings = use_kept_inputs(read_settings(manifest, path), manifest, path)
    return benchmark.open(**make_study_options(settings.model_copy(update={"limit": None})))


def _plan_with_reference_agent(
    benchmark: Benchmark, *, out: str | Path | None, watch: Watch | None, difference: float, power: float
) -> Document:
    agents = [name for name in benchmark.demo_agents if "@" in name or name == "random"]
    if not agents:
        raise InputError(f"{benchmark.name} has no reference agents to take variances from: name runs with --runs.")
    settings = {name: value for name, value in benchmark.demo.items() if name != "limit"}
    with TemporaryDirectory() as folder:
        result = run(benchmark.name, f"reference/{agents[0]}", out=Path(folder) / "run", repeats=2, watch=watch, **settings)
        origin = (
            f"two agents like reference/{agents[0]}, which err by lot and independently of each other. Models find whole "
            "clusters of cases hard, and often the same: name runs of models with --runs as soon as there are any"
        )
        # Repeats are run to see how much they vary; what is planned is one run of each case.
        document = show_power(benchmark, result.study, [result], origin, 1, difference=difference, power=power)
    return write_document(document, out)
