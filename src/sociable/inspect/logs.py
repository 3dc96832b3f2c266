"""Runs as Inspect logs, and logs of our tasks as runs."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import re
import secrets
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    condense_sample,
    read_eval_log,
    read_eval_log_samples,
)
from inspect_ai.model import GenerateConfig, ModelConfig, ModelUsage
from pydantic import BaseModel, ValidationError
from zstandard import ZstdError

from sociable.api.results import load_result
from sociable.api.runs import score
from sociable.core.errors import InputError, StorageFailure
from sociable.core.records import Episode, EpisodeStatus, Judgment, Score, Usage, make_episode_id
from sociable.core.run_folder import RecordFile, RunFolder
from sociable.engine.event_loop import run_to_end
from sociable.engine.hub import is_on_hub, pin
from sociable.engine.opening import (
    OpenStudy,
    bind_study,
    check_digests,
    check_settings,
    check_version,
    describe_roles,
    keep_inputs,
    read_settings,
)
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunRecords, RunResult
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings, change_settings, strip_endpoint
from sociable.engine.status import read_status
from sociable.engine.study import Judged, Referenced
from sociable.inspect.calls import convert_usage, list_events, name_in_inspect, open_journal
from sociable.inspect.samples import (
    EPISODE,
    REFERENCE,
    SCORER,
    VIEWER,
    Kept,
    describe_case,
    find_headline,
    find_records,
    list_values,
    make_messages,
    make_output,
    make_score,
)
from sociable.inspect.seating import ROLES, SETTINGS, Asked
from sociable.judging.rubric import RubricJudgment
from sociable.models.inspect_internals import create_recorder_for_location
from sociable.models.journal import Journal
from sociable.models.protocol import SAMPLING_FIELDS

SAMPLES_AT_ONCE = 200
"""Samples of a log in memory: each time they are written, so is the whole file."""
UNREADABLE = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, ZstdError)
"""What Inspect raises for a file that is no log, or that is torn."""


def export_log(folder: str | Path, out: str | Path | None = None) -> Path:
    """Writes a finished run as an Inspect log, by default ``run.eval`` in its folder, and returns the file.

    Samples of an ``.eval`` are written as they are read; a ``.json`` is held in memory, as Inspect does. Raises RunFolderError
    for a run without scores, and StorageFailure.
    """
    run, path = load_result(folder), Path(out or Path(folder) / "run.eval")
    if path.suffix not in (".eval", ".json"):
        raise InputError(f"--out {path}: an Inspect log ends in .eval or .json.")
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        run_to_end(_write_log(run, part))
        part.replace(path)
    except OSError as error:
        raise StorageFailure.at(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return path


async def _write_log(run: RunResult, path: Path) -> None:
    manifest = dict(run.manifest)
    settings = read_settings(manifest, Path(run.folder))
    spec, completed, used = _make_spec(run, manifest, settings), 0, dict[str, ModelUsage]()
    recorder = create_recorder_for_location(str(path), str(path.parent))
    await recorder.log_init(spec, str(path))
    await recorder.log_start(spec, EvalPlan())
    with open_journal(Path(run.folder)) as journal:
        for number, sample in enumerate(_make_samples(run, manifest, settings, journal), start=1):
            completed += sample.error is None
            used = _add_up((used, sample.model_usage))
            await recorder.log_sample(spec, condense_sample(sample))
            if path.suffix == ".eval" and number % SAMPLES_AT_ONCE == 0:
                await recorder.flush(spec)
    status, created = read_status(Path(run.folder)), manifest["created"]
    values = {name: EvalMetric(name=name, group="estimates", value=value) for name, value in list_values(run.estimates).items()}
    stats = EvalStats(
        started_at=created,
        completed_at=status.updated.isoformat() if status and status.updated else created,
        model_usage=used,
        role_usage={role: convert_usage(Usage(**each)) for role, each in manifest.get("usage", {}).items()},
    )
    results = EvalResults(
        total_samples=len(run.study.scenarios) * settings.repeats,
        completed_samples=completed,
        scores=[EvalScore(name=SCORER, scorer=SCORER, metrics=values)],
    )
    await recorder.log_finish(spec, "success", stats, results, None, header_only=True)


def _make_spec(run: RunResult, manifest: Mapping[str, Any], settings: RunSettings) -> EvalSpec:
    name, digest = f"sociable/{manifest['benchmark']}", _digest(manifest)
    return EvalSpec(
        created=manifest["created"],
        eval_id=digest,
        run_id=digest,
        task=name,
        task_id=digest,
        task_version=manifest["version"],
        task_registry_name=name,
        dataset=EvalDataset(name=name, samples=len(run.study.scenarios), sample_ids=list(run.study.scenarios)),
        model=name_in_inspect(strip_endpoint(settings.model)),
        model_roles=_list_roles(settings) or None,
        config=EvalConfig(epochs=settings.repeats),
        packages={"sociable": manifest["packages"]["sociable"]},
        metadata={"sociable": manifest},
        viewer=VIEWER,
        headline_metric=find_headline(run.study, run.estimates),
        # Records of Inspect's without a public name.
        scorers=[{"name": SCORER, "metrics": [{"name": "sociable/estimates"}]}],
    )


def _digest(manifest: Mapping[str, Any]) -> str:
    """The same name for the same run, whenever it is exported."""
    return hashlib.blake2b(json.dumps(manifest, sort_keys=True).encode(), digest_size=11).hexdigest()


_OTHERS = ("partner", "opponent", "reference")


def _list_roles(settings: RunSettings) -> dict[str, ModelConfig | list[ModelConfig]]:
    """The model roles of a run that Inspect can fill; a model that it cannot make would keep it from judging the log."""
    roles: defaultdict[str, list[ModelConfig]] = defaultdict(list)
    for role, name in settings.list_models():
        if role is not Role.SUBJECT and name.startswith(("inspect/", "reference/")):
            roles[role.value].append(ModelConfig(model=name_in_inspect(strip_endpoint(name))))
    return {role: models if len(models) > 1 else models[0] for role, models in roles.items()}


def _make_samples(
    run: RunResult, manifest: Mapping[str, Any], settings: RunSettings, journal: Journal | None
) -> Iterator[EvalSample]:
    benchmark, study = find_benchmark(settings.benchmark), run.study
    scores = defaultdict[str, list[Score]](list)
    for each in run.scores:
        scores[make_episode_id(each.scenario, each.repeat)].append(each)
    # Their names alone: a run may have more judgments than memory.
    judgments = _group_ids(run.records.judgments)
    ratings = _group_ids(run.records.rubrics)
    models = {"model": settings.model} | {role: name for role in _OTHERS if (name := getattr(settings, role))}
    asked = Asked(
        benchmark=benchmark.name,
        version=manifest["version"],
        digests=manifest["digests"],
        packages=manifest["packages"],
        settings=settings.model_dump(mode="json", include={*SETTINGS, "options"}, exclude_defaults=True),
        models={role: strip_endpoint(name) for role, name in models.items()},
    )
    names = {role.value: name_in_inspect(strip_endpoint(name)) for role, name in settings.list_models()}
    for episode in run.episodes():
        messages, given = make_messages(study, episode), [run.records.judgments.read(each) for each in judgments[episode.id]]
        store = {EPISODE: episode.model_dump(mode="json")}
        if (reference := run.find_reference(episode.scenario)) is not None:
            store[REFERENCE] = reference.model_dump(mode="json")
        used = [(names.get(role, role), usage) for role, usage in episode.usage.items()]
        used += [(name_in_inspect(judgment.judge), judgment.usage) for judgment in given]
        kept = {
            "models": {**models, "judges": list(settings.judges)},
            "ratings": tuple(run.records.rubrics.read(each).model_dump(mode="json") for each in ratings[episode.id]),
        }
        yield EvalSample(
            id=episode.scenario,
            epoch=episode.repeat + 1,
            uuid=_digest({"run": manifest, "episode": episode.id}),
            input=describe_case(benchmark, study, episode.scenario),
            target="",
            messages=messages,
            output=make_output(name_in_inspect(strip_endpoint(settings.model)), messages),
            scores={}
            if episode.status is EpisodeStatus.ERRORED
            else {SCORER: make_score(study, episode, scores[episode.id], given, **kept)},
            metadata={"sociable": asked.model_dump()},
            store=store,
            # Without calls there are no events: the viewer then opens the conversation.
            events=list(list_events(journal, episode.id, datetime.fromisoformat(manifest["created"]))) if journal else [],
            model_usage=_add_up({name: convert_usage(usage)} for name, usage in used if usage.calls),
            role_usage={role: convert_usage(usage) for role, usage in episode.usage.items()},
            # The viewer shows the traceback alone.
            error=EvalError(message=reason, traceback=reason, traceback_ansi=reason) if (reason := episode.error) else None,
        )


def _group_ids(records: RecordFile[Judgment] | RecordFile[RubricJudgment]) -> defaultdict[str, list[str]]:
    """The ids of judgments by episode."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        found[record.episode].append(record.id)
    return found


