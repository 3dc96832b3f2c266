"""A run: references, episodes, judgments, scores, each from what the one before wrote to disk.

Knows no benchmark and no model by name: ``api`` builds what it works with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from sociable.agents.person import NAME as PERSON
from sociable.core.errors import InputError, RunFolderError
from sociable.core.records import Episode, EpisodeStatus, Judgment, Score, ScoreFile, episode_id
from sociable.core.run_folder import RecordFile, RunFolder
from sociable.engine.benchmark import Benchmark, JudgingTask, RunResult, Study
from sociable.engine.phases import Progress, run_phase
from sociable.engine.ratings import RatingTask, rating_estimates, rating_scores, rating_tasks
from sociable.engine.seats import Seats
from sociable.judging.rubric import Rubric, RubricJudgment, rate, rubric_prompts
from sociable.models.limits import Budget

R = TypeVar("R", bound=BaseModel)


@dataclass
class RunRecords:
    """The record files of a run folder, open for reading; appended to by the phases."""

    references: RecordFile[BaseModel]
    episodes: RecordFile[Episode]
    judgments: RecordFile[Judgment]
    rubrics: RecordFile[RubricJudgment]

    @classmethod
    def of(cls, folder: Path, benchmark: Benchmark) -> RunRecords:
        return cls(
            _records(folder / "references.jsonl", benchmark.reference_type),
            _records(folder / "episodes.jsonl", benchmark.episode_type),
            _records(folder / "judgments.jsonl", benchmark.judgment_type),
            _records(folder / "rubrics.jsonl", RubricJudgment),
        )

    def judgments_of(self, study: Study, episode: Any, seats: Seats) -> list[Judgment]:
        return [self.judgments.read(task.id) for task in study.judging_tasks(episode, seats.judges) if task.id in self.judgments]

    def reference_of(self, scenario: str) -> BaseModel | None:
        return self.references.read(scenario) if scenario in self.references else None

    def close(self) -> None:
        for file in (self.references, self.episodes, self.judgments, self.rubrics):
            file.close()


@dataclass(frozen=True)
class FinishedRun:
    """A run as its readers see it: the result, the study it was of, its records and who sat where."""

    result: RunResult
    study: Study
    records: RunRecords
    seats: Seats

    def judgments_of(self, episode: Any) -> list[Judgment]:
        return self.records.judgments_of(self.study, episode, self.seats)


@dataclass
class Run:
    """Everything a run needs, built."""

    folder: RunFolder
    study: Study
    seats: Seats
    records: RunRecords
    budget: Budget
    repeats: int
    at_once: int
    progress: Callable[[Progress], None]
    rubric: Rubric | None = None
    failures: Counter[str] = field(default_factory=Counter)
    """What the run failed at, by phase and reason."""

    @property
    def lacks_references(self) -> bool:
        return any(scenario not in self.records.references for scenario in self.study.scenarios)

    def adopt_references(self, made: RecordFile[BaseModel]) -> None:
        """Copies references made by another run into this one; they have been checked."""
        for scenario in self.study.scenarios:
            if scenario not in self.records.references:
                self.records.references.append(made.read(scenario))

    async def make_references(self) -> None:
        """Has the reference make what is missing."""
        missing = [scenario for scenario in self.study.scenarios if scenario not in self.records.references]
        # A reference that cannot be made now is made on resume; what is judged against it waits as long.
        await run_phase(
            missing,
            partial(self.study.make_reference, seats=self.seats),
            lambda _scenario, _reason: None,
            self.records.references,
            self.budget,
            self._progress("references", len(missing)),
            at_once=self.at_once,
        )
        self.records.references.arrange(list(self.study.scenarios))

    async def run_episodes(self) -> None:
        """Runs what is missing or errored."""
        pending = [
            (scenario, repeat)
            for scenario in self.study.scenarios
            for repeat in range(self.repeats)
            if not self._completed(episode_id(scenario, repeat))
        ]
        await run_phase(
            pending,
            lambda item: self.study.run_episode(item[0], item[1], self.seats),
            self._errored_episode,
            self.records.episodes,
            self.budget,
            self._progress("episodes", len(pending)),
            # A person is asked one case at a time, from beginning to end.
            at_once=1 if PERSON in (self.seats.subject.name, self.seats.partner and self.seats.partner.name) else self.at_once,
        )
        self.records.episodes.arrange(
            [episode_id(scenario, repeat) for scenario in self.study.scenarios for repeat in range(self.repeats)]
        )

    async def judge(self) -> None:
        """Has the current panel judge what it has not judged yet."""
        records, study = self.records, self.study
        order: list[str] = []

        def pending() -> Iterator[tuple[JudgingTask, Episode]]:
            for episode in records.episodes:
                if episode.status is EpisodeStatus.COMPLETED:
                    tasks = study.judging_tasks(episode, self.seats.judges)
                    order.extend(task.id for task in tasks)
                    yield from ((task, episode) for task in tasks if task.id not in records.judgments and self._ready(task))

        async def work(item: tuple[JudgingTask, Episode]) -> Judgment:
            task, episode = item
            return await study.judge(task, episode, records.reference_of(task.scenario))

        await run_phase(
            pending(),
            work,
            lambda _item, _reason: None,
            records.judgments,
            self.budget,
            self._progress("judgments", sum(1 for _ in pending())),
            at_once=self.at_once,
        )
        records.judgments.arrange(list(dict.fromkeys(order)))

    async def rate(self) -> None:
        """Has the raters rate by the rubric what they have not rated yet."""
        if self.rubric is None:
            return
        rubric, prompts = self.rubric, rubric_prompts()
        tasks = [
            task for episode in self.records.episodes for task in rating_tasks(self.study, rubric, episode, self.seats.raters)
        ]
        pending = [task for task in tasks if task.id not in self.records.rubrics]

        async def work(task: RatingTask) -> RubricJudgment:
            return await rate(rubric, task.rated, task.seat, prompts, identifier=task.id, episode=task.episode)

        await run_phase(
            pending,
            work,
            lambda _task, _reason: None,
            self.records.rubrics,
            self.budget,
            self._progress("ratings", len(pending)),
            at_once=self.at_once,
        )
        self.records.rubrics.arrange([task.id for task in tasks])

    def score(self, benchmark: Benchmark) -> ScoreFile:
        """Scores and estimates from what is on disk, written to ``scores.json``. Calls no participant and no judge."""
        panel = [seat.name for seat in self.seats.judges]
        scores: list[Score] = []
        for episode in self.records.episodes:
            scores += self.study.score(episode, self.records.judgments_of(self.study, episode, self.seats), panel)
        estimates = list(self.study.estimate(scores))
        if self.rubric is not None:
            rated = self._rating_scores(self.rubric)
            scores += rated
            estimates += rating_estimates(self.rubric, rated, seed=0)
        try:
            estimates += self.study.conclude(self.records.episodes, self.folder.path, self._begun)
        finally:
            # What is known already is kept, whatever becomes of the rest.
            file = ScoreFile(
                benchmark=benchmark.name, version=benchmark.version, estimates=tuple(estimates), scores=tuple(scores)
            )
            self.folder.write("scores.json", file.model_dump_json(indent=1) + "\n")
        return file

    def _rating_scores(self, rubric: Rubric) -> list[Score]:
        raters = [seat.name for seat in self.seats.raters]
        given = {judgment.id: judgment for judgment in self.records.rubrics}
        return [score for episode in self.records.episodes for score in rating_scores(self.study, rubric, episode, given, raters)]

    def _ready(self, task: JudgingTask) -> bool:
        return not task.needs_reference or task.scenario in self.records.references

    def _completed(self, identifier: str) -> bool:
        episodes = self.records.episodes
        return identifier in episodes and episodes.read(identifier).status is EpisodeStatus.COMPLETED

    def _errored_episode(self, item: tuple[str, int], reason: str) -> Episode:
        scenario, repeat = item
        return self.study.errored_episode(scenario, repeat, reason)

    def _begun(self, phase: str, total: int) -> Progress:
        progress = self._progress(phase, total)
        progress.changed(progress)
        return progress

    def _progress(self, phase: str, total: int) -> Progress:
        return Progress(phase, total, changed=self.progress, failures=self.failures)


def references_from(file: Path, benchmark: Benchmark, study: Study, seats: Seats) -> RecordFile[BaseModel]:
    """References made by another run. Raises InputError when one is missing or does not fit this study."""
    if not file.is_file():
        raise InputError(f"{file}: no such file. --reference-file takes the references.jsonl of a run.")
    try:
        made = _records(file, benchmark.reference_type)
    except RunFolderError as error:
        raise InputError(f"{file} is not the references.jsonl of a run: {error}") from None
    for scenario in study.scenarios:
        if scenario not in made:
            raise InputError(
                f"{file} has no reference for case {scenario}. Use the file of a run over the same cases, "
                "or have them made with --reference MODEL."
            )
        if problem := study.check_reference(scenario, made.read(scenario), seats):
            raise InputError(f"{file}, case {scenario}: {problem}. Have it made again with --reference MODEL.")
    return made


def _records(path: Path, kind: type[R]) -> RecordFile[R]:
    return RecordFile(path, kind.model_validate_json, lambda record: str(record.id))  # type: ignore[attr-defined]
