"""How the virtual dungeon masters of two runs differ, which have been tested on the same held-out sessions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sociable.benchmarks.anteval.ieg.results import GENERATED, KINDS, Results, f_metric, gap_metric, read_results
from sociable.core.view import MISSING, Column, Row, Section, Table, figure, with_interval
from sociable.engine.result import RunResult

FEWEST = 10
"""Resamples below which there is no interval."""


def contrast_sections(first: RunResult, second: RunResult) -> list[Section]:
    """f_g and G of both, and their difference over resamples that drew the same real sessions."""
    found = [read_results(Path(run.folder)) for run in (first, second)]
    one, other = (each[1] if each else None for each in found)
    rows = []
    for metric in (metric for kind in KINDS for metric in (f_metric(GENERATED, kind), gap_metric(kind))):
        values = [run.estimate(metric) for run in (first, second)]
        before, after = (each.value if each else None for each in values)
        if before is None or after is None:
            difference = MISSING
        else:
            difference = _difference(after - before, metric, one, other)
        rows.append(Row([metric, figure(before), figure(after), difference]))
    columns = [Column("Metric"), Column("A", True), Column("B", True), Column("B − A", True)]
    note = "Intervals over resamples in which both runs drew the same real sessions; DMs are trained again where they can be."
    return [Section("Virtual DMs", [Table("Virtual DMs on the same held-out sessions", columns, rows, note)])]


def _difference(value: float, metric: str, first: Results | None, second: Results | None) -> str:
    pairs = zip(*(each.drawn.get(metric, ()) if each else () for each in (first, second)), strict=False)
    drawn = [after - before for before, after in pairs if before is not None and after is not None]
    if len(drawn) < FEWEST:
        return with_interval(value, None, None)
    low, high = (float(each) for each in np.quantile(drawn, [0.025, 0.975]))
    return with_interval(value, min(low, value), max(high, value))
