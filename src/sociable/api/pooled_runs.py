"""Many runs played together: all in one event loop, each in a folder of its own, with one budget.

One that cannot go on (a dead endpoint, a locked folder) ends alone; what stops all of them is the budget of the pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sociable.api.reports import report
from sociable.api.runs import ask_everybody
from sociable.cluster.joining import Cluster, begin_crew, hand_over
from sociable.core.errors import RunFolderError, SociableError
from sociable.core.run_folder import RunFolder
from sociable.engine.event_loop import stop_on_interrupt
from sociable.engine.opening import OpenStudy, Watch, begin_run, describe_roles, open_run, read_settings, reopen_study
from sociable.engine.phases import Progress, UnderWay
from sociable.engine.pool import Pool
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings, change_transport
from sociable.engine.status import StatusKeeper
from sociable.engine.watching import select_main, watch_run
from sociable.models.journal import Journal
from sociable.models.limits import Budget

if TYPE_CHECKING:
    from sociable.cluster.crew import Crew

MOST_OPEN_FILES = 8192
"""Open files that are asked of the system."""
FILES_OF_A_RUN, OTHER_FILES = 16, 128
"""Open files that are counted for each run under way, and for connections and all else."""


@dataclass
class Totals:
    """The progress of many runs, added up phase by phase, for whoever draws that of one."""

    watch: Watch | None
    pool: Pool
    runs: int
    finished: int = 0
    _parts: dict[str, dict[str, Progress]] = field(default_factory=dict)
    _wholes: dict[str, Progress] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, run: str, counts: Progress) -> None:
        """Takes note of the counts of one run; from any thread."""
        with self._lock:
            parts = self._parts.setdefault(counts.phase, {})
            parts[run] = counts
            whole = self._wholes.setdefault(counts.phase, Progress(counts.phase, 0, measure_under_way=self._tell_finished))
            whole.total, whole.done, whole.errored = (
                sum(getattr(part, name) for part in parts.values()) for name in ("total", "done", "errored")
            )
        if self.watch:
            self.watch(whole, self.pool.budget)

    def _tell_finished(self) -> UnderWay:
        return UnderWay(0.0, f"({self.finished} of {self.runs} runs finished)")


def note_earlier_calls(folder: Path, runs: Mapping[str, RunSettings], others: Mapping[str, RunSettings], pool: Pool) -> None:
    """Books what the ``runs`` have bought so far, and has them share that, and what ``others`` have. Raises RunFolderError."""
    for name, settings in {**others, **runs}.items():
        path = folder / name / "calls.sqlite"
        if not path.exists():
            continue
        pool.share_calls(settings).add(path)
        if name in runs:
            with Journal(path, replay_only=True) as journal:
                for model, role, usage in journal.sum_usage(shared=False):
                    pool.budget.book(model, role, usage)


async def play_runs(
    folder: Path,
    runs: Mapping[str, RunSettings],
    pool: Pool,
    change_limit: Callable[[float], None],
    *,
    offline: bool = False,
    watch: Watch | None = None,
    cluster: Cluster | None = None,
) -> dict[str, SociableError]:
    """Plays, judges and scores all these runs as far as they go. Returns, by run, the error that ended it early.

    ``change_limit`` notes another limit in US dollars for all of them, and sets that of the pool.
    """
    totals, problems, progress = Totals(watch, pool, len(runs)), dict[str, SociableError](), Progress("runs", len(runs))
    under_way = asyncio.Semaphore(max(1, (_raise_limit_of_open_files() - OTHER_FILES) // FILES_OF_A_RUN))

    async def play(name: str, planned: RunSettings, crew: Crew | None) -> None:
        try:
            async with under_way:
                await _play(folder / name, planned, pool, scoring, totals, offline, crew)
            totals.finished += 1
        except SociableError as error:
            problems[name] = error
            progress.errored += 1
        progress.done += 1

    # One thread, so that no two scorings change the settings of a numerical library, or draw figures, at once.
    with (
        stop_on_interrupt(pool.budget),
        ThreadPoolExecutor(1, thread_name_prefix="scoring") as scoring,
        StatusKeeper(folder, pool.budget, lambda: progress, change_limit) as keeper,
    ):
        try:
            async with begin_crew(cluster) as crew:
                if cluster and crew:
                    pool.stand_in, pool.fewest_places = cluster.stand_in, crew.size
                ended = await asyncio.gather(*(play(*run, crew) for run in runs.items()), return_exceptions=True)
        finally:
            await pool.close()
        keeper.missing = f"{len(problems)} of {len(runs)} runs could not go on." if problems else ""
    for bug in ended:
        if bug is not None:
            raise bug  # after all others came to their ends
    return problems


async def _play(
    path: Path,
    planned: RunSettings,
    pool: Pool,
    scoring: ThreadPoolExecutor,
    totals: Totals,
    offline: bool,
    crew: Crew | None,
) -> None:
    """One run, from its first episode that is missing to its scores."""
    pool.budget.check()
    folder, opened = _open(path, planned, pool, offline)

    def watch(counts: Progress, _: Budget) -> None:
        totals.note(path.name, counts)

    with folder, open_run(folder, opened, offline=offline, watch=watch, pool=pool) as (run, models):
        # Both may take seconds of computing, in which the calls of other runs must not stand still.
        loop, benchmark = asyncio.get_running_loop(), opened.benchmark
        async with watch_run(run, opened) as keeper:
            async with hand_over(crew, run, opened, models):
                await ask_everybody(run, opened, models, tuple(Role))
            scored = await loop.run_in_executor(scoring, run.score, benchmark.name, benchmark.version)
            keeper.note_estimates(select_main(run.study, scored.estimates), len(run.records.episodes))
        await loop.run_in_executor(scoring, report, path)


def _open(path: Path, planned: RunSettings, pool: Pool, offline: bool) -> tuple[RunFolder, OpenStudy]:
    if not (path / "manifest.json").exists():
        if offline:
            raise RunFolderError(f"{path} was not begun: there is nothing to replay.")
        return begin_run(planned, path, models=pool.find_models(planned))
    folder = RunFolder.open(path)
    with contextlib.ExitStack() as stack:
        stack.push(folder)
        before = read_settings(folder.read_manifest(), path)
        changed = change_transport(before, planned)
        opened = reopen_study(folder, changed, build=() if offline else tuple(Role), models=pool.find_models(changed))
        if changed != before:
            folder.write_manifest(folder.read_manifest() | describe_roles(changed))
        stack.pop_all()
    return folder, opened


def _raise_limit_of_open_files() -> int:
    """The files that may be open at once: as many as are asked for, if the system gives them."""
    if sys.platform == "win32":
        return MOST_OPEN_FILES
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (MOST_OPEN_FILES if each == resource.RLIM_INFINITY else each for each in limits)
    if soft < (wanted := min(hard, MOST_OPEN_FILES)):
        with contextlib.suppress(OSError, ValueError):  # then as many as there may be
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, limits[1]))
            return wanted
    return soft
