"""F-scores over sets, and the gap between two of them (section 4.2, Equation 1). Pure.

Character sets give f^c, sets of (character, skill) give f^o. Micro: over all windows together; macro: the mean over windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sociable.benchmarks.anteval.ieg.windows import Pair

Sets = Sequence[AbstractSet[Pair]]


@dataclass(frozen=True, slots=True)
class FScores:
    """F-scores in [0, 1]; None where there is nothing to find and nothing was claimed."""

    character: float | None
    tuple: float | None
    character_macro: float | None
    tuple_macro: float | None


def measure_f_scores(predicted: Sets, labels: Sets) -> FScores:
    """The F-scores of predictions and labels of windows in the same order."""
    characters = [{who for who, _ in each} for each in predicted], [{who for who, _ in each} for each in labels]
    return FScores(
        character=measure_micro(*characters),
        tuple=measure_micro(predicted, labels),
        character_macro=measure_macro(*characters),
        tuple_macro=measure_macro(predicted, labels),
    )


def measure_micro(predicted: Sequence[AbstractSet[object]], labels: Sequence[AbstractSet[object]]) -> float | None:
    """2 TP / (2 TP + FP + FN), counted over all windows."""
    hits = sum(len(one & other) for one, other in zip(predicted, labels, strict=True))
    size = sum(map(len, predicted)) + sum(map(len, labels))
    return 2 * hits / size if size else None


def measure_macro(predicted: Sequence[AbstractSet[object]], labels: Sequence[AbstractSet[object]]) -> float | None:
    """The mean over windows; one with nothing to find, in which nothing was claimed, counts 1."""
    values = [
        2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
        for one, other in zip(predicted, labels, strict=True)
    ]
    return sum(values) / len(values) if values else None


def measure_gap(f_real: float | None, f_generated: float | None) -> float | None:
    """G = |f_r - f_g| / (f_r + f_g), in [0, 1]; None when both are 0 or one is missing."""
    signed = measure_signed_gap(f_real, f_generated)
    return None if signed is None else abs(signed)


def measure_signed_gap(f_real: float | None, f_generated: float | None) -> float | None:
    """(f_r - f_g) / (f_r + f_g): below 0 where the master tuned on generated sessions is the better one."""
    if f_real is None or f_generated is None or f_real + f_generated == 0:
        return None
    return (f_real - f_generated) / (f_real + f_generated)
