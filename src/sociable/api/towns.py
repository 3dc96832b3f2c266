"""Uses of a town's run beside scoring: watch it, live a day again with something changed, ask a resident.

All of it stands on the journal: an episode is lived again from its own calls, for nothing, up to the moment that is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sociable.api.results import load_result
from sociable.api.runs import make_settings, resume
from sociable.benchmarks.stss.dataset import load_town
from sociable.benchmarks.stss.interop.smallville_export import export_smallville
from sociable.benchmarks.stss.protocol import Town, fill_background
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.reference import RESIDENTS
from sociable.benchmarks.stss.replay import Replay, render_replay
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import DAYS
from sociable.core.errors import InputError, RunFailure
from sociable.core.records import make_episode_id
from sociable.core.run_folder import RunFolder, write_atomically
from sociable.datasets.recipes.stss.freeze import ENOUGH, OWN_RUNS, open_town_run, write_scenes
from sociable.engine.event_loop import run_to_end
from sociable.engine.opening import Watch, begin_run, open_run, reopen_study, use_kept_inputs
from sociable.engine.phases import Progress
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings, make_folder_name
from sociable.models.journal import JournalledModel, copy_calls
from sociable.models.limits import Budget
from sociable.town.clock import MINUTES_PER_DAY, Clock, parse_minute
from sociable.town.interop.tiled import write_tiled
from sociable.town.minds import Interviewable
from sociable.town.persona import WEEKDAYS

BENCHMARK = "stss"

_MOMENT = re.compile(r"(?:(?:day\s+)?(\d+|[A-Za-z]+)[\s,]+)?(\d{1,2}:\d{2})")


def parse_moment(text: str, clock: Clock) -> int:
    """``14:30`` (of the first day), ``2 14:30``, ``day 2 14:30`` or ``Tuesday 14:30``, as a minute. Raises InputError."""
    found = _MOMENT.fullmatch(text.strip())
    if not found:
        expected = "expected a time of day, with the day before it unless it is the first: 14:30, 2 14:30 or Tuesday 14:30"
        raise InputError(f"'{text}': {expected}.")
    word, time = found.groups()
    days = {str(day): day for day in range(1, DAYS + 1)}
    days |= {WEEKDAYS[clock.to_date((day - 1) * MINUTES_PER_DAY).weekday()].lower(): day for day in range(1, DAYS + 1)}
    day = days.get((word or "1").lower()[:3])
    if day is None:
        raise InputError(f"'{text}': there is no day '{word}'; the simulation has {', '.join(days)}.")
    try:
        return parse_minute(time, day)
    except ValueError as error:
        raise InputError(f"'{text}': {error}") from None


def _load_town_run(folder: Path) -> RunResult[StssStudy]:
    """A run of stss, scored or not. Raises InputError for another benchmark's."""
    run: RunResult[Any] = load_result(folder, scored=False)
    if not isinstance(run.study, StssStudy):
        raise InputError(f"{folder} is a run of {run.manifest['benchmark']}; there is a town in runs of {BENCHMARK} only.")
    return run


def _load_episode(folder: Path, name: str) -> tuple[RunResult[StssStudy], StssEpisode]:
    """An episode of a run of stss that was finished. Raises InputError."""
    run = _load_town_run(folder)
    episode: StssEpisode = run.find_episode(name)
    if episode.task is None:
        raise InputError(f"{episode.id} was not finished ({episode.error}). Go on with: sociable resume {folder}")
    return run, episode


def _check_new(out: str | Path, kind: str) -> Path:
    """The path. Raises InputError where something is there."""
    path = Path(out)
    if path.exists():
        raise InputError(f"{path} is there already. Name a new {kind}, or move it away.")
    return path


def write_replay(folder: str | Path, episode: str, out: str | Path | None = None) -> Path:
    """One HTML file in which the episode can be watched. Returns where it is."""
    run, found = _load_episode(Path(folder), episode)
    path = Path(out) if out else Path(folder) / f"replay-{make_folder_name(found.id.replace('#', '-'))}.html"
    write_atomically(path, _render_replay(run, found))
    return path


