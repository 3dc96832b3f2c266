"""Variation of values within groups: AgentSense's profile sensitivity, and its test of single groups."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, sqrt

import numpy as np


def measure_deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation, with n - 1 below the line; None for fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def find_deviation_bias(count: int) -> float:
    """c4: the mean standard deviation of ``count`` normal values, as a share of the true one.

    c4(n) = sqrt(2 / (n - 1)) Γ(n / 2) / Γ((n - 1) / 2), from 0.798 for two to 1; deviations of samples of different sizes
    can be compared after division by it.
    """
    if count < 2:
        raise ValueError(f"a standard deviation takes two values or more, not {count}")
    return sqrt(2 / (count - 1)) * exp(lgamma(count / 2) - lgamma((count - 1) / 2))


def find_excess_probability(values: Sequence[float], population_variance: float) -> float | None:
    """The probability of a variance as large as that of ``values``, if they are normal with ``population_variance``.

    χ² = (n - 1) s² / σ₀² against the upper tail of χ² with n - 1 degrees of freedom (AgentSense, App. D.7, which states the
    rule backwards). None where there is nothing to test: fewer than two values, or a population that does not vary.
    """
    if len(values) < 2 or population_variance <= 0:
        return None
    from scipy.special import chdtrc  # type: ignore[import-untyped]

    statistic = (len(values) - 1) * float(np.var(values, ddof=1)) / population_variance
    return float(chdtrc(len(values) - 1, statistic))
