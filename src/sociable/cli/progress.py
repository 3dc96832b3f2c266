"""Live counts, spend and time left while a run goes on: drawn in a terminal, a line once a minute anywhere else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from sociable.core.errors import Interrupted
from sociable.engine.phases import Progress as Counts
from sociable.models.limits import Budget

SECONDS_BETWEEN_LINES = 60.0


class DrawnProgress(Progress):
    """Draws what a run reports to it. Use as a context manager and hand it to the api as ``watch``."""

    def __init__(self, console: Console, *, hidden: bool) -> None:
        self._spend = _Spend()
        self._latest: Counts | None = None
        super().__init__(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[said]}"),
            self._spend,
            TimeRemainingColumn(),
            console=console,
            disable=hidden,
            refresh_per_second=5,
        )
        self._phases: dict[str, tuple[Counts, TaskID]] = {}

    def __call__(self, counts: Counts, budget: Budget) -> None:
        if self.disable or counts.total == 0:
            return
        self._spend.budget = budget
        if self._phases.get(counts.phase, (None, 0))[0] is not counts:
            # A run may take a phase several times.
            self._phases[counts.phase] = counts, self.add_task(counts.phase, total=counts.total, errored=0, said="")
        self._latest = counts
        self._show(counts)

    def _show(self, counts: Counts) -> None:
        done, words = _measure(counts)
        # What is under way counts for the bar, and for the time that is left.
        said = f"{counts.done:{len(str(counts.total))}}/{counts.total} {words}".rstrip()
        _, task = self._phases[counts.phase]
        self.update(task, total=counts.total, completed=done, errored=counts.errored, said=said)

    def get_renderables(self) -> Iterable[RenderableType]:
        if self._latest is not None and self._latest.measure_under_way and self._latest.done < self._latest.total:
            self._show(self._latest)
        return super().get_renderables()


def _measure(counts: Counts) -> tuple[float, str]:
    """What is done, with the shares of what is under way, and where that stands."""
    if counts.measure_under_way is None or counts.done >= counts.total:
        return counts.done, ""
    under_way = counts.measure_under_way()
    return counts.done + under_way.done, under_way.words


class _Spend(ProgressColumn):
    """Read whenever the line is drawn: calls go on between one finished episode and the next."""

    budget: Budget | None = None

    def render(self, task: Task) -> Text:
        if self.budget is None or task.finished:
            return Text("")
        return Text(_describe_spend(self.budget, task.fields["errored"]))


def _describe_spend(budget: Budget, errored: int) -> str:
    calls = sum(usage.calls for usage in budget.usage.values())
    parts = [f"{calls:,} calls"] if calls else []
    if budget.spent:
        limit = f" of ${budget.limit:.2f}" if budget.limit else ""
        parts.append(f"${budget.spent:.2f}{limit}")
    if errored:
        parts.append(f"{errored} errored")
    if isinstance(budget.stopped, Interrupted):
        parts.append("stopping (Ctrl-C again: at once)")
    return ", ".join(parts)


class PrintedProgress(AbstractContextManager["PrintedProgress"]):
    """The same as a line once a minute, for logs: a run that takes less prints nothing."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._latest: tuple[Counts, Budget] | None = None
        self._over = threading.Event()
        # A thread: there may be no count that changes within the minute.
        self._thread = threading.Thread(target=self._print_lines, daemon=True, name="progress")

    def __call__(self, counts: Counts, budget: Budget) -> None:
        self._latest = counts, budget

    def __enter__(self) -> PrintedProgress:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _print_lines(self) -> None:
        begun = time.monotonic()
        while not self._over.wait(SECONDS_BETWEEN_LINES):
            if self._latest:
                counts, budget = self._latest
                spend = _describe_spend(budget, counts.errored)
                done, words = _measure(counts)
                seconds = time.monotonic() - begun
                minutes = f"{seconds / 60:.0f} min"
                if words and done:
                    minutes += f", about {seconds * (counts.total - done) / done / 60:.0f} more"
                said = [f"{counts.phase}: {counts.done} of {counts.total}", words, spend, minutes]
                line = ", ".join(filter(None, said))
                self._console.print(Text(line), soft_wrap=True)
