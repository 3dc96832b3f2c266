"""A run: references, episodes, measurements, judgments, scores, each from what the one before wrote to disk.

Knows no benchmark and no model by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from sociable.agents.people.person import People
from sociable.core.records import Episode, EpisodeStatus, Judgment, Score, ScoreFile, make_episode_id
from sociable.core.run_folder import RecordFile, RunFolder
from sociable.core.spreading import Spread, work_here
from sociable.engine.executor import Executor
from sociable.engine.phases import Progress, run_phase
from sociable.engine.pool import EPISODES, TakePlace, take_any_place
from sociable.engine.ratings import estimate_ratings, list_rating_tasks, score_ratings
from sociable.engine.result import RunRecords, read_judgments
from sociable.engine.seats import Seats
from sociable.engine.stopping import Looks
from sociable.engine.study import AnyStudy, Concluded, Judged, JudgingTask, MeasuredByRule, Rated, Referenced, TakesLong
from sociable.judging.rubric import Rubric
from sociable.models.journal import Journal
from sociable.models.limits import Budget

JUDGMENTS = "judgments"
"""The name of the phase in which judges give their opinions."""

T = TypeVar("T")
Rec = TypeVar("Rec", bound=BaseModel)


@dataclass
class Run:
    """Everything a run needs, built."""

    folder: RunFolder
    study: AnyStudy
    seats: Seats
    executor: Executor
    records: RunRecords
    budget: Budget
    repeats: int
    at_once: int
    progress: Callable[[Progress], None]
    journal: Journal
    rubric: Rubric | None = None
    looks: Looks | None = None
    """The looks of a run that ends by rule."""
    players: People | None = None
    """The people who take part in episodes; None where nobody does."""
    take_place: TakePlace = take_any_place
    spread: Spread = work_here
    """Who does what asks no model."""
    failures: Counter[str] = field(default_factory=Counter)
    """The number of failures, by phase and reason."""
    counts: Progress | None = None
    """The live counts of the phase that was begun last."""

    @property
    def missing_references(self) -> list[str]:
        """The scenarios that have no reference yet."""
        return [scenario for scenario in self.study.scenarios if scenario not in self.records.references]

    def adopt_references(self, made: RecordFile[BaseModel]) -> None:
        """Copies references made by another run into this one; they have been checked."""
        for scenario in self.missing_references:
            self.records.references.append(made.read(scenario))

    async def make_references(self) -> None:
        """Has the reference model make the references that are missing."""
        assert isinstance(self.study, Referenced)
        missing = self.missing_references
        # A reference that cannot be made now is made on resume; what is judged against it waits as long.
        await self._run_phase(
            "references",
            missing,
            self.executor.make_reference,
            self.records.references,
            earlier=len(self.study.scenarios) - len(missing),
        )
        self.records.references.arrange(list(self.study.scenarios))

    async def run_episodes(self) -> None:
        """Plays what is missing or errored."""
        all_of_them = [(scenario, repeat) for scenario in self.study.scenarios for repeat in range(self.repeats)]
        completed = {episode.id for episode in self._read_done()}
        pending = [item for item in all_of_them if make_episode_id(*item) not in completed]
        await self._run_phase(
            EPISODES,
            pending,
            self._play,
            self.records.episodes,
            failed=lambda item, reason: self.study.make_errored_episode(*item, reason),
            earlier=len(all_of_them) - len(pending),
        )
        self.records.episodes.arrange([make_episode_id(scenario, repeat) for scenario, repeat in all_of_them])

    async def _play(self, item: tuple[str, int]) -> Episode:
        """One episode; people are asked one at a time, from beginning to end."""
        name = make_episode_id(*item)
        if self.players:
            await self.budget.run_unless_stopped(self.players.begin_case(name))
        try:
            episode: Episode = await self.executor.run_episode(*item)
        finally:
            if self.players:
                self.players.end_case(name)
        return episode

    async def judge(self) -> None:
        """Has the current panel judge everything that it has not judged yet."""
        records, study = self.records, self.study
        if not isinstance(study, Judged):
            return
        order: list[str] = []

        def list_pending() -> Iterator[tuple[JudgingTask, Episode]]:
            for episode in self._read_done():
                tasks = study.list_judging_tasks(episode, self.seats.judges)
                order.extend(task.id for task in tasks)
                ready = [task for task in tasks if not task.needs_reference or task.scenario in records.references]
                yield from ((task, episode) for task in ready if task.id not in records.judgments)

        async def work(item: tuple[JudgingTask, Episode]) -> Judgment:
            return await self.executor.judge(*item, records.references.find(item[0].scenario))

        total = sum(1 for _ in list_pending())
        earlier = sum(task in records.judgments for task in set(order))
        await self._run_phase(JUDGMENTS, list_pending(), work, records.judgments, total=total, earlier=earlier)
        records.judgments.arrange(list(dict.fromkeys(order)))

    async def rate(self) -> None:
        """Has the raters rate by the rubric what they have not rated yet."""
        if self.rubric is None or not isinstance(self.study, Rated):
            return
        rubric = self.rubric
        tasks = [
            task for episode in self._read_done() for task in list_rating_tasks(self.study, rubric, episode, self.seats.raters)
        ]
        pending = [task for task in tasks if task.id not in self.records.rubrics]
        await self._run_phase(
            "ratings",
            pending,
            self.executor.rate,
            self.records.rubrics,
            earlier=len(tasks) - len(pending),
        )
        self.records.rubrics.arrange([task.id for task in tasks])

    def measure(self) -> None:
        """Applies the study's rules to every completed episode, and writes down what they find."""
        if not isinstance(self.study, MeasuredByRule):
            return
        measured = []
        panel = [seat.name for seat in self.seats.judges]
        for episode in self._read_done():
            judgments = read_judgments(self.study, self.records, episode, self.seats) if panel else []
            self.records.measurements.append(self.study.measure(episode, judgments, panel))
            measured.append(episode.id)
        self.records.measurements.arrange(measured, only=True)

    def score_episodes(self) -> list[Score]:
        """The scores of the episodes on disk, but for those by raters. Calls no participant and no judge."""
        study, records = self.study, self.records
        self.measure()
        panel = [seat.name for seat in self.seats.judges]
        scores: list[Score] = []
        for episode in self._read_episodes():
            judgments, measured = read_judgments(study, records, episode, self.seats), records.measurements.find(episode.id)
            scores += study.score(episode, judgments, panel, measured)
        return scores

    def score(self, benchmark: str, version: str) -> ScoreFile:
        """Scores and estimates from what is on disk, written to ``scores.json``. Calls no participant and no judge."""
        study, records = self.study, self.records
        scores = self.score_episodes()
        estimates = list(study.estimate(scores))
        if looks := self.looks:
            estimates = [
                looks.find_estimate(study, scores, each) if each.metric == looks.rule.metric else each for each in estimates
            ]
        if self.rubric is not None:
            rated = self._score_ratings(self.rubric)
            scores += rated
            estimates += estimate_ratings(self.rubric, rated, seed=0)
        try:
            if isinstance(study, Concluded):
                estimates += study.conclude(records.episodes, self.folder.path, self._begin, self.spread)
        finally:
            # What is known already is kept, whatever becomes of the rest.
            file = ScoreFile(benchmark=benchmark, version=version, estimates=tuple(estimates), scores=tuple(scores))
            self.folder.write("scores.json", file.model_dump_json(indent=1) + "\n")
        return file

    def _score_ratings(self, rubric: Rubric) -> list[Score]:
        assert isinstance(self.study, Rated)
        raters = [seat.name for seat in self.seats.raters]
        given = {judgment.id: judgment for judgment in self.records.rubrics}
        return [score for episode in self._read_done() for score in score_ratings(self.study, rubric, episode, given, raters)]

    def _read_episodes(self) -> Iterator[Episode]:
        """The episodes of the scenarios that the study holds: at a look it holds those of the clusters that were taken."""
        return (episode for episode in self.records.episodes if episode.scenario in self.study.scenarios)

    def _read_done(self) -> Iterator[Episode]:
        return (episode for episode in self._read_episodes() if episode.status is EpisodeStatus.COMPLETED)

    async def _run_phase(
        self,
        name: str,
        items: Sequence[T] | Iterable[T],
        work: Callable[[T], Awaitable[Rec]],
        file: RecordFile[Rec],
        *,
        failed: Callable[[T, str], Rec | None] = lambda _item, _reason: None,
        total: int | None = None,
        earlier: int = 0,
    ) -> None:
        """Works on the items, and appends what becomes of each to ``file``; ``total`` where they cannot be counted."""
        count = len(items) if isinstance(items, Sequence) else total or 0
        progress = self.counts = Progress(name, count, changed=self.progress, failures=self.failures, earlier=earlier)
        if name == EPISODES and isinstance(self.study, TakesLong):
            progress.measure_under_way = self.executor.measure_under_way
        await run_phase(
            items,
            work,
            failed,
            file,
            self.budget,
            progress,
            at_once=self.at_once,
            take_place=partial(self.take_place, name),
        )

    def _begin(self, phase: str, total: int) -> Progress:
        progress = self.counts = Progress(phase, total, changed=self.progress, failures=self.failures)
        progress.changed(progress)
        return progress
