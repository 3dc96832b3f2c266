"""Conversation scenes out of runs of the simulation: ``sociable construct stss-conversations`` (section 3.2).

1. Candidates: every conversation of the performer before the event's day, whoever began it; of an appointment those with the
   target only.
2. At most two of one pair in one task; of several runs of one task the first of each go before the second of any.
3. No two scenes share the pair and what both remember.
4. So many scenes are chosen, as even as can be over templates, in them over performers, in them over tasks.

The same runs give the same scenes, in whatever order they are named.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sociable.benchmarks.stss.conversations.dataset import write_lines
from sociable.benchmarks.stss.conversations.records import Scene, Side, Source
from sociable.benchmarks.stss.measure import find_background_failure
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import Signs, Task
from sociable.core.errors import InputError
from sociable.core.records import EpisodeStatus
from sociable.core.run_folder import RecordFile, write_atomically
from sociable.datasets.recipes.stss.remembering import Recollection
from sociable.engine.result import RunResult
from sociable.town.clock import MINUTES_PER_DAY, Clock
from sociable.town.events import Talked
from sociable.town.map import TownMap
from sociable.town.persona import Persona, find_acquaintances

ENOUGH = 360
"""Scenes that are chosen unless the user says otherwise; the paper has 325."""

MOST_OF_A_PAIR = 2
"""Scenes of one pair in one task (section 3.2)."""

FEWEST_PERFORMERS = 3
"""Performers of a template that are needed for its scenes to tell more about the task than about one person."""

OWN_RUNS = tuple((agent, seed) for seed in range(12) for agent in ("oracle", "heuristic"))
"""The runs that are made when the user names none: a reference performer among reference residents, and the seed."""


@dataclass(frozen=True)
class TownRun:
    """The facts of a run that scenes need. Its episodes are read one at a time: two days of a town are large."""

    source: Source
    """The run as its scenes name it, with no episode yet."""
    town: TownMap
    people: Mapping[str, Persona]
    clock: Clock
    episodes: RecordFile[StssEpisode]

    @property
    def name(self) -> str:
        return self.source.run


def open_town_run(run: RunResult[Any]) -> TownRun:
    """The facts of a run of ``stss``. Raises InputError for a run of another benchmark."""
    manifest = run.manifest
    if manifest["benchmark"] != "stss":
        raise InputError(f"{run.folder} is a run of {manifest['benchmark']}; scenes are frozen from runs of stss.")
    study: StssStudy = run.study
    setting, models = study.setting, manifest["models"]
    own = models["subject"]
    # Without a partner reference residents are around a reference performer, and the model itself around a model.
    around = "reference/residents" if own.startswith("reference/") else own
    source = Source(
        run=Path(run.folder).resolve().name,
        episode="",
        agent=own if own.startswith("reference/") else f"{own} {setting.options.agent}",
        residents=models["partner"] or around,
        seed=study.seed,
        version=manifest["version"],
    )
    return TownRun(source, setting.town, setting.people, setting.clock, cast(RecordFile[StssEpisode], run.records.episodes))


@dataclass(frozen=True)
class Candidate:
    """A conversation that could become a scene."""

    run: TownRun
    episode: str
    task: Task
    partner: str
    minute: int
    performer_begins: bool
    number: int
    """Among the pair's conversations in its episode, from 0."""


@dataclass
class Frozen:
    scenes: list[Scene]
    left_out: Counter[str]
    """The number of conversations, by reason."""


def freeze_scenes(runs: Sequence[TownRun], count: int = ENOUGH) -> Frozen:
    """Freezes at most ``count`` scenes, by template, performer and moment."""
    left_out: Counter[str] = Counter()
    allowed = _keep_two_of_a_pair(_find_candidates(runs, left_out), left_out)
    return Frozen(_number_scenes(_choose_evenly(allowed, count, left_out)), +left_out)


# 1.


