"""HSII's chain of thought, declared: how many cycles of thought and reflection until the right target is chosen."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="hsii-cot",
    version="1.1.0",
    title="HSII: chain of thought and reflection",
    study="sociable.benchmarks.hsii.cot.study:CoTStudy",
    options="sociable.benchmarks.hsii.cot.records:CoTOptions",
    views="sociable.benchmarks.hsii.cot.views:CoTViews",
    cluster_unit="dialogue",
    scenarios_called="pairs of case and design",
    reference_agents={Role.SUBJECT: ("oracle", "heuristic", "random", "silent")},
    demo={"options": {"cycle_cap": 16}},
    demo_agents=("oracle", "oracle@0.3", "heuristic", "random", "silent"),
)
