"""Bouts of models against each other, from which ratings are made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bout:
    """One meeting of two models in one scene, one in each seat."""

    scene: str
    first: str
    """The model in the first seat."""
    second: str
    outcome: float
    """The first one's result: 1 won, 0.5 drawn, 0 lost."""
