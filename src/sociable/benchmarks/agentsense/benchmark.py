"""AgentSense, declared: scenes with private goals and secrets, judged from three sides.

AgentSense: Benchmarking Social Intelligence of Language Agents through Interactive Scenarios.
"""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

AGENTS = ("oracle", "heuristic", "blurt", "echo", "denier", "constant-yes", "dump", "random", "silent")
SAMPLING = {"temperature": 1.0, "max_tokens": 128}  # section 3.3

BENCHMARK = Benchmark(
    name="agentsense",
    version="1.1.0",
    title="AgentSense: scenes with private goals and secrets",
    study="sociable.benchmarks.agentsense.study:AgentSenseStudy",
    options="sociable.benchmarks.agentsense.records:AgentSenseOptions",
    views="sociable.benchmarks.agentsense.views:AgentSenseViews",
    series="sociable.benchmarks.agentsense.series:SeriesOptions",
    duels="agentsense-duels",
    cluster_unit="template",
    scenarios_called="scenarios",
    reference_agents={Role.SUBJECT: AGENTS, Role.PARTNER: AGENTS, Role.REFERENCE: (), Role.JUDGE: ("rule",)},
    role_defaults={Role.SUBJECT: SAMPLING, Role.PARTNER: SAMPLING},
    demo={"judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "heuristic", "blurt", "echo", "random", "silent"),
    demo_cases={
        "judges": ("reference/rule",),
        "scenarios": ("one-berth-two-tickets:1",),
        "options": {"turns": 8, "probe_tokens": 24},
        "roles": {"subject": {"max_tokens": 64}},
    },
)
