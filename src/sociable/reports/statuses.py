"""How far runs are, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sociable.core.view import Column, Row, Table
from sociable.engine.status import State, Status

_COLUMNS = (
    Column("folder"),
    Column("state"),
    Column("phase"),
    Column("done", numeric=True),
    Column("errored", numeric=True),
    Column("calls", numeric=True),
    Column("a minute", numeric=True),
    Column("$", numeric=True),
    Column("limit", numeric=True),
)


def make_status_table(statuses: Iterable[tuple[Path, Status]]) -> Table:
    """A row for every folder; the reasons of those that ended early stand below, with the command to go on."""
    rows, said = [], []
    for path, status in statuses:
        rows.append(Row([str(path), *_list_cells(status)]))
        more = [text for text in (status.reason, status.remark) if text]
        if status.errored or not (status.state.is_at_work or status.state is State.FINISHED):
            more.append(f"Go on with: sociable resume {path}.")
        said += [f"{path}: {' '.join(more)}"] if more else []
    return Table("Runs", _COLUMNS, rows, " ".join(said))


def _list_cells(status: Status) -> list[str]:
    counted = bool(status.total)
    return [
        status.state,
        status.phase or "—",
        f"{status.done}/{status.total}" if counted else "—",
        str(status.errored) if counted else "—",
        f"{status.usage.calls:,}" if status.updated else "—",
        f"{status.calls_a_minute:,.0f}" if status.state.is_at_work else "—",
        f"{status.spend:.2f}" if status.updated else "—",
        f"{status.limit:.2f}" if status.limit is not None else "—",
    ]
