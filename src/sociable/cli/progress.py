"""Live counts, spend and time left while a run goes on; nothing at all when nobody looks (not a terminal)."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from sociable.core.errors import Interrupted
from sociable.engine.phases import Progress as Counts
from sociable.models.limits import Budget


class RunProgress(Progress):
    """Draws what a run reports to it. Use as a context manager and hand it to the api as ``watch``."""

    def __init__(self, console: Console, *, hidden: bool) -> None:
        self._spend = _Spend()
        super().__init__(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            self._spend,
            TimeRemainingColumn(),
            console=console,
            disable=hidden or not console.is_terminal,
            refresh_per_second=5,
        )
        self._phases: dict[str, TaskID] = {}

    def __call__(self, counts: Counts, budget: Budget) -> None:
        if self.disable or counts.total == 0:
            return
        self._spend.budget = budget
        if counts.done == 0:
            self._phases[counts.phase] = self.add_task(counts.phase, total=counts.total, errored=0)
        self.update(self._phases[counts.phase], completed=counts.done, errored=counts.errored)


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
