"""What Inspect finds under the entry point ``inspect_ai``: a task for each benchmark, the solver, scorer and metric, and reference agents."""

from sociable.inspect.reference_agents import reference
from sociable.inspect.scorer import estimates, sociable
from sociable.inspect.solver import play
from sociable.inspect.tasks import TASKS

__all__ = ["TASKS", "estimates", "play", "reference", "sociable"]
