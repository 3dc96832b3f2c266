"""AntEval's intention expression, declared: whether a game master who learned from these sessions understands real players."""

from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role

_PLAYERS = (Role.SUBJECT, Role.PARTNER)

BENCHMARK = Benchmark(
    name="anteval-ieg",
    version="1.2.0",
    title="AntEval: intention expression at the game table",
    study="sociable.benchmarks.anteval.ieg.study:IegStudy",
    options="sociable.benchmarks.anteval.ieg.records:IegOptions",
    views="sociable.benchmarks.anteval.ieg.views:IegViews",
    cluster_unit="session",
    scenarios_called="sessions",
    reference_agents=dict.fromkeys(_PLAYERS, ("oracle", "expressive", "blunt", "small-talk", "random", "silent")),
    role_defaults={role: {"temperature": 0.7, "max_tokens": 512} for role in _PLAYERS},
    demo={"options": {"real": "stand-in", "resamples": 20}},
    demo_agents=("expressive", "blunt", "small-talk", "random", "silent"),
)
