"""The generative agent, with and without target-driven planning (README.md)."""

from __future__ import annotations

from sociable.agents.architecture import Situation
from sociable.agents.generative.mind import GenerativeMind


def generative(situation: Situation) -> GenerativeMind:
    """GA. It knows of its task what its persona's ``currently`` says."""
    return GenerativeMind(situation)


def generative_with_target_driven_planning(situation: Situation) -> GenerativeMind:
    """GA+TDP. Without a task it is a plain generative agent."""
    return GenerativeMind(situation, target_driven=True)
