"""HSII live, declared: several people, several turns, outcomes instead of opinions."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

BENCHMARK = Benchmark(
    name="hsii-live",
    version="1.1.0",
    title="HSII live: an assistant among people who want different things",
    study="sociable.benchmarks.hsii.live.study:LiveStudy",
    options="sociable.benchmarks.hsii.live.records:LiveOptions",
    views="sociable.benchmarks.hsii.live.views:LiveViews",
    cluster_unit="dossier",
    scenarios_called="scenarios",
    reference_agents={
        Role.SUBJECT: (
            "oracle",
            "memory@12",
            "memory@6",
            "memory@3",
            "informed@0.75",
            "informed@0.5",
            "informed@0.25",
            "informed@0",
            "depth@3",
            "depth@2",
            "depth@1",
            "depth@0",
            "forward-all",
            "last-speaker",
            "polite-only",
            "random",
            "silent",
        ),
        Role.PARTNER: ("people",),
        Role.JUDGE: ("rule",),
    },
    demo={"partner": "reference/people"},
    demo_agents=("oracle", "oracle@0.3", "informed@0.5", "memory@6", "depth@2", "depth@1", "forward-all", "random", "silent"),
    role_defaults={Role.SUBJECT: {"temperature": 0.7}, Role.PARTNER: {"temperature": 0.7}},
)
