"""STSS's language level, declared: conversations frozen out of simulations, played again and judged."""

from sociable.benchmarks.stss.benchmark import AGENTS, SAMPLING
from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="stss-conversations",
    version="1.0.0",
    title="STSS: conversations out of the sandbox town",
    study="sociable.benchmarks.stss.conversations.study:ConversationStudy",
    options="sociable.benchmarks.stss.conversations.records:ConversationOptions",
    views="sociable.benchmarks.stss.conversations.views:ConversationViews",
    cluster_unit="task",
    scenarios_called="scenes",
    reference_agents={Role.SUBJECT: AGENTS, Role.PARTNER: ("residents",), Role.REFERENCE: (), Role.JUDGE: ("rule",)},
    role_defaults={Role.SUBJECT: SAMPLING, Role.PARTNER: SAMPLING},
    people_play=(),
    demo={"partner": "reference/residents", "judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "heuristic", "forgetful", "random", "silent"),
)
"""The language level bound to its scenes, prompts and options."""
