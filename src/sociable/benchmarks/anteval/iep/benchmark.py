"""AntEval's information exchange, declared: what one participant alone knows, and how much of it the others come to learn."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

_PLAYERS = (Role.SUBJECT, Role.PARTNER)

BENCHMARK = Benchmark(
    name="anteval-iep",
    version="1.3.0",
    title="AntEval: information exchange at the game table",
    study="sociable.benchmarks.anteval.iep.study:IepStudy",
    options="sociable.benchmarks.anteval.iep.records:IepOptions",
    views="sociable.benchmarks.anteval.iep.views:IepViews",
    cluster_unit="session",
    scenarios_called="cards",
    reference_agents={**dict.fromkeys(_PLAYERS, ("oracle", "heuristic", "random", "silent")), Role.JUDGE: ("rule",)},
    role_defaults={role: {"temperature": 0.7, "max_tokens": 512} for role in _PLAYERS},
    demo={"judges": ("reference/rule",)},
    demo_agents=("oracle", "oracle@0.3", "oracle@0.6", "heuristic", "random", "silent"),
)