def make_replay(folder: str | Path, episode: str) -> str:
    """The same as the text of an HTML page; nothing is written. Raises InputError."""
    return _render_replay(*_load_episode(Path(folder), episode))


def _render_replay(run: RunResult[StssStudy], episode: StssEpisode) -> str:
    assert episode.task is not None
    title, setting = f"{episode.id}: {episode.task.activity}, {run.label}", run.study.setting
    notes = list(setting.list_changes())
    return render_replay(
        Replay(title, episode, run.find_measurement(episode), setting.town, setting.people, setting.clock, notes)
    )


def write_export(folder: str | Path, episode: str, out: str | Path) -> list[str]:
    """The episode in Smallville's movement layout, for its own viewer, in ``out``, a new folder.

    Returns what its reader should know: what the viewer will not show as it was, and the run's own warnings.
    """
    path = _check_new(out, "folder")
    run, found = _load_episode(Path(folder), episode)
    setting = run.study.setting
    measured = run.find_measurement(found)
    failure = [f"Not scored: {measured.failure}."] if measured and measured.failure else []
    return export_smallville(
        found,
        setting.people,
        setting.town,
        setting.clock,
        path,
        score=f"{measured.score:.3f}: {measured.reason}" if measured and not failure else "",
        warnings=[*failure, *run.notes],
    )


def write_map(out: str | Path, town: str | Path | None = None) -> Path:
    """The bundled town, or the map at ``town`` in any layout that is read, as a map of Tiled's to be drawn on."""
    path = _check_new(out, "file")
    write_tiled(load_town(str(town) if town else None), path)
    return path


def fork(
    folder: str | Path,
    episode: str,
    out: str | Path,
    *,
    at: str,
    events: Sequence[str] = (),
    closed: Sequence[str] = (),
    resident: str | None = None,
    anew: bool = False,
    watch: Watch | None = None,
) -> RunResult:
    """Lives an episode again, in a run folder of its own, with ``events`` that ``resident``, or everybody, learns at a moment,
    and with places that are ``closed`` from then on.

    What is the same up to there, and wherever nothing has changed, comes from the journal, which is copied; only what differs
    is asked. With ``anew`` every model is asked anew from that moment on. The run may be unfinished.
    """
    source, target = Path(folder), Path(out)
    if not events and not closed and not anew:
        ways = "name an event with --inject TEXT or a place with --close PLACE, or ask anew with --anew."
        raise InputError(f"A fork changes something: {ways}")
    run = _load_town_run(source)
    settings = use_kept_inputs(RunSettings.model_validate(run.manifest["settings"]), run.manifest, source)
    task, repeat = _find_task_and_repeat(episode, run.study, settings.repeats, source)
    minute = parse_moment(at, run.study.setting.clock)
    who = _find_resident(resident, run.study.scenarios[task].residents) if resident else ""
    injected = [{"minute": minute, "text": text, "resident": who} for text in events]
    options = {
        **settings.options,
        "tasks": [task],
        "injected": [*settings.options.get("injected", ()), *injected],
        "closed": [*settings.options.get("closed", ()), *({"minute": minute, "place": place} for place in closed)],
        "fork": {"repeat": repeat, "anew_from": minute if anew else None},
    }
    begin_run(settings.model_copy(update={"options": options, "repeats": 1, "limit": None}), target)
    if (source / "calls.sqlite").exists():
        copy_calls(source / "calls.sqlite", target / "calls.sqlite", make_episode_id(task, repeat))
    return resume(target, watch=watch)


def _find_task_and_repeat(episode: str, study: StssStudy, repeats: int, folder: Path) -> tuple[str, int]:
    """``soup-swap`` and ``soup-swap#0`` are its first repeat. Raises InputError."""
    tasks = study.scenarios
    task, number = (episode, "0") if episode in tasks else episode.rpartition("#")[::2]
    if task not in tasks or number not in map(str, range(repeats)):
        raise InputError(f"{folder} has no episode '{episode}'; its tasks are: {', '.join(tasks)}.")
    return task, int(number)


