"""HSII, declared: How Social Is It? A Benchmark for LLMs' Capabilities in Multi-user Multi-turn Social Agent Tasks."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="hsii",
    version="1.5.0",
    title="HSII: an assistant among many users",
    study="sociable.benchmarks.hsii.study:HSIIStudy",
    options="sociable.benchmarks.hsii.records:HSIIOptions",
    views="sociable.benchmarks.hsii.views:HSIIViews",
    cluster_unit="dialogue",
    reference_agents={
        Role.SUBJECT: ("better", "brief", "oracle", "heuristic", "random", "silent"),
        Role.PARTNER: ("heuristic",),
        Role.REFERENCE: ("oracle",),
        Role.JUDGE: ("rule",),
    },
    demo={"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)},
    demo_agents=("better", "oracle", "oracle@0.3", "heuristic", "random", "silent"),
    demo_cases={
        "judges": ("reference/rule",),
        # The first case of each of eight dialogues.
        "scenarios": (
            "a-duck-in-period-three:6",
            "clause-two:6",
            "eighteen-souls-to-caucal:7",
            "four-in-the-dacia:4",
            "six-places-at-the-bend:6",
            "unit-seven:4",
            "wet-sand-and-a-drum-roll:5",
            "white-thread-blue-thread:5",
        ),
        "options": {"stages": [1, 2, 3]},
        "roles": {"subject": {"max_tokens": 192}},
    },
)
