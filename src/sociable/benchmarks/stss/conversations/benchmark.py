"""STSS's language level, declared: conversations frozen out of simulations, played again and judged."""

from dataclasses import replace

from sociable.benchmarks.stss.benchmark import BENCHMARK as STSS
from sociable.engine.benchmark import Benchmark

BENCHMARK = replace(
    STSS,
    name="stss-conversations",
    title="STSS: conversations out of the sandbox town",
    study="sociable.benchmarks.stss.conversations.study:ConversationStudy",
    options="sociable.benchmarks.stss.conversations.records:ConversationOptions",
    views="sociable.benchmarks.stss.conversations.views:ConversationViews",
    scenarios_called="scenes",
    rehearsed=Benchmark.rehearsed,
    demo={**STSS.demo, "judges": ("reference/rule",)},
)
