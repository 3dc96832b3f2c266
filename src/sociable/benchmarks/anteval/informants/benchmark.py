"""AntEval's information exchange with informants who have a will, declared."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

_SAMPLING = {"temperature": 0.7, "max_tokens": 512}

BENCHMARK = Benchmark(
    name="anteval-informants",
    version="1.0.0",
    title="AntEval: informants who have a will of their own",
    study="sociable.benchmarks.anteval.informants.study:InformantsStudy",
    options="sociable.benchmarks.anteval.informants.records:InformantsOptions",
    views="sociable.benchmarks.anteval.informants.views:InformantsViews",
    cluster_unit="card",
    scenarios_called="scenarios",
    reference_agents={
        Role.SUBJECT: ("oracle", "listener", "asker", "lister", "echo", "random", "silent"),
        Role.PARTNER: ("written",),
        Role.JUDGE: ("rule",),
    },
    role_defaults=dict.fromkeys((Role.SUBJECT, Role.PARTNER), _SAMPLING),
    demo={"judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "listener", "asker", "lister", "echo", "random", "silent"),
)
