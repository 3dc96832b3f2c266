"""Duels, declared: two models bargain, each with a hidden sheet."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

AGENTS = ("oracle", "tit-for-tat", "concede", "hard-bargainer", "random", "silent")
SAMPLING = {"temperature": 0.7}

BENCHMARK = Benchmark(
    name="agentsense-duels",
    version="1.0.0",
    title="Duels: two models bargain, each with a hidden sheet",
    study="sociable.benchmarks.agentsense.duels.study:DuelStudy",
    options="sociable.benchmarks.agentsense.duels.records:DuelOptions",
    views="sociable.benchmarks.agentsense.duels.views:DuelViews",
    duels="agentsense-duels",
    anchors=("concede@0.5", "concede@0.8", "tit-for-tat", "hard-bargainer", "random"),
    cluster_unit="scene",
    scenarios_called="scenarios",
    reference_agents={Role.SUBJECT: AGENTS, Role.OPPONENT: AGENTS, Role.PARTNER: ("written",), Role.JUDGE: ("rule",)},
    graded_agents=("oracle", "concede"),
    demo={"opponent": "reference/concede", "judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "tit-for-tat", "concede", "hard-bargainer", "random", "silent"),
    role_defaults={Role.SUBJECT: SAMPLING, Role.OPPONENT: SAMPLING, Role.PARTNER: SAMPLING},
)
