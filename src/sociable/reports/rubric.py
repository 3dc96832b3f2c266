"""What raters made of a run by a rubric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sociable.core.view import Column, Row, Section, Table, with_interval
from sociable.engine.ratings import OVERALL, rating_metric
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.judging.rubric import Rubric


def rubric_section(rubric: Rubric, results: Sequence[RunResult]) -> Section:
    """One row a dimension, one column a run."""
    named = {OVERALL: "mean of all dimensions", **{each.name: each.meaning for each in rubric.dimensions}}
    ranges = {each.name: f"{each.low} to {each.high}" for each in rubric.dimensions}
    found: dict[Role, list[Row]] = defaultdict(list)
    for role in (Role.SUBJECT, Role.PARTNER):
        for name, meaning in named.items():
            estimates = [result.estimate(rating_metric(rubric.name, name, role)) for result in results]
            if any(estimates):
                cells = [with_interval(e.value, e.low, e.high, 2) if e else "—" for e in estimates]
                found[role].append(Row([name.replace("_", " "), ranges.get(name, ""), *cells, meaning]))
    who = {Role.SUBJECT: "The model under test", Role.PARTNER: "The partner"}
    columns = [Column("Dimension"), Column("Range"), *(Column(result.label, True) for result in results), Column("Meaning")]
    note = "Means over episodes in which the participant spoke; several judges count by their mean. 95% intervals by cluster."
    return Section(f"Rubric: {rubric.name}", [Table(who[role], columns, rows, note) for role, rows in found.items()])
