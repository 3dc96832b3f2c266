"""Figures the STSS paper prints. Measured in the authors' town with models of 2023: to look at beside ours, never to compare."""

from __future__ import annotations

from typing import NamedTuple

from sociable.benchmarks.stss.task import TaskType


class SimulationRow(NamedTuple):
    """One row of Table 4: mean scores by type of task, overall, and the conversation ratio (help left out of it)."""

    model: str
    agent: str
    scores: tuple[float, float, float, float, float]
    """Mean scores in the order of ``TaskType``."""
    overall: float
    conversation_ratio: float

    @property
    def by_type(self) -> dict[TaskType, float]:
        return dict(zip(TaskType, self.scores, strict=True))


TABLE_4 = (
    SimulationRow("GPT-35", "GA", (0.338, 0.200, 0.100, 0.571, 0.400), 0.324, 0.891),
    SimulationRow("GPT-4", "GA", (0.590, 0.000, 0.000, 0.614, 0.600), 0.399, 0.781),
    SimulationRow("GPT-35", "GA + TDP", (0.608, 0.100, 0.200, 0.471, 0.600), 0.431, 0.866),
    SimulationRow("GPT-4", "GA + TDP", (0.759, 0.400, 0.200, 0.686, 0.500), 0.550, 0.863),
)

TEMPLATES = {TaskType.PUBLIC: 10, TaskType.APPOINTMENT: 5, TaskType.COMPANIONS: 5, TaskType.ONLINE: 5, TaskType.HELP: 5}
"""The number of templates of each type (Table 2), by which Table 4's overall weighs them."""

ORIGINAL_REQUESTS = 13_705
ORIGINAL_TOKENS = 6_600_000
ORIGINAL_RESIDENTS = 25
ORIGINAL_HOURS = 10.2
"""The cost of the original generative agents, as public accounts of a run have it: 25 agents for 10.2 simulated hours."""


def original_per_resident_day(quantity: float) -> float:
    """Requests or tokens for one agent and 24 hours."""
    return quantity / ORIGINAL_RESIDENTS / ORIGINAL_HOURS * 24
