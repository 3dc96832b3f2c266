"""An episode as its replay shows it: the log, with what was measured in it."""

from __future__ import annotations

from sociable.benchmarks.stss.measure import Measured, background_failure
from sociable.benchmarks.stss.records import StssEpisode
from sociable.benchmarks.stss.replay import Attended, Replay, ReplayResident, ReplayTask, Told
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import Task
from sociable.town.map import Tile
from sociable.town.persona import Persona


def replay_of(study: StssStudy, episode: StssEpisode, label: str) -> Replay:
    """``label``: of the run, for the title."""
    task, setting = episode.task, study.setting
    assert task is not None
    measured = study.measured(episode)
    failure = background_failure(episode)
    return Replay(
        title=f"{episode.id}: {task.activity}, {label}",
        town=setting.town,
        clock=setting.clock,
        residents=[
            _resident(setting.people[name], place, task, episode, measured) for place, name in enumerate(sorted(task.residents))
        ],
        log=episode.events,
        task=ReplayTask(task.goal, str(task.type), _places(task), task.start, task.end),
        told=[Told(each.minute, each.teller, each.listener, ", ".join(each.parts)) for each in measured.told],
        attendance=[Attended(each.resident, each.start, each.end, each.counts, each.why) for each in measured.attendance],
        score=None if failure else measured.score,
        reasons=[f"not scored: {failure}" if failure else measured.reason],
        minutes=episode.minutes,
        tiles_per_minute=episode.tiles_per_minute,
        remarks=list(study.fork_notes()),
    )


def _places(task: Task) -> list[str]:
    return [step.place for step in task.subtasks] or ([task.place] if task.place else [])


def _resident(persona: Persona, place: int, task: Task, episode: StssEpisode, measured: Measured) -> ReplayResident:
    age = f"{persona.age}, {persona.pronouns}" if persona.pronouns else str(persona.age)
    return ReplayResident(
        name=persona.name,
        label=persona.short,
        colour=place,
        start=Tile(*episode.starts[persona.name]),
        role="performer" if persona.name == task.performer else "target" if persona.name == task.target else "cast",
        persona=[
            age,
            persona.innate,
            persona.learned,
            persona.currently,
            persona.lifestyle,
            f"played by {episode.played_by[persona.name]}",
        ],
        stage=measured.stages.get(persona.name),
    )
