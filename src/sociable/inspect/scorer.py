"""The scorer, judging as a run does; and the metric, which makes of all samples the estimates of a run."""

from __future__ import annotations

import asyncio
import tempfile
from functools import wraps
from pathlib import Path
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, Value, metric, scorer
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import TaskState

from sociable.core.records import Episode, EpisodeStatus, Estimate, Judgment
from sociable.engine.phases import Progress
from sociable.engine.study import AnyStudy, Concluded, Judged, MeasuredByRule, Referenced
from sociable.inspect.samples import EPISODE, REFERENCE, SCORER, Kept, find_records, list_values, make_score
from sociable.inspect.seating import Seated, find_models, name_all, open_asked, read_asked, take_seats
from sociable.inspect.solver import References
from sociable.models.inspect_internals import RegistryInfo, registry_add

ENDED_EARLY = "the sample ended before its episode did: at a limit, at an error, or because it was stopped"


@metric(scores="unreduced")
def estimates() -> Metric:
    """The estimates of a run, with intervals by its clusters: NAME, NAME_low and NAME_high. Every epoch counts as a repeat."""

    def compute(scores: list[SampleScore]) -> Value:
        return list_values(_estimate(scores)) if scores else {}

    return compute


def _estimate(scores: list[SampleScore]) -> list[Estimate]:
    kept = [Kept.model_validate(each.score.metadata) for each in scores]
    asked = read_asked(scores[0].sample_metadata or {})
    study = open_asked(asked.benchmark, asked.settings, kept[0].models).study
    places = {scenario: place for place, scenario in enumerate(study.scenarios)}
    kept.sort(key=lambda each: (places[each.scores[0].scenario], each.scores[0].repeat) if each.scores else (-1, 0))
    found = list(study.estimate([score for each in kept for score in each.scores]))
    if isinstance(study, Concluded):
        episodes = [study.episode_type.model_validate(each.episode, strict=False) for each in kept if each.episode]
        with tempfile.TemporaryDirectory() as folder:
            found += study.conclude(episodes, Path(folder), Progress)
    return found


@scorer(metrics=[estimates()])
def sociable() -> Scorer:
    """Has the judges of the task judge the sample's episode, and scores it: one value for each metric of the benchmark."""
    references = References()

    async def score(state: TaskState, target: Target) -> InspectScore:
        seated = take_seats(state.metadata)
        study, seats = seated.opened.study, seated.seats
        scenario, panel = str(state.sample_id), [seat.name for seat in seats.judges]
        further: dict[str, Any] = {"models": name_all(read_asked(state.metadata), find_models())}
        records = find_records(state.store, transcript().events)
        played = records.get(EPISODE)
        if played is None:
            episode = study.make_errored_episode(scenario, state.epoch - 1, ENDED_EARLY)
        else:
            episode = study.episode_type.model_validate(played, strict=False)
        if episode.status is not EpisodeStatus.COMPLETED:
            return make_score(study, episode, study.score(episode, [], panel, None), [], **further)
        made = records.get(REFERENCE)
        if made is None and seated.opened.makes_references:
            made = (await references.find(seated, scenario)).model_dump(mode="json")
            further["reference"] = made
        judgments = await _judge(seated, episode, made)
        measured = study.measure(episode, judgments, panel) if isinstance(study, MeasuredByRule) else None
        return make_score(study, episode, study.score(episode, judgments, panel, measured), judgments, **further)

    return score


@wraps(sociable)
def _make_by_short_name() -> Scorer:
    return sociable()


# A log names its scorers without their package, and `inspect score` looks for them by the name in the log.
registry_add(_make_by_short_name, RegistryInfo(type="scorer", name=SCORER))


async def _judge(seated: Seated, episode: Episode, made: dict[str, Any] | None) -> list[Judgment]:
    """The opinions of the whole panel on an episode; what waits for a reference that there is not is left out."""
    study: AnyStudy = seated.opened.study
    if not isinstance(study, Judged):
        return []
    reference = None
    if made is not None and isinstance(study, Referenced):
        reference = study.reference_type.model_validate(made, strict=False)
    tasks = {task.id: task for task in study.list_judging_tasks(episode, seated.seats.judges)}
    ready = [task for task in tasks.values() if reference is not None or not task.needs_reference]
    return list(await asyncio.gather(*(study.judge(task, episode, reference) for task in ready)))
