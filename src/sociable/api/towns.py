"""What can be done with a run of a town beside scoring it: watch it, live a day again with something changed, ask a resident.

All of it stands on the journal: an episode is lived again from its own calls, for nothing, up to the moment that is asked for.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sociable.api.runs import open_run, resume, settings_for
from sociable.benchmarks.stss.dataset import BUNDLED, DAYS
from sociable.benchmarks.stss.interop.smallville_export import export_smallville
from sociable.benchmarks.stss.protocol import Town
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.reference import RESIDENTS
from sociable.benchmarks.stss.replay import write_replay as write_page
from sociable.benchmarks.stss.study import StssStudy, seated
from sociable.benchmarks.stss.watching import replay_of
from sociable.core.errors import InputError, RunFailure
from sociable.core.records import episode_id
from sociable.core.run_folder import RunFolder
from sociable.datasets.recipes.stss.freeze import ENOUGH, OWN_RUNS, open_town_run, write_scenes
from sociable.engine.benchmark import RunResult
from sociable.engine.event_loop import waited
from sociable.engine.opening import Watch, begin_run, opened_run
from sociable.engine.run import FinishedRun
from sociable.engine.seats import Seats
from sociable.engine.settings import RunSettings, folder_name
from sociable.models.journal import JournalledModel, copy_calls
from sociable.town.clock import MINUTES_PER_DAY, Clock, minute_of
from sociable.town.interop.tiled import write_tiled
from sociable.town.minds import Interviewable
from sociable.town.persona import WEEKDAYS
from sociable.town.town_file import load_map

BENCHMARK = "stss"

_MOMENT = re.compile(r"(?:(?:day\s+)?(\d+|[A-Za-z]+)[\s,]+)?(\d{1,2}:\d{2})")


def moment_of(text: str, clock: Clock) -> int:
    """``14:30`` (of the first day), ``2 14:30``, ``day 2 14:30`` or ``Tuesday 14:30``, as a minute. Raises InputError."""
    expected = "expected a time of day, with the day before it unless it is the first: 14:30, 2 14:30 or Tuesday 14:30"
    found = _MOMENT.fullmatch(text.strip())
    if not found:
        raise InputError(f"'{text}': {expected}.")
    word, time = found.groups()
    days = {str(day + 1): day for day in range(DAYS)}
    days |= {WEEKDAYS[clock.day(day * MINUTES_PER_DAY).weekday()].lower(): day for day in range(DAYS)}
    day = 0 if word is None else days.get(word.lower()[:3])
    if day is None:
        raise InputError(f"'{text}': there is no day '{word}'; the simulation has {', '.join(days)}.")
    try:
        return minute_of(time, day + 1)
    except ValueError as error:
        raise InputError(f"'{text}': {error}") from None


@contextlib.contextmanager
def _episode(folder: Path, name: str) -> Iterator[tuple[FinishedRun, StssStudy, StssEpisode]]:
    """An episode of a run of stss. Raises InputError."""
    with open_run(folder, scored=False) as run:
        if not isinstance(run.study, StssStudy):
            raise InputError(
                f"{folder} is a run of {run.result.manifest['benchmark']}; there is a town in runs of {BENCHMARK} only."
            )
        identifier = name if name in run.records.episodes else f"{name}#0"
        if identifier not in run.records.episodes:
            raise InputError(f"{folder} has no episode '{name}'. `sociable show {folder}` lists them.")
        episode = run.records.episodes.read(identifier)
        assert isinstance(episode, StssEpisode)
        if episode.task is None:
            raise InputError(f"{identifier} was not finished ({episode.error}). Go on with: sociable resume {folder}")
        yield run, run.study, episode


def write_replay(folder: str | Path, episode: str, out: str | Path | None = None) -> Path:
    """One HTML file in which the episode can be watched. Returns where it is."""
    with _episode(Path(folder), episode) as (run, study, found):
        path = Path(out) if out else Path(folder) / f"replay-{folder_name(found.id.replace('#', '-'))}.html"
        write_page(replay_of(study, found, run.result.label), path)
    return path


def write_export(folder: str | Path, episode: str, out: str | Path) -> Path:
    """The episode in Smallville's movement layout, for its own viewer. ``out`` is a new folder."""
    path = Path(out)
    if path.exists():
        raise InputError(f"{path} is there already. Name a new folder.")
    with _episode(Path(folder), episode) as (_, study, found):
        export_smallville(found, study.setting.town, study.setting.clock, path)
    return path


def write_map(out: str | Path, town: str | Path | None = None) -> Path:
    """The bundled town, or the map at ``town`` in any layout that is read, as a map of Tiled's to be drawn on."""
    path = Path(out)
    if path.exists():
        raise InputError(f"{path} is there already. Name a new file.")
    write_tiled(load_map(Path(town) if town else BUNDLED / "town.json"), path)
    return path


