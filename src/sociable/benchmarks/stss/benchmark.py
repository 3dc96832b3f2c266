"""STSS, declared: social tasks in a sandbox town, scored by what agents do.

Towards Objectively Benchmarking Social Intelligence for Language Agents at Action Level.
"""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

SAMPLING = {"temperature": 0.0, "max_tokens": 2048}
AGENTS = ("oracle", "listener", "diligent", "heuristic", "forgetful", "random", "comforter", "liar", "spammer", "silent")

BENCHMARK = Benchmark(
    name="stss",
    version="1.2.0",
    title="STSS: social tasks in a sandbox town",
    study="sociable.benchmarks.stss.study:StssStudy",
    options="sociable.benchmarks.stss.records:StssOptions",
    views="sociable.benchmarks.stss.views:StssViews",
    cluster_unit="task",
    scenarios_called="tasks",
    reference_agents={Role.SUBJECT: AGENTS, Role.PARTNER: ("residents",), Role.JUDGE: ("rule",)},
    role_defaults={Role.SUBJECT: SAMPLING, Role.PARTNER: SAMPLING},
    rehearsed="as if residents kept to their habits and talked to every other person they meet",
    demo={"partner": "reference/residents"},
    demo_agents=("oracle", "oracle@0.3", "heuristic", "forgetful", "random", "spammer", "silent"),
)