def _add_up(several: Iterable[Mapping[str, ModelUsage]]) -> dict[str, ModelUsage]:
    total: dict[str, ModelUsage] = {}
    for usage in several:
        for name, each in usage.items():
            total[name] = total[name] + each if name in total else each
    return total


@dataclass
class _Read:
    """What a log holds of a run."""

    path: Path
    references: dict[str, BaseModel] = field(default_factory=dict)
    """By scenario."""
    episodes: list[Episode] = field(default_factory=list)
    judgments: list[Judgment] = field(default_factory=list)
    ratings: list[RubricJudgment] = field(default_factory=list)
    judges: tuple[str, ...] | None = None
    """The judges of the last score; None where there is no score."""


def import_log(
    file: str | Path, out: str | Path, *, dataset: str | Path | None = None, prompts: str | Path | None = None
) -> RunResult:
    """Makes a run folder of a log that a task of ours or ``export_log`` wrote, scores it, and returns the result.

    ``dataset`` and ``prompts`` are where the user's own lie now, if the log was made with such. Raises InputError for a log of
    another task, of another version or data, or that cannot be read, before a folder is made.
    """
    path = Path(file)
    log, manifest = _read_header(path)
    benchmark = find_benchmark(manifest["benchmark"])
    check_version(manifest, benchmark, path)
    moved = {name: pin(str(where)) for name, where in (("dataset", dataset), ("prompts", prompts)) if where}
    settings = _add_sampling(read_settings(manifest, path), log).model_copy(update=moved)
    _check_inputs(settings, path)
    opened = _open_selection(settings, log)
    check_digests(manifest, opened.study, path, only_read=True)
    read = _read_samples(path, opened)
    opened = replace(opened, settings=change_settings(opened.settings, judges=read.judges))
    folder = RunFolder.create(Path(out))
    with folder:
        written = {**manifest, "episodes": _count_episodes(manifest, opened)}
        written |= {"inputs": keep_inputs(folder, opened), **describe_roles(opened.settings)}
        folder.write_manifest(written if "usage" in written else written | {"usage": _sum_usage(read)})
        _write_records(RunRecords.open(folder.path, opened.study), read, opened)
    return score(out)


