"""The results of runs, read from their folders. No model is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sociable.core.errors import RunFolderError
from sociable.core.records import Outcome, ScoreFile
from sociable.core.run_folder import RunFolder
from sociable.engine.opening import OpenStudy, reopen_study
from sociable.engine.result import RunRecords, RunResult
from sociable.reports.documents import list_warnings
from sociable.reports.headroom import warn_of_ceilings


def load_result(folder: str | Path, *, scored: bool = True, lenient: bool = False) -> RunResult:
    """Reads a run. No model is built and no lock is taken. Raises RunFolderError if it has not been ``scored``.

    ``lenient``: to look at single records of a large or damaged run; each is checked when it is read.
    """
    opened_folder = RunFolder.open(Path(folder), lock=False)
    opened = reopen_study(opened_folder, only_read=True)
    records = RunRecords.open(opened_folder.path, opened.study, lenient=lenient)
    return make_result(opened, opened_folder, records, scored=scored)


def make_result(opened: OpenStudy, folder: RunFolder, records: RunRecords, *, scored: bool = True) -> RunResult:
    """The result of a run that is open. Raises RunFolderError if it has not been ``scored``."""
    manifest, views = folder.read_manifest(), opened.benchmark.load_views()
    scores = read_scores(folder.path) if scored else None
    return RunResult(
        label=_name_run(views.make_label(manifest), manifest),
        folder=str(folder.path),
        manifest=manifest,
        estimates=scores.estimates if scores else (),
        scores=scores.scores if scores else (),
        notes=_list_notes(opened, manifest, scores) if scores else [],
        study=opened.study,
        records=records,
        seats=opened.seats,
    )


def _name_run(label: str, manifest: dict[str, Any]) -> str:
    """The label of a run, with the participants who were people among those of its models."""
    people = manifest["models"].get("people")
    return f"{label}, people as {' and '.join(people)}" if people else label


def _list_notes(opened: OpenStudy, manifest: dict[str, Any], scores: ScoreFile) -> list[str]:
    """What a reader of the scores must know: of the run, of the benchmark, and where the cases leave no room."""
    ceilings = warn_of_ceilings(opened.study.metrics, manifest["models"]["subject"], scores.estimates)
    return [*list_warnings(manifest, scores), *ceilings, *opened.benchmark.load_views().list_remarks(scores.estimates)]


def read_scores(path: Path) -> ScoreFile:
    """The scores in a run's folder. Raises RunFolderError where there are none."""
    try:
        return ScoreFile.model_validate_json((path / "scores.json").read_bytes())
    except FileNotFoundError:
        raise RunFolderError(f"{path} has no scores yet. Finish it with: sociable resume {path}") from None
    except ValueError as error:
        raise RunFolderError(
            f"{path / 'scores.json'} is damaged ({error.__class__.__name__}). Make it anew with: sociable score {path}"
        ) from None


def is_finished(folder: Path) -> bool:
    """Whether nothing of a run is left to do: every episode was played, judged and scored."""
    if not (folder / "scores.json").exists():
        return False
    scores = read_scores(folder).scores
    played = {(score.scenario, score.repeat) for score in scores}
    manifest = RunFolder.open(folder, lock=False).read_manifest()
    return len(played) == manifest["episodes"] and not any(score.outcome is Outcome.ERRORED for score in scores)


Runs = str | Path | RunResult | Sequence[str | Path | RunResult]
"""One or several runs: folders, or results that are there already."""


def load_results(runs: Runs) -> list[RunResult]:
    """The results of these runs; those that are there already are not read again."""
    several = [runs] if isinstance(runs, str | Path | RunResult) else runs
    return [each if isinstance(each, RunResult) else load_result(each) for each in several]