def _find_candidates(runs: Sequence[TownRun], left_out: Counter[str]) -> Iterable[Candidate]:
    for run in sorted(runs, key=lambda each: each.name):
        for episode in map(run.episodes.read, run.episodes.list_ids()):
            task = episode.task
            if episode.status is not EpisodeStatus.COMPLETED or task is None:
                left_out["of an episode that was not finished"] += 1
                continue
            if find_background_failure(episode):
                left_out["of an episode whose background cannot be trusted"] += 1
                continue
            met: Counter[str] = Counter()
            for talk in episode.events:
                if not isinstance(talk, Talked) or task.performer not in (talk.resident, talk.partner):
                    continue
                begins = talk.resident == task.performer
                partner = talk.partner if begins else talk.resident
                if talk.minute >= task.day * MINUTES_PER_DAY:
                    left_out["on the day of the event or later"] += 1
                elif task.target and partner != task.target:
                    left_out["not with the target of an appointment"] += 1
                else:
                    yield Candidate(run, episode.id, task, partner, talk.minute, begins, met[partner])
                    met[partner] += 1


# 2.


def _keep_two_of_a_pair(candidates: Iterable[Candidate], left_out: Counter[str]) -> list[Candidate]:
    of_pair: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        of_pair[candidate.task.model_dump_json(), candidate.partner].append(candidate)
    kept = []
    for several in of_pair.values():
        kept += sorted(several, key=lambda each: (each.number, each.run.name, each.minute))[:MOST_OF_A_PAIR]
        left_out["a third conversation, or later, of one pair in one task"] += max(len(several) - MOST_OF_A_PAIR, 0)
    return kept


# 3. and 4.


def _choose_evenly(candidates: Iterable[Candidate], count: int, left_out: Counter[str]) -> list[Scene]:
    """One after the other: of the template with the fewest so far, the performer with the fewest, the task with the fewest."""
    waiting: dict[str, list[Candidate]] = defaultdict(list)
    # Where nothing else decides, a digest of the names does.
    for each in sorted(candidates, key=lambda each: _digest(each.run.name, each.episode, str(each.minute), each.partner)):
        waiting[each.task.template].append(each)
    chosen: list[Scene] = []
    so_far: Counter[tuple[str | int, ...]] = Counter()
    known: set[str] = set()

    def find_groups(candidate: Candidate) -> list[tuple[str | int, ...]]:
        template, performer = candidate.task.template, candidate.task.performer
        return [(template, performer), (template, performer, candidate.partner), (template, candidate.run.source.seed)]

    def weigh(candidate: Candidate) -> tuple[int, ...]:
        of_performer, of_pair, of_seed = (so_far[group] for group in find_groups(candidate))
        return of_performer, candidate.number, of_pair, of_seed

    while len(chosen) < count and any(waiting.values()):
        template = min((name for name in waiting if waiting[name]), key=lambda name: (so_far[name,], name))
        best = min(waiting[template], key=weigh)
        waiting[template].remove(best)
        scene = _freeze_scene(best)
        sides = sorted([scene.performer, scene.target], key=lambda side: side.name)
        memories = _digest(*(_digest(side.name, *(memory.text for memory in side.memories)) for side in sides))
        if memories in known:
            left_out["same pair and memories as another scene"] += 1
            continue
        known.add(memories)
        chosen.append(scene)
        so_far.update([(template,), *find_groups(best)])
    left_out["more than were asked for"] += sum(map(len, waiting.values()))
    return chosen


def _digest(*texts: str) -> str:
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()


def _freeze_scene(candidate: Candidate) -> Scene:
    run, task = candidate.run, candidate.task
    episode = run.episodes.read(candidate.episode)
    past = Recollection(episode, candidate.minute, run.town, run.clock)
    players = (episode.played_by[task.performer], episode.played_by[candidate.partner])
    address = run.town.find_address(past.timelines[task.performer].tiles[candidate.minute])
    return Scene(
        id=f"{task.template}-{run.name}-{candidate.minute}-{candidate.partner}",
        task=_strip_task(task),
        minute=candidate.minute,
        address=str(replace(address, thing="")) if address is not None else "",
        performer_begins=candidate.performer_begins,
        performer=_make_side(candidate, past, task.performer, candidate.partner),
        target=_make_side(candidate, past, candidate.partner, task.performer),
        source=run.source.model_copy(update={"episode": candidate.episode}),
        reference_residents=any(player.startswith("reference/") for player in players),
    )