def fork(
    folder: str | Path,
    episode: str,
    out: str | Path,
    *,
    at: str,
    events: Sequence[str] = (),
    resident: str | None = None,
    anew: bool = False,
    watch: Watch | None = None,
) -> RunResult:
    """Lives an episode again, in a run folder of its own, with ``events`` that ``resident``, or everybody, learns at a moment.

    What is the same up to there, and wherever nothing has changed, comes from the journal, which is copied; only what differs
    is asked. With ``anew`` every model is asked anew from that moment on. The run may be unfinished.
    """
    source, target = Path(folder), Path(out)
    manifest = RunFolder.open(source, lock=False).read_manifest()
    if manifest["benchmark"] != BENCHMARK:
        raise InputError(f"{source} is a run of {manifest['benchmark']}; only runs of {BENCHMARK} can be forked.")
    if not events and not anew:
        raise InputError("A fork changes something: name an event with --inject TEXT, or ask anew with --anew.")
    settings = RunSettings.model_validate(manifest["settings"])
    with open_run(source, scored=False) as run:
        assert isinstance(run.study, StssStudy)
        known = run.study.scenarios
        task, repeat = _task_and_repeat(episode, known, settings.repeats, source)
        minute = moment_of(at, run.study.setting.clock)
        who = _resident(resident, known[task].residents) if resident else ""
    options = {
        **settings.options,
        "tasks": [task],
        "injected": [
            *settings.options.get("injected", ()),
            *({"minute": minute, "text": text, "resident": who} for text in events),
        ],
        "fork": {"repeat": repeat, "anew_from": minute if anew else None},
    }
    forked = settings.model_copy(update={"options": options, "repeats": 1, "limit": None})
    begin_run(forked, target)
    if (source / "calls.sqlite").exists():
        copy_calls(source / "calls.sqlite", target / "calls.sqlite", episode_id(task, repeat))
    return resume(target, watch=watch)


def _task_and_repeat(episode: str, tasks: Collection[str], repeats: int, folder: Path) -> tuple[str, int]:
    """``soup-swap`` and ``soup-swap#0`` are its first repeat. Raises InputError."""
    task, number = (episode, "0") if episode in tasks else episode.rpartition("#")[::2]
    if task not in tasks or number not in map(str, range(repeats)):
        raise InputError(f"{folder} has no episode '{episode}'; its tasks are: {', '.join(tasks)}.")
    return task, int(number)


def _resident(name: str, residents: Sequence[str]) -> str:
    found = [each for each in residents if name.lower() in (each.lower(), each.lower().split()[0])]
    if len(found) != 1:
        raise InputError(f"'{name}' is nobody in this episode; in it are: {', '.join(residents)}.")
    return found[0]


def interview(folder: str | Path, episode: str, resident: str, questions: Sequence[str], *, at: str) -> list[str]:
    """What a resident answers at a moment. The answers stay out of its memory, and out of the run's scores.

    The episode is lived again up to there from the journal; only the answers are asked for. They are kept in
    ``interviews.jsonl``.
    """
    path = Path(folder)
    with _episode_or_beginning(path, episode) as (study, task, repeat):
        minute = moment_of(at, study.setting.clock)
        name = _resident(resident, study.scenarios[task].residents)
    with opened_run(path) as (run, _, models):
        assert isinstance(run.study, StssStudy)
        answers = waited(_interviewed(run.study, run.seats, task, repeat, name, minute, questions, models))
    with (path / "interviews.jsonl").open("a", encoding="utf-8") as stream:
        for question, answer in zip(questions, answers, strict=True):
            record = {"episode": f"{task}#{repeat}", "resident": name, "minute": minute, "question": question, "answer": answer}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return answers


def construct_conversations(
    folders: Sequence[str | Path], out: str | Path, *, count: int = ENOUGH, runs: str | Path = "runs", watch: Watch | None = None
) -> str:
    """Freezes ``count`` conversation scenes out of runs of stss into ``out``, a new .jsonl file. Returns what it took, in words.

    Without ``folders`` reference performers live among reference residents first (some minutes, no model), in folders under
    ``runs`` that are used again. Raises InputError.
    """
    if count < 1:
        raise InputError(f"A file of scenes has at least one scene; --count is {count}.")
    path = Path(out)
    if path.exists():
        raise InputError(f"{path} is there already. Name a new file, or move it away.")
    if path.suffix != ".jsonl":
        raise InputError(f"{path}: scenes are JSON Lines; name a file that ends in .jsonl.")
    if not folders:
        folders = [
            _own_run(Path(runs), agent, seed, watch and _numbered(watch, number))
            for number, (agent, seed) in enumerate(OWN_RUNS, start=1)
        ]
    with contextlib.ExitStack() as stack:
        return write_scenes([open_town_run(stack.enter_context(open_run(folder))) for folder in folders], path, count)


def _numbered(watch: Watch, number: int) -> Watch:
    """Says of each run which it is."""
    return lambda counts, budget: watch(replace(counts, phase=f"run {number} of {len(OWN_RUNS)}"), budget)


def _own_run(runs: Path, agent: str, seed: int, watch: Watch | None) -> Path:
    folder = runs / f"stss-{agent}-seed-{seed}"
    if not (folder / "manifest.json").exists():
        settings = settings_for(BENCHMARK, None, model=f"reference/{agent}", partner=f"reference/{RESIDENTS}", seed=seed)
        begin_run(settings, folder)
    if not (folder / "scores.json").exists():
        resume(folder, watch=watch)
    return folder


@contextlib.contextmanager
def _episode_or_beginning(folder: Path, episode: str) -> Iterator[tuple[StssStudy, str, int]]:
    with open_run(folder, scored=False) as run:
        if not isinstance(run.study, StssStudy):
            raise InputError(
                f"{folder} is a run of {run.result.manifest['benchmark']}; residents live in runs of {BENCHMARK} only."
            )
        settings = RunSettings.model_validate(run.result.manifest["settings"])
        yield run.study, *_task_and_repeat(episode, run.study.scenarios, settings.repeats, folder)


async def _interviewed(
    study: StssStudy,
    seats: Seats,
    task: str,
    repeat: int,
    name: str,
    minute: int,
    questions: Sequence[str],
    models: Sequence[JournalledModel],
) -> list[str]:
    try:
        town = Town(study.scenarios[task], repeat, seated(seats), study.setting)
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
