"""Takes estimates such as ``0.732 [0.61, 0.83]`` apart, so that a column of them lines up at the value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sociable.core.view import Column, Row, Table

_VALUE_AND_INTERVAL = re.compile(r"([^\s\[(±]+)\s*([\[(±].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A numeric cell: its value, and its interval if the text has one."""

    value: str
    interval: str = ""

    @property
    def text(self) -> str:
        return f"{self.value} {self.interval}" if self.interval else self.value


def parse_estimate(text: str) -> Estimate:
    """Returns the text in its two parts; one that is no estimate is all value."""
    parts = _VALUE_AND_INTERVAL.fullmatch(text.strip())
    return Estimate(parts[1], parts[2]) if parts else Estimate(text.strip())


def find_widest_interval(column: Sequence[Estimate]) -> str:
    """Returns the longest interval of a column, which is the room that each needs; empty if no cell has one."""
    return max((cell.interval for cell in column), key=len, default="")


def fill_rows(table: Table) -> Table:
    """Returns the table with short rows filled up and surplus cells in new columns: a slip costs no report."""
    width = max([len(table.columns), *(len(row.cells) for row in table.rows)])
    columns = [*table.columns, *[Column("")] * (width - len(table.columns))]
    rows = [Row([*row.cells, *[""] * (width - len(row.cells))], row.emphasis, row.shades) for row in table.rows]
    return Table(table.caption, columns, rows, table.note)
