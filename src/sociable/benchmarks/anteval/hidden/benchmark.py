"""Hidden profiles, declared: a group that must pool what each knows."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="anteval-hidden",
    version="1.0.0",
    title="Hidden profiles: a group must pool what each knows",
    study="sociable.benchmarks.anteval.hidden.study:HiddenStudy",
    options="sociable.benchmarks.anteval.hidden.records:HiddenOptions",
    views="sociable.benchmarks.anteval.hidden.views:HiddenViews",
    cluster_unit="case",
    scenarios_called="scenarios",
    reference_agents={
        Role.SUBJECT: ("oracle", "asker", "pooler", "conformist", "sharer", "liar", "random", "silent"),
        Role.PARTNER: ("liar", "silent"),
    },
    demo_agents=("oracle", "oracle@0.3", "asker", "pooler", "conformist", "sharer", "random", "silent"),
    role_defaults={Role.SUBJECT: {"temperature": 0.7}, Role.PARTNER: {"temperature": 0.7}},
)
