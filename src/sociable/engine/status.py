"""A run tells how far it is, and can be told to stop: ``status.json`` and ``control.json`` in its folder.

While somebody works in a folder, ``status.json`` is written about once a second, and once at the end. Anyone may write
``control.json``: ``{"stop": true}`` does what the first Ctrl-C does, ``{"max_cost": 5.0}`` changes the limit of what may be
spent. It is obeyed once, and removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from pydantic import AwareDatetime, Field, ValidationError

from sociable.core.errors import CostLimitReached, Interrupted, SociableError, StorageFailure
from sociable.core.records import Estimate, Record, Usage
from sociable.core.run_folder import CONTROL_FILE, STATUS_FILE, write_atomically
from sociable.engine.phases import Progress, UnderWay
from sociable.models.limits import Budget

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_SIGNS = 10.0
"""The time after which the file is written although nothing has changed."""
RATE_SECONDS = 60.0
"""The time over which calls a minute are counted."""
MOST_KINDS = 10
"""Kinds of failures that are told."""
LONGEST_REASON = 300
"""Characters."""
LARGEST_CONTROL_BYTES = 4096
POINTS = 30
"""Estimates so far that are kept."""


class State(StrEnum):
    """What became of a run."""

    RUNNING = "running"
    STOPPING = "stopping"
    """It was told to stop, or reached its limit; calls under way end."""
    STOPPED = "stopped"
    """By its user, or at its limit; it can be resumed."""
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    """Its process is gone, and had no time to say so."""
    UNFINISHED = "unfinished"
    """It was begun, and nobody is at work; it is not known why."""
    NO_RUN = "not a run"

    @property
    def is_at_work(self) -> bool:
        return self in (State.RUNNING, State.STOPPING)


class EstimatesSoFar(Record):
    """The estimates of the main metrics at one moment of a run, from the ``episodes`` that had been played."""

    at: AwareDatetime
    phase: str
    done: int
    total: int
    episodes: int
    estimates: tuple[Estimate, ...]


class Status(Record):
    """``status.json``: how far a run is. Counts of calls, tokens and US dollars are those of the whole folder."""

    state: State
    reason: str = ""
    """Why it stopped or failed."""
    is_at_limit: bool = False
    """Whether it ended because the next call might have cost more than the limit."""
    remark: str = ""
    """What could not be done of that which was last asked of it."""
    phase: str = ""
    done: int = 0
    """Items of the phase; ``errored`` among them."""
    total: int = 0
    errored: int = 0
    under_way: int = 0
    shares_done: float = 0.0
    """The shares of what is under way that are done, added up, where that takes long and can be told."""
    place: str = ""
    """Where the one stands that is farthest behind: a day and a time in a town."""
    usage: Usage = Usage()
    spend: float = 0.0
    limit: float | None = None
    calls_a_minute: float = 0.0
    seconds_left: float | None = Field(default=None, allow_inf_nan=False)
    """Until the phase ends, at its pace in this process so far, to two digits; None: nothing of it is done yet."""
    failures: dict[str, int] = Field(default_factory=dict)
    """The number of failures by phase and reason, the most frequent first."""
    pid: int = 0
    host: str = ""
    begun: AwareDatetime | None = None
    updated: AwareDatetime | None = None
    history: tuple[EstimatesSoFar, ...] = ()


class Control(Record):
    """``control.json``: what a run at work is asked to do."""

    stop: bool = False
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The limit in US dollars, over the whole folder."""


