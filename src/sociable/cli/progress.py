"""Live counts, spend and time left while a run goes on; nothing at all when nobody looks (not a terminal)."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from sociable.core.errors import Interrupted
from sociable.engine.phases import Progress as Counts
from sociable.models.limits import Budget


class RunProgress:
    """Draws what a run reports to it. Use as a context manager and hand it to the api as ``watch``."""

    def __init__(self, console: Console, *, hidden: bool = False) -> None:
        """``hidden`` while a person answers in the same terminal."""
        self._spend = _Spend()
        self._live = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            self._spend,
            TimeRemainingColumn(),
            console=console,
            disable=hidden or not console.is_terminal,
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
        self._spend.budget = budget
        if counts.done == 0:
            self._tasks[counts.phase] = self._live.add_task(counts.phase, total=counts.total, errored=0)
        self._live.update(self._tasks[counts.phase], completed=counts.done, errored=counts.errored)


class _Spend(ProgressColumn):
    """Read whenever the line is drawn: calls go on between one finished episode and the next."""

    budget: Budget | None = None

    def render(self, task: Task) -> Text:
        if self.budget is None or task.finished:
            return Text("")
        calls = sum(usage.calls for usage in self.budget.usage.values())
        parts = [f"{calls:,} calls"] if calls else []
        if self.budget.spent:
            limit = f" of ${self.budget.limit:.2f}" if self.budget.limit else ""
            parts.append(f"${self.budget.spent:.2f}{limit}")
        if errored := task.fields["errored"]:
            parts.append(f"{errored} errored")
        if isinstance(self.budget.stopped, Interrupted):
            parts.append("stopping (Ctrl-C again: at once)")
        return Text(", ".join(parts))
