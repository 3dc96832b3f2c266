"""HSII's memory test, declared: are instructions kept for the right person, over other business?"""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="hsii-memory",
    version="1.1.0",
    title="HSII: memory retention",
    study="sociable.benchmarks.hsii.memory.study:MemoryStudy",
    views="sociable.benchmarks.hsii.memory.views:MemoryViews",
    cluster_unit="scenario",
    reference_agents={Role.SUBJECT: ("oracle", "heuristic", "obedient", "random", "silent"), Role.JUDGE: ("rule",)},
    demo={"judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "heuristic", "obedient", "random", "silent"),
)
