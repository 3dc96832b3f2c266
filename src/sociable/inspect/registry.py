"""All that Inspect finds under the entry point ``inspect_ai``: tasks, solver, scorer, metric, and reference agents as models."""

from sociable.inspect.reference_agents import reference
from sociable.inspect.scorer import estimates, sociable
from sociable.inspect.solver import play
from sociable.inspect.tasks import TASKS

__all__ = ["TASKS", "estimates", "play", "reference", "sociable"]