def _find_resident(name: str, residents: Sequence[str]) -> str:
    found = [each for each in residents if name.lower() in (each.lower(), each.lower().split()[0])]
    if len(found) != 1:
        raise InputError(f"'{name}' is nobody in this episode; in it are: {', '.join(residents)}.")
    return found[0]


def interview(folder: str | Path, episode: str, resident: str, questions: Sequence[str], *, at: str) -> list[str]:
    """Returns a resident's answers at a moment. The answers stay out of its memory, and out of the run's scores.

    The episode is lived again up to there from the journal; only the answers are asked for. They are kept in
    ``interviews.jsonl``.
    """
    path = Path(folder)
    finished = _load_town_run(path)
    study = finished.study
    task, repeat = _find_task_and_repeat(episode, study, finished.manifest["settings"]["repeats"], path)
    minute = parse_moment(at, study.setting.clock)
    name = _find_resident(resident, study.scenarios[task].residents)
    with RunFolder.open(path) as locked, open_run(locked, reopen_study(locked, build=tuple(Role))) as (run, models):
        town = Town(study.scenarios[task], repeat, fill_background(run.seats), study.setting)
        answers = run_to_end(_ask(town, name, minute, questions, models))
    with (path / "interviews.jsonl").open("a", encoding="utf-8") as stream:
        for question, answer in zip(questions, answers, strict=True):
            record = {"episode": f"{task}#{repeat}", "resident": name, "minute": minute, "question": question, "answer": answer}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return answers


async def _ask(town: Town, name: str, minute: int, questions: Sequence[str], models: Sequence[JournalledModel]) -> list[str]:
    try:
        mind = town.minds[name]
        if not isinstance(mind, Interviewable):
            raise InputError(f"The architecture of {name} gives no interviews.")
        for model in models:
            model.only_recorded = True
        try:
            await town.simulation.run(until=minute)
        except RunFailure as error:
            raise InputError(f"The run has not come to that moment yet ({error}). Go on with: sociable resume") from None
        for model in models:
            model.only_recorded = False
        return [await mind.interview(question, minute) for question in questions]
    finally:
        for model in models:
            await model.close()


def construct_conversations(
    folders: Sequence[str | Path], out: str | Path, *, count: int = ENOUGH, runs: str | Path = "runs", watch: Watch | None = None
) -> str:
    """Freezes ``count`` conversation scenes out of runs of stss into ``out``, a new .jsonl file. Returns what it took, in words.

    Without ``folders`` reference performers live among reference residents first (some minutes, no model), in folders under
    ``runs`` that are used again. Raises InputError.
    """
    if count < 1:
        raise InputError(f"A file of scenes has at least one scene; --count is {count}.")
    path = _check_new(out, "file")
    if path.suffix != ".jsonl":
        raise InputError(f"{path}: scenes are JSON Lines; name a file that ends in .jsonl.")
    folders = folders or [_run_reference(Path(runs), number, watch) for number in range(len(OWN_RUNS))]
    return write_scenes([open_town_run(load_result(folder)) for folder in folders], path, count)


def _run_reference(runs: Path, number: int, watch: Watch | None) -> Path:
    """Makes one of ``OWN_RUNS``, or goes on with it; ``watch`` is told which of them it is."""
    agent, seed = OWN_RUNS[number]
    folder = runs / f"stss-{agent}-seed-{seed}"

    def watch_numbered(counts: Progress, budget: Budget) -> None:
        if watch is not None:
            watch(replace(counts, phase=f"run {number + 1} of {len(OWN_RUNS)}"), budget)

    if not (folder / "manifest.json").exists():
        settings = make_settings(BENCHMARK, None, model=f"reference/{agent}", partner=f"reference/{RESIDENTS}", seed=seed)
        begin_run(settings, folder)
    if not (folder / "scores.json").exists():
        resume(folder, watch=watch_numbered)
    return folder
