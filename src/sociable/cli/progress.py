"""Live counts, spend and time left while a run goes on; nothing at all when nobody looks (not a terminal)."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from sociable.models.limits import Budget
from sociable.runner.phases import Progress as Counts


class RunProgress:
    """Draws what a run reports to it. Use as a context manager and hand it to the api as ``watch``."""

    def __init__(self, console: Console) -> None:
        self._live = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[spend]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            refresh_per_second=5,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._live.__exit__(kind, error, traceback)

    def __call__(self, counts: Counts, budget: Budget) -> None:
        if self._live.disable or counts.total == 0:
            return
        calls = sum(usage.calls for usage in budget.usage.values())
        spend = f"{calls:,} calls" if calls else ""
        if budget.spent:
            spend += f", ${budget.spent:.2f}" + (f" of ${budget.limit:.2f}" if budget.limit else "")
        if counts.errored:
            spend += f", {counts.errored} errored"
        if budget.stopped:
            spend += ", stopping"
        if counts.done == 0:
            self._tasks[counts.phase] = self._live.add_task(counts.phase, total=counts.total, spend=spend)
        self._live.update(self._tasks[counts.phase], completed=counts.done, spend=spend)
