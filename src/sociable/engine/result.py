"""A run as it is read: its records, its scores, and the study it was of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self

from pydantic import BaseModel
from typing_extensions import TypeVar

from sociable.core.errors import InputError, RunFolderError
from sociable.core.records import Episode, Estimate, Judgment, Record, Score
from sociable.core.run_folder import RecordFile
from sociable.engine.frames import make_frame
from sociable.engine.seats import Seats
from sociable.engine.study import AnyStudy, Judged, MeasuredByRule, Referenced
from sociable.judging.rubric import RubricJudgment

if TYPE_CHECKING:
    import pandas as pd

St = TypeVar("St", bound=AnyStudy, default=AnyStudy, covariant=True)


@dataclass
class RunRecords:
    """The record files of a run folder, open for reading; the phases of a run append to them."""

    references: RecordFile[BaseModel]
    episodes: RecordFile[Episode]
    measurements: RecordFile[BaseModel]
    judgments: RecordFile[Judgment]
    rubrics: RecordFile[RubricJudgment]

    @classmethod
    def open(cls, folder: Path, study: AnyStudy, *, lenient: bool = False) -> Self:
        """The files of a run of ``study``; those that are not there yet are empty. Raises RunFolderError.

        ``lenient``: to look at single records; lines that are none are passed over.
        """
        open_file = partial(RecordFile, lenient=lenient)
        return cls(
            open_file(folder / "references.jsonl", study.reference_type if isinstance(study, Referenced) else Record),
            open_file(folder / "episodes.jsonl", study.episode_type),
            open_file(folder / "measurements.jsonl", study.measurement_type if isinstance(study, MeasuredByRule) else Record),
            open_file(folder / "judgments.jsonl", study.judgment_type if isinstance(study, Judged) else Judgment),
            open_file(folder / "rubrics.jsonl", RubricJudgment),
        )

    def close(self) -> None:
        for file in (self.references, self.episodes, self.measurements, self.judgments, self.rubrics):
            file.close()


@dataclass(frozen=True)
class RunResult(Generic[St]):
    """The result of a run: scores and estimates, and the records they rest on."""

    label: str
    """The run's name in tables: the model under test, with its folder where two have the same."""
    folder: str
    manifest: Mapping[str, Any]
    estimates: Sequence[Estimate]
    scores: Sequence[Score]
    notes: Sequence[str]
    """Notes that a reader of the scores must know: judge equal to subject, records left out, errored episodes."""
    study: St
    records: RunRecords
    seats: Seats

    def __repr__(self) -> str:
        values = ", ".join(f"{each.metric} {each.value:.3f}" for each in self.estimates if each.value is not None)
        return f"<RunResult of {self.label} in {self.folder}: {values}>"

    def estimate(self, metric: str) -> Estimate | None:
        """The estimate of this name, or None if the run has none."""
        return next((estimate for estimate in self.estimates if estimate.metric == metric), None)

    def frame(self, table: str = "scores") -> pd.DataFrame:
        """A table of the run as a pandas data frame: scores, estimates, episodes, turns, judgments, people, calls or runs.

        Columns are those of ``sociable export``; what may be missing is NaN, NA or None. Raises InputError for another name.
        """
        return make_frame(self, table)

    def episodes(self) -> Iterator[Any]:
        """The episodes, of the study's own type, read one at a time."""
        return iter(self.records.episodes)

    def judgments(self) -> Iterator[Judgment]:
        """Every opinion that a judge ever gave on this run, read one at a time."""
        return iter(self.records.judgments)

    def find_episode(self, name: str) -> Any:
        """An episode by id, or by its scenario where that was played once. Raises InputError."""
        found = self.records.episodes.find(name) or self.records.episodes.find(f"{name}#0")
        if found is None:
            raise InputError(f"{self.folder} has no episode '{name}'. `sociable show {self.folder}` lists them.")
        return found

    def find_judgments(self, episode: Any) -> list[Any]:
        """The current panel's judgments on an episode."""
        return read_judgments(self.study, self.records, episode, self.seats)

    def find_measurement(self, episode: Any) -> Any:
        """The measurement that rules made in an episode; None where there is none."""
        return self.records.measurements.find(episode.id)

    def find_reference(self, scenario: str) -> Any:
        """The reference for a scenario; None where none was made."""
        return self.records.references.find(scenario)


def read_judgments(study: AnyStudy, records: RunRecords, episode: Any, seats: Seats) -> list[Any]:
    """The judgments of the judges in ``seats`` on an episode."""
    tasks = study.list_judging_tasks(episode, seats.judges) if isinstance(study, Judged) else []
    return list(filter(None, (records.judgments.find(task.id) for task in tasks)))


def read_references(file: Path, study: AnyStudy, seats: Seats) -> RecordFile[BaseModel]:
    """References made by another run. Raises InputError when one is missing or does not fit this study."""
    assert isinstance(study, Referenced)
    if not file.is_file():
        raise InputError(f"{file}: no such file. --reference-file takes the references.jsonl of a run.")
    try:
        made = RecordFile(file, study.reference_type)
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
