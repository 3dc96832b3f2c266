"""Uncertainty of scores whose cases come in clusters: intervals and paired comparisons."""

from sociable.statistics.intervals import (
    AveragedCases,
    Interval,
    clustered_proportion,
    joint_bootstrap,
    repeats_averaged,
)
from sociable.statistics.paired import PairedComparison, compare_paired

__all__ = [
    "AveragedCases",
    "Interval",
    "PairedComparison",
    "clustered_proportion",
    "compare_paired",
    "joint_bootstrap",
    "repeats_averaged",
]