def read_status(folder: Path) -> Status | None:
    """``status.json`` as it was written; None where there is none that this version understands."""
    try:
        return Status.model_validate_json((folder / STATUS_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


class StatusKeeper(contextlib.AbstractContextManager["StatusKeeper"]):
    """Keeps ``status.json`` of a folder, and obeys its ``control.json``, while it is entered.

    Enter it in the event loop in which the budget is used; the folder is locked by then. Many may be entered at once, one for
    each folder. The files are written and looked for by a thread, so that also a run that works out scores for minutes is
    seen to be alive.
    """

    def __init__(
        self,
        folder: Path,
        budget: Budget,
        find_progress: Callable[[], Progress | None],
        change_limit: Callable[[float], None],
    ) -> None:
        """``find_progress`` tells the phase at work; ``change_limit`` sets the budget's limit, and raises SociableError."""
        self._folder = folder
        self._budget = budget
        self._find_progress = find_progress
        self._change_limit = change_limit
        self.missing = ""
        """What is still missing of a run that ends without an error, in words; it is not finished then."""
        self._remark = ""
        before = read_status(folder)
        self._history = deque(before.history if before else (), maxlen=POINTS)
        self._calls: deque[tuple[float, int]] = deque()
        self._begun = datetime.now(UTC)
        self._phase = ("", 0.0)
        """The phase at work, and when it was first seen."""
        self._written: tuple[float, Status | None] = (0.0, None)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True, name=f"status of {folder.name}")

    def __enter__(self) -> StatusKeeper:
        self._loop = asyncio.get_running_loop()
        self._write(State.RUNNING)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        if self.missing and error is None:
            # Several runs end one by one, and what stopped them all is raised afterwards.
            error = self._budget.stopped
        end = (State.UNFINISHED, self.missing) if self.missing and error is None else _describe_end(error)
        self._write(*end)
        with contextlib.suppress(OSError):
            (self._folder / CONTROL_FILE).unlink()

    def note_estimates(self, estimates: Sequence[Estimate], episodes: int) -> None:
        """Notes the estimates of the main metrics from so many episodes."""
        counts, last = self._find_progress(), self._history[-1] if self._history else None
        if last and (last.episodes, last.estimates) == (episodes, tuple(estimates)):
            return  # a run that is finished was resumed
        self._history.append(
            EstimatesSoFar(
                at=_now(),
                phase=counts.phase if counts else "",
                done=counts.earlier + counts.done if counts else 0,
                total=counts.earlier + counts.total if counts else 0,
                episodes=episodes,
                estimates=tuple(estimates),
            )
        )

    def _keep(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_LOOKS):
            control = self._take_control()
            if control:
                self._loop.call_soon_threadsafe(self._obey, control)
            self._write(State.STOPPING if self._budget.stopped else State.RUNNING)

    def _take_control(self) -> Control | None:
        """What the run is asked to do, taken out of the folder in one step: what is asked afterwards is another file."""
        file = self._folder / CONTROL_FILE
        taken = file.with_name(f".{CONTROL_FILE}.taken")
        try:
            os.replace(file, taken)
        except OSError:
            return None
        try:
            if not taken.is_file():
                raise OSError("it is no file")
            with taken.open("rb") as stream:
                control = Control.model_validate_json(stream.read(LARGEST_CONTROL_BYTES))
            self._remark = ""
        except (OSError, ValidationError) as error:
            problem = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            self._remark = f'{CONTROL_FILE} takes {{"stop": true}} or {{"max_cost": 5.0}}; what was there is ignored: {problem}.'
            control = None
        with contextlib.suppress(OSError):
            taken.unlink()
        return control

    def _obey(self, control: Control) -> None:
        if control.max_cost is not None:
            try:
                self._change_limit(control.max_cost)
            except SociableError as problem:
                self._remark = str(problem)
            else:
                if self._budget.stopped:
                    self._remark = "The limit is noted; the run was stopping by then, and must be resumed."
        if control.stop:
            self._budget.interrupt()

    def _write(self, state: State, reason: str = "") -> None:
        """Writes the status if it has changed, or nothing was written for some time. A disk that is full is the run's to tell."""
        status, now = self._make(state, reason), time.monotonic()
        at, before = self._written
        if status == before and now - at < SECONDS_BETWEEN_SIGNS:
            return
        self._written = now, status
        text = status.model_copy(update={"updated": _now()}).model_dump_json()
        with contextlib.suppress(StorageFailure):
            write_atomically(self._folder / STATUS_FILE, text + "\n", durable=False)

    def _make(self, state: State, reason: str) -> Status:
        budget, counts = self._budget, self._find_progress()
        # Other threads may add to what is counted here: it is copied in one step.
        usage = sum(list(budget.usage.values()), Usage())
        at_work = counts if state.is_at_work else None
        long = at_work.measure_under_way() if at_work and at_work.measure_under_way else UnderWay(0.0, "")
        kinds = Counter(dict(counts.failures) if counts else {}).most_common(MOST_KINDS)
        if budget.stopped and state.is_at_work:
            reason = str(budget.stopped)
        return Status(
            state=state,
            reason=reason,
            is_at_limit=isinstance(budget.stopped, CostLimitReached),
            remark=self._remark,
            phase=counts.phase if counts else "",
            done=counts.earlier + counts.done if counts else 0,
            total=counts.earlier + counts.total if counts else 0,
            errored=counts.errored if counts else 0,
            under_way=max(0, at_work.begun - at_work.done) if at_work else 0,
            shares_done=round(long.done, 4),
            place=long.words,
            usage=usage,
            spend=round(budget.spent, 6),
            limit=budget.limit,
            calls_a_minute=self._find_rate(usage.calls) if state.is_at_work else 0.0,
            seconds_left=self._estimate_seconds_left(at_work, long.done) if at_work else None,
            failures={kind[:LONGEST_REASON]: number for kind, number in kinds},
            pid=os.getpid(),
            host=socket.gethostname(),
            begun=self._begun,
            history=tuple(self._history),
        )

    def _estimate_seconds_left(self, counts: Progress, shares_done: float) -> float | None:
        now, done = time.monotonic(), counts.done + shares_done
        if self._phase[0] != counts.phase:
            self._phase = (counts.phase, now)
        left = max(0.0, counts.total - done)
        return float(f"{(now - self._phase[1]) * left / done:.2g}") if done else None

    def _find_rate(self, calls: int) -> float:
        """Calls a minute over the last minute, or since the beginning."""
        now = time.monotonic()
        self._calls.append((now, calls))
        while self._calls[0][0] < now - RATE_SECONDS:
            self._calls.popleft()
        since, before = self._calls[0]
        return round(60 * (calls - before) / (now - since), 1) if now > since else 0.0


def _describe_end(error: BaseException | None) -> tuple[State, str]:
    """What became of a run, and why, by the error that ended it."""
    if error is None:
        return State.FINISHED, ""
    if isinstance(error, Interrupted | CostLimitReached):
        return State.STOPPED, str(error)
    if isinstance(error, SociableError):
        return State.FAILED, str(error)
    if isinstance(error, Exception):
        return State.FAILED, f"bug: {type(error).__name__}: {error}"
    return State.STOPPED, "Interrupted at once; calls under way were given up."


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
