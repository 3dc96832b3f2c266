"""A run that can be watched: its status is kept, and its estimates are noted as they narrow.

The estimates so far are there to be looked at, and not to stop by. Of intervals at 95 % that are looked at thirty times, some
leave the true value out far more often than one time in twenty, and whoever stops when pleased may stop at one of those.
``RunSettings.until`` is for that: it fixes its looks beforehand and widens its intervals for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field

from sociable.core.records import EpisodeStatus, Estimate, Score
from sociable.engine.opening import OpenStudy, describe_roles, find_prices, read_settings
from sociable.engine.pool import EPISODES
from sociable.engine.run import JUDGMENTS, Run
from sociable.engine.seats import Role
from sociable.engine.settings import change_settings
from sociable.engine.status import POINTS, SECONDS_BETWEEN_LOOKS, StatusKeeper
from sociable.engine.study import AnyStudy, Judged, MeasuredByRule
from sociable.statistics.metrics import CombinedMeans

log = logging.getLogger("sociable")

STEPS = POINTS // 2
"""Estimates in each of the two phases that scores come from."""
MOST_METRICS = 6
"""Metrics whose estimates are noted."""
SHARE_OF_TIME = 0.03
"""The share of the event loop's time that may go into estimates so far."""
SLICE_SECONDS = 0.005
"""The work after which calls get their turn."""


@contextlib.asynccontextmanager
async def watch_run(run: Run, opened: OpenStudy, build: Collection[Role] = tuple(Role)) -> AsyncIterator[StatusKeeper]:
    """Keeps the status of a run in its folder while it is carried out, and lets it be told to stop or to spend more."""

    def change_limit(max_cost: float) -> None:
        manifest = run.folder.read_manifest()
        changed = change_settings(read_settings(manifest, run.folder.path), max_cost=max_cost)
        find_prices(changed, run.seats, build)  # a limit is of no use where a price is missing
        run.folder.write_manifest(manifest | describe_roles(changed))
        run.budget.change_limit(max_cost)

    with StatusKeeper(run.folder.path, run.budget, lambda: run.counts, change_limit) as keeper:
        looking = asyncio.create_task(_note_estimates(run, keeper))
        try:
            yield keeper
            played, planned = len(run.records.episodes), run.folder.read_manifest()["episodes"]
            if played < planned:
                keeper.missing = f"{planned - played} of {planned} episodes have not been played."
        finally:
            looking.cancel()
            await asyncio.wait({looking})
            if not looking.cancelled() and (problem := looking.exception()):
                # Whatever is wrong with a score is told when the run is scored; nobody needs a glance at it.
                log.debug("estimates so far could not be worked out", exc_info=problem)


def select_main(study: AnyStudy, estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates of a few metrics that comparisons show and that have a value, that by which models are ranked first."""
    metrics = study.metrics
    compared = {
        name for name, each in metrics.items() if each.is_compared and (each.value or isinstance(each.aggregate, CombinedMeans))
    }
    measured = [each for each in estimates if each.metric in compared and each.value is not None]
    names = {each.metric for each in measured}
    main = next((each.name for each in study.list_main_metrics() if each.name in names), "")
    return sorted(measured, key=lambda each: each.metric != main)[:MOST_METRICS]


async def _note_estimates(run: Run, keeper: StatusKeeper) -> None:
    """Notes the estimates so far whenever a phase has gone on by a step. Never ends by itself."""
    look = _Look(run)
    noted: tuple[str, int] | None = None
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        counts = run.counts
        if counts is None or counts.phase not in (EPISODES, JUDGMENTS) or not counts.done:
            continue
        step = counts.phase, STEPS * (counts.earlier + counts.done) // (counts.earlier + counts.total)
        if step == noted:
            continue
        noted = step
        scores = await look.list_scores()
        began = time.perf_counter()
        # Pure, and not quick where intervals are found by resampling: calls go on meanwhile.
        estimates = await asyncio.to_thread(run.study.estimate, scores)
        keeper.note_estimates(select_main(run.study, estimates), len({(each.scenario, each.repeat) for each in scores}))
        await asyncio.sleep((time.perf_counter() - began) / SHARE_OF_TIME)


@dataclass
class _Scored:
    tasks: Sequence[str]
    """The judging tasks of the episode."""
    judged: int
    """Those that were done when it was scored."""
    scores: Sequence[Score]


@dataclass
class _Look:
    """Scores the episodes that are on disk, little by little, and each only once it has something new."""

    run: Run
    _known: dict[str, _Scored] = field(default_factory=dict)
    """By episode that was completed."""

    async def list_scores(self) -> list[Score]:
        """The scores so far. It takes its time: ``SHARE_OF_TIME`` of it is work."""
        judgments, began = self.run.records.judgments, time.perf_counter()
        for name in self.run.records.episodes.list_ids():
            known = self._known.get(name)
            if known is None or sum(task in judgments for task in known.tasks) != known.judged:
                self._score(name)
            if (worked := time.perf_counter() - began) > SLICE_SECONDS:
                await asyncio.sleep(worked / SHARE_OF_TIME)
                began = time.perf_counter()
        return [score for each in self._known.values() for score in each.scores]

    def _score(self, name: str) -> None:
        """Scores one episode as the run does at its end, and writes nothing."""
        study, records, seats = self.run.study, self.run.records, self.run.seats
        episode = records.episodes.read(name)
        if episode.status is not EpisodeStatus.COMPLETED or episode.scenario not in study.scenarios:
            return
        panel = [seat.name for seat in seats.judges]
        tasks = [task.id for task in study.list_judging_tasks(episode, seats.judges)] if isinstance(study, Judged) else []
        judgments = list(filter(None, map(records.judgments.find, tasks)))
        measured = study.measure(episode, judgments if panel else [], panel) if isinstance(study, MeasuredByRule) else None
        self._known[name] = _Scored(tasks, len(judgments), study.score(episode, judgments, panel, measured))