def _check_inputs(settings: RunSettings, path: Path) -> None:
    """Raises InputError where the user's own data or prompts are not where they were when the log was made."""
    for name, given in (("dataset", settings.dataset), ("prompts", settings.prompts)):
        if given and not is_on_hub(given) and not Path(given).exists():
            raise InputError(f"{given}, the {name} of {path}, is not there. Name the place where it is now: --{name} PATH.")


def _count_episodes(manifest: Mapping[str, Any], opened: OpenStudy) -> int:
    """The episodes of a run; one that ended by rule has fewer than its cases."""
    planned = len(opened.study.scenarios) * opened.settings.repeats
    return min(planned, manifest["episodes"]) if "stopped" in manifest else planned


def _read_header(path: Path) -> tuple[EvalLog, dict[str, Any]]:
    """The head of a log, and the manifest in it."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. Name an Inspect log (.eval) of a task of sociable.")
    try:
        log = read_eval_log(str(path), header_only=True)
    except UNREADABLE as error:
        raise _make_read_error(path, error) from None
    manifest: Any = (log.eval.metadata or {}).get("sociable")
    try:
        fields = {name: manifest[name] for name in ("benchmark", "version", "digests", "settings", "packages")}
        Asked.model_validate(fields).packages["sociable"]
    except (TypeError, KeyError, ValueError):
        problem = f"is a log of the task '{log.eval.task}', not of one of sociable's: only those can be imported"
        raise InputError(f"{path} {problem}.") from None
    return log, {name: value for name, value in manifest.items() if name != "format"}


def _make_read_error(path: Path, error: Exception) -> InputError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{path} cannot be read as an Inspect log ({reason}). It may be torn: copy it again, or take another.")


def _add_sampling(settings: RunSettings, log: EvalLog) -> RunSettings:
    """``settings`` with the sampling that the user gave Inspect, for its model under test or for a role."""
    subject = log.eval.model_generate_config.merge(log.plan.config)
    given: dict[Role, list[GenerateConfig]] = {Role.SUBJECT: [subject]}
    for role in ROLES:
        models = (log.eval.model_roles or {}).get(role.value, [])
        given[role] = [each.config for each in (models if isinstance(models, list) else [models])]
    roles = dict(settings.roles)
    for seat, configs in given.items():
        names = [name for role, name in settings.list_models() if role is seat]
        for name, config in zip(names, configs, strict=False):
            if sampling := config.model_dump(include=set(SAMPLING_FIELDS), exclude_none=True):
                # Of several judges each has its own.
                key = seat.value if len(names) == 1 else strip_endpoint(name)
                roles[key] = settings.find_role_settings(seat, name).model_copy(update=sampling)
    return settings.model_copy(update={"roles": roles})


def _open_selection(settings: RunSettings, log: EvalLog) -> OpenStudy:
    """The study of the cases that a log is about."""
    repeats = settings.model_copy(update={"repeats": log.eval.config.epochs or 1})
    opened = _open(repeats)
    chosen = {str(name) for name in log.eval.dataset.sample_ids or ()}
    if chosen == opened.study.scenarios.keys():
        return opened
    return _open(repeats.model_copy(update={"scenarios": tuple(sorted(chosen)), "limit": None}))


def _open(settings: RunSettings) -> OpenStudy:
    opened = bind_study(settings, build=())
    # The references are in the log, wherever they came from.
    check_settings(opened, references_adopted=True)
    return opened


def _read_samples(path: Path, opened: OpenStudy) -> _Read:
    read = _Read(path)
    try:
        for sample in read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True):
            _read_sample(sample, opened, read)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: '{place}' is no record this version understands: {first['msg']}.") from None
    except UNREADABLE as error:
        raise _make_read_error(path, error) from None
    return read


def _read_sample(sample: EvalSample, opened: OpenStudy, read: _Read) -> None:
    study, scenario, repeat = opened.study, str(sample.id), sample.epoch - 1
    kept = [Kept.model_validate(each.metadata, strict=False) for each in _list_own_scores(sample)]
    records = find_records(sample.store, sample.events)
    if (played := records.get(EPISODE)) is None:
        read.episodes.append(study.make_errored_episode(scenario, repeat, _find_reason(sample)))
        return
    # It was played and paid for, though its judges may have failed since.
    episode = study.episode_type.model_validate(played, strict=False)
    if episode.id != make_episode_id(scenario, repeat):
        raise InputError(f"{read.path}: the sample {scenario}, epoch {sample.epoch}, holds the episode {episode.id}.")
    read.episodes.append(episode)
    made = [each for each in (records.get(REFERENCE), *(each.reference for each in kept)) if each is not None]
    if made and isinstance(study, Referenced):
        read.references.setdefault(scenario, study.reference_type.model_validate(made[0], strict=False))
    for each in kept:
        read.judges = tuple(each.models.get("judges", ()))
        kind = study.judgment_type if isinstance(study, Judged) else Judgment
        read.judgments += [kind.model_validate(judgment, strict=False) for judgment in each.judgments]
        read.ratings += [RubricJudgment.model_validate(rating, strict=False) for rating in each.ratings]


def _find_reason(sample: EvalSample) -> str:
    """The reason why there is no episode, as a run tells it: Inspect writes ours as the ``repr`` of the error."""
    if sample.error is None:
        return f"the sample ended at its {sample.limit.type} limit" if sample.limit else "the sample ended early"
    written = _FAILURE.fullmatch(sample.error.message)
    return str(ast.literal_eval(written[1])) if written else sample.error.message


_FAILURE = re.compile(r"(?:RunFailure|ContextLengthExceeded)\(('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\)")


def _list_own_scores(sample: EvalSample) -> Sequence[Any]:
    """The scores that our scorer gave, the first one and those of `inspect score`."""
    return [each for name, each in (sample.scores or {}).items() if name.startswith(SCORER) and "scores" in (each.metadata or {})]


def _sum_usage(read: _Read) -> dict[str, Any]:
    """The usage of a run by role, as its manifest has it."""
    total: defaultdict[str, Usage] = defaultdict(Usage)
    for each in (*read.episodes, *read.references.values()):
        for role, usage in getattr(each, "usage", {}).items():
            total[role] += usage
    for judgment in read.judgments:
        total[Role.JUDGE.value] += judgment.usage
    return {role: usage.model_dump() for role, usage in sorted(total.items())}


def _write_records(records: RunRecords, read: _Read, opened: OpenStudy) -> None:
    try:
        for reference in read.references.values():
            records.references.append(reference)
        for episode in read.episodes:
            records.episodes.append(episode)
        for judgment in read.judgments:
            records.judgments.append(judgment)
        for rating in read.ratings:
            records.rubrics.append(rating)
        order = [make_episode_id(name, repeat) for name in opened.study.scenarios for repeat in range(opened.settings.repeats)]
        records.references.arrange(list(opened.study.scenarios))
        records.episodes.arrange(order)
    finally:
        records.close()
