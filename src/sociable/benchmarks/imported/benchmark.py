"""The declaration. It is not listed among benchmarks: nobody can be tested on it, and `sociable import` makes its runs."""

from __future__ import annotations

from sociable.engine.benchmark import Benchmark

BENCHMARK = Benchmark(
    name="imported",
    version="1.0.0",
    title="Conversations recorded by other tools",
    study="sociable.benchmarks.imported.study:ImportedStudy",
    options="sociable.benchmarks.imported.study:ImportedOptions",
    cluster_unit="task",
    scenarios_called="conversations",
)