def _strip_task(task: Task) -> Task:
    """The task without what only matters where it is done: how it may be worded, and what does not count as doing it."""

    def strip(signs: Signs) -> dict[str, object]:
        return {"wordings": (), "signs": signs.model_copy(update={"not_keywords": ()})}

    steps = tuple(step.model_copy(update=strip(step.signs)) for step in task.subtasks)
    return task.model_copy(update={**strip(task.signs), "subtasks": steps})


def _make_side(candidate: Candidate, past: Recollection, name: str, partner: str) -> Side:
    people = candidate.run.people
    activity = past.timelines[name].activities[candidate.minute]
    memories, agreed = past.recall_before(name, partner)
    near = {each: people[each] for each in candidate.task.residents if each in people}
    return Side(
        persona=people[name],
        doing=activity.doing if activity is not None else "",
        memories=memories,
        agreed=agreed,
        acquaintances=find_acquaintances(people[name], near),
    )


def _number_scenes(chosen: Sequence[Scene]) -> list[Scene]:
    """The scenes in order of template, performer and moment, with ids that say the template."""
    counts: Counter[str] = Counter()
    numbered = []
    for scene in sorted(chosen, key=lambda s: (s.template, s.performer.name, s.source.run, s.minute, s.target.name)):
        counts[scene.template] += 1
        numbered.append(scene.model_copy(update={"id": f"{scene.template}-{counts[scene.template]:02d}"}))
    return numbered


# The file.


def write_scenes(runs: Sequence[TownRun], out: Path, count: int = ENOUGH) -> str:
    """Writes a file of scenes that ``--dataset`` takes, and says what is in it and what was left out.

    Raises InputError when the runs are of different towns or people, or there is nothing to freeze, or the file is there.
    """
    if out.exists():
        raise InputError(f"{out} is there already. Name another file, or move it away.")
    _check_one_world(runs)
    frozen = freeze_scenes(runs, count)
    if not frozen.scenes:
        raise InputError(f"None of the {len(runs)} runs has a conversation of a performer before the day of its event.")
    lines = write_lines(frozen.scenes, runs[0].people, runs[0].town, runs[0].clock)
    write_atomically(out, "".join(f"{line}\n" for line in lines))
    templates = {scene.template for scene in frozen.scenes}
    return "\n".join([f"{out}: {len(frozen.scenes)} scenes of {len(templates)} templates.", *_describe_scenes(frozen)])


def _check_one_world(runs: Sequence[TownRun]) -> None:
    if not runs:
        raise InputError("There is no run to freeze scenes from.")
    first = runs[0]
    for run in runs[1:]:
        if (run.town.digest, run.people, run.clock) != (first.town.digest, first.people, first.clock):
            raise InputError(f"{run.name} and {first.name} are of different towns, people or days; freeze them into two files.")
        if sum(each.name == run.name for each in runs) > 1:
            raise InputError(f"Two runs are called {run.name}; scenes name the run they come from. Rename one of the folders.")


def _describe_scenes(frozen: Frozen) -> Iterator[str]:
    """Lines that say how many scenes come from where, and what was left out."""
    yield from (f"{count} from {run}" for run, count in sorted(Counter(scene.source.run for scene in frozen.scenes).items()))
    if reference := sum(scene.reference_residents for scene in frozen.scenes):
        yield f"{reference} of them were made with reference residents"
    performers: dict[str, set[str]] = defaultdict(set)
    for scene in frozen.scenes:
        performers[scene.template].add(scene.performer.name)
    if few := sorted(template for template, names in performers.items() if len(names) < FEWEST_PERFORMERS):
        yield f"fewer than {FEWEST_PERFORMERS} performers: {', '.join(few)}; more runs, with other seeds, bring others"
    yield from (f"left out: {number} {why}" for why, number in frozen.left_out.most_common())
